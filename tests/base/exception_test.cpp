// SPDX-License-Identifier: BSL-1.0
//
// What gyre/base/exception.hpp promises where exceptions are on; built only there.
#include <gyre/base/exception.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>

using namespace gyre;

namespace {

void throw_number(int number) { throw number; }

int number_in(exception_slot& slot) {
    try {
        slot.rethrow_if_any();
    } catch (int number) {
        return number;
    }
    return -1;
}

}  // namespace

TEST_CASE("a slot that holds nothing rethrows nothing") {
    exception_slot slot;

    CHECK(slot.empty());
    CHECK_NOTHROW(slot.rethrow_if_any());
}

TEST_CASE("a body that finishes leaves no exception") {
    exception_slot slot;

    const bool finished = run_catching(slot, [] {});

    CHECK(finished);
    CHECK(slot.empty());
}

TEST_CASE("a body's exception is caught, whatever its type, and rethrown once") {
    exception_slot slot;

    const bool finished = run_catching(slot, [] { throw_number(42); });

    CHECK_FALSE(finished);
    CHECK_FALSE(slot.empty());
    CHECK(number_in(slot) == 42);
    CHECK(slot.empty());
    CHECK(number_in(slot) == -1);
}

TEST_CASE("of two exceptions the first one is kept, as the cause") {
    exception_slot first;
    exception_slot second;
    run_catching(first, [] { throw_number(1); });
    run_catching(second, [] { throw_number(2); });

    first.keep_first(second);

    CHECK(second.empty());
    CHECK(number_in(first) == 1);
}

TEST_CASE("an empty slot takes over another's exception") {
    exception_slot here;
    exception_slot there;
    run_catching(there, [] { throw_number(3); });

    here.keep_first(there);

    CHECK(there.empty());
    CHECK(number_in(here) == 3);
}

TEST_CASE("an exception that is never taken dies with its slot") {
    const auto witness = std::make_shared<int>(0);
    {
        exception_slot slot;
        run_catching(slot, [&] { throw witness; });
        CHECK(witness.use_count() == 2);
    }
    CHECK(witness.use_count() == 1);
}

TEST_CASE("an exception may be taken out of its slot, once") {
    exception_slot slot;
    run_catching(slot, [] { throw_number(4); });

    const std::exception_ptr taken = slot.take();

    CHECK(taken != nullptr);
    CHECK(slot.empty());
    CHECK(slot.take() == nullptr);
}

TEST_CASE("an exception is described by its type, and by what it says of itself") {
    exception_slot standard;
    exception_slot own;
    run_catching(standard, [] { throw std::runtime_error{"refused"}; });
    run_catching(own, [] { throw_number(5); });

    CHECK(describe(standard.take()) == "std::runtime_error: refused");
    CHECK(describe(own.take()) == "int");
    CHECK(describe(nullptr).empty());
}

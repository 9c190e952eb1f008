// SPDX-License-Identifier: BSL-1.0
//
// What gyre/base/result.hpp promises: an error together with the progress made before it.
#include <gyre/base/result.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace gyre;

namespace {

// tests/compile_fail/result_in_condition.cpp tells what the reader of the error message sees.
template <class Result>
concept usable_as_condition = requires(const Result& it) { it ? 1 : 0; };

static_assert(!usable_as_condition<io_result<>>);
static_assert(!usable_as_condition<io_result<std::size_t>>);
static_assert(is_io_result<io_result<>> && is_io_result<io_result<int, int>>);
static_assert(!is_io_result<int> && !is_io_result<error>);
static_assert(sizeof(io_result<>) == sizeof(error));
static_assert(!std::copyable<io_result<std::unique_ptr<int>>>);

io_result<std::size_t> read_three_then_reset() { return {errc::connection_reset, 3}; }

}  // namespace

TEST_CASE("a result holds an error and the progress made before it") {
    auto [failed, size] = read_three_then_reset();

    CHECK(failed == errc::connection_reset);
    CHECK(size == 3);
}

TEST_CASE("a result made of a value has no error, one made of an error has the null value") {
    const io_result<std::size_t> fine = std::size_t{7};
    const io_result<std::size_t> failed = errc::eof;
    const io_result<std::string> during = error{errc::eof, activity::read};

    CHECK(fine.ok());
    CHECK(fine.value() == 7);
    CHECK_FALSE(failed.ok());
    CHECK(failed.value() == 0);
    CHECK(during.value().empty());
    CHECK(during.error().during() == activity::read);
}

TEST_CASE("a result that was never set is a success without progress") {
    const io_result<> nothing;
    const io_result<int> number;
    const io_result<int, std::string> both;

    CHECK(nothing.ok());
    CHECK(number.ok());
    CHECK(number.value() == 0);
    CHECK(both.ok());
}

TEST_CASE("a result without a value destructures into its error alone") {
    const io_result<> closed = errc::closed;

    const auto [failed] = closed;

    CHECK(failed == errc::closed);
}

TEST_CASE("a result of two values destructures into three") {
    auto [failed, number, text] = io_result<int, std::string>{errc::eof, 5, "five"};

    CHECK(failed == errc::eof);
    CHECK(number == 5);
    CHECK(text == "five");
}

TEST_CASE("a constant result of two values destructures, too") {
    const io_result<int, long> both{errc::eof, 1, 2L};
    const auto& [failed, first, second] = both;
    CHECK(failed == errc::eof);
    CHECK(first == 1);
    CHECK(second == 2);
}

TEST_CASE("a payload that cannot be copied leaves a result by take or by destructuring") {
    io_result<std::unique_ptr<int>> owner = std::make_unique<int>(1);
    io_result<std::unique_ptr<int>> other = std::make_unique<int>(2);

    const std::unique_ptr<int> taken = owner.take();
    auto [failed, bound] = std::move(other);

    CHECK(*taken == 1);
    CHECK(owner.value() == nullptr);
    CHECK_FALSE(failed);
    CHECK(*bound == 2);
}

TEST_CASE("the payload of a result that is not constant is used in place") {
    io_result<std::vector<int>> result{std::vector<int>{1, 2}};

    result.value().push_back(3);

    CHECK(std::as_const(result).value().size() == 3);
    static_assert(std::is_same_v<decltype(result.value()), std::vector<int>&>);
    static_assert(std::is_same_v<decltype(std::as_const(result).value()), const std::vector<int>&>);
    static_assert(std::is_same_v<decltype(std::move(result).value()), const std::vector<int>&>);
}

TEST_CASE("a result bound by reference is changed in place") {
    io_result<int> number = 1;

    auto& [failed, value] = number;
    failed = errc::malformed;
    value = 9;

    CHECK(number.error() == errc::malformed);
    CHECK(number.value() == 9);
}

TEST_CASE("replacing the error keeps the progress beside it") {
    io_result<std::size_t> cut = {errc::canceled, 12};

    cut.set_error(errc::timed_out);

    CHECK(cut.error() == errc::timed_out);
    CHECK(cut.value() == 12);
}

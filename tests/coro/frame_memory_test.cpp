// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/frame_memory.hpp promises: whose frames are where, and that each goes back whole.
#include <gyre/coro/frame_memory.hpp>

#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/run.hpp>
#include <gyre/sync/generator.hpp>
#include <support/harness.hpp>

#include <base/ending.hpp>

#include <array>
#include <csignal>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <thread>
#include <utility>

using namespace gyre;
using namespace gyre::testing;

namespace {

// Has no memory, and does not say so by an exception.
struct exhausted {
    void* allocate(std::size_t, std::size_t) { return nullptr; }
    void deallocate(void*, std::size_t, std::size_t) {}
};

// Knows what it has given, and that exactly this comes back.
class ledger final : public std::pmr::memory_resource {
public:
    std::size_t given = 0;
    std::map<void*, std::pair<std::size_t, std::size_t>> out;

private:
    void* do_allocate(std::size_t size, std::size_t alignment) override {
        void* memory = std::pmr::new_delete_resource()->allocate(size, alignment);
        ++given;
        out[memory] = {size, alignment};
        return memory;
    }
    void do_deallocate(void* memory, std::size_t size, std::size_t alignment) override {
        CHECK(out.at(memory) == std::pair{size, alignment});
        out.erase(memory);
        std::pmr::new_delete_resource()->deallocate(memory, size, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }
};

// No memory_resource, and no virtual function.
class buffer {
public:
    void* allocate(std::size_t size, std::size_t) {
        REQUIRE(used_ + size <= space_.size());
        void* memory = space_.data() + used_;
        used_ += (size + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) *
                 alignof(std::max_align_t);
        return memory;
    }
    void deallocate(void*, std::size_t size, std::size_t) { returned_ += size; }

    [[nodiscard]] std::size_t used() const { return used_; }
    [[nodiscard]] std::size_t returned() const { return returned_; }
    [[nodiscard]] bool holds(const void* memory) const {
        const std::less<const void*> before;
        return !before(memory, space_.data()) && before(memory, space_.data() + space_.size());
    }

private:
    alignas(std::max_align_t) std::array<std::byte, 8192> space_{};
    std::size_t used_ = 0;
    std::size_t returned_ = 0;
};

task<int> in_cache(int it) { co_return it; }

// Not inlined, or clang at -O2 puts their frames into the callers' and asks for none.
[[gnu::noinline]] task<int> in_resource(std::allocator_arg_t, std::pmr::memory_resource*, int it) {
    const int same = co_await in_cache(it);
    co_return same;
}

[[gnu::noinline]] task<> nothing(std::allocator_arg_t, ledger*) { co_return; }

[[gnu::noinline]] task<const void*> in_buffer(std::allocator_arg_t, buffer*,
                                              std::array<std::byte, 100> kept) {
    static_cast<void>(co_await in_cache(1));
    co_return kept.data();
}

[[gnu::noinline]] task<int> by_reference(const std::allocator_arg_t&, ledger* const& from, int it) {
    co_return it + static_cast<int>(from->out.size());
}

[[gnu::noinline]] task<> in_nothing(std::allocator_arg_t, exhausted*) { co_return; }

[[gnu::noinline]] generator<int> count(std::allocator_arg_t, std::pmr::memory_resource*, int end) {
    for (int each = 0; each < end; ++each) co_yield co_await in_cache(each);
}

struct account {
    int balance = 7;

    [[gnu::noinline]] generator<int> halves(std::allocator_arg_t, ledger*) {
        for (; balance > 0; balance /= 2) co_yield balance;
    }

    [[gnu::noinline]] task<int> read(std::allocator_arg_t, std::pmr::memory_resource*, int more) {
        const int same = co_await in_cache(more);
        co_return balance + same;
    }
    [[gnu::noinline]] task<int> read_only(std::allocator_arg_t, std::pmr::memory_resource*) const {
        co_return balance;
    }
};

}  // namespace

TEST_CASE("a coroutine that asks for a resource has its frame there, and what it awaits has not") {
    ledger book;
    CHECK(run(in_resource(std::allocator_arg, &book, 3)) == 3);
    CHECK(book.given == 1);
    CHECK(book.out.empty());

    run(nothing(std::allocator_arg, &book));
    CHECK(book.given == 2);
    CHECK(book.out.empty());
}

TEST_CASE("members and lambdas ask for a resource behind their object") {
    ledger book;
    account mine;
    CHECK(run(mine.read(std::allocator_arg, &book, 3)) == 10);
    CHECK(run(std::as_const(mine).read_only(std::allocator_arg, &book)) == 7);
    int factor = 5;
    const auto times = [factor](std::allocator_arg_t, std::pmr::memory_resource*,
                                int it) -> task<int> { co_return factor* it; };
    CHECK(run(times(std::allocator_arg, &book, 4)) == 20);
    CHECK(book.given == 3);
    CHECK(book.out.empty());
}

TEST_CASE("the whole frame is in the resource, which any class with its two functions may be") {
    buffer space;
    const void* kept = run(in_buffer(std::allocator_arg, &space, {}));
    CHECK(space.holds(kept));
    CHECK(space.used() > 0);
    CHECK(space.returned() > 0);
    CHECK(space.returned() <= space.used());
}

TEST_CASE("a task that is destroyed before it starts gives its frame back, on whichever thread") {
    ledger book;
    {
        const auto dropped = in_resource(std::allocator_arg, &book, 1);
    }
    CHECK(book.given == 1);
    CHECK(book.out.empty());

    auto moved = in_resource(std::allocator_arg, &book, 2);
    CHECK(book.out.size() == 1);
    std::thread{[taken = std::move(moved)] {}}.join();
    CHECK(book.out.empty());
}

TEST_CASE("a frame's resource is not null") {
    const ending it =
        ending_of([] { static_cast<void>(in_resource(std::allocator_arg, nullptr, 1)); });
    CHECK(it.signal == SIGABRT);
    CHECK(it.said_that("a frame's resource is not null"));
}

TEST_CASE("a resource that returns null has failed a check, and no frame is made there") {
    exhausted empty;
    const ending it = ending_of([&] { static_cast<void>(in_nothing(std::allocator_arg, &empty)); });
    CHECK(it.signal == SIGABRT);
    CHECK(it.said_that("this one returned null"));
}

TEST_CASE("a tag that is taken by reference asks all the same") {
    ledger book;
    ledger* from = &book;
    CHECK(run(by_reference(std::allocator_arg, from, 3)) == 4);
    CHECK(book.given == 1);
    CHECK(book.out.empty());
}

TEST_CASE("a generator's frame is in a resource, to its end or until it is dropped") {
    ledger book;
    account mine;
    const auto total = [](generator<int> values) -> task<int> {
        int sum = 0;
        for (;;) {
            const std::optional<int> value = co_await values.next();
            if (!value) co_return sum;
            sum += *value;
        }
    };
    CHECK(run(total(count(std::allocator_arg, &book, 5))) == 10);
    CHECK(run(total(mine.halves(std::allocator_arg, &book))) == 11);
    CHECK(book.given == 2);
    CHECK(book.out.empty());

    const auto first = [](generator<int> values) -> task<int> {
        co_return (co_await values.next()).value_or(-1);
    };
    CHECK(run(first(count(std::allocator_arg, &book, 5))) == 0);
    CHECK(book.given == 3);
    CHECK(book.out.empty());
}

// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/value_ring.hpp promises, and that the channel and the set of one loop keep it: of a value
// that has left, nothing stays. shared_channel: values_under_locks_test.cpp.
#include <gyre/sync/value_ring.hpp>

#include <gyre/sync/channel.hpp>
#include <gyre/sync/task_set.hpp>
#include <support/harness.hpp>

#include <memory>

using namespace gyre;
using namespace gyre::testing;

namespace {

/// A type of the time before moves: it copies, and what is copied keeps what it holds.
struct copied {
    copied() = default;
    explicit copied(std::shared_ptr<int> it) noexcept : held{std::move(it)} {}
    copied(const copied&) = default;
    copied& operator=(const copied&) = default;

    std::shared_ptr<int> held;
};

/// The same without a null state.
struct copied_number {
    explicit copied_number(std::shared_ptr<int> it) noexcept : held{std::move(it)} {}
    copied_number(const copied_number&) = default;
    copied_number& operator=(const copied_number&) = default;

    std::shared_ptr<int> held;
};

task<copied> yield_copy(const std::shared_ptr<int>& held) { co_return copied{held}; }

}  // namespace

TEST_CASE("a ring yields its values in their order, round and round") {
    value_ring<int> ring{3};
    int out = 0;

    for (int each = 0; each < 7; ++each) {
        int first = each;
        int second = each + 100;
        ring.push(first);
        ring.push(second);
        CHECK(ring.size() == 2);
        ring.pop(out);
        CHECK(out == each);
        ring.pop(out);
        CHECK(out == each + 100);
        CHECK(ring.empty());
    }

    for (int each = 0; each < 3; ++each) ring.push(each);
    CHECK(ring.full());
    CHECK(ring.capacity() == 3);
}

TEST_CASE("nothing of a value that copies stays in a ring") {
    const auto held = std::make_shared<int>(7);
    value_ring<copied> ring{2};
    {
        value_ring<copied>::place in{held};
        ring.push(in);
        CHECK(in.held == nullptr);
        copied out;
        ring.pop(out);
        CHECK(out.held == held);
        CHECK(held.use_count() == 2);
    }
    value_ring<copied_number> numbers{2};
    {
        copied_number in{held};
        numbers.push(in);
        value_ring<copied_number>::place out;
        numbers.pop(out);
        CHECK(out->held == held);
    }

    CHECK(held.use_count() == 1);
}

TEST_CASE("nothing of a value that copies stays in a channel that is empty") {
    on_every_backend([](io_context&) -> task<> {
        const auto held = std::make_shared<int>(7);
        channel<copied> values{2};
        for (int each = 0; each < 2; ++each) {
            const io_result<> sent = co_await values.send(copied{held});
            CHECK(sent.ok());
        }

        CHECK((co_await values.receive()).value().held == held);
        CHECK(values.try_receive()->held == held);

        CHECK(values.size() == 0);
        CHECK(held.use_count() == 1);
    });
}

TEST_CASE("nothing of a result that copies stays in a set that is empty") {
    on_every_backend([](io_context&) -> task<> {
        const auto held = std::make_shared<int>(7);
        const auto body = [&](task_group& group) -> task<> {
            task_set<copied> set{group, 2};
            set.spawn(yield_copy(held));
            set.spawn(yield_copy(held));
            for (int each = 0; each < 2; ++each) {
                CHECK((co_await set.next()).value().held == held);
            }
            CHECK(set.empty());
            CHECK(held.use_count() == 1);
            co_return;
        };

        co_await with_group(body);
    });
}

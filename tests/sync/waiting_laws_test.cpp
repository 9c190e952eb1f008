// SPDX-License-Identifier: BSL-1.0
//
// The laws of waiting_laws.hpp, asked of everything in sync/ that waits.
#include <gyre/sync/barrier.hpp>
#include <gyre/sync/broadcast.hpp>
#include <gyre/sync/channel.hpp>
#include <gyre/sync/condition.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/generator.hpp>
#include <gyre/sync/latch.hpp>
#include <gyre/sync/mutex.hpp>
#include <gyre/sync/notify.hpp>
#include <gyre/sync/once.hpp>
#include <gyre/sync/oneshot.hpp>
#include <gyre/sync/semaphore.hpp>
#include <gyre/sync/shared_channel.hpp>
#include <gyre/sync/shared_mutex.hpp>
#include <gyre/sync/shared_semaphore.hpp>
#include <gyre/sync/strand.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/watch.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/sync/when_any.hpp>

#include <support/waiting_laws.hpp>

#include <array>
#include <memory>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr auto very_long = std::chrono::hours{24};

task<io_result<>> wait_in_task(event& until) {
    const io_result<> waited = co_await until.wait();
    co_return waited;
}

struct waits_for_event : needs_no_loop {
    static constexpr const char* name = "event";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.wait(); }
    void wake() { it.set(); }

    event it;
};

struct waits_for_permit : needs_no_loop {
    static constexpr const char* name = "semaphore";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.acquire(); }
    void wake() { it.release(); }

    semaphore it{0};
};

struct waits_for_lock : needs_no_loop {
    static constexpr const char* name = "mutex";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.lock(); }
    void wake() { held.unlock(); }

    mutex it;
    mutex::guard held = it.try_lock();
};

struct waits_for_condition : needs_no_loop {
    static constexpr const char* name = "condition";
    using needs_no_loop::needs_no_loop;

    task<io_result<>> wait() {
        mutex::guard held = lock.try_lock();
        const io_result<> notified = co_await it.wait(held);
        CHECK(held.owns());
        co_return notified;
    }
    void wake() { it.notify_one(); }

    mutex lock;
    condition it;
};

struct waits_to_send : needs_no_loop {
    static constexpr const char* name = "channel send";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.send(std::make_unique<int>(7)); }
    void wake() { static_cast<void>(it.try_receive()); }

    channel<std::unique_ptr<int>> it{0};
};

struct waits_for_room : needs_no_loop {
    static constexpr const char* name = "channel send, full";
    explicit waits_for_room(io_context& io) : needs_no_loop{io} {
        int first = 1;
        REQUIRE(it.try_send(first));
    }

    auto wait() { return it.send(2); }
    void wake() { static_cast<void>(it.try_receive()); }

    channel<int> it{1};
};

struct waits_to_receive : needs_no_loop {
    static constexpr const char* name = "channel receive";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.receive(); }
    void wake() {
        auto value = std::make_unique<int>(7);
        static_cast<void>(it.try_send(value));
    }

    channel<std::unique_ptr<int>> it{1};
};

struct waits_to_send_between_loops : needs_no_loop {
    static constexpr const char* name = "shared channel send";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.send(std::make_unique<int>(7)); }
    void wake() { static_cast<void>(it.try_receive()); }

    shared_channel<std::unique_ptr<int>> it{0};
};

struct waits_to_receive_between_loops : needs_no_loop {
    static constexpr const char* name = "shared channel receive";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.receive(); }
    void wake() {
        auto value = std::make_unique<int>(7);
        static_cast<void>(it.try_send(value));
    }

    shared_channel<std::unique_ptr<int>> it{1};
};

struct waits_to_receive_many : needs_no_loop {
    static constexpr const char* name = "shared channel receive_many";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.receive_many(some); }
    void wake() {
        int value = 7;
        static_cast<void>(it.try_send(value));
    }

    std::array<int, 3> some{};
    shared_channel<int> it{1};
};

struct waits_for_notification : needs_no_loop {
    static constexpr const char* name = "notify";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.wait(); }
    void wake() { it.notify_one(); }

    notify it;
};

struct waits_for_oneshot : needs_no_loop {
    static constexpr const char* name = "oneshot";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.receiver.receive(); }
    void wake() { static_cast<void>(it.sender.send(7)); }

    oneshot<int> it = make_oneshot<int>();
};

struct waits_for_change : needs_no_loop {
    static constexpr const char* name = "watch";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.changed(1); }
    void wake() { it.set(8); }

    watch<int> it{7};
};

struct waits_for_broadcast : needs_no_loop {
    static constexpr const char* name = "broadcast";
    using needs_no_loop::needs_no_loop;

    auto wait() { return by.receive(); }
    void wake() { it.send(7); }

    broadcast<int> it{1};
    broadcast<int>::receiver by = it.subscribe();
};

struct waits_for_shared_permits : needs_no_loop {
    static constexpr const char* name = "shared semaphore";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.acquire(2); }
    void wake() { it.release(); }

    shared_semaphore it{1};
};

struct waits_to_write : needs_no_loop {
    static constexpr const char* name = "shared mutex";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.lock(); }
    void wake() { held.unlock(); }

    shared_mutex it;
    shared_mutex::shared_guard held = it.try_lock_shared();
};

struct waits_to_read : needs_no_loop {
    static constexpr const char* name = "shared mutex, reading";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.lock_shared(); }
    void wake() { held.unlock(); }

    shared_mutex it;
    shared_mutex::guard held = it.try_lock();
};

struct waits_for_latch : needs_no_loop {
    static constexpr const char* name = "latch";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.wait(); }
    void wake() { it.count_down(); }

    latch it{1};
};

struct waits_for_others : needs_no_loop {
    static constexpr const char* name = "barrier";
    explicit waits_for_others(io_context& io) : needs_no_loop{io}, home{io} {}

    auto wait() { return it.arrive_and_wait(); }
    void wake() {
        stop_chain chain;
        const environment given{executor_ref{home}, &home, &chain};
        callback_frame frame{[](callback_frame*) {}};
        barrier::arrive_awaiter last = it.arrive_and_wait();
        // Alone, since the other one was stopped, it would wait; then it gives up.
        static_cast<void>(last.await_suspend(frame.handle(), &given));
    }

    io_context& home;
    barrier it{2};
};

struct waits_for_once : needs_no_loop {
    static constexpr const char* name = "once";
    using needs_no_loop::needs_no_loop;

    auto wait() {
        return it.call([this]() -> task<io_result<>> {
            const io_result<> waited = co_await until.wait();
            co_return waited;
        });
    }
    void wake() { until.set(); }

    event until;
    once it;
};

struct waits_with_timeout : needs_no_loop {
    static constexpr const char* name = "with_timeout";
    using needs_no_loop::needs_no_loop;

    auto wait() { return with_timeout(very_long, it.wait()); }
    void wake() { it.set(); }

    event it;
};

struct waits_with_nested_limits : needs_no_loop {
    static constexpr const char* name = "with_timeout of with_deadline of a task";
    using needs_no_loop::needs_no_loop;

    auto wait() { return with_timeout(very_long, with_deadline(never, wait_in_task(it))); }
    void wake() { it.set(); }

    event it;
};

struct waits_for_all : needs_no_loop {
    static constexpr const char* name = "when_all";
    using needs_no_loop::needs_no_loop;

    auto wait() { return when_all(first.wait(), wait_in_task(second)); }
    void wake() {
        first.set();
        second.set();
    }

    event first;
    event second;
};

struct waits_for_all_in_vector : needs_no_loop {
    static constexpr const char* name = "when_all of a vector";
    using needs_no_loop::needs_no_loop;

    auto wait() {
        std::vector<event::wait_awaiter> waits;
        for (int index = 0; index < 3; ++index) waits.push_back(it.wait());
        return when_all(std::move(waits));
    }
    void wake() { it.set(); }

    event it;
};

struct waits_for_any : needs_no_loop {
    static constexpr const char* name = "when_any";
    using needs_no_loop::needs_no_loop;

    auto wait() { return when_any(wait_in_task(first), second.wait()); }
    void wake() { first.set(); }

    event first;
    event second;
};

struct waits_for_any_in_vector : needs_no_loop {
    static constexpr const char* name = "when_any of a vector";
    using needs_no_loop::needs_no_loop;

    auto wait() {
        std::vector<task<io_result<>>> waits;
        for (event* each : {&first, &second}) waits.push_back(wait_in_task(*each));
        return when_any(std::move(waits));
    }
    void wake() { first.set(); }

    event first;
    event second;
};

struct waits_in_task : needs_no_loop {
    static constexpr const char* name = "task";
    using needs_no_loop::needs_no_loop;

    auto wait() { return wait_in_task(it); }
    void wake() { it.set(); }

    event it;
};

struct waits_for_group : needs_no_loop {
    static constexpr const char* name = "with_group";
    using needs_no_loop::needs_no_loop;

    struct body {
        event* until;

        task<io_result<>> operator()(task_group& group) const {
            group.spawn(wait_in_task(*until));
            co_await group.join();
            co_return group.first_error();
        }
    };

    auto wait() { return with_group(body{&it}); }
    void wake() { it.set(); }

    event it;
};

struct waits_on_strand : needs_no_loop {
    static constexpr const char* name = "on(strand)";
    explicit waits_on_strand(io_context& io) : needs_no_loop{io}, order{io} {}

    auto wait() { return on(order, wait_in_task(it)); }
    void wake() { it.set(); }

    strand order;
    event it;
};

struct waits_for_next : needs_no_loop {
    static constexpr const char* name = "generator";
    using needs_no_loop::needs_no_loop;

    static generator<io_result<>> outcomes(event& until) {
        io_result<> waited;
        for (;;) {
            waited = co_await until.wait();
            co_yield waited;
        }
    }

    auto wait() { return values.next(); }
    void wake() { it.set(); }

    event it;
    generator<io_result<>> values = outcomes(it);
};

// Of all that waits here.
const std::array everything{
    subject<waits_for_event>(),
    subject<waits_for_permit>(),
    subject<waits_for_lock>(),
    subject<waits_for_condition>(),
    subject<waits_to_send>(),
    subject<waits_for_room>(),
    subject<waits_to_receive>(),
    subject<waits_to_send_between_loops>(),
    subject<waits_to_receive_between_loops>(),
    subject<waits_to_receive_many>(),
    subject<waits_for_notification>(),
    subject<waits_for_oneshot>(),
    subject<waits_for_change>(),
    subject<waits_for_broadcast>(),
    subject<waits_for_shared_permits>(),
    subject<waits_to_write>(),
    subject<waits_to_read>(),
    subject<waits_for_latch>(),
    subject<waits_for_others>(),
    subject<waits_for_once>(),
    subject<waits_with_timeout>(),
    subject<waits_with_nested_limits>(),
    subject<waits_for_all>(),
    subject<waits_for_all_in_vector>(),
    subject<waits_for_any>(),
    subject<waits_for_any_in_vector>(),
    subject<waits_in_task>(),
    subject<waits_for_group>(),
    subject<waits_on_strand>(),
    subject<waits_for_next>(),
};

}  // namespace

TEST_CASE("every wait that begins stopped is canceled at once") {
    for (const waiting_subject& each : everything) check_stopped_before_start(each);
}

TEST_CASE("every pending wait is canceled by a stop") {
    for (const waiting_subject& each : everything) check_stopped_while_pending(each);
}

TEST_CASE("every wait that was woken has what it was woken for although a stop follows") {
    for (const waiting_subject& each : everything) check_woken_then_stopped(each);
}

TEST_CASE("every wait that was stopped is canceled although a wake-up follows") {
    for (const waiting_subject& each : everything) check_stopped_then_woken(each);
}

TEST_CASE("no wait that is not intake is ended by a drain") {
    for (const waiting_subject& each : everything) check_drain_ignored(each);
}

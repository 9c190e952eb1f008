// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/signals.hpp promises to the code that uses it.
#include <gyre/io/signals.hpp>

#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/test/fuse.hpp>
#include <support/child.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

signal_set subscribe(io_context& io, std::initializer_list<int> signals) {
    io_result<signal_set> opened = signal_set::open(io, signals);
    REQUIRE(opened.ok());
    return opened.take();
}

// What the process does on `signal`, as a number to compare.
std::uintptr_t disposition_of(int signal) {
    struct sigaction action{};
    REQUIRE(::sigaction(signal, nullptr, &action) == 0);
    return reinterpret_cast<std::uintptr_t>(action.sa_handler);
}

task<> note_signal(signal_set& from, io_result<int>& outcome) { outcome = co_await from.wait(); }

}  // namespace

TEST_CASE("dispositions are put back when the last set that changed them has gone") {
    with_every_backend([](const io_context_options& options) {
        const auto original = ::signal(SIGUSR1, SIG_IGN);
        const std::uintptr_t before = disposition_of(SIGUSR1);
        {
            io_context io{options};
            signal_set first = subscribe(io, {SIGUSR1});
            const std::uintptr_t during = disposition_of(SIGUSR1);
            {
                const signal_set second = subscribe(io, {SIGUSR1});
            }
            CHECK(during != before);
            CHECK(disposition_of(SIGUSR1) == during);
            first = signal_set{};
            CHECK(disposition_of(SIGUSR1) == before);
        }
        ::signal(SIGUSR1, original);
    });
}

TEST_CASE("a wait that there is no memory for goes on, and hears the signal") {
    with_every_backend([](const io_context_options& options) {
        test::fuse fault{1, 0};
        const test::fused_loops under{fault};
        io_context io{options};
        signal_set signals = subscribe(io, {SIGUSR1});
        io_result<int> outcome;
        launch(io, note_signal(signals, outcome), or_terminate{});
        io.poll();
        CHECK(fault.fault() == errc::not_enough_memory);

        ::raise(SIGUSR1);
        io.run();

        CHECK(outcome.ok());
        CHECK(outcome.value() == SIGUSR1);
    });
}

TEST_CASE("exit_on_second ends the process on the second signal, even if its loop is stuck") {
    with_every_backend([](const io_context_options& options) {
        const child_report report = in_child([&](child_process& me) {
            io_context io{options};
            signal_set signals = subscribe(io, {SIGUSR1, SIGTERM});
            signals.exit_on_second();
            ::raise(SIGUSR1);
            me.say("alive after the first");
            ::raise(SIGTERM);
            me.say("alive after the second");
        });

        CHECK(report.text == "alive after the first\n");
        CHECK(report.status == 128 + SIGTERM);
    });
}

namespace {

const std::vector<conformance_row> on_the_kernel{
    {"a signal that is delivered while it is waited for ends the wait",
     [](io_context& io) -> task<> {
         signal_set signals = subscribe(io, {SIGUSR1});
         io_result<int> outcome;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_signal(signals, outcome));
             co_await settle();
             CHECK(outcome.value() == 0);
             ::raise(SIGUSR1);
         };

         co_await with_group(body);

         CHECK(outcome.ok());
         CHECK(outcome.value() == SIGUSR1);
     }},
    {"signals that come before a wait are kept, the lowest number first",
     [](io_context& io) -> task<> {
         signal_set signals = subscribe(io, {SIGUSR2, SIGUSR1, SIGHUP});
         ::raise(SIGUSR2);
         ::raise(SIGUSR1);
         ::raise(SIGHUP);

         const io_result<int> first = co_await signals.wait();
         const io_result<int> second = co_await signals.wait();
         const io_result<int> third = co_await signals.wait();
         const io_result<int> none = co_await with_timeout(1ms, signals.wait());

         CHECK(first.value() == SIGHUP);
         CHECK(second.value() == SIGUSR1);
         CHECK(third.value() == SIGUSR2);
         CHECK(none.error() == errc::timed_out);
     }},
    {"a signal delivered twice before it is waited for is reported at least once",
     [](io_context& io) -> task<> {
         signal_set signals = subscribe(io, {SIGUSR1});
         for (int each = 0; each < 100; ++each) ::raise(SIGUSR1);

         const io_result<int> first = co_await signals.wait();
         ::raise(SIGUSR1);
         const io_result<int> later = co_await signals.wait();

         CHECK(first.value() == SIGUSR1);
         CHECK(later.value() == SIGUSR1);
     }},
    {"a wait for a signal that is given up loses none",
     [](io_context& io) -> task<> {
         signal_set signals = subscribe(io, {SIGUSR1});

         for (int each = 0; each < 50; ++each) {
             const io_result<int> none = co_await with_timeout(duration::zero(), signals.wait());
             REQUIRE(none.error() == errc::timed_out);
             ::raise(SIGUSR1);
             const io_result<int> kept = co_await signals.wait();
             REQUIRE(kept.value() == SIGUSR1);
         }
     }},
    {"a wait for a signal ends when it is stopped",
     [](io_context& io) -> task<> {
         signal_set signals = subscribe(io, {SIGUSR1});
         io_result<int> outcome;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_signal(signals, outcome));
             co_await settle();
             group.request_stop();
         };

         co_await with_group(body);
         ::raise(SIGUSR1);
         const io_result<int> after = co_await signals.wait();

         CHECK(outcome.error() == errc::canceled);
         CHECK(after.value() == SIGUSR1);
     }},
    {"every set that wants a signal gets it",
     [](io_context& io) -> task<> {
         signal_set first = subscribe(io, {SIGUSR1});
         signal_set second = subscribe(io, {SIGUSR2, SIGUSR1});
         signal_set other = subscribe(io, {SIGUSR2});
         ::raise(SIGUSR1);

         const io_result<int> at_first = co_await first.wait();
         const io_result<int> at_second = co_await second.wait();
         const io_result<int> at_other = co_await with_timeout(1ms, other.wait());

         CHECK(at_first.value() == SIGUSR1);
         CHECK(at_second.value() == SIGUSR1);
         CHECK(at_other.error() == errc::timed_out);
     }},
    {"a set may move, while it is waited for in a coroutine that owns it elsewhere",
     [](io_context& io) -> task<> {
         signal_set signals = subscribe(io, {SIGUSR1});
         ::raise(SIGUSR1);
         signal_set moved = std::move(signals);
         signals = subscribe(io, {SIGUSR2});
         ::raise(SIGUSR2);

         const io_result<int> first = co_await moved.wait();
         const io_result<int> second = co_await signals.wait();

         CHECK(first.value() == SIGUSR1);
         CHECK(second.value() == SIGUSR2);
     }},
    {"a set may move while it is waited for, and is waited for all the same",
     [](io_context& io) -> task<> {
         auto signals = std::make_unique<signal_set>(subscribe(io, {SIGUSR1}));
         io_result<int> outcome;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_signal(*signals, outcome));
             co_await settle();
             signals = std::make_unique<signal_set>(std::move(*signals));
             ::raise(SIGUSR1);
         };

         co_await with_group(body);

         CHECK(outcome.value() == SIGUSR1);
     }},
    {"a set that goes while it is waited for ends the wait, even when a signal has come to it",
     [](io_context& io) -> task<> {
         std::array<std::unique_ptr<signal_set>, 2> sets;
         std::array<io_result<int>, 2> outcomes;
         for (auto& each : sets) each = std::make_unique<signal_set>(subscribe(io, {SIGUSR1}));
         const auto wait_and_end_other = [&](std::size_t which) -> task<> {
             outcomes[which] = co_await sets[which]->wait();
             sets[1 - which].reset();
         };
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(wait_and_end_other(0));
             group.spawn(wait_and_end_other(1));
             co_await settle();
             ::raise(SIGUSR1);
         };

         co_await with_group(body);

         const std::size_t first = outcomes[0].ok() ? 0 : 1;
         CHECK(outcomes[first].value() == SIGUSR1);
         CHECK(outcomes[1 - first].error() == errc::canceled);
     }},
    {"a set that is not open is waited for in vain, and ends nothing",
     [](io_context&) -> task<> {
         signal_set none;
         none.exit_on_second();

         const io_result<int> outcome = co_await none.wait();

         CHECK(outcome.error() == errc::closed);
     }},
    {"signals sent from another thread wake a sleeping loop, however many there are",
     [](io_context& io) -> task<> {
         signal_set signals = subscribe(io, {SIGUSR1});
         for (int round = 0; round < 200; ++round) {
             std::atomic<bool> heard = false;
             std::thread sender{[&heard] {
                 ::kill(::getpid(), SIGUSR1);
                 // It may be delivered to this very thread, and under TSan only in a call like this.
                 while (!heard.load()) ::poll(nullptr, 0, 1);
             }};
             const io_result<int> got = co_await signals.wait();
             heard = true;
             sender.join();
             REQUIRE(got.value() == SIGUSR1);
         }
     }},
    {"what is no signal, or cannot be handled, is refused and changes nothing",
     [](io_context& io) -> task<> {
         const std::uintptr_t before = disposition_of(SIGUSR1);
         const std::size_t descriptors = open_descriptors();

         for (const int wrong : {0, -1, 65, 1000, SIGKILL, SIGSTOP}) {
             CHECK(signal_set::open(io, {SIGUSR1, wrong}).error() == errc::invalid_argument);
             CHECK(signal_set::open(io, {SIGUSR1, wrong}).error().during() == activity::signal);
             CHECK(disposition_of(SIGUSR1) == before);
         }

         CHECK(open_descriptors() == descriptors);
         co_return;
     }},
    {"naming a signal twice in one set is naming it once",
     [](io_context& io) -> task<> {
         const std::uintptr_t before = disposition_of(SIGUSR1);
         {
             signal_set signals = subscribe(io, {SIGUSR1, SIGUSR1});
             ::raise(SIGUSR1);
             const io_result<int> got = co_await signals.wait();
             CHECK(got.value() == SIGUSR1);
         }
         CHECK(disposition_of(SIGUSR1) == before);
     }},
    {"there are 32 sets at a time, and one more is refused",
     [](io_context& io) -> task<> {
         std::vector<signal_set> sets;
         for (int each = 0; each < 32; ++each) sets.push_back(subscribe(io, {SIGUSR1}));

         const io_result<signal_set> one_more = signal_set::open(io, {SIGUSR1});
         sets.pop_back();
         const io_result<signal_set> again = signal_set::open(io, {SIGUSR1});

         CHECK(one_more.error() == errc::limit_exceeded);
         CHECK(again.ok());
         co_return;
     }},
};

const conformance_suite on_the_kernel_suite{"signals", on_the_kernel};

}  // namespace

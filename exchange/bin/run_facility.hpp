// SPDX-License-Identifier: BSL-1.0
//
// A matching facility as a process: from its configuration to the end of its day.
//
// It says one line when clients may come, and a summary at the end. SIGTERM and SIGINT drain it, a second
// one ends it at once, SIGQUIT tells who is there and what the loop waits for. Written once over the seam;
// facility_on_gyre.cpp and facility_on_asio.cpp choose who carries it.
#pragma once

#include <exchange/management/config.hpp>
#include <exchange/net/application/life_name.hpp>
#include <exchange/net/application/matching_facility.hpp>

#include <gyre/base/build.hpp>
#include <gyre/coro/task_dump.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

namespace exchange {

/// @tparam  X         A side of the seam.
/// @tparam  Facility  A matching_facility, or what has its members.
template <executor_traits X, class Facility>
class facility_program {
public:
    using task = typename X::template task<void>;

    /// @param  context  Borrowed; outlives this.
    /// @param  how      Borrowed; outlives this. Read without errors.
    facility_program(typename X::context& context, const config& how)
        : context_{context},
          how_{how},
          host_{how.host, X::now(context)},
          facility_{context, host_, how.facility},
          pause_{context} {}

    /// Runs until a signal ends it.
    ///
    /// @return  The exit status: 0, or 1 if it could not begin, which was said.
    [[nodiscard]] int run() {
        for (const opening_command& each : how_.opening) host_.apply(each.what);
        outwait_own_name();
        prepare_for_late_signals();
        auto opened = X::open_signals(context_, {SIGINT, SIGTERM, SIGQUIT});
        if (!opened.ok()) return cannot_begin("watch signals", opened.error());
        signals_ = opened.take();
        const auto [failed] = facility_.start();
        if (failed) return cannot_begin("open its sockets", failed);
        say_ready();
        X::launch(context_, obey_signals());
        context_.run();
        say_summary(stdout);
        return 0;
    }

private:
    static constexpr auto look_again = std::chrono::milliseconds{5};

    // Whoever is started behind this one, once it has said anything, must be called otherwise. Usually
    // building all the memory has taken longer than that.
    void outwait_own_name() const {
        while (life_name(wall_time()) == how_.host.feed.session)
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }

    // ThreadSanitizer of g++ 12 makes the place where it keeps a signal for later in the thread's first call
    // that may block, and loses one that comes meanwhile. On epoll that call would follow the line that
    // says that the program is ready, so it is made before there are any signals.
    static void prepare_for_late_signals() {
        if constexpr (gyre::signals_come_late)
            std::this_thread::sleep_for(std::chrono::nanoseconds{1});
    }

    [[nodiscard]] int cannot_begin(const char* what, gyre::error why) const {
        std::fprintf(
            stderr,
            "matching_facility: cannot %s (order entry %s, feed from %s, requests %s): %s\n", what,
            how_.facility.order_entry.to_string().c_str(),
            how_.facility.feed_from.to_string().c_str(),
            how_.facility.feed_requests.to_string().c_str(), why.message().c_str());
        return 1;
    }

    void say_ready() const {
        std::printf("ready: order entry %s, feed %s, requests %s, backend %s, life %s",
                    facility_.order_entry().to_string().c_str(),
                    how_.facility.feed.to_string().c_str(),
                    facility_.feed_requests().to_string().c_str(),
                    std::string{describe(how_.backend)}.c_str(),
                    std::string{how_.host.feed.session.view()}.c_str());
        if constexpr (requires { facility_.gateways(); }) {
            if (how_.facility.websocket.kind() != gyre::endpoint::family::none)
                std::printf(", websocket %s", facility_.websocket().to_string().c_str());
            if (how_.facility.gateways.wanted())
                std::printf(", gateways %s", facility_.gateways().to_string().c_str());
        }
        std::puts("");
        std::fflush(stdout);
    }

    void say_summary(std::FILE* to) {
        const auto count = [](std::uint64_t it) { return static_cast<unsigned long long>(it); };
        std::fprintf(
            to,
            "commands %llu, malformed %llu, feed messages %llu, lost unsent %llu, datagrams %llu, "
            "not sent %llu, requests answered %llu, refused %llu, over the limit %llu, failures to "
            "hear requests %llu\n",
            count(host_.counts().commands), count(host_.counts().malformed),
            count(host_.feed().messages().next_sequence() - how_.host.feed.first_sequence),
            count(host_.feed().unsent_lost()), count(facility_.feed().datagrams),
            count(facility_.feed().refused), count(facility_.feed().answers),
            count(facility_.feed().faults), count(facility_.feed().unanswered),
            count(facility_.feed().failures));
        std::fflush(to);
    }

    void say_state() {
        for (const participant& each : host_.participants())
            if (!each.removed())
                std::fprintf(
                    stderr, "%s: %s, next message %llu\n",
                    std::string{each.who().username.view()}.c_str(),
                    each.connection() != nullptr ? "connected" : "away",
                    static_cast<unsigned long long>(each.stream().messages().next_sequence()));
        for (const operator_session& each : host_.operators()) {
            if (each.free()) continue;
            std::fprintf(stderr, "%s (%s): connected from %s\n",
                         std::string{each.user().username.view()}.c_str(),
                         std::string{describe(each.user().role)}.c_str(),
                         each.peer().to_string().c_str());
        }
        say_summary(stderr);
        if constexpr (std::derived_from<typename X::context, gyre::loop>)
            std::fputs(gyre::dump_tasks(context_).c_str(), stderr);
    }

    task obey_signals() {
        bool draining = false;
        for (;;) {
            const auto [ended, signal] = co_await signals_.wait();
            if (ended) co_return;
            if (signal == SIGQUIT) {
                say_state();
            } else if (draining) {
                say_summary(stdout);
                std::_Exit(128 + signal);
            } else {
                draining = true;
                X::launch(context_, drain());
            }
        }
    }

    [[nodiscard]] bool somebody_is_expected() const {
        return std::ranges::any_of(host_.participants(), &participant::is_expected);
    }

    /// Lets clients read the end of their day, also those whose connection was lost and who may be coming
    /// again just now; and listeners that of the feed, which the next tick sends.
    task drain() {
        facility_.drain();
        const gyre::time_point begun = X::now(context_);
        const gyre::time_point least = gyre::deadline_after(begun, 3 * how_.facility.timer_tick);
        const gyre::time_point most = gyre::deadline_after(begun, how_.drain_within);
        for (;;) {
            const gyre::time_point now = X::now(context_);
            if (now >= most || (facility_.idle() && !somebody_is_expected() && now >= least)) break;
            static_cast<void>(co_await pause_.wait_until(now + look_again));
        }
        if (!facility_.idle())
            std::fputs("matching_facility: some clients did not leave in time\n", stderr);
        for (const participant& each : host_.participants())
            if (each.is_expected() && each.connection() == nullptr)
                std::fprintf(stderr,
                             "matching_facility: %s was lost, and did not come for the end\n",
                             std::string{each.who().username.view()}.c_str());
        facility_.stop();
        signals_.cancel();
    }

    typename X::context& context_;
    const config& how_;
    order_entry_host host_;
    Facility facility_;
    typename X::signal_set signals_;
    typename X::timer pause_;
};

/// Runs a facility on the backend that `how` names, of which each of these knows its own.
///
/// @return  The exit status; what went wrong was said.
[[nodiscard]] int run_on_gyre(const config& how);
[[nodiscard]] int run_on_asio(const config& how);

}  // namespace exchange

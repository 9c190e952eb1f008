// SPDX-License-Identifier: BSL-1.0
//
// An order entry gateway as a process: from its configuration to the signal that ends it.
//
// It says one line when clients may come, and a summary at the end. SIGTERM and SIGINT drain it, a second
// one ends it at once, SIGQUIT tells who is there. Written once over the seam; gateway_on_gyre.cpp and
// gateway_on_asio.cpp choose who carries it.
#pragma once

#include <exchange/management/gateway_config.hpp>
#include <exchange/net/application/order_entry_gateway.hpp>

#include <gyre/base/build.hpp>
#include <gyre/coro/task_dump.hpp>

#include <chrono>
#include <concepts>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace exchange {

/// @tparam  X        A side of the seam.
/// @tparam  Gateway  An order_entry_gateway.
template <executor_traits X, class Gateway>
class gateway_program {
public:
    using task = typename X::template task<void>;

    /// @param  context  Borrowed; outlives this.
    /// @param  how      Borrowed; outlives this. Read without errors.
    gateway_program(typename X::context& context, const gateway_config& how)
        : context_{context},
          how_{how},
          host_{how.host, X::now(context)},
          gateway_{context, host_, how.gateway},
          pause_{context} {}

    /// Runs until a signal ends it.
    ///
    /// @return  The exit status: 0, or 1 if it could not begin, which was said.
    [[nodiscard]] int run() {
        prepare_for_late_signals();
        auto opened = X::open_signals(context_, {SIGINT, SIGTERM, SIGQUIT});
        if (!opened.ok()) return cannot_begin("watch signals", opened.error());
        signals_ = opened.take();
        if (const gyre::error failed = start()) return cannot_begin("listen", failed);
        std::printf("ready: order entry %s, facility %s, backend %s",
                    gateway_.order_entry().to_string().c_str(),
                    how_.gateway.facility.to_string().c_str(),
                    std::string{describe(how_.backend)}.c_str());
        if (gateway_.websocket().kind() != gyre::endpoint::family::none)
            std::printf(", websocket %s", gateway_.websocket().to_string().c_str());
        std::puts("");
        std::fflush(stdout);
        X::launch(context_, obey_signals());
        context_.run();
        say_summary(stdout);
        return 0;
    }

private:
    static constexpr auto look_again = std::chrono::milliseconds{5};

    // The kernel takes apart the ring of a process that was killed, and with it its sockets, when that has
    // ended already. So who takes its place at once may have to wait for the address.
    [[nodiscard]] gyre::error start() {
        constexpr int attempts = 200;
        for (int attempt = 1;; ++attempt) {
            const auto [failed] = gateway_.start();
            if (failed != gyre::errc::address_in_use || attempt == attempts) return failed;
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
    }

    // See facility_program: what ThreadSanitizer of g++ 12 needs.
    static void prepare_for_late_signals() {
        if constexpr (gyre::signals_come_late)
            std::this_thread::sleep_for(std::chrono::nanoseconds{1});
    }

    [[nodiscard]] int cannot_begin(const char* what, gyre::error why) const {
        std::fprintf(stderr, "order_entry_gateway: cannot %s (order entry %s): %s\n", what,
                     how_.gateway.order_entry.to_string().c_str(), why.message().c_str());
        return 1;
    }

    void say_summary(std::FILE* to) const {
        const auto count = [](std::uint64_t it) { return static_cast<unsigned long long>(it); };
        const gateway_counts& it = host_.counts();
        std::fprintf(to,
                     "logins %llu, refused %llu, messages forwarded %llu, over the rate %llu, "
                     "facility not there %llu, clients shed %llu, links %llu\n",
                     count(it.logins), count(it.refused), count(it.forwarded), count(it.held_back),
                     count(it.unreachable), count(it.shed), count(it.links));
        std::fflush(to);
    }

    void say_state() {
        std::fprintf(stderr, "facility %s: %s\n", how_.gateway.facility.to_string().c_str(),
                     host_.link_up() ? "connected" : "away");
        gateway_.for_each_client([](const gateway_client& each) {
            if (!each.logged_in()) return;
            std::fprintf(stderr, "%s: %s, next message %llu\n",
                         std::string{each.username().view()}.c_str(),
                         each.is_open() ? "connected" : "waits for the facility",
                         static_cast<unsigned long long>(each.next_sequence()));
        });
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

    /// Lets clients finish what they do; who is still here then can come again, elsewhere or later.
    task drain() {
        gateway_.drain();
        const gyre::time_point most = gyre::deadline_after(X::now(context_), how_.drain_within);
        while (gateway_.clients() > 0 && X::now(context_) < most)
            static_cast<void>(co_await pause_.wait_until(X::now(context_) + look_again));
        if (gateway_.clients() > 0)
            std::fputs("order_entry_gateway: some clients did not leave in time\n", stderr);
        gateway_.stop();
        signals_.cancel();
    }

    typename X::context& context_;
    const gateway_config& how_;
    gateway_host host_;
    Gateway gateway_;
    typename X::signal_set signals_;
    typename X::timer pause_;
};

/// Runs a gateway on the backend that `how` names, of which each of these knows its own.
///
/// @return  The exit status; what went wrong was said.
[[nodiscard]] int run_gateway_on_gyre(const gateway_config& how);
[[nodiscard]] int run_gateway_on_asio(const gateway_config& how);

}  // namespace exchange

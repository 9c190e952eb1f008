// SPDX-License-Identifier: BSL-1.0
//
// What every server process of the exchange does between its configuration and its end, whatever it serves.
//
// It listens, says one line when clients may come, and a summary at the end. SIGTERM and SIGINT drain it, a
// second one ends it at once, SIGQUIT tells who is there and what the loop waits for. An admin port answers
// beside it, if there is to be one, and what seldom happens is logged on standard error. Written once over
// the seam: run_facility.hpp and run_gateway.hpp have what is served.
//
// None of what it says is worth waiting for: a reader of its output or of its log that hangs, or is gone,
// misses it.
#pragma once

#include <exchange/management/admin_server.hpp>
#include <exchange/management/lifeline.hpp>
#include <exchange/management/process_options.hpp>
#include <exchange/management/write_within.hpp>
#include <exchange/net/executor_traits.hpp>

#include <gyre/base/build.hpp>
#include <gyre/coro/task_dump.hpp>

#include <chrono>
#include <concepts>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace exchange {

/// What is served: made of its configuration, on a context.
///
///   name                    What the process is called, in all that it says.
///   start()                 Listens and begins. After an error nothing has begun.
///   how()                   Where it was to listen, for an error of `start`.
///   ready_line()            Behind "ready: ", without an end of line.
///   summary()               What it has done, with an end of line.
///   say_state(file)         Who is connected.
///   drain(timer)            A task: lets no more in, and waits until all have left or had the time to. The
///                           timer is the process', for waiting.
///   stop()                  Ends everything.
///   tell(report)            Adds its figures and sessions.
///
/// It may have these as well:
///   until_ready()           A task: the process is ready behind it; else it is behind `start`.
///   status()                The exit status of an orderly end; else 0.
///   kill()                  Called before the process ends at once.
///   commands()              The names of commands that its admin port may take; static.
///   command(name, child)    Carries one out: an admin_outcome.
template <class Type, class X>
concept served_by_process =
    executor_traits<X> && requires(Type& it, const Type& same, std::FILE* to,
                                   typename X::timer& timer, admin_report& report) {
        { Type::name } -> std::convertible_to<std::string_view>;
        { it.start() } -> std::same_as<gyre::error>;
        { same.how() } -> std::same_as<std::string>;
        { same.ready_line() } -> std::same_as<std::string>;
        { it.summary() } -> std::same_as<std::string>;
        it.say_state(to);
        { it.drain(timer) } -> std::same_as<typename X::template task<void>>;
        it.stop();
        it.tell(report);
    };

/// @tparam  X       A side of the seam.
/// @tparam  Served  served_by_process<X>.
template <executor_traits X, class Served>
class exchange_process final : admin_source {
public:
    using task = typename X::template task<void>;

    /// @param  context  Borrowed; outlives this, and so do the others.
    /// @param  log      Of the process: see process_options.
    exchange_process(typename X::context& context, Served& served, const process_options& how,
                     std::string_view backend, event_log& log)
        : context_{context},
          served_{served},
          how_{how},
          backend_{backend},
          log_{log},
          begun_{std::chrono::steady_clock::now()},
          pause_{context} {
        static_assert(served_by_process<Served, X>);
    }

    /// Runs until a signal ends it.
    ///
    /// @return  The exit status: 0, or 1 if it could not begin, which was said.
    [[nodiscard]] int run() {
        supervised_ = follow_lifeline();
        ignore_broken_pipes();
        prepare_for_late_signals();
        auto opened = X::open_signals(context_, {SIGINT, SIGTERM, SIGQUIT});
        if (!opened.ok()) return cannot_begin("watch signals", served_.how(), opened.error());
        signals_ = opened.take();
        const auto [refused, admin_line] = open_admin();
        if (refused) return cannot_begin("open its admin port", how_.admin.at.to_string(), refused);
        if (const gyre::error failed = served_.start())
            return cannot_begin("open its sockets", served_.how(), failed);
        X::launch(context_, obey_signals());
        if constexpr (requires { served_.until_ready(); })
            X::launch(context_, say_ready_behind(served_.until_ready(), admin_line));
        else say_ready(admin_line);
        context_.run();
        say(served_.summary());
        log_.info("ended");
        if constexpr (requires { served_.status(); }) return served_.status();
        else return 0;
    }

private:
    // ThreadSanitizer of g++ 12 makes the place where it keeps a signal for later in the thread's first call
    // that may block, and loses one that comes meanwhile. On epoll that call would follow the line that
    // says that the program is ready, so it is made before there are any signals.
    static void prepare_for_late_signals() {
        if constexpr (gyre::signals_come_late)
            std::this_thread::sleep_for(std::chrono::nanoseconds{1});
    }

    [[nodiscard]] static int cannot_begin(const char* what, const std::string& where,
                                          gyre::error why) {
        std::fprintf(stderr, "%s: cannot %s (%s): %s\n", std::string{Served::name}.c_str(), what,
                     where.c_str(), why.message().c_str());
        return 1;
    }

    void say_ready(const std::string& more) {
        say("ready: " + served_.ready_line() + more + '\n');
        state_ = process_state::ready;
        log_.info("ready", {{"backend", backend_}});
    }
    task say_ready_behind(task until_ready, std::string more) {
        co_await std::move(until_ready);
        if (state_ == process_state::starting) say_ready(more);
    }

    static void say(const std::string& text) noexcept {
        static_cast<void>(write_within(std::chrono::milliseconds{200}, ::fileno(stdout), text));
    }

    void say_state() {
        char* text = nullptr;
        std::size_t size = 0;
        std::FILE* const into = ::open_memstream(&text, &size);
        if (into == nullptr) return;
        served_.say_state(into);
        std::fputs(served_.summary().c_str(), into);
        if constexpr (has_tasks) std::fputs(gyre::dump_tasks(context_).c_str(), into);
        std::fclose(into);
        note_on_error_output({text, size});
        std::free(text);
    }

    task obey_signals() {
        for (;;) {
            const auto [ended, signal] = co_await signals_.wait();
            if (ended) co_return;
            if (signal == SIGQUIT) {
                say_state();
            } else if (state_ == process_state::draining && asks_in_order(signal)) {
                // Asked by its supervisor and by who ends all processes of a service, for instance.
            } else if (state_ == process_state::draining) {
                say(served_.summary());
                if constexpr (requires { served_.kill(); }) served_.kill();
                std::_Exit(128 + signal);
            } else {
                state_ = process_state::draining;
                log_.info("draining", {{"signal", signal}});
                X::launch(context_, drain());
            }
        }
    }

    /// Is there a supervisor, which kills those that are late? Then who is impatient has to ask that one.
    [[nodiscard]] bool asks_in_order(int signal) const noexcept {
        return supervised_ && signal == SIGTERM && !requires { served_.kill(); };
    }

    task drain() {
        co_await served_.drain(pause_);
        served_.stop();
        signals_.cancel();
    }

    // ----------------------------------------------------------------------------------------
    // The admin port
    // ----------------------------------------------------------------------------------------

    static constexpr bool has_tasks = std::derived_from<typename X::context, gyre::loop>;

    /// What is added to the line that says that the process is ready.
    [[nodiscard]] gyre::io_result<std::string> open_admin() {
        if (!how_.admin.wanted()) return std::string{};
        admin_.emplace(static_cast<admin_source&>(*this), how_.admin);
        const auto [failed] = admin_->start();
        if (failed) return failed;
        return ", admin " + admin_->at().to_string();
    }

    void post(std::function<void()> function) override { context_.post(std::move(function)); }
    [[nodiscard]] admin_report report() override {
        admin_report made;
        made.process = Served::name;
        made.backend = backend_;
        made.state = state_;
        made.uptime_ms =
            static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                           std::chrono::steady_clock::now() - begun_)
                                           .count());
        served_.tell(made);
        made.figures.push_back({"log_lost", log_.lost(), "Lines of its log that nothing took"});
        return made;
    }
    [[nodiscard]] std::vector<std::string> commands() const override {
        if constexpr (requires { Served::commands(); }) return Served::commands();
        else return {};
    }
    [[nodiscard]] admin_outcome command(std::string_view name, std::string_view child) override {
        if constexpr (requires { Served::commands(); }) {
            log_.info("command", {{"what", name}, {"child", child}});
            return served_.command(name, child);
        } else {
            return admin_source::command(name, child);
        }
    }
    [[nodiscard]] std::string tasks() override {
        if constexpr (has_tasks) return gyre::dump_tasks(context_);
        else return "the backend " + backend_ + " does not know what its tasks wait for\n";
    }

    typename X::context& context_;
    Served& served_;
    const process_options& how_;
    std::string backend_;
    event_log& log_;
    std::chrono::steady_clock::time_point begun_;
    process_state state_ = process_state::starting;
    bool supervised_ = false;
    typename X::signal_set signals_;
    typename X::timer pause_;
    std::optional<admin_server> admin_;
};

/// Serves until a signal ends it, on a context that is there.
///
/// @tparam  Served  Is made of the context, the configuration and a log.
/// @param   how     The configuration; has a `process` and a `backend`.
/// @return  The exit status; what went wrong was said.
template <executor_traits X, class Served, class Config>
[[nodiscard]] int run_served(typename X::context& context, const Config& how) {
    event_log log{::fileno(stderr), std::string{Served::name}, how.process.log};
    Served served{context, how, log};
    return exchange_process<X, Served>{context, served, how.process, describe(how.backend), log}
        .run();
}

/// Asks `ready()` every few milliseconds until it says yes, or `most` has come.
template <executor_traits X, class Ready>
[[nodiscard]] typename X::template task<void> look_until(typename X::context& context,
                                                         typename X::timer& timer,
                                                         gyre::time_point most, Ready ready) {
    constexpr auto look_again = std::chrono::milliseconds{5};
    for (;;) {
        const gyre::time_point now = X::now(context);
        if (now >= most || ready(now)) co_return;
        static_cast<void>(co_await timer.wait_until(now + look_again));
    }
}

/// How long those who stay to the end of a drain have for reading that they are to go.
inline constexpr gyre::duration last_words_max = std::chrono::milliseconds{500};

/// What an error says of a network interface that is named.
[[nodiscard]] inline std::string through(const std::string& interface) {
    return interface.empty() ? std::string{} : " through " + interface;
}

/// The kernel takes apart the ring of a process that was killed, and with it its sockets, when that has
/// ended already. So a process that takes its place at once may have to wait for the address: two seconds at
/// most.
///
/// @param  start  Yields a gyre::error; after one that is set nothing has begun.
template <class Start>
[[nodiscard]] gyre::error start_patiently(const Start& start) {
    constexpr int attempts = 200;
    for (int attempt = 1;; ++attempt) {
        const gyre::error failed = start();
        if (failed != gyre::errc::address_in_use || attempt == attempts) return failed;
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
}

}  // namespace exchange

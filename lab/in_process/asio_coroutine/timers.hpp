// SPDX-License-Identifier: BSL-1.0
//
// Asio's timers with coroutines.
//
// Asio has no wait that a coroutine could begin and cancel by itself, so `cancel_waited` posts the
// cancellation first. The alternative, `timer.async_wait(...) || something` of
// awaitable_operators, makes coroutines of both sides, which is slower. As in ../asio_callback/timers.hpp,
// `expires_after`, which reads the clock, stands only where the clock has moved.
#pragma once

#include <lab/in_process/asio/timeouts.hpp>
#include <lab/in_process/asio_coroutine/library.hpp>

#include <lab/kit/fail.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>

#include <chrono>
#include <cstdint>

namespace asio_lab {

struct coroutine_words : coroutine_library {
    using timeouts = asio_lab::timeouts;

    static constexpr auto result_of = asio::as_tuple(asio::deferred);

    // All parameters of coroutines are borrowed: they outlive the run of the loop.

    static task cancel_waited(context& loop, std::uint64_t count, std::uint64_t& done) {
        timer it{loop};
        lab::turn_clock clock;
        for (; done < count; ++done) {
            it.expires_at(clock.now() + lab::far_away);
            asio::post(loop, [&it] { it.cancel(); });
            const auto [error] = co_await it.async_wait(result_of);
            lab::require(error == asio::error::operation_aborted, "asio: a timer fired");
        }
    }

    static task cancel_unwaited(context& loop, std::uint64_t count, std::uint64_t& done) {
        timer it{loop};
        for (; done < count; ++done) {
            it.expires_after(lab::far_away);
            it.cancel();
        }
        co_return;
    }

    class alarm {
    public:
        explicit alarm(context& loop) : it_{loop} {}

        auto sleep_for(std::chrono::nanoseconds delay) {
            it_.expires_after(delay);
            return it_.async_wait(asio::deferred);
        }
        auto sleep_until(std::chrono::steady_clock::time_point end) {
            it_.expires_at(end);
            return it_.async_wait(asio::deferred);
        }

    private:
        timer it_;
    };

    // A timer that is cancelled to let all of them go: Asio's usual event.
    class gate {
    public:
        explicit gate(context& loop) : it_{loop} {}

        void close() { it_.expires_after(lab::far_away); }
        void open() { it_.cancel(); }
        auto wait() { return it_.async_wait(result_of); }

    private:
        timer it_;
    };

    static auto yield(context& loop) { return asio::post(loop, asio::deferred); }
};

}  // namespace asio_lab

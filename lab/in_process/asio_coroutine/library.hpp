// SPDX-License-Identifier: BSL-1.0
//
// Boost.Asio as its coroutine users write it: `awaitable`, `co_spawn`, `deferred`; its words for
// ../coroutines.hpp and ../coroutine_timers.hpp.
//
// Awaiting `deferred` operations is the variant without a coroutine frame per operation. See
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/reference/deferred.html
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/composition/cpp20_coroutines.html
#pragma once

#include <lab/in_process/asio/library.hpp>
#include <lab/in_process/asio/timeouts.hpp>

#include <lab/kit/fail.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <tuple>
#include <utility>

namespace asio_lab {

using task = asio::awaitable<void, executor>;

// Unlike `detached`, ends the run when a coroutine ended with an exception.
inline void expect_success(std::exception_ptr error) {
    lab::require(!error, "asio: a coroutine threw");
}

struct coroutine_library : library {
    using task = asio_lab::task;

    static void spawn(library::context& on, task it) {
        asio::co_spawn(on, std::move(it), expect_success);
    }

    static auto write_some(stream& to, std::span<const std::byte> bytes) {
        return to.async_write_some(buffer_of(bytes), asio::deferred);
    }
    static auto read_some(stream& from, std::span<std::byte> space) {
        return from.async_read_some(buffer_of(space), asio::deferred);
    }
    static std::size_t moved(std::size_t size) { return size; }  // An error was thrown.

    static auto read_to_end(stream& from, std::span<std::byte> space) {
        return from.async_read_some(buffer_of(space), asio::as_tuple(asio::deferred));
    }
    static bool is_end(const std::tuple<error_code, std::size_t>& result) {
        return std::get<0>(result) == asio::error::eof;
    }

    static void close(stream& socket) { socket.close(); }

    static auto accept(port& at) { return at.listening.async_accept(asio::deferred); }
    static stream& accepted(stream& socket) { return socket; }

    class connecting {
    public:
        connecting(library::context& on, const port& at) : client_{on}, address_{at.address} {
            open(client_);
        }

        auto connect() { return client_.async_connect(address_, asio::as_tuple(asio::deferred)); }

        stream& take(std::tuple<error_code> result) {
            lab::require(!std::get<0>(result), "asio: connect");
            return client_;
        }

    private:
        stream client_;
        stream::endpoint_type address_;
    };

    using timeouts = asio_lab::timeouts;

    static constexpr auto result_of = asio::as_tuple(asio::deferred);

    // All parameters of coroutines are borrowed: they outlive the run of the loop. Asio has no wait that a
    // coroutine could begin and cancel by itself, so the cancellation is posted first. The alternative,
    // `timer.async_wait(...) || something` of awaitable_operators, makes coroutines of both sides, which is
    // slower.
    static task cancel_waited(context& loop, std::uint64_t count, std::uint64_t& done) {
        timer it{loop};
        for (; done < count; ++done) {
            it.expires_after(lab::far_away);
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

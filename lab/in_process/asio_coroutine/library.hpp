// SPDX-License-Identifier: BSL-1.0
//
// Boost.Asio as its coroutine users write it: `awaitable`, `co_spawn`, `deferred`; its words for
// ../coroutines.hpp.
//
// Awaiting `deferred` operations is the variant without a coroutine frame per operation. See
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/reference/deferred.html
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/composition/cpp20_coroutines.html
#pragma once

#include <lab/in_process/asio/library.hpp>

#include <lab/kit/fail.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>

#include <cstddef>
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
};

}  // namespace asio_lab

// SPDX-License-Identifier: BSL-1.0
//
// Ping-pong with coroutines: one plays both sides, or each side has one.
#include <lab/in_process/asio/sessions.hpp>
#include <lab/in_process/asio_coroutine/spawn.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace {

namespace asio = boost::asio;

using asio_lab::buffer_of;
using asio_lab::task;

class ping_pong_pair {
public:
    ping_pong_pair(asio::io_context& context, const lab::latency_case& work)
        : context_{context},
          sockets_{context, work.via},
          played_by_{work.played_by},
          message_{work.message_bytes},
          at_server_(work.message_bytes) {}

    void begin(std::uint64_t rounds, lab::histogram& latency) {
        if (played_by_ == lab::ping_pong::one_actor) {
            asio_lab::spawn(context_, play_alone(rounds, latency));
            return;
        }
        asio_lab::spawn(context_, answer(rounds));
        asio_lab::spawn(context_, ask(rounds, latency));
    }

private:
    // A coroutine for each message would cost a frame, so all of them have the same four loops.
    task play_alone(std::uint64_t rounds, lab::histogram& latency) {
        auto& [client, server] = sockets_;
        lab::lap_timer timer{latency};
        for (std::uint64_t round = 0; round < rounds; ++round) {
            for (auto left = message_.next(); !left.empty();) {
                const std::size_t size =
                    co_await client.async_write_some(buffer_of(left), asio::deferred);
                left = left.subspan(size);
            }
            for (auto left = std::span{at_server_}; !left.empty();) {
                const std::size_t size =
                    co_await server.async_read_some(buffer_of(left), asio::deferred);
                left = left.subspan(size);
            }
            for (auto left = std::as_bytes(std::span{at_server_}); !left.empty();) {
                const std::size_t size =
                    co_await server.async_write_some(buffer_of(left), asio::deferred);
                left = left.subspan(size);
            }
            for (auto left = message_.reply_space(); !left.empty();) {
                const std::size_t size =
                    co_await client.async_read_some(buffer_of(left), asio::deferred);
                left = left.subspan(size);
            }
            message_.check_reply();
            timer.lap();
        }
    }

    task ask(std::uint64_t rounds, lab::histogram& latency) {
        auto& client = sockets_.client;
        lab::lap_timer timer{latency};
        for (std::uint64_t round = 0; round < rounds; ++round) {
            for (auto left = message_.next(); !left.empty();) {
                const std::size_t size =
                    co_await client.async_write_some(buffer_of(left), asio::deferred);
                left = left.subspan(size);
            }
            for (auto left = message_.reply_space(); !left.empty();) {
                const std::size_t size =
                    co_await client.async_read_some(buffer_of(left), asio::deferred);
                left = left.subspan(size);
            }
            message_.check_reply();
            timer.lap();
        }
    }

    task answer(std::uint64_t rounds) {
        auto& server = sockets_.server;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            for (auto left = std::span{at_server_}; !left.empty();) {
                const std::size_t size =
                    co_await server.async_read_some(buffer_of(left), asio::deferred);
                left = left.subspan(size);
            }
            for (auto left = std::as_bytes(std::span{at_server_}); !left.empty();) {
                const std::size_t size =
                    co_await server.async_write_some(buffer_of(left), asio::deferred);
                left = left.subspan(size);
            }
        }
    }

    asio::io_context& context_;
    asio_lab::stream_pair sockets_;
    lab::ping_pong played_by_;
    lab::ping message_;
    std::vector<std::byte> at_server_;
};

}  // namespace

lab::preparation asio_lab::prepare(layout, const lab::latency_case& work) {
    return lab::prepared<rounds_session<ping_pong_pair>>(work.pairs, work);
}

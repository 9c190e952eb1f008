// SPDX-License-Identifier: BSL-1.0
//
// One end of a connection of HTTP/2 against a peer that is written by hand, in a world: its time passes as
// fast as it can, and a test in which nothing can happen any more ends at once.
#pragma once

#include <gyre/coro/this_task.hpp>
#include <gyre/http2/client_connection.hpp>
#include <gyre/http2/serve_connection.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/test/world.hpp>
#include <http2/ends.hpp>
#include <http2/frames.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::testing {

/// Runs what `body` makes in a world, to its end.
inline void in_a_world(const std::function<task<>()>& body) {
    test::world world;
    test::machine& here = world.add("here");
    auto ended = world.run(here, body(), std::chrono::hours{24});
    CHECK_MESSAGE(ended.ok(), ended.text());
    if (ended.ok()) ended.take();
}

/// Speaks frames as they are given.
class peer_by_hand {
public:
    explicit peer_by_hand(memory_stream it) noexcept : stream_{std::move(it)} {}

    /// False if the other end takes no more.
    task<bool> say(std::string bytes) {
        const io_result<std::size_t> put = co_await write_all(stream_, bytes_of(bytes));
        co_return put.ok();
    }

    /// Reads until there are `count` frames of a kind. False if the other end has ended before.
    task<bool> hear(frame type, std::size_t at_least = 1) {
        std::string piece(4'096, ' ');
        while (count(type) < at_least) {
            const io_result<std::size_t> got = co_await stream_.read_some(piece);
            if (!got.ok()) co_return false;
            heard_.append(piece, 0, got.value());
        }
        co_return true;
    }

    /// Reads once. False at the end.
    task<bool> listen() {
        std::string piece(4'096, ' ');
        const io_result<std::size_t> got = co_await stream_.read_some(piece);
        heard_.append(piece, 0, got.value());
        co_return got.ok();
    }

    /// Reads until the other end has nothing more to say, and closes.
    task<> hear_out() {
        static_cast<void>(co_await hear(frame::unknown));
        stream_.close();
    }

    void close() noexcept { stream_.close(); }

    /// What came, without a client's preface.
    [[nodiscard]] std::string_view heard() const noexcept {
        std::string_view bytes{heard_};
        if (bytes.starts_with(preface)) bytes.remove_prefix(preface.size());
        return bytes;
    }
    [[nodiscard]] std::vector<seen_frame> frames(frame type) const {
        std::vector<seen_frame> found;
        for (seen_frame& each : frames_in(heard())) {
            if (each.type == type) found.push_back(std::move(each));
        }
        return found;
    }
    [[nodiscard]] std::size_t count(frame type) const { return frames(type).size(); }

    /// The content of DATA on a stream.
    [[nodiscard]] std::string data(std::uint32_t stream) const {
        std::string all;
        for (const seen_frame& each : frames(frame::data)) {
            if (each.stream == stream) all.append(each.payload);
        }
        return all;
    }

private:
    memory_stream stream_;
    std::string heard_;
};

inline const std::string settings_ack = frame_of(frame::settings, ack, 0);

/// A server whose client is by hand.
class server_by_hand {
public:
    explicit server_by_hand(http::handler handle, std::size_t pipe_bytes = 64 * 1024)
        : server_by_hand{std::move(handle), memory_pipe{pipe_bytes}} {}

    task<> serve() {
        loop& home = co_await this_task::loop();
        const time_point begun = home.read_clock();
        const io_result<> ended =
            co_await http2::serve_connection(std::move(stream_), handle_, options, hooks);
        served = ended;
        took = home.read_clock() - begun;
    }

    /// Both preludes, each acknowledged.
    task<> greet() {
        static_cast<void>(co_await peer.say(greeting()));
        static_cast<void>(co_await peer.hear(frame::settings));
        static_cast<void>(co_await peer.say(settings_ack));
    }

    /// Serves while `talk` runs, to the end of both.
    task<> run(const std::function<task<>()>& talk) {
        const auto both = [this, &talk](task_group& group) -> task<> {
            group.spawn(serve());
            co_await talk();
        };
        co_await with_group(both);
    }

    peer_by_hand peer;
    http2::connection_options options;
    http2::connection_hooks hooks;
    io_result<> served = errc::busy;
    http2::breach breached = http2::breach::none;
    duration took{};

private:
    server_by_hand(http::handler handle, memory_pipe pipe)
        : peer{std::move(pipe.first)}, handle_{std::move(handle)}, stream_{std::move(pipe.second)} {
        hooks.on_breach = [this](http2::breach why) { breached = why; };
    }

    http::handler handle_;
    any_stream stream_;
};

/// What came of one request.
struct asked {
    error failed = errc::busy;
    bool unprocessed = false;
    http2::error_code reset_by = http2::error_code::none;
    http::status status = http::status::internal_server_error;
    std::string body;
    error body_failed;
    std::string sum;  ///< A field of its trailers.
};

/// A client whose server is by hand.
class client_by_hand {
public:
    explicit client_by_hand(const http2::client_options& options = {})
        : client_by_hand{options, memory_pipe{64 * 1024}} {}

    task<> run() {
        loop& home = co_await this_task::loop();
        const time_point begun = home.read_clock();
        const io_result<> ended = co_await client.run();
        ran = ended;
        took = home.read_clock() - begun;
    }

    task<> ask(asked& into, std::string target, std::string body = {}) {
        const http::request what =
            request_of(target, body.empty() ? http::method::get : http::method::post);
        io_result<http2::received_response> got = co_await client.send(what, std::move(body));
        into.failed = got.error();
        into.unprocessed = got.value().unprocessed;
        into.reset_by = got.value().reset_by;
        if (!got.ok()) co_return;
        http2::received_response it = got.take();
        into.status = it.status;
        io_result<std::string> text = co_await it.body.read_all(1'000'000);
        into.body_failed = text.error();
        into.body = text.take();
        into.sum = it.body.trailers().value_or("sum");
    }

    /// The server's prelude, once the client's has come.
    task<> greet(std::string settings = {}) {
        static_cast<void>(co_await peer.hear(frame::settings));
        static_cast<void>(co_await peer.say(frame_of(frame::settings, 0, 0, settings)));
        static_cast<void>(co_await peer.say(settings_ack));
    }

    /// Runs while `talk` does, which may spawn requests in the group; to the end of all.
    task<> run(const std::function<task<>(task_group&)>& talk) {
        const auto both = [this, &talk](task_group& group) -> task<> {
            group.spawn(run());
            co_await talk(group);
        };
        co_await with_group(both);
    }

    http2::client_connection client;
    peer_by_hand peer;
    io_result<> ran = errc::busy;
    duration took{};

private:
    client_by_hand(const http2::client_options& options, memory_pipe pipe)
        : client{any_stream{std::move(pipe.first)}, options}, peer{std::move(pipe.second)} {}
};

}  // namespace gyre::testing

// SPDX-License-Identifier: BSL-1.0
//
// A connection whose peer has said all of it before: bytes that come in pieces of one size, and what was
// written. Protocols meet every split of their messages on it.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/handler.hpp>
#include <gyre/http/http_date.hpp>
#include <gyre/http/serve_connection.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/any_stream.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/transports.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::testing {

/// What passed over a connection.
struct traffic {
    std::string in;                   ///< What the peer sends before it ends.
    std::deque<std::string> answers;  ///< What it sends besides, one after each write.
    std::size_t piece = SIZE_MAX;     ///< Bytes that a read brings at most.
    std::string out;
    std::size_t reads = 0;
    std::size_t writes = 0;
    bool send_ended = false;
};

class fed_stream {
public:
    explicit fed_stream(traffic& of) noexcept : of_{&of} {}

    [[nodiscard]] task<io_result<std::size_t>> read_some(read_space into) {
        const mutable_buffer space{into};
        ++of_->reads;
        const std::size_t size = std::min({space.size(), of_->piece, of_->in.size()});
        if (size == 0) co_return io_result<std::size_t>{error{errc::eof, activity::read}};
        std::memcpy(space.data(), of_->in.data(), size);
        of_->in.erase(0, size);
        co_return io_result<std::size_t>{size};
    }
    [[nodiscard]] task<io_result<std::size_t>> write_some(const_buffer from) {
        ++of_->writes;
        of_->out.append(gyre::text_of(from));
        if (!of_->answers.empty()) {
            of_->in.append(of_->answers.front());
            of_->answers.pop_front();
        }
        co_return io_result<std::size_t>{from.size()};
    }
    void shutdown_send() noexcept { of_->send_ended = true; }

private:
    traffic* of_;
};

/// A date that never changes: that of the example in RFC 9110.
inline constexpr std::string_view date_of_tests = "date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";

[[nodiscard]] inline http::date_cache fixed_date() {
    return http::date_cache{
        [] { return std::chrono::system_clock::time_point{std::chrono::seconds{784111777}}; }};
}

/// The peer that has said all of it before, on another transport: says what is in `over` and notes what it
/// hears.
[[nodiscard]] inline task<io_result<>> speak(any_stream to, traffic& over) {
    const auto says = [&]() -> task<> {
        static_cast<void>(co_await write_all(to, bytes_of(over.in)));
        static_cast<void>(to.shutdown_send());
    };
    const auto hears = [&]() -> task<> {
        std::string space(4096, '\0');
        for (;;) {
            const io_result<std::size_t> got = co_await to.read_some(space);
            over.out.append(space, 0, got.value());
            if (got.ok()) continue;
            over.send_ended = got.error() == errc::eof;
            co_return;
        }
    };
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(says);
        group.spawn(hears);
        co_return;
    };
    co_await with_group(body);
    co_return io_result<>{};
}

/// Serves what is in `over`, and returns how the connection ended. In tests of every transport it comes by
/// hand on the kernel's backends only.
[[nodiscard]] inline task<io_result<>> serve_traffic(traffic& over, const http::handler& with,
                                                     http::connection_options options = {},
                                                     http::connection_hooks hooks = {}) {
    http::date_cache date = fixed_date();
    http::message_pool messages;
    hooks.date = &date;
    if (hooks.messages == nullptr) hooks.messages = &messages;
    const auto serves = [&](any_stream peer) {
        return http::serve_connection(std::move(peer), with, options, hooks);
    };
    io_result<> ended;
    if (on_kernel_sockets()) {
        ended = co_await serves(any_stream{fed_stream{over}});
    } else {
        const end_talk near{serves};
        const end_talk far{[&](any_stream peer) { return speak(std::move(peer), over); }};
        const talk_results both = co_await between_ends(near, far);
        ended = both.near;
    }
    co_return ended;
}

}  // namespace gyre::testing

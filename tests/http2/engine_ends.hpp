// SPDX-License-Identifier: BSL-1.0
//
// Two engines of HTTP/2 that talk to each other without a stream, and what each was told, as text.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/check.hpp>
#include <http2/engine.hpp>
#include <http2/frames.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>

namespace gyre::testing {

struct told_stream : http2::engine_stream {
    std::string to_send;   ///< Of its body.
    bool trailed = false;  ///< Trailers follow it.
    bool held = false;     ///< For now there is nothing to pull.
    std::string came;
};

/// One end. A server answers each request once it is whole.
class engine_end final : public http2::engine_events {
public:
    explicit engine_end(const http2::engine_options& options)
        : wire{options, *this}, serves_{options.we == http2::role::server} {}

    /// Sends a request whose fields have been added to `wire`.
    told_stream& ask(std::string body = {}, bool trailed = false) {
        told_stream& on = streams.emplace_back();
        on.to_send = std::move(body);
        on.trailed = trailed;
        const bool asked = wire.send_request(on, on.to_send.empty() && !trailed);
        ensures(asked, "there is a stream left");
        return on;
    }

    http2::engine wire;
    std::string log;
    std::deque<told_stream> streams;
    bool answers = true;    ///< Else requests stay open.
    bool refuses = false;   ///< Streams of the peer's.
    bool consumes = true;   ///< What comes is read at once.
    bool keeps_log = true;  ///< Else only streams are kept.

private:
    static told_stream& of_engine(http2::engine_stream& of) noexcept {
        return static_cast<told_stream&>(of);
    }
    void note(std::int32_t id, std::string_view what) {
        if (keeps_log) log.append(std::to_string(id)).append(" ").append(what).append("\n");
    }

    http2::engine_stream* opens(std::int32_t id) noexcept override {
        note(id, "opens");
        return refuses ? nullptr : &streams.emplace_back();
    }
    void field(http2::engine_stream& of, std::string_view name,
               std::string_view value) noexcept override {
        note(of.id, std::string{name}.append(": ").append(value));
    }
    void head_ends(http2::engine_stream& of, bool last) noexcept override {
        note(of.id, last ? "head, last" : "head");
        if (last) whole(of_engine(of));
    }
    void data(http2::engine_stream& of, const_buffer bytes) noexcept override {
        of_engine(of).came.append(text_of(bytes));
        if (consumes) wire.consume(of.id, bytes.size());
    }
    void body_ends(http2::engine_stream& of) noexcept override { whole(of_engine(of)); }
    void closes(http2::engine_stream& of, http2::error_code code) noexcept override {
        note(of.id, std::string{"closed "}.append(describe(code)));
    }
    void stream_gone() noexcept override {}
    http2::pulled pull(http2::engine_stream& of, mutable_buffer into) noexcept override {
        using state = http2::pulled::state;
        told_stream& on = of_engine(of);
        if (on.held) return {};
        const std::size_t size = std::min(into.size(), on.to_send.size());
        std::ranges::copy(bytes_of(std::string_view{on.to_send}.substr(0, size)), into.begin());
        on.to_send.erase(0, size);
        if (!on.to_send.empty()) return {size, state::more};
        if (!on.trailed) return {size, state::end};
        wire.add("sum", "1");
        wire.send_trailers(on);
        return {size, state::end_with_trailers};
    }
    void settings_came() noexcept override { note(0, "settings"); }
    void goaway_came(http2::error_code code, std::int32_t last) noexcept override {
        note(last, std::string{"goaway "}.append(describe(code)));
    }
    void pong_came() noexcept override { note(0, "pong"); }

    void whole(told_stream& on) {
        note(on.id, std::string{"body "}.append(on.came));
        if (!serves_ || !answers) return;
        on.to_send = "answer to " + on.came;
        on.trailed = true;
        wire.add(":status", "200");
        wire.add("kind", "answer");
        wire.send_response(on, false);
    }

    bool serves_;
};

/// Both ends, and the bytes between them.
class engine_pair {
public:
    engine_pair() : engine_pair{{}, {}} {}
    engine_pair(http2::engine_options on_client, http2::engine_options on_server)
        : client{as(on_client, http2::role::client)}, server{as(on_server, http2::role::server)} {}

    /// Lets both say all that they have to say.
    void talk() {
        bool any = true;
        while (any) {
            any = pass(client, server, to_server);
            any = pass(server, client, to_client) || any;
        }
    }

    engine_end client;
    engine_end server;
    time_point now{std::chrono::hours{1}};
    std::size_t cut = SIZE_MAX;    ///< Where the bytes of each direction are split,
    std::size_t piece = SIZE_MAX;  ///< and in how long pieces.
    std::size_t to_server = 0;     ///< Bytes that have passed.
    std::size_t to_client = 0;

private:
    static http2::engine_options as(http2::engine_options from, http2::role we) {
        from.we = we;
        return from;
    }

    [[nodiscard]] bool pass(engine_end& from, engine_end& to, std::size_t& passed) const {
        std::string bytes;
        if (!from.wire.produce(bytes, std::size_t{1} << 20, now)) return false;
        std::string_view rest{bytes};
        while (!rest.empty()) {
            std::size_t size = std::min(piece, rest.size());
            if (cut > passed) size = std::min(size, cut - passed);
            // Of just that size, so that a sanitizer sees a read beyond them.
            const std::string part{rest.substr(0, size)};
            to.wire.receive(bytes_of(part), now);
            rest.remove_prefix(size);
            passed += size;
        }
        return true;
    }
};

/// Adds the head of a request.
inline void add_head(http2::engine& to, std::string_view method, std::string_view path) {
    to.add(":method", method);
    to.add(":scheme", "http");
    to.add(":path", path);
    to.add(":authority", "h");
}

}  // namespace gyre::testing

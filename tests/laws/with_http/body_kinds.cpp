// SPDX-License-Identifier: BSL-1.0
//
// Bodies of HTTP/1, for the laws of streams: body_writer to body_reader, as both sides of a connection frame
// them. A body goes one way, and one whose write was stopped is torn.
#include <laws/stream_kinds.hpp>

#include <gyre/http/body_reader.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/fields.hpp>
#include <gyre/stream/memory_pipe.hpp>

#include <http/connection_io.hpp>

#include <chrono>
#include <cstdint>
#include <utility>

namespace gyre::testing {
namespace {

using http::body_framing;
using http::framed_sink;

/// Less room than a law writes at a time, in the buffers as in the pipe; no limits of time.
http::connection_io::limits narrow() {
    constexpr auto ever = std::chrono::hours{1000};
    return {buffer_bounds{16, 64}, 256, ever, ever, 0};
}

class body_to {
public:
    body_to(memory_stream pipe, framed_sink::mode how) : io_{std::move(pipe), narrow()}, how_{how} {
        sink_.begin(how, 0, trailers_);
    }

    [[nodiscard]] auto write_some(const_buffer from) {
        return http::body_writer{sink_}.write_some(from);
    }
    [[nodiscard]] task<io_result<>> flush() { return http::body_writer{sink_}.flush(); }
    [[nodiscard]] task<io_result<>> end_body() {
        const io_result<> ended = sink_.end();
        if (!ended.ok()) co_return ended;
        const io_result<> sent = co_await io_.flush();
        if (!sent.ok() || how_ != framed_sink::mode::until_close) co_return sent;
        co_return io_.stream.shutdown_send();
    }
    void close() noexcept { io_.stream.close(); }

private:
    http::connection_io io_;
    framed_sink::mode how_;
    framed_sink sink_{io_};
    http::fields trailers_;
};

class body_from {
public:
    body_from(memory_stream pipe, body_framing::kind by) : io_{std::move(pipe), narrow()} {
        source_.begin({by, 0}, UINT64_MAX, false);
    }

    [[nodiscard]] auto read_some(read_space into) {
        return http::body_reader{source_}.read_some(into);
    }
    void close() noexcept { io_.stream.close(); }

private:
    http::connection_io io_;
    http::framed_source source_{io_, {}};
};

struct over_body {
    static constexpr stream_traits traits{errc::broken_pipe, false, false};

    over_body(memory_pipe pipe, framed_sink::mode how, body_framing::kind by)
        : near{std::move(pipe.first), how}, far{std::move(pipe.second), by} {}

    body_to near;
    body_from far;
};

struct over_chunks : over_body {
    static constexpr const char* name = "body in chunks";
    explicit over_chunks(io_context&)
        : over_body{memory_pipe{64}, framed_sink::mode::chunked, body_framing::kind::chunked} {}
};

struct over_the_rest : over_body {
    static constexpr const char* name = "body up to the connection's end";
    explicit over_the_rest(io_context&)
        : over_body{memory_pipe{64}, framed_sink::mode::until_close,
                    body_framing::kind::until_close} {}
};

[[maybe_unused]] const bool added = add_stream_kinds<over_chunks, over_the_rest>();

}  // namespace
}  // namespace gyre::testing

// SPDX-License-Identifier: BSL-1.0
//
// Servers of HTTP/2 over TLS that do as a test says with each connection, and the client that talks to them.
//
// They run on every backend and in worlds: whatever they do, a client has to come to an end with them.
#pragma once

#include <gyre/io/acceptor.hpp>
#include <gyre/io/serve.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/tls/stream.hpp>
#include <gyre/web/client.hpp>
#include <http2/frames.hpp>
#include <support/certificates.hpp>
#include <support/harness.hpp>
#include <support/world.hpp>
#include <web/site.hpp>
#include <web/trust.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::testing {

inline tls::context client_offering(std::vector<std::string> protocols) {
    tls::client_options asking;
    asking.system_authorities = false;
    asking.authorities = trust::get().root.certificate();
    asking.judged_at = certificate_day;
    asking.protocols = std::move(protocols);
    return tls::context::client(std::move(asking)).take();
}

inline tls::context server_choosing(std::vector<std::string> protocols) {
    tls::server_options serving;
    serving.identities = {trust::get().identity};
    serving.protocols = std::move(protocols);
    return tls::context::server(std::move(serving)).take();
}

/// Those of a client that is offered, and prefers, HTTP/2.
inline web::client_options multiplexing() {
    static const tls::context both = client_offering({"h2", "http/1.1"});
    web::client_options options;
    options.settings = both;
    return options;
}

/// One connection to a client, frame by frame.
class frame_peer {
public:
    explicit frame_peer(any_stream it) noexcept : stream_{std::move(it)} {}

    /// False if the client takes no more.
    task<bool> say(std::string bytes) {
        const io_result<std::size_t> put = co_await write_all(stream_, bytes_of(bytes));
        co_return put.ok();
    }

    /// SETTINGS, and the acknowledgement of the client's.
    task<bool> greet(std::string settings = {}) {
        const bool said = co_await say(frame_of(frame::settings, 0, 0, settings) +
                                       frame_of(frame::settings, ack, 0));
        co_return said;
    }

    /// Reads up to the next frame of a kind; false at the end. `last` is what it was.
    task<bool> hear(frame type) {
        std::string piece(4'096, ' ');
        for (;;) {
            for (const seen_frame& each : frames_in(std::string_view{heard_}.substr(read_))) {
                read_ += 9 + each.payload.size();
                if (each.type != type) continue;
                last = each;
                co_return true;
            }
            const io_result<std::size_t> got =
                co_await stream_.read_some(std::as_writable_bytes(std::span{piece}));
            if (!got.ok()) co_return false;
            heard_.append(piece, 0, got.value());
            if (read_ == 0 && heard_.starts_with(preface)) read_ = preface.size();
        }
    }

    /// The number of the next request's stream; 0 at the end.
    task<std::uint32_t> next_request() {
        const bool came = co_await hear(frame::headers);
        co_return came ? last.stream : 0;
    }

    task<bool> answer(std::uint32_t stream, std::string_view body) {
        const bool said = co_await say(frame_of(frame::headers, end_headers, stream, "\x88") +
                                       frame_of(frame::data, end_stream, stream, body));
        co_return said;
    }
    task<bool> reset(std::uint32_t stream, std::uint32_t code) {
        const bool said = co_await say(frame_of(frame::rst_stream, 0, stream, number(code)));
        co_return said;
    }
    task<bool> goaway(std::uint32_t last_stream, std::uint32_t code = 0) {
        const bool said =
            co_await say(frame_of(frame::goaway, 0, 0, number(last_stream) + number(code)));
        co_return said;
    }
    /// Answers whatever else is asked, until the client goes.
    task<> serve(std::string body) {
        for (;;) {
            const std::uint32_t stream = co_await next_request();
            if (stream == 0) co_return;
            const bool said = co_await answer(stream, body);
            if (!said) co_return;
        }
    }

    void close() noexcept { stream_.close(); }

    seen_frame last{};

private:
    any_stream stream_;
    std::string heard_;
    std::size_t read_ = 0;
};

/// RFC 9113, 6.5.2.
inline std::string streams_max(std::uint32_t most) { return number(3, 2) + number(most); }

/// What a server does with its connection of this number.
using frame_script = std::function<task<>(frame_peer&, std::size_t number)>;

struct frame_server {
    tls::context settings = trust::get().server;
    frame_script how;
    std::size_t connections = 0;

    task<> play(stream_socket on) {
        io_result<tls::stream> secured = co_await tls::accept(any_stream{std::move(on)}, settings);
        const std::size_t number = connections++;
        if (!secured.ok()) co_return;
        frame_peer peer{any_stream{secured.take()}};
        co_await how(peer, number);
    }
};

/// Runs `body(site)` beside a server that plays `how`.
template <class Body>
task<> with_frames(io_context& io, frame_script how, Body body) {
    frame_server server;
    server.how = std::move(how);
    listening_site site{io};
    const auto session = [&server](stream_socket peer) { return server.play(std::move(peer)); };
    const auto serving = [&]() -> task<> {
        static_cast<void>(co_await serve(std::move(site.acceptor), session));
    };
    const auto both = [&](task_group& group) -> task<> {
        group.spawn(serving);
        co_await body(site);
        group.request_stop();
    };
    co_await with_group(both);
}

/// What came of one request.
struct fetched {
    error failed = errc::busy;
    std::string text;
    http::version version = http::version::http_1_1;
};

inline task<fetched> fetch(web::client& by, web::client_request what) {
    fetched found;
    io_result<web::client_response> got = co_await by.send(std::move(what));
    found.failed = got.error();
    if (!got.ok()) co_return found;
    const web::client_response response = got.take();
    found.version = response.version;
    io_result<std::string> text = co_await response.text();
    found.failed = text.error();
    found.text = text.take();
    co_return found;
}

inline web::client_request request_to(const std::string& where, http::method by = http::method::get,
                                      http::response_body body = {}) {
    web::client_request made{by, web::url::parse(where).take()};
    made.body = std::move(body);
    return made;
}

/// Sends `count` requests at the same time.
inline task<std::vector<fetched>> fetch_all(web::client& by, std::string where, std::size_t count) {
    std::vector<fetched> all(count);
    const auto body = [&](task_group& group) -> task<> {
        for (fetched& each : all) {
            group.spawn(fetch(by, request_to(where)), [&each](fetched got) { each = got; });
        }
        co_return;
    };
    co_await with_group(body);
    co_return all;
}

}  // namespace gyre::testing

// SPDX-License-Identifier: BSL-1.0
//
// A client of HTTP by URL: connections that are kept and shared, redirects, proxies, decompression.
//
// What `http::client_connection` and that of HTTP/2 do on one connection, this does for a program that has
// URLs. Everything a server can make grow or delay has a bound, credentials stay with the origin that they
// were meant for, and servers of https are verified unless the program says otherwise.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/authorization.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/http/client_connection.hpp>
#include <gyre/http/fields.hpp>
#include <gyre/http/method.hpp>
#include <gyre/http/response.hpp>
#include <gyre/http/status.hpp>
#include <gyre/io/connect_to.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/tls/context.hpp>
#include <gyre/tls/stream.hpp>
#include <gyre/web/url.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::web {

/// A proxy that is spoken to in plain HTTP: it forwards requests of http, and tunnels (CONNECT) those of
/// https.
struct proxy {
    std::string host;
    std::uint16_t port = 0;
    /// Sent with each request that it forwards, and with CONNECT.
    std::optional<http::basic_credentials> credentials;
};

/// The bounds of a client: connections, times, redirects, sizes; and how it connects.
struct client_options {
    client_options() = default;  // No aggregate: see docs/guide/compilers.md.

    /// Connections at a time, in all and to one origin. Over HTTP/1 each has one request under way, over
    /// HTTP/2 as many as its server allows, at most `streams_max`; further ones wait for their turn.
    std::size_t connections_max = 256;
    std::size_t connections_per_origin_max = 8;
    /// Requests at a time on one connection of HTTP/2. Of each response 256 KiB may wait for its reader.
    std::size_t streams_max = 100;

    /// Speak HTTP/2 to servers of https that agree on it (ALPN), as far as `settings` offers "h2" and the
    /// build has it.
    bool http2 = true;
    /// Which URLs of http are asked in HTTP/2 without being asked whether they know it. Nothing: none. The
    /// answer for an origin stays the same while the client lives. Must not throw.
    std::function<bool(const url&)> prior_knowledge;

    std::size_t idle_max = 64;                          ///< Connections kept for later, in all.
    duration idle_time_max = std::chrono::seconds{30};  ///< For which one is kept.

    /// For a connection: name, TCP, proxy and TLS together.
    duration connect_time_max = std::chrono::seconds{20};
    /// For all of a request, from its beginning to the last byte of the body, redirects included.
    duration total_time_max = duration::max();
    /// Limits of one exchange; among them those for the first byte and for silence. Its
    /// `bytes_per_second_min` holds over HTTP/1.
    http::client_options exchange;
    connect_to_options connecting;  ///< Names, addresses and sockets.

    std::size_t redirects_max = 10;  ///< 0: responses that redirect are handed out like any others.
    /// Follow redirects from https to http, which is not encrypted.
    bool insecure_redirects = false;

    /// Ask for gzip, deflate and zstd, and decode them.
    bool decompress = true;
    std::uint64_t decoded_bytes_max = std::uint64_t{1} << 30;  ///< Of one body: a bomb ends here.

    /// For https. Without one, servers are verified by what the system trusts, up to their host names, and
    /// offered "h2" and "http/1.1".
    tls::context settings;
    tls::stream_options tls;

    /// Where to connect for a URL, in place of looking up its host: a Unix-domain socket, or an address that
    /// is known. Nothing: as usual. Empty: none. Not asked of what goes through the proxy. The answer for an
    /// origin stays the same while the client lives, since its connections are shared. Must not throw.
    std::function<std::optional<endpoint>(const url&)> connect_at;

    std::optional<web::proxy> via;  ///< None: each connection is to the server itself.
    /// Which URLs go through the proxy; all if empty. Must not throw.
    std::function<bool(const url&)> proxied;

    /// Of requests that bring no field of this name; empty: none.
    std::string user_agent = "gyre";
};

/// What is asked for.
struct client_request {
    client_request() = default;
    client_request(http::method what, url from) : method{what}, where{std::move(from)} {}
    /// By the method's name, which may be any token: "PROPFIND".
    client_request(std::string_view what, url from)
        : method{http::method_of(what)}, where{std::move(from)} {
        if (method == http::method::other) other_method = what;
    }

    http::method method = http::method::get;  ///< Not `connect`.
    std::string other_method;                 ///< The name of `method::other`.
    url where;
    /// Host may be among them, for a server that is asked by another name than that of `where`; it does not
    /// follow a redirect to another origin. A Content-Length has to be the body's size, a Transfer-Encoding
    /// "chunked", for a body of unknown size.
    http::fields fields;
    /// Text and bytes can be sent again, what a producer makes cannot: such a request is not repeated, and a
    /// redirect that wants its body again is handed out.
    http::response_body body;
};

/// How many connections a client has made and used again, and how many requests it has sent once more.
struct client_counters {
    std::uint64_t connections = 0;  ///< Made.
    std::uint64_t reused = 0;       ///< Requests on one that another has used.
    std::uint64_t repeated =
        0;  ///< Requests that were lost by a stale connection, or not processed.
    std::uint64_t redirected = 0;  ///< Redirects followed.
};

/// A response: its head, and the body as a stream. While it lives it has the connection to itself, over
/// HTTP/2 a stream on it. Moves; belongs to the client's loop.
class client_response {
public:
    client_response() noexcept;
    client_response(client_response&&) noexcept;
    client_response& operator=(client_response&&) noexcept;
    ~client_response();

    http::status status = http::status::ok;
    http::version version = http::version::http_1_1;
    http::fields fields;     ///< Of a body that is decoded without its coding and length.
    http::body_reader body;  ///< Decoded; valid while this lives.
    url where;               ///< The last one asked, after redirects.

    /// Beside an error: true if no server has seen the request, so that it may be sent again elsewhere,
    /// whatever its method. A producer that was asked for its body may not be.
    bool unprocessed = false;

    /// What remains of the body, as text.
    ///
    /// Errors, Cancellation, Threads, Cost: as `http::body_reader::read_all`.
    [[nodiscard]] task<io_result<std::string>> text(std::size_t bytes_max = std::size_t{16}
                                                                            << 20) const {
        return body.read_all(bytes_max);
    }

private:
    friend class client;
    class exchange;

    std::unique_ptr<exchange> exchange_;
};

/// Sends requests. Belongs to one loop, and is destroyed before it; responses and requests may outlive it.
/// Connections that rest keep no loop running: one of HTTP/2 is a coroutine in the background
/// (`launch_in_background`). They end with the client, by `close_idle`, or after `idle_time_max`, at once:
/// one of HTTP/2 says GOAWAY if its server has room for that within a tenth of a second.
class client {
public:
    /// @pre  `connections_max`, `connections_per_origin_max` and `streams_max` are not 0.
    explicit client(client_options options = {});
    client(const client&) = delete;
    client& operator=(const client&) = delete;
    ~client();

    /// Sends a request and reads the head of its response.
    ///
    /// An idle connection that the server has closed, or on which it has said something unasked, is not used.
    /// A request that is idempotent is sent again, elsewhere, if one turns out to be closed all the same.
    /// Over HTTP/2 what the server has certainly not processed (GOAWAY, REFUSED_STREAM) is sent again
    /// whatever its method, five times at most, unless a producer was asked for its body.
    /// Redirects to http and https are followed as RFC 9110, 15.4 says: 303 becomes GET, so does POST after
    /// 301 and 302; to another origin neither `authorization` nor `cookie` go along. Blanks and bytes beyond
    /// ASCII in a Location are encoded, as browsers do; an empty one leads nowhere.
    ///
    /// @param  what  Owned.
    ///
    /// Errors:        `errc::invalid_argument` for a request that cannot be sent, such as one to a proxy with
    ///                another Host than that of `where`; `errc::malformed` for a redirect to several targets;
    ///                `errc::limit_exceeded` after too many; `errc::permission_denied` for one from https to
    ///                http, or for a proxy that wants other credentials; `errc::connection_refused` for one
    ///                that makes no tunnel; `errc::timed_out`; those of `connect_to`, `tls::connect`,
    ///                `http::client_connection::send` and `url::resolved`; over HTTP/2 those of
    ///                `http2::client_connection::send`, as `errc::connection_refused` for a stream that is
    ///                refused each time.
    /// Cancellation:  `errc::canceled`; the connection is closed, of HTTP/2 the stream alone.
    /// Threads:       resumes on the caller's executor, of the client's loop.
    /// Cost:          a few frames and allocations; a connection if none is idle.
    [[nodiscard]] task<io_result<client_response>> send(client_request what);

    /// The same without fields or a body. Errors: also those of `url::parse`.
    [[nodiscard]] task<io_result<client_response>> get(std::string_view where);

    /// @param  content_type  Copied.
    [[nodiscard]] task<io_result<client_response>> post(std::string_view where,
                                                        std::string_view content_type,
                                                        http::response_body body);

    /// A stream to where `where` leads, through a tunnel of the proxy's and TLS if need be: for another
    /// protocol on it, such as WebSocket for ws and wss. It is the caller's, and counts against no limit.
    ///
    /// @param  where  Owned.
    ///
    /// Errors:        those of connecting, as above.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       resumes on the caller's executor, of the client's loop.
    /// Cost:          that of `connect_to` and `tls::connect`.
    [[nodiscard]] task<io_result<any_stream>> connect(url where);

    /// Closes the connections that nothing uses.
    void close_idle() noexcept;

    [[nodiscard]] std::size_t idle() const noexcept;  ///< Connections that nothing uses.
    [[nodiscard]] const client_counters& counters() const noexcept;
    /// Those that it was made with.
    [[nodiscard]] const client_options& options() const noexcept;

private:
    class state;
    friend class client_response::exchange;

    static task<io_result<any_stream>> connect_by(std::shared_ptr<state> self, url where);
    static task<io_result<client_response>> perform(std::shared_ptr<state> self,
                                                    client_request what);
    static task<io_result<client_response>> perform_parsed(std::shared_ptr<state> self,
                                                           io_result<url> where,
                                                           client_request what);

    std::shared_ptr<state> state_;
};

}  // namespace gyre::web

// SPDX-License-Identifier: BSL-1.0
#include <web/connector.hpp>

#include <gyre/runtime/call.hpp>
#include <gyre/sync/timeout.hpp>
#include <web/versions.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace gyre::web {

bool connector::goes_through_proxy(const url& where) const {
    return options_.via && (!options_.proxied || options_.proxied(where));
}

// RFC 9113, 3.3.
bool connector::knows(const url& where) const {
    return options_.prior_knowledge && unspoken_protocol().empty() && !where.is_secure() &&
           !goes_through_proxy(where) && options_.prior_knowledge(where);
}

bool connector::may_multiplex(const url& where) const {
    return (where.is_secure() && options_.http2 && unspoken_protocol().empty()) || knows(where);
}

task<io_result<connector::connected>> connector::connect(const url& where, purpose of) {
    io_result<connected> made =
        co_await with_timeout(options_.connect_time_max, connect_now(where, of));
    co_return made;
}

task<io_result<connector::connected>> connector::connect_now(const url& where, purpose of) {
    const bool by_proxy = goes_through_proxy(where);
    const std::string host = by_proxy ? options_.via->host : where.host();
    const std::uint16_t port = by_proxy ? options_.via->port : where.port();
    std::optional<endpoint> known;
    if (!by_proxy && options_.connect_at) known = options_.connect_at(where);
    io_result<stream_socket> reached;
    if (known) reached = co_await stream_socket::connect(*known);
    else reached = co_await connect_to(host, port, options_.connecting);
    if (!reached.ok()) co_return reached.error();
    any_stream stream{reached.take()};
    // A proxy forwards requests alone.
    if (by_proxy && (where.is_secure() || of == purpose::other_protocol)) {
        io_result<any_stream> through = co_await tunnel(std::move(stream), where);
        if (!through.ok()) co_return through.error();
        stream = through.take();
    }
    if (where.is_secure()) {
        io_result<connected> secured = co_await secure(std::move(stream), where, of);
        co_return secured;
    }
    connected plain;
    plain.stream = std::move(stream);
    plain.multiplexes = of == purpose::requests && knows(where);
    co_return io_result<connected>{std::move(plain)};
}

// RFC 9110, 9.3.6.
task<io_result<any_stream>> connector::tunnel(any_stream through, const url& where) {
    http::request wish{http::method::connect, where.authority_with_port()};
    wish.set_authority(where.authority_with_port());
    if (options_.via->credentials) {
        http::fields written;
        http::set_basic_credentials(written, *options_.via->credentials);
        if (written.refused()) co_return errc::invalid_argument;
        wish.fields.set("proxy-authorization", written.value_or("authorization"));
    }
    http::client_connection asked{std::move(through), options_.exchange};
    const io_result<http::received_response> answer = co_await asked.send(wish);
    if (!answer.ok()) co_return answer.error();
    const auto said = static_cast<std::uint16_t>(http::number_of(answer.value().status));
    // RFC 9110, 15.5.8.
    if (said == 407) co_return error{errc::permission_denied, activity::tunnel, said};
    if (said / 100 != 2) co_return error{errc::connection_refused, activity::tunnel, said};
    http::upgraded_connection opened = asked.take_stream();
    // The server behind the tunnel does not speak first.
    if (!opened.early.empty()) co_return error{errc::malformed, activity::tunnel, said};
    co_return io_result<any_stream>{std::move(opened.stream)};
}

task<io_result<connector::connected>> connector::secure(any_stream below, const url& where,
                                                        purpose of) {
    if (!options_.settings) {
        // It reads what the system trusts: milliseconds that the loop does not have.
        tls::client_options wanted;
        wanted.protocols = {"h2", "http/1.1"};
        io_result<tls::context> made;
        const auto make = [&made, &wanted] { made = tls::context::client(std::move(wanted)); };
        const io_result<> ran = co_await blocking(make);
        if (!ran.ok()) co_return ran.error();
        if (!made.ok()) co_return made.error();
        if (!options_.settings) options_.settings = made.take();
    }
    tls::stream_options how = options_.tls;
    // What is not HTTP begins with HTTP/1.1: RFC 6455, 4.1.
    const bool one_each = of == purpose::other_protocol || !options_.http2;
    how.protocol_left_out = one_each ? "h2" : unspoken_protocol();
    io_result<tls::stream> secured =
        co_await tls::connect(std::move(below), options_.settings, where.host(), std::move(how));
    if (!secured.ok()) co_return secured.error();
    tls::stream stream = secured.take();
    connected made;
    made.multiplexes = stream.connection().protocol() == "h2";
    made.stream = any_stream{std::move(stream)};
    co_return io_result<connected>{std::move(made)};
}

}  // namespace gyre::web

// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/open.hpp>

#include <cstdint>
#include <utility>

namespace gyre::websocket {

// RFC 6455, 4.1.
task<io_result<std::unique_ptr<connection>>> open(any_stream on, std::string_view authority,
                                                  std::string_view target,
                                                  const open_options& options,
                                                  open_answer* answered) {
    using result = io_result<std::unique_ptr<connection>>;
    if (options.fields.refused()) co_return result{errc::invalid_argument};
    const client_handshake handshake{options.handshake};
    http::request asked{http::method::get, target};
    asked.set_authority(authority);
    for (const header_field& each : handshake.fields()) asked.fields.add(each.name, each.value);
    for (const http::field each : options.fields) asked.fields.add(each.name, each.value);

    http::client_connection by{std::move(on), options.request};
    const io_result<http::received_response> got = co_await by.send(asked);
    if (!got.ok()) co_return result{got.error()};
    const http::received_response& answer = got.value();
    client_handshake::outcome read =
        handshake.read_answer(http::number_of(answer.status), answer.fields);
    if (answered != nullptr) {
        answered->failure = read.failure;
        answered->status = answer.status;
    }
    if (read.failure != handshake_failure::none) {
        co_return result{error{errc::protocol_error, activity::upgrade,
                               static_cast<std::uint16_t>(http::number_of(answer.status))}};
    }

    connection_options kept = options.connection;
    if (options.handshake.deflate) kept.deflate = *options.handshake.deflate;
    http::upgraded_connection to = by.take_stream();
    co_return result{std::make_unique<connection>(
        std::move(to.stream), role::client, std::move(read.agreed), bytes_of(to.early), kept)};
}

}  // namespace gyre::websocket

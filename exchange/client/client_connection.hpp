// SPDX-License-Identifier: BSL-1.0
//
// An order entry client whose transport was chosen while the program runs.
//
// order_entry_client.hpp takes its transport as a type. A trading program chooses by a word of its
// configuration; one indirect call for each message is nothing beside the write that it causes.
#pragma once

#include <exchange/client/client_transport.hpp>
#include <exchange/client/told_text.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/net/session/order_entry_client.hpp>
#include <exchange/net/transport/channel_security.hpp>
#include <exchange/net/transport/packet_stream.hpp>

#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace exchange {

/// What it says is order_entry_client's.
class client_connection {
public:
    client_connection() noexcept = default;
    client_connection(const client_connection&) = delete;
    client_connection& operator=(const client_connection&) = delete;
    virtual ~client_connection() = default;

    [[nodiscard]] virtual gyre::task<> run() = 0;
    [[nodiscard]] virtual bool send(std::span<const std::byte> message) noexcept = 0;
    [[nodiscard]] virtual bool log_out() noexcept = 0;
    virtual void stop() noexcept = 0;
    virtual void pause() noexcept = 0;
    virtual void go_on() noexcept = 0;
    [[nodiscard]] virtual bool turned_away() const noexcept = 0;
    [[nodiscard]] virtual const soup_client& machine() const noexcept = 0;
};

template <class Transport>
class connection_over final : public client_connection {
public:
    /// @param  on, handler  Borrowed; outlive this.
    connection_over(gyre::io_context& on, const order_entry_client_options& options,
                    order_entry_handler& handler)
        : client_{on, options, handler} {}

    gyre::task<> run() override { return client_.run(); }
    bool send(std::span<const std::byte> message) noexcept override {
        return client_.send(message);
    }
    bool log_out() noexcept override { return client_.log_out(); }
    void stop() noexcept override { client_.stop(); }
    void pause() noexcept override { client_.pause(); }
    void go_on() noexcept override { client_.go_on(); }
    [[nodiscard]] bool turned_away() const noexcept override { return client_.turned_away(); }
    [[nodiscard]] const soup_client& machine() const noexcept override { return client_.machine(); }

private:
    order_entry_client<gyre_traits, Transport> client_;
};

/// @return  Null if this build has no WebSockets.
[[nodiscard]] std::unique_ptr<client_connection> websocket_connection(
    gyre::io_context& on, const order_entry_client_options& options, order_entry_handler& handler);

/// A client's connection over the transport that it has chosen.
///
/// @param  security  Of its connections, or null.
/// @param  insecure  Borrowed; outlives the connection. Is set to why one could not be secured.
/// @return Null if this build does not have the transport.
[[nodiscard]] inline std::unique_ptr<client_connection> connection_by(
    client_transport by, gyre::io_context& on, order_entry_client_options how,
    std::shared_ptr<channel_security> security, told_text& insecure, order_entry_handler& handler) {
    how.websocket.format =
        by == client_transport::websocket_json ? session_format::json : session_format::sbe;
    if (security != nullptr)
        security->report_failures([&insecure](const gyre::endpoint&, std::string_view reason) {
            insecure = told_text{reason};
        });
    how.security = std::move(security);
    if (by != client_transport::soup) return websocket_connection(on, how, handler);
    return std::make_unique<connection_over<packet_stream<gyre_traits>>>(on, how, handler);
}

/// A connection has ended without a login: why was none answered?
///
/// @return  `errc::eof` if the other end hung up, `timed_out` if it was silent, `protocol_error` if it said
///          something else; ok if there was an answer.
[[nodiscard]] inline gyre::error why_no_answer(soup_ending ending) noexcept {
    switch (ending) {
        case soup_ending::none: return gyre::errc::eof;
        case soup_ending::peer_silent: return gyre::errc::timed_out;
        case soup_ending::rejected:
        case soup_ending::wrong_session:
        case soup_ending::life_ended:
        case soup_ending::not_kept: return gyre::errc::ok;
        default: return gyre::errc::protocol_error;
    }
}

}  // namespace exchange

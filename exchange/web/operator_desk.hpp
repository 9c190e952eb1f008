// SPDX-License-Identifier: BSL-1.0
//
// An operator at the page: a WebSocket on which a login and commands come as JSON, and answers go back.
//
//     {"message":"login","username":"ops","password":"..."}
//         {"message":"login_accepted"}, or {"message":"login_rejected","reason":"..."} and the end
//
//     {"message":"set_phase","instrument":1,"phase":"halted"}
//     {"message":"uncross","instrument":1}
//     {"message":"set_account_state","account":1,"state":"blocked"}
//     {"message":"end_session","session":1}
//     {"message":"bust_trade","instrument":1,"trade":"7"}
//         {"message":"answer","command":"set_phase","subject":1,"outcome":"accepted"}; or "refused" or
//         "unanswered", with a "reason"
//
// Each operator has a connection of its own to the facility, which knows roles and passwords and keeps the
// audit trail; nothing is kept here. client/operator_client.hpp is that connection.
#pragma once

#include <exchange/core/commands.hpp>

#include <gyre/coro/task.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/websocket/connection.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace exchange {

/// What an operator's page may say at most, in bytes.
inline constexpr std::size_t operator_message_bytes_max = 512;

/// A command, or why it is none.
struct operator_order {
    std::optional<command> meant{};
    std::string why{};  ///< Empty if there is a command.
};

/// Reads what a page says: exactly the members above.
///
/// @param  text  Borrowed during the call. JSON or not.
[[nodiscard]] operator_order read_operator_order(std::string_view text);

/// Serves an operator's page until it leaves, is not let in, or the exchange's connection is over. A
/// command that has no answer within five seconds is told `unanswered`, and ends it.
///
/// @param  context   Borrowed; outlives the task.
/// @param  facility  Where operators log in.
/// @param  page      Borrowed; outlives the task.
///
/// Cancellation:  ends the connection to the exchange, and then the task.
/// Threads:       the context's.
/// Cost:          a connection, and frames and memory for each command.
gyre::task<> serve_operator(gyre::io_context& context, gyre::endpoint facility,
                            gyre::websocket::connection& page);

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/upgrade.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_any.hpp>

#include <utility>

namespace gyre::websocket {

namespace {

// The session may be told of the close, and then needs time of its own.
task<> close_at_drain(connection& on, duration close_timeout) {
    const stop_level asked = co_await this_task::stop_requested();
    if (asked >= stop_level::stop) co_return;
    static_cast<void>(co_await shielded(on.close(close_code::going_away), close_timeout * 2));
    event never_set;
    static_cast<void>(co_await never_set.wait());
}

task<> run_session(http::upgraded_connection from, agreement agreed, connection_options options,
                   bool closes_at_drain, session run) {
    connection on{std::move(from.stream), role::server, std::move(agreed), bytes_of(from.early),
                  options};
    if (closes_at_drain) co_await when_any(run(on), close_at_drain(on, options.close_timeout));
    else co_await run(on);
    const bool stopped = co_await this_task::stop_state() >= stop_level::drain;
    const close_code code = stopped ? close_code::going_away : close_code::normal;
    static_cast<void>(co_await shielded(on.close(code), options.close_timeout * 2));
}

}  // namespace

http::response upgrade(const http::request& asked, const upgrade_options& options, session run) {
    expects(run != nullptr, "a connection has a session");
    // RFC 9110, 7.8: in a request of HTTP/1.0 the field Upgrade means nothing.
    const http::fields none;
    const http::fields& fields = asked.version() == http::version::http_1_1 ? asked.fields : none;
    server_handshake made = answer_handshake(asked.method_text(), fields, options.handshake);
    http::response answer{static_cast<http::status>(made.status)};
    for (const header_field& each : made.fields) answer.fields.add(each.name, each.value);
    if (made.failure != handshake_failure::none) {
        answer.fields.set("content-type", "text/plain");
        answer.body = http::static_text{describe(made.failure)};
        return answer;
    }
    connection_options kept = options.connection;
    if (options.handshake.deflate) kept.deflate = *options.handshake.deflate;
    answer.upgrade = [agreed = std::move(made.agreed), kept, closes = options.closes_at_drain,
                      run = std::move(run)](http::upgraded_connection from) {
        return run_session(std::move(from), agreed, kept, closes, run);
    };
    return answer;
}

}  // namespace gyre::websocket

// SPDX-License-Identifier: BSL-1.0
//
// The operator's session: gives a command or asks something, and waits for the answer, with a deadline.
//
// net/session/order_entry_client.hpp connects and keeps it; this turns what it hears into something that
// a straight coroutine awaits. exchange_ctl says one thing with it and leaves, a page's operator stays.
#pragma once

#include <exchange/codec/message_rejected.hpp>
#include <exchange/core/commands.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/net/session/order_entry_client.hpp>

#include <gyre/sync/event.hpp>

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace exchange {

/// What became of a command.
enum class command_outcome : std::uint8_t {
    accepted,
    refused,         ///< `reason` tells why; nothing has changed.
    not_understood,  ///< `rejection` tells what; nothing has changed.
    not_sent,        ///< There is no connection.
    unanswered,      ///< It may have been carried out or not.
};

struct command_answer {
    command_outcome outcome = command_outcome::unanswered;
    reject_reason reason{};
    message_rejected rejection{};
};

/// Threads:  that of its context.
class operator_client final : public order_entry_handler {
public:
    /// @param  context  Borrowed; outlives this.
    /// @param  options  Of an exchange; its login is an operator's.
    operator_client(gyre::io_context& context, const order_entry_client_options& options)
        : client_{context, options, *this} {}

    /// Connects, and tries again until it is logged in. Then until `leave` or `stop`, or until the connection
    /// is lost: what an operator was told ends with it, so nothing could be resumed. Run it beside whatever
    /// waits for answers:
    ///
    ///     co_await gyre::when_all(client.run(), halt_all(client));
    ///
    /// Cancellation:  `stop`.
    /// Cost:          as `order_entry_client::run`.
    gyre::task<> run();

    /// Waits for the login.
    ///
    /// @return  Empty if we are in; else why not.
    ///
    /// Cancellation:  ends the wait, and says so.
    /// Threads:       the context's.
    /// Cost:          a frame.
    gyre::task<std::string> log_in(gyre::time_point deadline);

    /// Gives a command and waits for its answer. One at a time. Behind `unanswered` its answer may still
    /// come, and would be taken for that of a later command of the same kind: leave then.
    ///
    /// Cancellation:  counts as no answer.
    /// Threads:       the context's.
    /// Cost:          a frame, and memory for the messages.
    gyre::task<command_answer> give(command order, gyre::time_point deadline);

    /// Sends a message. False if there is no connection any more, or no room.
    [[nodiscard]] bool say(std::span<const std::byte> message) noexcept {
        return client_.send(message);
    }

    /// Waits for the next message of the exchange.
    ///
    /// @return  Nothing if none came in time, or none can come any more.
    ///
    /// Cancellation, threads, cost:  as `log_in`.
    gyre::task<std::optional<std::vector<std::byte>>> hear(gyre::time_point deadline);

    /// Waits until `run` is about to return.
    ///
    /// Errors:  none but cancellation.
    [[nodiscard]] gyre::event::wait_awaiter over() noexcept { return over_.wait(); }

    /// Leaves, in order if it can be.
    void leave() noexcept {
        if (!client_.log_out()) client_.stop();
    }
    /// Ends the connection at once.
    void stop() noexcept { client_.stop(); }

private:
    // Far more than one question is answered with.
    static constexpr std::size_t heard_max = 1024;

    void logged_in() noexcept override {
        was_in_ = true;
        changed_.set();
    }
    void heard(std::uint64_t, std::span<const std::byte> message) noexcept override {
        if (heard_.size() == heard_max) return client_.stop();
        heard_.emplace_back(message.begin(), message.end());
        changed_.set();
    }
    void disconnected(soup_ending) noexcept override {
        if (was_in_) client_.stop();
    }

    order_entry_client<gyre_traits> client_;
    gyre::event changed_;
    gyre::event over_;
    std::deque<std::vector<std::byte>> heard_;
    bool was_in_ = false;
};

}  // namespace exchange

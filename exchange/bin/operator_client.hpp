// SPDX-License-Identifier: BSL-1.0
//
// The operator's session: sends a command and waits for its answer, with a deadline.
//
// net/session/order_entry_client.hpp connects and keeps it; this turns what it hears into something that
// a straight coroutine awaits, as a program wants that asks one thing and leaves.
#pragma once

#include <exchange/net/gyre/traits.hpp>
#include <exchange/net/session/order_entry_client.hpp>

#include <gyre/sync/timeout.hpp>

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace exchange {

class operator_client final : public order_entry_handler {
public:
    /// @param  context  Borrowed; outlives this, and ends its connection.
    operator_client(gyre::io_context& context, const order_entry_client_options& options)
        : client_{context, options, *this} {
        gyre::launch(context, run(), gyre::or_terminate{});
    }

    /// Waits for the login.
    ///
    /// @return  Empty if we are in; else why not.
    ///
    /// Cancellation:  ends the wait, and says so.
    /// Threads:       the context's.
    /// Cost:          a frame.
    gyre::task<std::string> log_in(gyre::time_point deadline);

    /// Sends a message. False if there is no connection any more, or no room.
    [[nodiscard]] bool say(std::span<const std::byte> message) noexcept {
        return client_.send(message);
    }

    /// Waits for the next message of the exchange.
    ///
    /// @return  Nothing if none came in time, or none can come any more, as when the exchange has been
    ///          started anew.
    ///
    /// Cancellation, threads, cost:  as `log_in`.
    gyre::task<std::optional<std::vector<std::byte>>> hear(gyre::time_point deadline);

    /// Why nothing was heard: that the exchange was started anew, or else `usual`. Static storage, or
    /// `usual`.
    [[nodiscard]] const char* why_silent(const char* usual) const noexcept;

    /// Leaves, in order if it can be.
    void leave() noexcept {
        if (!client_.log_out()) client_.stop();
    }

private:
    void logged_in() noexcept override { changed_.set(); }
    void heard(std::uint64_t, std::span<const std::byte> message) noexcept override {
        heard_.emplace_back(message.begin(), message.end());
        changed_.set();
    }
    gyre::task<> run();

    order_entry_client<gyre_traits> client_;
    gyre::event changed_;
    std::deque<std::vector<std::byte>> heard_;
    bool over_ = false;
};

}  // namespace exchange

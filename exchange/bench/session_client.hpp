// SPDX-License-Identifier: BSL-1.0
//
// One of thousands of clients on a loop: logged in, idle or trading, with what its answers took.
#pragma once

#include <exchange/codec/event_codec.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/net/session/order_entry_client.hpp>

#include <lab/kit/fail.hpp>
#include <lab/kit/histogram.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace exchange::bench {

/// Threads:  that of the context.
class session_client final : public order_entry_handler {
public:
    /// @param  context  Borrowed; outlives this, and ends its connection.
    session_client(gyre::io_context& context, const order_entry_client_options& how)
        : client_{context, how, *this} {
        gyre::launch(context, client_.run(), gyre::or_terminate{});
    }

    [[nodiscard]] bool is_in() const noexcept { return in_; }
    /// Is nothing unanswered?
    [[nodiscard]] bool is_settled() const noexcept { return unanswered_.empty(); }
    [[nodiscard]] std::size_t unanswered() const noexcept { return unanswered_.size(); }
    /// Messages that it has heard, whatever they say.
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    void leave() noexcept {
        in_ = false;
        client_.stop();
    }

    /// Sends a command, whose first answer is waited for.
    ///
    /// @return False if there is no room for it at the moment.
    template <class Command>
    bool send(Command what) {
        what.client_seq = client_sequence{next_};
        std::array<std::byte, message_bytes_of<Command>> bytes;
        encode(what, bytes);
        if (!client_.send(bytes)) return false;
        unanswered_.push_back({next_++, std::chrono::steady_clock::now()});
        return true;
    }

    /// The number that the next command will have.
    [[nodiscard]] client_sequence next() const noexcept { return client_sequence{next_}; }

    /// What commands took to their first answer, in ns.
    [[nodiscard]] lab::histogram& latencies() noexcept { return latencies_; }

private:
    struct sent_command {
        std::uint64_t number;
        std::chrono::steady_clock::time_point at;
    };

    template <class Event>
    void answered(const event_stamp&, const Event& it) noexcept {
        std::uint64_t number_of_it = 0;
        if constexpr (requires { it.request_seq; }) number_of_it = number(it.request_seq);
        if constexpr (requires { it.client_seq; })
            if (number_of_it == 0) number_of_it = number(it.client_seq);
        if (unanswered_.empty() || unanswered_.front().number > number_of_it) return;
        const auto now = std::chrono::steady_clock::now();
        while (!unanswered_.empty() && unanswered_.front().number <= number_of_it) {
            const auto took = now - unanswered_.front().at;
            latencies_.record(static_cast<std::uint64_t>(
                std::chrono::duration_cast<std::chrono::nanoseconds>(took).count()));
            unanswered_.pop_front();
        }
    }
    void answered(const message_rejected& it) noexcept {
        lab::fail("message " + std::to_string(it.refused_template) +
                  " was refused: " + std::to_string(static_cast<int>(it.error)) + " in field " +
                  std::to_string(it.refused_field));
    }

    void logged_in() noexcept override { in_ = true; }
    void heard(std::uint64_t, std::span<const std::byte> message) noexcept override {
        ++messages_;
        const auto note = [this](const auto&... told) { answered(told...); };
        static_cast<void>(decode_private_event(message, note));
    }
    void disconnected(soup_ending why) noexcept override {
        if (in_) lab::fail("a client has lost its connection: " + std::string{describe(why)});
    }

    order_entry_client<gyre_traits> client_;
    std::deque<sent_command> unanswered_;
    lab::histogram latencies_;
    std::uint64_t next_ = 1;
    std::uint64_t messages_ = 0;
    bool in_ = false;
};

}  // namespace exchange::bench

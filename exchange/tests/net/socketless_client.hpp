// SPDX-License-Identifier: BSL-1.0
//
// A client of the order entry host without any socket: both ends of a session, and bytes that are
// carried.
//
// `exchange_bytes` plays the network between a soup_client and an order_entry_session, to the end
// of what both want to say. Tests then look at what the client has heard.
#pragma once

#include <exchange/codec/packet_batch.hpp>
#include <exchange/codec/soup_client.hpp>
#include <exchange/codec/soup_framer.hpp>
#include <exchange/net/session/order_entry_session.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace exchange::testing {

inline constexpr gyre::time_point day_start{std::chrono::hours{1}};

/// One message as a client hears it.
struct heard_message {
    bool sequenced = false;
    std::vector<std::byte> bytes;
};

/// Keeps the events of one kind.
template <event_record Event>
struct collector {
    std::vector<Event> taken;

    void operator()(const event_stamp&, const Event& it) { taken.push_back(it); }
    void operator()(const event_stamp&, const auto&) {}
    void operator()(const message_rejected&) {}
};

struct refusal_collector {
    std::vector<message_rejected> taken;

    void operator()(const event_stamp&, const auto&) {}
    void operator()(const message_rejected& it) { taken.push_back(it); }
};

class socketless_client final : public session_link {
public:
    socketless_client(order_entry_host& host, const soup_login& login,
                      const soup_options& options = soup_options{})
        : host_{host}, options_{options}, client_{options, login, day_start} {}

    /// A new connection; the one before is gone.
    void connect(gyre::time_point now = day_start) {
        session_.reset();
        session_.emplace(host_, *this, options_, now);
        to_server_.reset();
        to_client_.reset();
        cut_ = false;
        client_.connect(now);
        exchange_bytes(now);
    }

    void disconnect() { session_.reset(); }

    template <command_record Command>
    [[nodiscard]] bool send(const Command& what) {
        std::vector<std::byte> bytes(message_bytes(what));
        encode(what, bytes);
        return client_.send(bytes);
    }
    [[nodiscard]] bool send_bytes(std::span<const std::byte> bytes) { return client_.send(bytes); }

    /// Sends, and carries everything to and fro.
    template <command_record Command>
    void tell(const Command& what) {
        static_cast<void>(send(what));
        exchange_bytes();
    }

    void exchange_bytes(gyre::time_point now = day_start) {
        while (carry_to_server(now) || carry_to_client(now)) host_.announce();
    }
    /// What the client wants written goes to the session; false if there was nothing.
    bool carry_to_server(gyre::time_point now = day_start);
    bool carry_to_client(gyre::time_point now = day_start);

    /// Where it is, from its next login on.
    void be_at(const gyre::endpoint& where) { peer_ = where; }

    void has_output() noexcept override { ++announced_; }
    [[nodiscard]] gyre::endpoint peer() const noexcept override { return peer_; }
    void cut() noexcept override {
        cut_ = true;
        ++cuts_;
        if (when_cut) when_cut();
    }
    std::function<void()> when_cut;  ///< Called at that moment, if it is set.

    [[nodiscard]] soup_client& client() { return client_; }
    [[nodiscard]] order_entry_session& session() { return *session_; }
    [[nodiscard]] const std::vector<heard_message>& heard() const { return heard_; }
    void forget() { heard_.clear(); }
    [[nodiscard]] int announced() const { return announced_; }
    [[nodiscard]] bool was_cut() const { return cut_; }
    [[nodiscard]] int cuts() const { return cuts_; }

    /// Events of one kind among what was heard, in order.
    template <event_record Event>
    [[nodiscard]] std::vector<Event> heard_of() const {
        collector<Event> found;
        for (const heard_message& each : heard_) {
            if (!decode_operator_event(each.bytes, found)) continue;
            static_cast<void>(decode_private_event(each.bytes, found));
        }
        return found.taken;
    }

    /// Answers to what was no command.
    [[nodiscard]] std::vector<message_rejected> refusals() const {
        refusal_collector found;
        for (const heard_message& each : heard_)
            static_cast<void>(decode_private_event(each.bytes, found));
        return found.taken;
    }

private:
    order_entry_host& host_;
    soup_options options_;
    soup_client client_;
    std::optional<order_entry_session> session_;
    soup_framer to_server_;
    soup_framer to_client_;
    std::vector<heard_message> heard_;
    gyre::endpoint peer_;
    int announced_ = 0;
    int cuts_ = 0;
    bool cut_ = false;
};

// Implementation

inline void put(soup_framer& into, const soup_output& output) {
    for (std::span<const std::byte> part : output.buffers()) {
        const std::span<std::byte> space = into.space();
        gyre::expects(space.size() >= part.size(), "tests carry little at a time");
        std::ranges::copy(part, space.begin());
        into.received(part.size());
    }
}

/// Packets that are whole in `from`, as a channel hands them down.
///
/// @param  space  Memory for them.
[[nodiscard]] inline packet_batch batch_of(soup_framer& from, std::vector<soup_packet>& space) {
    space.clear();
    soup_framed framed = from.next();
    for (; framed.complete; framed = from.next()) space.push_back(framed.packet);
    return {space, framed.ending};
}

inline bool socketless_client::carry_to_server(gyre::time_point now) {
    const soup_output output = client_.output();
    if (output.size() == 0 || !session_) return false;
    put(to_server_, output);
    client_.sent(output.size(), now);
    for (;;) {
        const soup_framed framed = to_server_.next();
        if (framed.ending != soup_ending::none) session_->on_framing_error(framed.ending);
        if (!framed.complete) return true;
        session_->on_packet(framed.packet, now);
    }
}

inline bool socketless_client::carry_to_client(gyre::time_point now) {
    if (!session_ || cut_) return false;
    const soup_output output = session_->output();
    if (output.size() == 0) return false;
    put(to_client_, output);
    session_->sent(output.size(), now);
    for (soup_framed framed = to_client_.next(); framed.complete; framed = to_client_.next()) {
        const soup_step step = client_.on_packet(framed.packet, now);
        if (step.what == soup_step::kind::message)
            heard_.push_back({step.sequence != 0, {step.payload.begin(), step.payload.end()}});
    }
    return true;
}

}  // namespace exchange::testing

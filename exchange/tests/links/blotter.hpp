// SPDX-License-Identifier: BSL-1.0
//
// What one client knows of its own orders, from nothing but what it sent and what its session told it.
//
// It is the judge of order entry over bad links: each message must fit to what was told before, commands of
// one connection must be answered in their order with none left out, and in the end the exchange must
// have exactly these orders.
#pragma once

#include <exchange/codec/event_codec.hpp>
#include <exchange/core/venue.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace exchange::testing {

/// An order that rests, or a stop that waits, as far as its owner knows.
struct known_order {
    client_sequence client_seq;
    instrument_id instrument;
    order_side side;
    price_ticks price;
    contracts open;
    contracts executed;
};

struct blotter_counts {
    std::uint64_t sent = 0;
    std::uint64_t answered = 0;
    std::uint64_t rejected = 0;
    std::uint64_t lost = 0;  ///< Never arrived: they were sent on a connection that died.

    blotter_counts& operator+=(const blotter_counts& more) noexcept {
        sent += more.sent;
        answered += more.answered;
        rejected += more.rejected;
        lost += more.lost;
        return *this;
    }
};

class blotter {
public:
    explicit blotter(session_id whose) : whose_{whose} {}

    /// Notes that a command has been given to the connection.
    void sent(client_sequence client_seq);

    /// The connection has ended: what was not answered may have arrived or not.
    void connection_lost() noexcept { ++connection_; }

    /// All that was, is gone, and what was not answered is lost. Counts and complaints stay.
    void begin_life();

    /// Takes a message of the session.
    template <event_record Event>
    void operator()(const event_stamp& stamp, const Event& it) {
        if (stamp.out_seq <= last_out_seq_) complain("messages are out of order");
        last_out_seq_ = stamp.out_seq;
        hear(it);
    }
    void operator()(const message_rejected&) { complain("a message of ours was no command"); }

    /// Compares with the truth. Says what differs, or nothing.
    /// @param  holdings_max  That of the partition.
    [[nodiscard]] std::string compare(const venue& real, account_id account,
                                      std::uint32_t holdings_max) const;

    /// Has the command been answered?
    [[nodiscard]] bool is_answered(client_sequence it) const noexcept {
        return answered_up_to_ >= it;
    }

    [[nodiscard]] const std::map<order_id, known_order>& open() const noexcept { return open_; }
    [[nodiscard]] const blotter_counts& counts() const noexcept { return counts_; }

    /// The first things that were wrong.
    [[nodiscard]] const std::vector<std::string>& complaints() const noexcept {
        return complaints_;
    }
    void complain(const std::string& what);

private:
    struct sent_command {
        client_sequence client_seq;
        std::uint64_t connection;
    };

    void hear(const order_entered& it);
    void hear(const order_amended& it);
    void hear(const order_cancelled& it);
    void hear(const order_rejected& it);
    void hear(const order_executed& it);
    void hear(const trade_capture_report& it);
    void hear(const order_terms& it);
    void hear(const stop_entered& it);
    void hear(const stop_triggered& it);
    template <class Other>
    void hear(const Other&) {
        complain("a message that is not for sessions");
    }
    void answered(client_sequence it);
    [[nodiscard]] std::string compare(const venue& all, const order& real) const;

    session_id whose_;
    std::map<order_id, known_order> open_;
    std::map<instrument_id, std::int64_t> position_;  // By executions.
    std::map<instrument_id, std::int64_t> captured_;  // By reports of trades.
    std::deque<sent_command> unanswered_;
    std::set<client_sequence> lost_;
    client_sequence last_sent_ = client_sequence::none;
    client_sequence answered_up_to_ = client_sequence::none;
    std::uint64_t connection_ = 0;
    out_sequence last_out_seq_ = 0;
    blotter_counts counts_;
    std::vector<std::string> complaints_;
};

}  // namespace exchange::testing

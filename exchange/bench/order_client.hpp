// SPDX-License-Identifier: BSL-1.0
//
// One participant of the load: a SoupBinTCP session over a socket that is asked again and again.
//
// Protocol and framing are exchange/codec's; what is here is the socket, and commands as bytes.
#pragma once

#include <exchange/bench/loopback.hpp>
#include <exchange/codec/event_codec.hpp>
#include <exchange/codec/soup_client.hpp>
#include <exchange/codec/soup_framer.hpp>
#include <exchange/core/commands.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace exchange::bench {

/// Threads:  One at a time.
/// Cost:     No allocation after construction, unless something is wrong.
class order_client {
public:
    /// Connects, and asks to be let in: for what comes from now on, not for what there was before.
    order_client(const sockaddr_in& to, std::string_view username, std::string_view password,
                 gyre::time_point now);

    /// Puts a command in line, and sends what is in line if that has become much.
    void push(const command& what, gyre::time_point now);

    /// Sends as much as the kernel takes.
    void flush(gyre::time_point now);

    /// There is something in line that the kernel did not take: push nothing more for now.
    [[nodiscard]] bool backlogged() const noexcept { return backlogged_; }

    /// Reads what is there, at most once, and gives each whole derived message to
    /// `visitor(stamp, event, now)`, where `now` is when the reading was over.
    ///
    /// @return Whether there was anything.
    template <class Visitor>
    bool receive(Visitor&& visitor) {
        if (!read_some()) return false;
        const gyre::time_point now = std::chrono::steady_clock::now();
        for (soup_framed framed = framer_.next(); framed.complete; framed = framer_.next()) {
            const soup_step step = client_.on_packet(framed.packet, now);
            if (step.what == soup_step::kind::ended) complain(step);
            else if (step.what == soup_step::kind::message) take(step, now, visitor);
        }
        return true;
    }

    /// Heartbeats and silence.
    void on_timer(gyre::time_point now);

    [[nodiscard]] bool logged_in() const noexcept { return client_.logged_in(); }

    /// Says goodbye.
    void log_out(gyre::time_point now);

    /// What is wrong, as a sentence; empty as long as nothing is.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

    /// How many system calls have sent and received something.
    [[nodiscard]] std::uint64_t sends() const noexcept { return sends_; }
    [[nodiscard]] std::uint64_t receptions() const noexcept { return receptions_; }

private:
    template <class Visitor>
    struct reading {
        Visitor& visitor;
        gyre::time_point now;
        bool refused = false;

        template <class Event>
        void operator()(const event_stamp& stamp, const Event& it) {
            visitor(stamp, it, now);
        }
        void operator()(const message_rejected&) { refused = true; }
    };

    template <class Visitor>
    void take(const soup_step& step, gyre::time_point now, Visitor& visitor) {
        reading<Visitor> of{visitor, now};
        const decode_fault fault = decode_private_event(step.payload, of);
        if (fault.error != decode_error::none || of.refused) [[unlikely]]
            complain_about_message(of.refused);
    }

    bool read_some();
    void complain(const soup_step& step);
    void complain_about_message(bool refused);

    std::string name_;
    soup_client client_;
    soup_framer framer_;
    descriptor socket_;
    std::size_t in_line_bytes_ = 0;
    bool backlogged_ = false;
    std::uint64_t sends_ = 0;
    std::uint64_t receptions_ = 0;
    std::string fault_;
};

}  // namespace exchange::bench

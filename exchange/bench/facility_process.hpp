// SPDX-License-Identifier: BSL-1.0
//
// A matching facility as a process of its own, whose memory and processor time are its alone.
//
// What is measured of one message stands in measurement.hpp, inside one process. Here are operators'
// questions: how large it is, what it costs when clients are idle, how long others wait.
#pragma once

#include <exchange/bench/measured_process.hpp>

#include <gyre/io/endpoint.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace exchange::bench {

/// A user of the facility, and what it trades through.
struct bench_user {
    std::string name;
    unsigned account;
};

/// What its configuration says beside the usual.
struct facility_setting {
    std::string program;  ///< The path of matching_facility.
    std::string backend = "gyre_epoll";
    int processor = 1;  ///< That it has for itself, as far as we are concerned; -1: any.
    std::vector<bench_user> users;   ///< Each with the session of its place, counted from 1.
    unsigned accounts_in_group = 0;  ///< So many of the first share a self-trade group.
    unsigned orders_max = 20'000;
    std::uint16_t feed_port = 9;  ///< Of 127.0.0.1, where the feed goes.
};

/// Runs from construction to destruction. What fails ends the program that measures.
class facility_process {
public:
    /// Returns once clients may come.
    explicit facility_process(const facility_setting& how);

    [[nodiscard]] const gyre::endpoint& order_entry() const noexcept { return order_entry_; }
    /// Where requests for retransmission go, and the name of the feed.
    [[nodiscard]] const gyre::endpoint& requests() const noexcept { return requests_; }
    [[nodiscard]] const std::string& life() const noexcept { return life_; }
    /// Of every user.
    [[nodiscard]] static std::string_view password() noexcept { return "secret"; }
    /// How long it took to be ready.
    [[nodiscard]] double seconds_to_ready() const noexcept { return it_.seconds_to_ready(); }
    [[nodiscard]] process_use used() const { return it_.used(); }

private:
    measured_process it_;
    gyre::endpoint order_entry_;
    gyre::endpoint requests_;
    std::string life_;
};

}  // namespace exchange::bench

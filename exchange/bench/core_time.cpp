// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/bench/core_time.hpp>

#include <exchange/bench/facility_under_test.hpp>
#include <exchange/bench/prepared_host.hpp>
#include <exchange/codec/soup_framer.hpp>
#include <exchange/net/session/order_entry_session.hpp>

#include <lab/kit/fail.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <variant>

namespace exchange::bench {
namespace {

using gyre::time_point;

time_point clock_now() { return std::chrono::steady_clock::now(); }

/// A session whose client is this file: bytes go in framed, as from a socket, and out into nothing.
class loose_session final : session_link {
public:
    loose_session(order_entry_host& host, std::string_view username)
        : session_{host, *this, {}, clock_now()} {
        const auto login = format_soup_login({username, password, {}, 0});
        session_.on_packet({soup_type::login_request, login}, clock_now());
        lab::require(session_.logged_in(), "exchange: the core's own client was not let in");
        take_output(clock_now());
    }

    void put(const command& what) {
        std::visit(
            [this]<class Command>(const Command& it) {
                if constexpr (fixed_size_record<Command>) {
                    std::array<std::byte, soup_header_bytes + message_bytes_of<Command>> packet;
                    write_soup_header(std::span{packet}.template first<soup_header_bytes>(),
                                      soup_type::unsequenced, message_bytes_of<Command>);
                    encode(it, std::span{packet}.template subspan<soup_header_bytes>());
                    std::ranges::copy(packet, framer_.space().begin());
                    framer_.received(packet.size());
                } else {
                    lab::fail("exchange: a scenario sends what only the operator may");
                }
            },
            what);
    }

    void carry_out(time_point now) {
        while (session_.take_packets(framer_, 64, now, not_watched_) > 0) {
        }
    }

    void take_output(time_point now) {
        while (const std::size_t size = session_.output().size()) session_.sent(size, now);
    }

private:
    void has_output() noexcept override {}
    void cut() noexcept override { lab::fail("exchange: the core's own client was cut off"); }

    order_entry_session session_;
    soup_framer framer_;
    span_watch not_watched_{nullptr};
};

}  // namespace

std::vector<gyre::duration> time_core(scenario_name which, book_state state, std::size_t events) {
    scenario play{which, state};
    const auto host = prepared_host(play, clock_now());
    std::array<loose_session, 2> sessions{loose_session{*host, maker_name},
                                          loose_session{*host, taker_name}};
    const auto run = [&](time_point now) {
        for (loose_session& each : sessions) each.carry_out(now);
        host->announce();
        for (loose_session& each : sessions) each.take_output(now);
        while (host->feed().next(now)) {
        }
        return clock_now();
    };

    std::vector<gyre::duration> times;
    times.reserve(events);
    std::vector<command> commands;
    const auto put = [&](const command& what) {
        const session_id from = std::visit(
            []<class Command>(const Command& it) {
                if constexpr (requires { it.session; }) return it.session;
                else return session_id::none;
            },
            what);
        sessions[from == session_id{1} ? 0 : 1].put(what);
    };
    while (times.size() < events) {
        commands.clear();
        play.before(commands);
        for (const command& each : commands) put(each);
        run(clock_now());
        commands.clear();
        play.measured(commands);
        for (const command& each : commands) put(each);
        const out_sequence before = host->market().published();
        const time_point began = clock_now();
        times.push_back(run(began) - began);
        lab::require(host->market().published() - before == play.derived(),
                     "exchange: the core derived another number of messages than it should");
    }
    return times;
}

}  // namespace exchange::bench

// SPDX-License-Identifier: BSL-1.0
//
// The eight scenarios over the wire: the same bytes with every pipeline and every compiler.
//
// Two clients and a listener play ten events of a scenario against a facility, and everything that they
// receive is hashed: each connection's bytes as they came from the socket, then the feed's messages, each
// behind its number and its length, since which of them share a datagram is chance. golden_streams.hpp has
// the hashes.
#pragma once

#include <exchange/bench/scenarios.hpp>
#include <exchange/codec/big_endian.hpp>
#include <exchange/tests/net/facility_laws.hpp>

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace exchange::testing {

/// FNV-1a over bytes.
class stream_hash {
public:
    void add(std::span<const std::byte> bytes) noexcept {
        for (const std::byte each : bytes)
            value_ = (value_ ^ std::to_integer<std::uint64_t>(each)) * 0x100'0000'01b3;
    }
    template <std::unsigned_integral Number>
    void add(Number number) noexcept {
        std::array<std::byte, sizeof(Number)> bytes;
        put_big_endian(std::span{bytes}, number);
        add(bytes);
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

private:
    std::uint64_t value_ = 0xcbf2'9ce4'8422'2325;
};

struct golden_stream {
    bench::scenario_name which;
    bench::book_state state;
    std::uint64_t hash;
};

/// As scenarios.hpp wants it: all sessions are defined, the two that trade may log in.
[[nodiscard]] inline order_entry_host_options scenario_rules(std::uint32_t step_work) {
    order_entry_host_options options;
    options.sequencing.limits = bench::scenario::limits();
    options.sequencing.limits.step_work_max = step_work;
    options.participants = {{"maker", "secret", session_id{1}}, {"taker", "secret", session_id{2}}};
    constexpr auto always = []() noexcept { return timestamp_ns{1'000'000'000}; };
    options.sequencing.clocks = {.wall = always, .steady = always};
    return options;
}

template <class Side, class Facility>
struct golden_law {
    using X = typename Side::traits;
    using context = typename X::context;
    using task = typename X::template task<void>;

    static constexpr int events = 10;

    static void holds(const golden_stream& golden) {
        INFO(std::string{bench::title(golden.which)},
             std::string{golden.state == bench::book_state::filled ? ", filled" : ", empty"});
        int contexts = 0;
        // Commands that are carried out one fill or cancel at a time say the same, byte for byte.
        for (const std::uint32_t step_work : {partition_limits{}.step_work_max, 1u}) {
            INFO("work of a step: ", step_work);
            Side::each_context([&](context& on) {
                ++contexts;
                bench::scenario script{golden.which, golden.state};
                stage it{on, script, step_work};
                bool ended = false;
                X::launch(on, play(it, script, golden.hash, ended));
                CHECK(Side::run_to_rest(on));
                CHECK(ended);
            });
        }
        REQUIRE(contexts > 0);
    }

private:
    struct stage {
        stage(context& on, bench::scenario& script, std::uint32_t step_work)
            : on{on}, host{scenario_rules(step_work), X::now(on)} {
            for (const command& each : script.prepare()) host.apply(each);
            while (host.feed().next(X::now(on))) {
            }  // No listener is there to hear the preparation.
            feed_listener_options hearing;
            hearing.group = loopback(0);
            hearing.ask_from = loopback(0);
            hearing.receiver.first_sequence = host.feed().messages().next_sequence();
            ears.emplace(on, hearing);
            REQUIRE(ears->feed.start().ok());
            facility_options how = on_loopback();
            how.sessions.heartbeat_after = how.sessions.dead_after = std::chrono::hours{1};
            how.feed = ears->feed.local();
            facility.emplace(on, host, how);
            REQUIRE(facility->start().ok());
            ears->feed.ask(facility->feed_requests());
            while (clients.size() < host.participants().size()) clients.emplace_back(on);
        }

        [[nodiscard]] const message_log& stream_of(std::size_t client) const {
            return host.participants()[client].stream().messages();
        }

        void send(const command& what) {
            std::visit(
                [&](const auto& it) {
                    if constexpr (requires { it.client_seq; })
                        clients[number(it.session) - 1u].say(it);
                    else FAIL("scenarios are played by clients");
                },
                what);
            ++sent;
        }

        context& on;
        order_entry_host host;
        std::optional<listener<X>> ears;
        std::optional<Facility> facility;
        std::deque<raw_client<X>> clients;
        std::uint64_t sent = 0;
    };

    static task play(stage& it, bench::scenario& script, std::uint64_t golden, bool& ended) {
        std::vector<std::uint64_t> first;  // Behind what the preparation said.
        for (std::size_t each = 0; each < it.clients.size(); ++each) {
            first.push_back(it.stream_of(each).next_sequence());
            co_await it.clients[each].connect(it.facility->order_entry());
            it.clients[each].log_in(it.host.participants()[each].who().username.view(), 0);
            co_await it.clients[each].write();
            co_await it.clients[each].hear(1);
        }
        const std::uint64_t before = it.host.counts().commands;
        const std::uint64_t feed_from = it.host.feed().messages().next_sequence();
        std::vector<command> commands;
        for (int each = 0; each < events; ++each) {
            commands.clear();
            script.before(commands);
            for (const command& one : commands) it.send(one);
            co_await carried_out(it, before + it.sent);
            const out_sequence published = it.host.market().published();
            commands.clear();
            script.measured(commands);
            for (const command& one : commands) it.send(one);
            co_await carried_out(it, before + it.sent);
            CHECK(it.host.market().published() - published == script.derived());
        }
        stream_hash hash;
        for (std::size_t each = 0; each < it.clients.size(); ++each) {
            raw_client<X>& who = it.clients[each];
            co_await who.hear(1 + it.stream_of(each).next_sequence() - first[each]);
            hash.add(who.wire);
        }
        const std::uint64_t told = it.host.feed().messages().next_sequence() - feed_from;
        co_await it.ears->heard_at_least(told);
        for (std::size_t each = 0; each < it.ears->messages.size(); ++each) {
            hash.add(it.ears->sequences[each]);
            hash.add(static_cast<std::uint16_t>(it.ears->messages[each].size()));
            hash.add(it.ears->messages[each]);
        }
        CHECK(hash.value() == golden);
        for (raw_client<X>& each : it.clients) co_await each.leave();  // Which may cancel orders.
        it.facility->stop();
        it.ears->feed.stop();
        ended = true;
    }

    static task carried_out(stage& it, std::uint64_t commands) {
        for (raw_client<X>& each : it.clients) co_await each.write();
        typename X::timer timer{it.on};
        while (it.host.counts().commands < commands || it.host.busy())
            static_cast<void>(
                co_await timer.wait_until(X::now(it.on) + std::chrono::microseconds{100}));
    }
};

}  // namespace exchange::testing

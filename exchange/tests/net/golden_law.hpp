// SPDX-License-Identifier: BSL-1.0
//
// The eight scenarios over the wire: the same bytes, whoever carries them and whoever compiled them.
//
// Two clients and a listener play ten events of a scenario against a facility, and everything that they
// receive is hashed: each session's messages, then the feed's. golden_streams_test.cpp has the hashes.
#pragma once

#include <exchange/bench/scenarios.hpp>
#include <exchange/tests/net/facility_laws.hpp>

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
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

private:
    std::uint64_t value_ = 0xcbf2'9ce4'8422'2325;
};

struct golden_stream {
    bench::scenario_name which;
    bench::book_state state;
    std::uint64_t hash;
};

/// As scenarios.hpp wants it: everybody's sessions are defined, the two that trade may log in.
[[nodiscard]] inline matching_service_options scenario_rules() {
    matching_service_options options;
    options.limits = bench::scenario::limits();
    options.participants = {{"maker", "secret", session_id{1}}, {"taker", "secret", session_id{2}}};
    constexpr auto always = []() noexcept { return timestamp_ns{1'000'000'000}; };
    options.clocks = {.wall = always, .steady = always};
    return options;
}

template <class World, class Facility>
struct golden_law {
    using X = typename World::traits;
    using context = typename X::context;
    using task = typename X::template task<void>;

    static constexpr int events = 10;

    static void holds(const golden_stream& golden) {
        INFO(std::string{bench::title(golden.which)},
             std::string{golden.state == bench::book_state::filled ? ", filled" : ", empty"});
        World::each_context([&](context& on) {
            bench::scenario script{golden.which, golden.state};
            stage it{on, script};
            bool ended = false;
            X::launch(on, play(it, script, golden.hash, ended));
            CHECK(World::run_to_rest(on));
            CHECK(ended);
        });
    }

private:
    struct stage {
        stage(context& on, bench::scenario& script)
            : on{on}, service{scenario_rules(), X::now(on)} {
            for (const command& each : script.prepare()) service.apply(each);
            while (service.feed().next(X::now(on))) {
            }  // Nobody is there to hear the preparation.
            feed_listener_options hearing;
            hearing.group = loopback(0);
            hearing.ask_from = loopback(0);
            hearing.receiver.first_sequence = service.feed().messages().next_sequence();
            ears.emplace(on, hearing);
            REQUIRE(ears->feed.start().ok());
            facility_options how = on_loopback();
            how.feed = ears->feed.local();
            facility.emplace(on, service, how);
            REQUIRE(facility->start().ok());
            ears->feed.ask(facility->feed_requests());
            for (const char* name : {"maker", "taker"}) {
                order_entry_client_options options;
                options.exchange = facility->order_entry();
                options.login = login_of(name, 0);  // Without what the preparation said.
                clients.emplace_back(on, options);
            }
        }

        void send(const command& what) {
            std::visit(
                [&](const auto& it) {
                    if constexpr (requires { it.client_seq; })
                        clients[number(it.session) - 1u].send(it);
                    else FAIL("scenarios are played by clients");
                },
                what);
            ++sent;
        }

        context& on;
        matching_service service;
        std::optional<listener<X>> ears;
        std::optional<Facility> facility;
        std::deque<trader<X>> clients;
        std::uint64_t sent = 0;
    };

    static task play(stage& it, bench::scenario& script, std::uint64_t golden, bool& ended) {
        for (trader<X>& each : it.clients) {
            co_await each.in();
            each.next_sequence = each.client.machine().resume().sequence;
        }
        const std::uint64_t before = it.service.counts().commands;
        const std::uint64_t feed_from = it.service.feed().messages().next_sequence();
        std::vector<command> commands;
        for (int each = 0; each < events; ++each) {
            commands.clear();
            script.before(commands);
            for (const command& one : commands) it.send(one);
            co_await carried_out(it, before + it.sent);
            const out_sequence published = it.service.market().published();
            commands.clear();
            script.measured(commands);
            for (const command& one : commands) it.send(one);
            co_await carried_out(it, before + it.sent);
            CHECK(it.service.market().published() - published == script.derived());
        }
        stream_hash hash;
        for (std::size_t each = 0; each < it.clients.size(); ++each) {
            trader<X>& who = it.clients[each];
            const auto& stream = it.service.participants()[each].stream().messages();
            co_await who.until(
                [&] { return who.client.machine().resume().sequence == stream.next_sequence(); });
            for (const heard_message& message : who.messages) hash.add(message.bytes);
            who.client.stop();
            co_await who.gone();
        }
        const std::uint64_t told = it.service.feed().messages().next_sequence() - feed_from;
        co_await it.ears->heard_at_least(told);
        for (const std::vector<std::byte>& message : it.ears->messages) hash.add(message);
        CHECK(hash.value() == golden);
        it.facility->stop();
        it.ears->feed.stop();
        ended = true;
    }

    static task carried_out(stage& it, std::uint64_t commands) {
        typename X::timer timer{it.on};
        while (it.service.counts().commands < commands)
            static_cast<void>(
                co_await timer.wait_until(X::now(it.on) + std::chrono::microseconds{100}));
    }
};

}  // namespace exchange::testing

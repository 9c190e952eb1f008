// SPDX-License-Identifier: BSL-1.0
//
// The promise that a warm facility allocates nothing, its I/O included, counted in front of malloc.
//
// The counter is a thread's own: the facility runs on one, its clients on another, on gyre in every case.
#pragma once

#include <exchange/codec/query_codec.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/tests/net/facility_fixture.hpp>
#include <exchange/tests/net/held_port.hpp>
#include <exchange/tests/net/hosted.hpp>
#include <exchange/tests/net/socketless_gateway.hpp>
#include <exchange/tests/net/spoken_format.hpp>
#include <exchange/tests/net/subscriber.hpp>

#include <lab/kit/allocations.hpp>
#include <support/harness.hpp>

#include <atomic>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

namespace exchange::testing {

/// A client that hears answers by counting them.
///
/// @tparam  Wire  How its packets look on the stream: transport_of.hpp.
template <class Wire>
class counting_client {
public:
    using task = gyre::task<>;

    explicit counting_client(gyre::io_context& on) : on_{on} {}

    task connect(gyre::endpoint where, soup_login login) {
        auto [error, socket] = co_await gyre_traits::connect(on_, where);
        REQUIRE_FALSE(error);
        socket_ = std::move(socket);
        wire_.emplace(where);
        co_await write(wire_->first_words());
        while (!wire_->open()) co_await read();
        const auto request = format_soup_login(login);
        say(soup_type::login_request, request);
        co_await exchange_packets(1);
    }
    template <command_record Command>
    void say(const Command& what) {
        std::array<std::byte, 256> bytes;
        const std::span<std::byte> used = std::span{bytes}.first(message_bytes(what));
        encode(what, used);
        say(soup_type::unsequenced, used);
    }
    void say(soup_type type, std::span<const std::byte> payload) {
        std::array<std::byte, soup_header_bytes> header;
        write_soup_header(header, type, payload.size());
        unsent_.insert(unsent_.end(), header.begin(), header.end());
        unsent_.insert(unsent_.end(), payload.begin(), payload.end());
    }

    /// Writes what was said, and waits until so many packets more were heard, heartbeats aside.
    task exchange_packets(std::uint64_t answers) {
        co_await write(Wire::encoded(unsent_));
        unsent_.clear();
        for (std::uint64_t heard = 0; heard < answers;) {
            const soup_framed framed = wire_->next();
            REQUIRE(framed.ending == soup_ending::none);
            if (!framed.complete) co_await read();
            else if (framed.packet.type != soup_type::server_heartbeat) ++heard;
        }
    }
    void close() { static_cast<void>(socket_.close()); }

private:
    task write(std::vector<std::byte> bytes) {
        gyre::const_buffer rest{bytes};
        while (!rest.empty()) {
            const auto [error, size] = co_await socket_.write_some(rest);
            REQUIRE_FALSE(error);
            rest = rest.subspan(size);
        }
    }
    task read() {
        const auto [error, size] = co_await socket_.read_some(wire_->space());
        REQUIRE_FALSE(error);
        wire_->received(size);
    }

    gyre::io_context& on_;
    gyre::stream_socket socket_;
    std::optional<Wire> wire_;
    std::vector<std::byte> unsent_;
};

/// Asks for messages of the feed again, and hears the answer.
class asking_listener {
public:
    asking_listener(gyre::io_context& on, const gyre::endpoint& whom)
        : whom_{whom}, socket_{gyre_traits::bind(on, loopback(0), {}).take()} {}

    gyre::task<> ask(std::uint64_t sequence) {
        const auto request = format_mold_header({"FEED", sequence, 4});
        const gyre::const_buffer bytes{request};
        const gyre::io_result<> sent = co_await socket_.send_to({&bytes, 1}, whom_);
        REQUIRE(sent.ok());
        const auto [error, got] = co_await socket_.receive(space_);
        REQUIRE_FALSE(error);
        const mold_packet answer = parse_mold_packet(std::span{space_}.first(got.size));
        CHECK(answer.header.sequence == sequence);
        CHECK(answer.messages.size() == 4);
    }
    void close() { static_cast<void>(socket_.close()); }

private:
    gyre::endpoint whom_;
    gyre::udp_socket socket_;
    std::array<std::byte, 1500> space_{};
};

/// Every kind of message that a client can send, alone and in batches; trades that another session
/// hears of, too; and requests for what the feed has told already.
template <class Wire>
class busy_day {
public:
    busy_day(gyre::io_context& on, const gyre::endpoint& where, const gyre::endpoint& requests)
        : where_{where}, alices_{on}, bobs_{on}, listener_{on, requests} {}

    gyre::task<> begin() {
        co_await alices_.connect(where_, login_of("alice"));
        co_await bobs_.connect(where_, login_of("bob"));
        bobs_.say(limit(client_sequence{1}, order_side::sell, 1'000, 1'000'000));
        co_await bobs_.exchange_packets(1);
    }

    /// @param  orders  As many cancels, too.
    gyre::task<> trade(std::uint32_t orders) {
        for (std::uint32_t done = 0; done < orders;) {
            const std::uint32_t batch = done % 3 == 0 ? 50 : 1;
            for (std::uint32_t each = 0; each < batch; ++each) {
                const client_sequence order{++alice_says_};
                alices_.say(limit(order, order_side::buy, 100, 5));
                alices_.say(cancel_of(client_sequence{++alice_says_}, order));
            }
            co_await alices_.exchange_packets(2 * std::uint64_t{batch});
            done += batch;
            alices_.say(limit(client_sequence{++alice_says_}, order_side::buy, 1'000, 1));
            co_await alices_.exchange_packets(2);
            co_await bobs_.exchange_packets(2);
            co_await amend_and_quote();
            co_await ask_in_vain();
            // Told, and kept: a day of several rounds would leave its first messages behind.
            co_await listener_.ask(1 + 4 * std::uint64_t{traded_ + done});
        }
        traded_ += orders;
    }
    void end() {
        alices_.close();
        bobs_.close();
        listener_.close();
    }

private:
    [[nodiscard]] client_sequence next() { return client_sequence{++alice_says_}; }

    /// An order that is amended, with and without losing its place; a quote that is replaced; and the end
    /// of all of them.
    gyre::task<> amend_and_quote() {
        const client_sequence order = next();
        alices_.say(limit(order, order_side::buy, 100, 5));
        for (const contracts quantity : {4U, 6U})
            alices_.say(
                amend_order{session_id::none, next(), {order_id::none, order}, 100, quantity});
        for (const price_ticks bid : {90, 91})
            alices_.say(enter_quote{session_id::none, next(), the_market,
                                    self_trade_action::account_default, bid, 2'000, 1, 1});
        alices_.say(cancel_orders{session_id::none, next(), account_id{number(alice)},
                                  instrument_id::none, side_filter::both});
        co_await alices_.exchange_packets(1 + 2 + (2 + 4) + 3);
    }

    /// What cannot be filled, what is refused by the core, and what is no message.
    gyre::task<> ask_in_vain() {
        for (const time_in_force each :
             {time_in_force::immediate_or_cancel, time_in_force::fill_or_kill}) {
            enter_order it = limit(next(), order_side::buy, 100, 5);
            it.tif = each;
            alices_.say(it);
        }
        alices_.say(limit(client_sequence{1}, order_side::buy, 100, 5));
        alices_.say(limit(next(), order_side::buy, 100, 0));
        alices_.say(cancel_of(next(), client_sequence{1}));
        const bool any_bytes = spoken_format == session_format::sbe;  // JSON says messages only.
        if (any_bytes) alices_.say(soup_type::unsequenced, gyre::bytes_of("nonsense"));
        std::array<std::byte, message_bytes_of<book_request>> question;
        encode(book_request{the_market, best_of(order_side::sell), order_side::sell}, question);
        alices_.say(soup_type::unsequenced, question);
        std::array<std::byte, message_bytes_of<query>> about_orders;
        encode(query{0, account_id::none, instrument_id::none, query_subject::orders},
               about_orders);
        alices_.say(soup_type::unsequenced, about_orders);
        const std::uint64_t refusals = any_bytes ? 6 : 5;
        co_await alices_.exchange_packets(2 + refusals);
    }

    gyre::endpoint where_;
    counting_client<Wire> alices_;
    counting_client<Wire> bobs_;
    asking_listener listener_;
    std::uint32_t alice_says_ = 0;
    std::uint32_t traded_ = 0;  // Orders, in earlier rounds.
};

/// @tparam  Side        How a test gets contexts: see gyre_side.hpp.
/// @tparam  Facility    A matching_facility, or what has its members.
/// @tparam  Client      What clients are: gyre_traits, or another name of them with another transport.
/// @tparam  Websockets  What gateway and distributor let in beside TCP; then clients come there.
template <class Side, class Facility, class Client = gyre_traits, class Websockets = void>
struct allocation_law {
    using X = typename Side::traits;
    using context = typename X::context;
    using wire = typename transport_of<Client>::wire;

    static void a_warm_facility_allocates_nothing() {
        Side::each_context([](context& on) {
            order_entry_host host{two_traders(), X::now(on)};
            open_market(host);
            Facility facility{on, host, on_loopback(), nullptr};
            REQUIRE(facility.start().ok());
            std::thread server{[&on] { CHECK(Side::run_to_rest(on)); }};

            gyre::io_context clients;
            std::uint64_t before = 0;
            std::uint64_t after = 0;
            gyre_traits::launch(clients, play(clients, on, facility.order_entry(),
                                              facility.feed_requests(), before, after));
            clients.run_for(gyre::testing::patience);
            on.post([&facility]() noexcept { facility.stop(); });
            server.join();

            CHECK(before > 0);
            CHECK(after == before);
            CHECK(host.counts().commands > 20'000);
            CHECK(host.counts().malformed > 200);
            CHECK(facility.feed().datagrams > 2'000);
            CHECK(facility.feed().answers > 200);
        });
    }

    /// The same day, whose orders come through a gateway, while a distributor tells of it. Both are on the
    /// facility's thread, so that one counter sees what any of the three allocates.
    static void a_warm_gateway_and_distributor_allocate_nothing() {
        Side::each_context([](context& on) {
            order_entry_host_options rules = venue_with_gateways();
            order_entry_host host{rules, X::now(on)};
            open_market(host);
            const held_port feed;
            facility_options how = on_loopback();
            how.gateways.at = loopback(0);
            how.feed = feed.at();
            Facility facility{on, host, how, nullptr};
            REQUIRE(facility.start().ok());

            gateway_host access{gateway_for_two(), X::now(on)};
            gateway_options to_facility;
            to_facility.clients = doors();
            to_facility.facility = facility.gateways();
            hosted_gateway gateway{on, access, to_facility};
            REQUIRE(gateway.start().ok());

            market_books books{{}, false};
            market_data_host_options open;
            open.open = true;
            market_data_host subscribers{open, books, X::now(on)};
            distributor_options telling;
            telling.clients = doors();
            telling.feed.source.group = feed.at();
            telling.feed.source.ask_from = loopback(0);
            telling.feed.source.requests = facility.feed_requests();
            telling.exchange.exchange = facility.order_entry();
            telling.exchange.login = login_of("copy");
            feed.release();
            hosted_distributor distributor{on, books, subscribers, telling};
            REQUIRE(distributor.start().ok());
            std::thread server{[&on] { CHECK(Side::run_to_rest(on)); }};

            gyre::io_context clients;
            std::uint64_t before = 0;
            std::uint64_t after = 0;
            order_entry_client_options listening;
            listening.exchange = over_websocket_too ? distributor.websocket() : distributor.tcp();
            listening.login = login_of("dora");
            subscriber<Client> told{clients, listening};
            gyre_traits::launch(clients, tell_and_play(clients, on, told,
                                                       over_websocket_too ? gateway.websocket()
                                                                          : gateway.order_entry(),
                                                       facility.feed_requests(), before, after));
            clients.run_for(gyre::testing::patience);
            on.post([&]() noexcept {
                distributor.stop();
                gateway.stop();
                facility.stop();
            });
            server.join();

            CHECK(before > 0);
            CHECK(after == before);
            CHECK(access.counts().forwarded > 20'000);
            CHECK(subscribers.counts().messages > 200);  // Each of the newest state, however busy.
            CHECK(distributor.counts().losses == 0);
        });
    }

private:
    static constexpr bool over_websocket_too = !std::is_void_v<Websockets>;

    static client_server_options doors() {
        client_server_options made;
        made.tcp = loopback(0);
        if (over_websocket_too) made.websocket = loopback(0);
        return made;
    }
    static gyre::task<> tell_and_play(gyre::io_context& clients, context& on,
                                      subscriber<Client>& told, gyre::endpoint order_entry,
                                      gyre::endpoint requests, std::uint64_t& before,
                                      std::uint64_t& after) {
        co_await told.in();
        told.want(instrument_id::none);
        co_await play(clients, on, order_entry, requests, before, after);
        CHECK(told.markets[the_market].deltas > 100);
        told.client.stop();
        co_await told.gone();
    }
    static gyre::task<> play(gyre::io_context& clients, context& on, gyre::endpoint order_entry,
                             gyre::endpoint requests, std::uint64_t& before, std::uint64_t& after) {
        busy_day<wire> today{clients, order_entry, requests};
        co_await today.begin();
        co_await today.trade(6'000);
        co_await count_there(clients, on, after);
        // A buffer grows once more when a thread was kept waiting and its backlog is the longest yet. That
        // ends; what allocates by the message does so each time.
        for (int times = 0; times < 3 && before != after; ++times) {
            before = after;
            co_await today.trade(3'000);
            co_await count_there(clients, on, after);
        }
        today.end();
    }

    /// Asks the facility's thread, which must not allocate to answer.
    static gyre::task<> count_there(gyre::io_context& clients, context& on,
                                    std::uint64_t& counted) {
        std::atomic<bool> answered{false};
        on.post([&]() noexcept {
            counted = lab::allocations_of_this_thread();
            answered.store(true, std::memory_order_release);
        });
        gyre_timer timer{clients};
        while (!answered.load(std::memory_order_acquire))
            static_cast<void>(co_await timer.wait_until(gyre_traits::now(clients) +
                                                        std::chrono::milliseconds{1}));
    }
};

}  // namespace exchange::testing

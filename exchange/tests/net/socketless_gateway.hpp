// SPDX-License-Identifier: BSL-1.0
//
// An exchange, a gateway and clients without any socket: the bytes between them are carried by the test.
//
// Both ends of the link and of each client's connection are the real machines. `carry` moves what all of them
// want to say, in pieces of any size, until nothing is left.
#pragma once

#include <exchange/codec/soup_client.hpp>
#include <exchange/net/session/gateway_client.hpp>
#include <exchange/net/session/gateway_session.hpp>
#include <exchange/tests/net/socketless_client.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace exchange::testing {

[[nodiscard]] inline order_entry_host_options venue_with_gateways() {
    order_entry_host_options options = two_traders();
    options.participants.push_back(
        {.username = "copy", .secret = "secret", .what = told::account, .account = account_id{1}});
    options.participants.push_back({.username = "watch", .secret = "secret", .what = told::all});
    options.gateways = {{"gw1", "link", {}}, {"gw2", "link", {{"bob"}}}};
    return options;
}

[[nodiscard]] inline gateway_host_options gateway_for_two() {
    gateway_host_options options;
    options.name = "gw1";
    options.password = "link";
    options.logins.delay_first = {};
    for (const char* const each : {"alice", "bob", "copy", "watch"})
        options.users.users.push_back({.username = each, .secrets = {"secret"}});
    return options;
}

/// One end of a gateway's link at the facility, and the bytes that are on their way there.
class socketless_link final : public gateway_session_link {
public:
    socketless_link(order_entry_host& exchange, gateway_session::list& all,
                    const link_options& options = {})
        : session{exchange, *this, options, all, day_start} {}

    gateway_session session;
    link_framer incoming;

private:
    void has_output() noexcept override {}
};

/// A client of a gateway, as an application, and its connection.
class client_of_gateway final : public client_link {
public:
    client_of_gateway(gateway_host& gateway, const soup_login& login)
        : gateway_{gateway}, machine{{}, login, day_start} {}

    void connect(gyre::time_point now = day_start) {
        served.reset();
        to_gateway_.reset();
        to_client_.reset();
        served.emplace(gateway_, *this, now);
        machine.connect(now);
    }
    void disconnect() {
        served.reset();
        machine.disconnected();
    }

    template <command_record Command>
    void send(const Command& what) {
        std::vector<std::byte> bytes(message_bytes(what));
        encode(what, bytes);
        CHECK(machine.send(bytes));
    }

    /// Puts bytes in front of the gateway that no application of ours would say.
    void inject(std::span<const std::byte> bytes) {
        std::ranges::copy(bytes, to_gateway_.space().begin());
        to_gateway_.received(bytes.size());
    }

    /// Whether there was anything to carry.
    bool carry(gyre::time_point now) {
        if (!served) return false;
        bool any = false;
        hand_down(now);
        if (served->wants_packets()) any = carry_to_gateway(now);
        if (reads) any = carry_to_client(now) || any;
        return any;
    }

    template <event_record Event>
    [[nodiscard]] std::vector<Event> heard_of() const {
        collector<Event> found;
        for (const heard_message& each : heard)
            static_cast<void>(decode_private_event(each.bytes, found));
        return found.taken;
    }
    [[nodiscard]] std::vector<message_rejected> refusals() const {
        refusal_collector found;
        for (const heard_message& each : heard)
            static_cast<void>(decode_private_event(each.bytes, found));
        return found.taken;
    }

private:
    gateway_host& gateway_;
    soup_framer to_gateway_;
    soup_framer to_client_;
    std::vector<soup_packet> packets_;

public:
    soup_client machine;
    std::optional<gateway_client> served;
    std::vector<heard_message> heard;
    std::vector<std::uint64_t> sequences;  ///< Of those that have one.
    std::string debug;                     ///< The last text for people.
    bool reads = true;

private:
    void has_output() noexcept override {}
    void may_read() noexcept override {}

    void hand_down(gyre::time_point now) {
        served->proceed(now);
        if (served->wants_packets()) served->take(batch_of(to_gateway_, packets_), now);
    }
    bool carry_to_gateway(gyre::time_point now) {
        const soup_output output = machine.output();
        if (output.size() == 0) return false;
        put(to_gateway_, output);
        machine.sent(output.size(), now);
        hand_down(now);
        return true;
    }
    bool carry_to_client(gyre::time_point now) {
        const auto bytes = served->output();
        if (bytes.empty()) return false;
        const std::size_t size = std::min(bytes.size(), to_client_.space().size());
        std::copy_n(bytes.begin(), size, to_client_.space().begin());
        to_client_.received(size);
        served->sent(size, now);
        for (soup_framed next = to_client_.next(); next.complete; next = to_client_.next())
            hear(machine.on_packet(next.packet, now));
        return true;
    }
    void hear(const soup_step& step) {
        if (step.what == soup_step::kind::debug)
            debug.assign(reinterpret_cast<const char*>(step.payload.data()), step.payload.size());
        if (step.what != soup_step::kind::message) return;
        heard.push_back({step.sequence != 0, {step.payload.begin(), step.payload.end()}});
        if (step.sequence != 0) sequences.push_back(step.sequence);
    }
};

/// All of it. The link is up from the start on.
struct socketless_gateway {
    explicit socketless_gateway(const gateway_host_options& how = gateway_for_two(),
                                const order_entry_host_options& rules = venue_with_gateways(),
                                disconnect_policy on_disconnect = disconnect_policy::keep_orders)
        : exchange{rules, day_start}, gateway{how, day_start} {
        open_market(exchange, on_disconnect);
        connect_link();
    }
    ~socketless_gateway() { clients.clear(); }

    void connect_link(gyre::time_point now = day_start) {
        link = std::make_unique<socketless_link>(exchange, all, link_of_facility);
        from_facility.reset();
        gateway.connect(now);
        carry(now);
    }
    /// The connection between both is gone; what was on its way is lost.
    void lose_link(gyre::time_point now = day_start) {
        link.reset();
        gateway.link_lost(now);
        exchange.announce();
    }

    client_of_gateway& come(std::string_view name, std::uint64_t sequence = 1,
                            std::string_view life = {}) {
        soup_login login = login_of(name, sequence);
        login.session = life;
        client_of_gateway& it = clients.emplace_back(gateway, login);
        it.connect();
        carry();
        return it;
    }

    void carry(gyre::time_point now = day_start, std::size_t piece = 1 << 20) {
        while (carry_once(now, piece)) exchange.announce();
    }
    bool carry_once(gyre::time_point now, std::size_t piece) {
        bool any = false;
        for (client_of_gateway& each : clients) any = each.carry(now) || any;
        any = carry_to_facility(now, piece) || any;
        return carry_to_gateway(now, piece) || any;
    }
    bool carry_to_facility(gyre::time_point now, std::size_t piece) {
        if (!link || !gateway.link_wants_to_write()) return false;
        const auto bytes = gateway.link_output(now);
        const std::size_t size = move(bytes, link->incoming, piece);
        if (size == 0) return false;
        gateway.link_sent(size, now);
        span_watch unwatched{nullptr};
        while (link->session.take_frames(link->incoming, 64, now, unwatched) > 0)
            exchange.finish_command();
        exchange.announce();
        return true;
    }
    bool carry_to_gateway(gyre::time_point now, std::size_t piece) {
        if (!link || !link->session.wants_to_write()) return false;
        const auto bytes = link->session.output(now);
        const std::size_t size = move(bytes, from_facility, piece);
        if (link->session.sweep()) exchange.announce();
        if (size == 0) return false;
        link->session.sent(size, now);
        gateway.take_frames(from_facility, now);
        return true;
    }

    [[nodiscard]] const participant& who(std::size_t place) const {
        return exchange.participants()[place];
    }
    [[nodiscard]] std::size_t open_orders(session_id of) const {
        return exchange.market().state().accounts[number(of)].open_orders;
    }

    order_entry_host exchange;
    gateway_session::list all;
    gateway_host gateway;
    link_options link_of_facility{};
    std::unique_ptr<socketless_link> link;
    link_framer from_facility;
    std::deque<client_of_gateway> clients;

private:
    static std::size_t move(std::span<const std::byte> from, link_framer& to, std::size_t piece) {
        const std::size_t size = std::min({piece, from.size(), to.space().size()});
        std::copy_n(from.begin(), size, to.space().begin());
        to.received(size);
        return size;
    }
};

}  // namespace exchange::testing

// SPDX-License-Identifier: BSL-1.0
//
// Where the laws of a matching facility are tried: an open market, all its participants, one
// context.
//
// facility_laws.hpp and those beside it say what holds; the files that list them say which facility and
// which context.
#pragma once

#include <exchange/net/application/facility_options.hpp>
#include <exchange/net/application/span_observer.hpp>
#include <exchange/tests/net/trader.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>

#include <doctest/doctest.h>

#include <optional>

namespace exchange::testing {

[[nodiscard]] inline gyre::endpoint loopback(std::uint16_t port) {
    return gyre::endpoint{gyre::ipv4::loopback(), port};
}

[[nodiscard]] inline facility_options on_loopback() {
    facility_options options;
    options.order_entry = loopback(0);
    options.feed = loopback(9);  // Until a listener says where it is.
    options.feed_from = loopback(0);
    options.feed_requests = loopback(0);
    options.connections_max = 8;
    return options;
}

/// What a day begins with.
struct day {
    order_entry_host_options rules = two_traders();
    facility_options how = on_loopback();
    disconnect_policy on_disconnect = disconnect_policy::keep_orders;  ///< Of both traders.
    span_observer* observer = nullptr;
    gyre::endpoint feed{};  ///< Where the feed goes instead of to the probe, if anywhere.
};

/// @tparam  Side      How a test gets contexts: see gyre_side.hpp.
/// @tparam  Facility  A matching_facility, or what has its members.
template <class Side, class Facility>
struct facility_fixture {
    using X = typename Side::traits;
    using context = typename X::context;
    using task = typename X::template task<void>;

    /// A market that is open, and all its participants.
    struct fixture {
        fixture(context& on, const day& today) : on{on}, host{today.rules, X::now(on)} {
            open_market(host, today.on_disconnect);
            feed_listener_options hearing;
            hearing.group = loopback(0);
            hearing.ask_from = loopback(0);
            probe.emplace(on, hearing);
            REQUIRE(probe->feed.start().ok());
            facility_options how = today.how;
            const bool to_probe = today.feed.kind() == gyre::endpoint::family::none;
            how.feed = to_probe ? probe->feed.local() : today.feed;
            facility.emplace(on, host, how, today.observer);
            REQUIRE(facility->start().ok());
            probe->feed.ask(facility->feed_requests());
        }

        [[nodiscard]] order_entry_client_options client(std::string_view name,
                                                        std::uint64_t sequence = 1) const {
            order_entry_client_options options;
            options.exchange = facility->order_entry();
            options.login = login_of(name, sequence);
            return options;
        }
        [[nodiscard]] feed_listener_options late_listener() const {
            feed_listener_options options;
            options.group = loopback(0);
            options.ask_from = loopback(0);
            options.requests = facility->feed_requests();
            return options;
        }
        [[nodiscard]] const participant& who(session_id it) const {
            return host.participants()[number(it) - 1];
        }
        [[nodiscard]] std::uint64_t public_messages() {
            return host.feed().messages().next_sequence() - 1;
        }
        [[nodiscard]] std::size_t open_orders(session_id of) const {
            return host.market().state().accounts[number(of)].open_orders;
        }
        void close() {
            facility->stop();
            probe->feed.stop();
        }

        context& on;
        order_entry_host host;
        std::optional<listener<X>> probe;
        std::optional<Facility> facility;
    };

    /// Runs `body(fixture)` on every context; what `body` begins, it ends.
    template <class Body>
    static void hold(const Body& body, const day& today = {}) {
        Side::each_context([&](context& on) {
            fixture it{on, today};
            bool ended = false;
            X::launch(on, to_the_end(body, it, ended));
            CHECK(Side::run_to_rest(on));
            CHECK(ended);
        });
    }

    static task until_idle(fixture& it) {
        typename X::timer timer{it.on};
        while (!it.facility->idle())
            static_cast<void>(
                co_await timer.wait_until(X::now(it.on) + std::chrono::milliseconds{1}));
    }

private:
    template <class Body>
    static task to_the_end(const Body& body, fixture& it, bool& ended) {
        co_await body(it);
        it.close();
        ended = true;
    }
};

}  // namespace exchange::testing

// SPDX-License-Identifier: BSL-1.0
//
// What exchange/net/session/order_entry_client.hpp promises beyond the laws of whole facilities.
#include <exchange/net/application/matching_facility.hpp>
#include <exchange/net/session/order_entry_client.hpp>

#include <exchange/tests/net/client_laws.hpp>
#include <exchange/tests/net/facility_laws.hpp>
#include <exchange/tests/net/gyre_side.hpp>

#include <optional>

using namespace exchange;
using namespace exchange::testing;
using laws = facility_law<gyre_side, matching_facility<gyre_traits>>;

namespace {

/// Tries to send as soon as it hears that its connection is gone.
struct tries_at_once final : order_entry_handler {
    tries_at_once(gyre::io_context& on, const order_entry_client_options& options)
        : client{on, options, *this} {}

    void logged_in() noexcept override {
        if (++logins == 1) client.hang_up();
        else client.stop();
    }
    void heard(std::uint64_t, std::span<const std::byte>) noexcept override {}
    void disconnected(soup_ending) noexcept override {
        std::array<std::byte, message_bytes_of<enter_order>> bytes;
        encode(limit(client_sequence{1}, order_side::buy, 100, 1), bytes);
        taken += client.send(bytes) ? 1 : 0;
        seemed_logged_in += client.machine().logged_in() ? 1 : 0;
    }

    order_entry_client<gyre_traits> client;
    int logins = 0;
    int taken = 0;
    int seemed_logged_in = 0;
};

/// Has its context stop as soon as it has found no exchange.
struct knocks_once final : order_entry_handler {
    knocks_once(gyre::io_context& on, int& knocks) : on{on}, knocks{knocks} {}

    void heard(std::uint64_t, std::span<const std::byte>) noexcept override {}
    void not_reached(gyre::error) noexcept override {
        ++knocks;
        on.stop();
    }

    gyre::io_context& on;
    int& knocks;
};

gyre::task<> knock(gyre::io_context& on, int& knocks, bool& ended) {
    order_entry_client_options options;
    options.exchange = loopback(9);
    knocks_once handler{on, knocks};
    order_entry_client<gyre_traits> client{on, options, handler};
    co_await client.run();
    ended = true;
}

}  // namespace

TEST_CASE("order entry client: a context that ends is not kept by one that would connect again") {
    gyre_side::each_context_options([](const gyre::io_context_options& how) {
        int knocks = 0;
        bool ended = false;
        std::optional<gyre::io_context> on{std::in_place, how};
        gyre_traits::launch(*on, knock(*on, knocks, ended));
        on->run_for(gyre::testing::patience);
        CHECK(knocks == 1);
        CHECK_FALSE(ended);
        on.reset();
        CHECK(ended);
    });
}

TEST_CASE("order entry client: what is sent between two connections is refused, not lost") {
    laws::hold([](laws::fixture& it) -> gyre::task<> {
        tries_at_once alice{it.on, it.client("alice")};

        co_await alice.client.run();

        CHECK(alice.logins == 2);
        CHECK(alice.taken == 0);
        CHECK(alice.seemed_logged_in == 0);
    });
}

TEST_CASE("order entry client: stopping ends an attempt to connect that is not answered") {
    client_law<gyre_side>::stopping_ends_an_attempt_to_connect();
}
TEST_CASE("order entry client: an attempt to connect that is not answered ends in time") {
    client_law<gyre_side>::an_attempt_that_is_not_answered_ends_in_time_and_is_made_again();
}
TEST_CASE("order entry client: a login may take longer than a connection") {
    client_law<gyre_side>::a_login_may_take_longer_than_a_connection();
}
TEST_CASE("gyre client: one that has logged out does not wait for an exchange that has stopped") {
    client_law<gyre_side>::who_has_logged_out_does_not_wait_for_an_exchange_that_has_stopped();
}

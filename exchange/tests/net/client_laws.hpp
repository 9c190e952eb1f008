// SPDX-License-Identifier: BSL-1.0
//
// What a client promises wherever the exchange is: that it can be stopped, whatever it waits for, and does
// not wait for ever.
#pragma once

#include <exchange/net/session/order_entry_client.hpp>
#include <exchange/tests/net/law.hpp>
#include <exchange/tests/net/silent_host.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

namespace exchange::testing {

template <class Side>
struct client_law : law<Side> {
    using base = law<Side>;
    using typename base::context;
    using X = typename base::X;
    template <class Result = void>
    using task = typename base::template task<Result>;

    static void stopping_ends_an_attempt_to_connect() {
        base::hold([](context& on) -> task<> {
            const silent_host silent;
            unheard client{on, silent.where()};
            typename base::event ended;
            X::launch(on, run(client.it, ended));
            co_await base::settle(on);
            CHECK_FALSE(ended.is_set());  // It waits.
            const gyre::time_point stopped = X::now(on);

            client.it.stop();
            static_cast<void>(co_await ended.wait());

            // The kernel would go on for minutes, and has asked again after one second.
            CHECK(X::now(on) - stopped < std::chrono::seconds{30});
            CHECK(client.disconnects == 0);
        });
    }

    /// As often as it is made, and each time with the same words.
    static void an_attempt_that_is_not_answered_ends_in_time_and_is_made_again() {
        base::hold([](context& on) -> task<> {
            const silent_host silent;
            order_entry_client_options impatient = unheard::to(silent.where());
            impatient.connect_within = std::chrono::milliseconds{20};
            impatient.reconnect_after = std::chrono::milliseconds{1};
            unheard client{on, impatient};
            typename base::event ended;
            X::launch(on, run(client.it, ended));
            while (client.failures.size() < 3) {
                client.failed.reset();
                static_cast<void>(co_await client.failed.wait());
            }
            client.it.stop();
            static_cast<void>(co_await ended.wait());

            for (const gyre::error& each : client.failures) CHECK(each == errc::timed_out);
            CHECK(client.disconnects == 0);
        });
    }

    /// It may wait for others who log in, or behind a wrong password.
    static void a_login_may_take_longer_than_a_connection() {
        base::hold([](context& on) -> task<> {
            auto listener = X::listen(on, {gyre::ipv4::loopback(), 0}, {}).take();
            order_entry_client_options how = unheard::to(listener.local_endpoint().take());
            how.connect_within = std::chrono::milliseconds{20};
            unheard client{on, how};
            typename base::event ended;
            X::launch(on, run(client.it, ended));
            typename base::stream_socket exchange;
            // On a busy machine an attempt may be given up although the kernel has answered it.
            for (bool asked = false; !asked;) {
                auto accepted = co_await listener.accept();
                REQUIRE(accepted.ok());
                exchange = accepted.take();
                std::array<std::byte, soup_header_bytes + soup_login_bytes> login;
                const auto got = co_await exchange.read_some(mutable_buffer{login});
                asked = got.ok();
            }
            typename base::timer timer{on};
            static_cast<void>(co_await timer.wait_until(X::now(on) + 3 * how.connect_within));
            co_await let_in(exchange);
            static_cast<void>(co_await client.in.wait());

            CHECK(client.disconnects == 0);
            client.it.stop();
            static_cast<void>(co_await ended.wait());
        });
    }

    /// It has said all that it wanted, and need not wait.
    static void who_has_logged_out_does_not_wait_for_an_exchange_that_has_stopped() {
        base::hold([](context& on) -> task<> {
            auto listener = X::listen(on, {gyre::ipv4::loopback(), 0}, {}).take();
            const endpoint where = listener.local_endpoint().take();
            unheard client{on, where};
            typename base::event ended;
            X::launch(on, run(client.it, ended));
            auto [failed, exchange] = co_await listener.accept();
            REQUIRE_FALSE(failed);
            co_await let_in(exchange);
            static_cast<void>(co_await client.in.wait());

            CHECK(client.it.log_out());
            static_cast<void>(co_await ended.wait());  // The exchange neither answers nor closes.

            CHECK(client.it.machine().ending() == soup_ending::logged_out);
            CHECK(client.disconnects == 1);
        });
    }

private:
    struct unheard final : order_entry_handler {
        unheard(context& on, const order_entry_client_options& how) : it{on, how, *this} {}
        unheard(context& on, const endpoint& where) : unheard{on, to(where)} {}

        static order_entry_client_options to(const endpoint& where) {
            order_entry_client_options options;
            options.exchange = where;
            options.login.username = "alice";
            options.farewell_max = std::chrono::milliseconds{20};
            options.timer_tick = std::chrono::milliseconds{1};
            return options;
        }
        void logged_in() noexcept override { in.set(); }
        void heard(std::uint64_t, std::span<const std::byte>) noexcept override {}
        void not_reached(gyre::error why) noexcept override {
            failures.push_back(why);
            failed.set();
        }
        void disconnected(soup_ending) noexcept override { ++disconnects; }

        order_entry_client<X> it;
        typename base::event in;
        typename base::event failed;
        std::vector<gyre::error> failures;
        int disconnects = 0;
    };

    static task<> let_in(typename X::stream_socket& client) {
        std::array<std::byte, soup_header_bytes + soup_acceptance_bytes> packet;
        const auto accepted = format_soup_acceptance({soup_session{"DAY"}, 1});
        write_soup_header(std::span{packet}.template first<soup_header_bytes>(),
                          soup_type::login_accepted, accepted.size());
        std::ranges::copy(accepted, packet.begin() + soup_header_bytes);
        const auto [error, size] = co_await client.write_some(packet);
        REQUIRE_FALSE(error);
        REQUIRE(size == packet.size());
    }

    static task<> run(order_entry_client<X>& client, typename base::event& ended) {
        co_await client.run();
        ended.set();
    }
};

}  // namespace exchange::testing

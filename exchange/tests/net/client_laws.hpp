// SPDX-License-Identifier: BSL-1.0
//
// What a client promises wherever the exchange is: that it can be stopped, whatever it waits for.
#pragma once

#include <exchange/net/session/order_entry_client.hpp>
#include <exchange/tests/net/law.hpp>
#include <exchange/tests/net/silent_host.hpp>

#include <chrono>

namespace exchange::testing {

template <class World>
struct client_law : law<World> {
    using base = law<World>;
    using typename base::context;
    using X = typename base::X;
    template <class Result = void>
    using task = typename base::template task<Result>;

    static void stopping_ends_an_attempt_to_connect() {
        base::hold([](context& on) -> task<> {
            const silent_host nobody;
            unheard client{on, nobody.where()};
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

private:
    struct unheard final : order_entry_handler {
        unheard(context& on, const endpoint& where) : it{on, to(where), *this} {}

        static order_entry_client_options to(const endpoint& where) {
            order_entry_client_options options;
            options.exchange = where;
            return options;
        }
        void heard(std::uint64_t, std::span<const std::byte>) noexcept override {}
        void disconnected(soup_ending) noexcept override { ++disconnects; }

        order_entry_client<X> it;
        int disconnects = 0;
    };

    static task<> run(order_entry_client<X>& client, typename base::event& ended) {
        co_await client.run();
        ended.set();
    }
};

}  // namespace exchange::testing

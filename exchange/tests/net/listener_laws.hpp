// SPDX-License-Identifier: BSL-1.0
//
// What a listener of the feed promises when its own sockets are the trouble.
#pragma once

#include <exchange/net/session/feed_listener.hpp>
#include <exchange/tests/net/deaf_socket.hpp>
#include <exchange/tests/net/law.hpp>

#include <chrono>

namespace exchange::testing {

template <class World>
struct listener_law : law<World> {
    using base = law<World>;
    using typename base::context;
    using X = typename base::X;
    template <class Result = void>
    using task = typename base::template task<Result>;

    static void a_receive_that_fails_is_tried_again_after_a_pause() {
        World::each_context([](context& on) {
            hears_nothing nobody;
            feed_listener_options options;
            options.group = options.ask_from = any_port();
            feed_listener<X> it{on, options, nobody};
            const gyre::time_point begun = X::now(on);
            REQUIRE(it.start().ok());
            make_deaf(receiver_at(it.local().port()));
            gyre::time_point third{};
            X::launch(on, stop_at_third_failure(on, it, third));

            CHECK(World::run_to_rest(on));
            CHECK(third - begun >= std::chrono::milliseconds{100});  // Two pauses.
        });
    }

private:
    struct hears_nothing final : feed_handler {
        void heard(const mold_message&) noexcept override { FAIL_CHECK("nobody speaks"); }
    };

    static task<> stop_at_third_failure(context& on, feed_listener<X>& it,
                                        gyre::time_point& third) {
        typename base::timer timer{on};
        while (it.failures() < 3)
            static_cast<void>(co_await timer.wait_until(X::now(on) + std::chrono::milliseconds{1}));
        third = X::now(on);
        it.stop();
    }
};

}  // namespace exchange::testing

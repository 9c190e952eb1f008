// SPDX-License-Identifier: BSL-1.0
//
// What a listener of the feed promises when its own sockets are the trouble.
#pragma once

#include <exchange/net/session/feed_listener.hpp>
#include <exchange/tests/net/deaf_socket.hpp>
#include <exchange/tests/net/law.hpp>

#include <chrono>

namespace exchange::testing {

template <class Side>
struct listener_law : law<Side> {
    using base = law<Side>;
    using typename base::context;
    using X = typename base::X;
    template <class Result = void>
    using task = typename base::template task<Result>;

    static void a_receive_that_fails_is_tried_again_after_a_pause() {
        Side::each_context([](context& on) {
            hears_nothing silent;
            feed_listener_options options;
            options.group = options.ask_from = any_port();
            feed_listener<X> it{on, options, silent};
            const gyre::time_point begun = X::now(on);
            REQUIRE(it.start().ok());
            make_deaf(receiver_at(it.local().port()));
            gyre::time_point third{};
            X::launch(on, stop_at_third_failure(on, it, third));

            CHECK(Side::run_to_rest(on));
            CHECK(third - begun >= std::chrono::milliseconds{100});  // Two pauses.
        });
    }

    /// Two of them at one address would take each other's datagrams.
    static void an_address_that_is_no_groups_is_one_listeners() {
        base::hold([](context& on) -> task<> {
            hears_nothing silent;
            feed_listener_options options;
            options.group = options.ask_from = any_port();
            feed_listener<X> first{on, options, silent};
            REQUIRE(first.start().ok());
            options.group = first.local();
            feed_listener<X> second{on, options, silent};
            CHECK(second.start().error() == gyre::errc::address_in_use);
            first.stop();
            co_await base::settle(on);
        });
    }

    /// A listener that goes on with an old book has to know that it is old.
    static void a_silence_is_told_once_and_again_behind_a_heartbeat() {
        base::hold([](context& on) -> task<> {
            counts_silences patient;
            feed_listener_options options;
            options.group = options.ask_from = any_port();
            options.receiver.session = "FEED";
            options.receiver.dead_after = std::chrono::milliseconds{5};
            feed_listener<X> it{on, options, patient};
            REQUIRE(it.start().ok());

            while (patient.times == 0) co_await patient.another();
            typename base::timer timer{on};
            static_cast<void>(
                co_await timer.wait_until(X::now(on) + 4 * options.receiver.dead_after));
            CHECK(patient.times == 1);

            auto speaker = base::bound(on);
            const auto heartbeat = format_mold_header({options.receiver.session, 1, 0});
            const const_buffer bytes{heartbeat};
            const auto sent = co_await speaker.send_to({&bytes, 1}, it.local());
            CHECK(sent.ok());
            while (patient.times == 1) co_await patient.another();
            it.stop();
            co_await base::settle(on);
        });
    }

private:
    struct counts_silences final : feed_handler {
        void heard(const mold_message&) noexcept override { FAIL_CHECK("nothing was sent"); }
        void new_life(const mold_session&, const mold_session&) noexcept override {
            FAIL_CHECK("there is only one");
        }
        void silent() noexcept override {
            ++times;
            changed.set();
        }
        task<> another() {
            changed.reset();
            static_cast<void>(co_await changed.wait());
        }
        typename base::event changed;
        int times = 0;
    };

    struct hears_nothing final : feed_handler {
        void heard(const mold_message&) noexcept override { FAIL_CHECK("nothing was sent"); }
        void new_life(const mold_session&, const mold_session&) noexcept override {
            FAIL_CHECK("there is only one");
        }
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

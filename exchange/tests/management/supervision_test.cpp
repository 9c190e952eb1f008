// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/supervision.hpp>

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using namespace exchange;
using namespace std::chrono_literals;

namespace {

supervised_child named(const char* name, std::vector<std::size_t> after = {}) {
    supervised_child made;
    made.name = name;
    made.after = std::move(after);
    made.failures_max = 3;
    return made;
}

/// An exchange: a facility, a gateway and a distributor behind it, a page behind both.
std::vector<supervised_child> exchange_of_four() {
    return {named("facility"), named("gateway", {0}), named("distributor", {0}),
            named("page", {1, 2})};
}

/// What it has ordered, as text: "start facility".
class watched {
public:
    explicit watched(std::vector<supervised_child> children) : how_{std::move(children)}, it{how_} {
        it.begin(now);
    }

    std::string orders() {
        std::string made;
        for (const supervision::order& each : it.take_orders()) {
            if (!made.empty()) made += ", ";
            const char* const what = each.what == child_action::start        ? "start "
                                     : each.what == child_action::ask_to_end ? "end "
                                                                             : "kill ";
            made += what + how_[each.child].name;
        }
        return made;
    }
    [[nodiscard]] child_state state(std::size_t which) const { return it.children()[which].state; }
    void pass(gyre::duration time) {
        now += time;
        it.on_timer(now);
    }
    /// Everything is started and ready.
    void all_ready() {
        for (int each = 0; each < 10 && !it.ready(); ++each)
            for (const supervision::order& order : it.take_orders()) it.on_ready(order.child, now);
        REQUIRE(it.ready());
    }

private:
    std::vector<supervised_child> how_;

public:
    supervision it;
    gyre::time_point now{};
};

}  // namespace

TEST_CASE("supervision: children start behind those that they need, as soon as these are ready") {
    watched all{exchange_of_four()};
    CHECK(all.orders() == "start facility");
    CHECK(all.orders().empty());
    all.it.on_ready(0, all.now);
    CHECK(all.orders() == "start gateway, start distributor");
    all.it.on_ready(2, all.now);
    CHECK(all.orders().empty());
    CHECK_FALSE(all.it.ready());
    all.it.on_ready(1, all.now);
    CHECK(all.orders() == "start page");
    all.it.on_ready(3, all.now);
    CHECK(all.it.ready());
    CHECK(all.it.deadline() == gyre::never);
}

TEST_CASE("supervision: it ends from the last to the first, each behind those that need it") {
    watched all{exchange_of_four()};
    all.all_ready();
    all.it.drain(all.now);
    CHECK(all.orders() == "end page");
    all.it.on_ended(3, all.now);
    CHECK(all.orders() == "end distributor, end gateway");
    all.it.on_ended(1, all.now);
    CHECK(all.orders().empty());
    all.it.on_ended(2, all.now);
    CHECK(all.orders() == "end facility");
    CHECK_FALSE(all.it.over());
    all.it.on_ended(0, all.now);
    CHECK(all.it.over());
    CHECK_FALSE(all.it.gave_up());
}

TEST_CASE("supervision: a child that ends by itself is started again, later each time") {
    watched all{exchange_of_four()};
    all.all_ready();
    for (const gyre::duration pause : {100ms, 200ms, 400ms}) {
        all.it.on_ended(1, all.now);
        CHECK(all.state(1) == child_state::backing_off);
        CHECK(all.state(3) == child_state::ready);  // Which finds its way back.
        CHECK(all.orders().empty());
        CHECK(all.it.deadline() == all.now + pause);
        all.pass(pause - 1ms);
        CHECK(all.orders().empty());
        all.pass(1ms);
        CHECK(all.orders() == "start gateway");
        all.it.on_ready(1, all.now);
    }
    CHECK(all.it.children()[1].starts == 4);
    // Having been well for a while, it begins anew.
    all.now += 30s;
    all.it.on_ended(1, all.now);
    CHECK(all.it.deadline() == all.now + 100ms);
}

TEST_CASE("supervision: a child that fails once too often ends the exchange, in order") {
    watched all{exchange_of_four()};
    all.all_ready();
    for (int each = 0; each < 3; ++each) {
        all.it.on_ended(1, all.now);
        all.pass(5s);
        CHECK(all.orders() == "start gateway");
    }
    all.it.on_ended(1, all.now);
    CHECK(all.it.gave_up());
    CHECK(all.it.given_up() == 1);
    CHECK(all.orders() == "end page");
    all.it.on_ended(3, all.now);
    CHECK(all.orders() == "end distributor");
    all.it.on_ended(2, all.now);
    CHECK(all.orders() == "end facility");
    all.it.on_ended(0, all.now);
    CHECK(all.it.over());
}

TEST_CASE("supervision: a child that does not become ready in time is killed, and has failed") {
    watched all{exchange_of_four()};
    CHECK(all.orders() == "start facility");
    all.pass(10s - 1ms);
    CHECK(all.orders().empty());
    all.pass(1ms);
    CHECK(all.orders() == "kill facility");
    all.it.on_ready(0, all.now);  // Too late.
    CHECK(all.orders().empty());
    all.pass(1h);
    CHECK(all.orders().empty());
    all.it.on_ended(0, all.now);
    CHECK(all.state(0) == child_state::backing_off);
    all.pass(100ms);
    CHECK(all.orders() == "start facility");
    all.it.on_ready(0, all.now);
    CHECK(all.orders() == "start gateway, start distributor");
}

TEST_CASE("supervision: a child that does not end when it is asked to is killed") {
    watched all{exchange_of_four()};
    all.all_ready();
    all.it.drain(all.now);
    CHECK(all.orders() == "end page");
    all.pass(10s);
    CHECK(all.orders() == "kill page");
    all.it.on_ended(3, all.now);
    CHECK(all.orders() == "end distributor, end gateway");
}

TEST_CASE(
    "supervision: what has not been ready yet is asked to end as well, and nothing starts any "
    "more") {
    watched all{exchange_of_four()};
    CHECK(all.orders() == "start facility");
    all.it.on_ready(0, all.now);
    CHECK(all.orders() == "start gateway, start distributor");
    all.it.on_ended(2, all.now);
    all.it.drain(all.now);
    CHECK(all.orders() == "end gateway");
    CHECK(all.state(2) == child_state::ended);
    CHECK(all.state(3) == child_state::ended);
    all.it.on_ready(1, all.now);
    all.pass(5s);
    CHECK(all.orders().empty());
    all.it.on_ended(1, all.now);
    CHECK(all.orders() == "end facility");
    all.it.on_ended(0, all.now);
    CHECK(all.it.over());
}

TEST_CASE("supervision: a second word ends everything at once") {
    watched all{exchange_of_four()};
    all.all_ready();
    all.it.drain(all.now);
    CHECK(all.orders() == "end page");
    all.it.kill(all.now);
    CHECK(all.orders() == "kill facility, kill gateway, kill distributor, kill page");
    for (const std::size_t each : {2U, 0U, 3U, 1U}) all.it.on_ended(each, all.now);
    CHECK(all.it.over());
    CHECK(all.orders().find("start") == std::string::npos);
}

TEST_CASE("supervision: one child is ended in order and started again, which is no failure") {
    watched all{exchange_of_four()};
    all.all_ready();
    CHECK(all.it.restart(1, all.now));
    CHECK_FALSE(all.it.restart(1, all.now));
    CHECK(all.orders() == "end gateway");
    all.it.on_ended(1, all.now);
    CHECK(all.orders() == "start gateway");
    CHECK(all.it.children()[1].failures == 0);
    all.it.on_ready(1, all.now);
    all.it.drain(all.now);
    CHECK_FALSE(all.it.restart(0, all.now));
}

TEST_CASE(
    "supervision: whatever happens, no child has two processes, and in the end all have ended") {
    const auto seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937_64 dice{seed};
    for (int round = 0; round < 300; ++round) {
        std::vector<supervised_child> how = exchange_of_four();
        supervision it{how};
        gyre::time_point now{};
        std::vector<bool> runs(how.size());
        const auto obey = [&] {
            for (const supervision::order& each : it.take_orders()) {
                if (each.what == child_action::start) {
                    REQUIRE_FALSE(runs[each.child]);
                    REQUIRE_FALSE(it.draining());
                    runs[each.child] = true;
                }
            }
        };
        it.begin(now);
        obey();
        for (int step = 0; step < 200; ++step) {
            const std::size_t which = dice() % how.size();
            const auto what = dice() % 8;
            if (what < 3 && runs[which]) {
                it.on_ready(which, now);
            } else if (what == 3 && runs[which]) {
                runs[which] = false;
                it.on_ended(which, now);
            } else if (what < 7) {
                now += std::chrono::milliseconds{dice() % 4000};
                it.on_timer(now);
            } else if (dice() % 100 == 0) {
                it.drain(now);
            }
            obey();
        }
        it.drain(now);
        obey();
        for (int step = 0; step < 100 && !it.over(); ++step) {
            now += 11s;
            it.on_timer(now);
            obey();
            for (std::size_t each = 0; each < how.size(); ++each)
                if (runs[each] && it.children()[each].state == child_state::draining) {
                    runs[each] = false;
                    it.on_ended(each, now);
                }
            obey();
        }
        REQUIRE(it.over());
        REQUIRE(runs == std::vector<bool>(how.size()));
    }
}

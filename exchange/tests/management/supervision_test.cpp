// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/supervision.hpp>

#include <doctest/doctest.h>

#include <iterator>
#include <random>
#include <set>
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

    std::string orders() { return told(false); }
    // The same, with numbers of generations behind the first.
    std::string numbered() { return told(true); }
    std::string told(bool with_numbers) {
        std::string made;
        for (const supervision::order& each : it.take_orders()) {
            if (!made.empty()) made += ", ";
            const char* const what = each.what == child_action::start        ? "start "
                                     : each.what == child_action::ask_to_end ? "end "
                                                                             : "kill ";
            made += what + how_[each.child].name;
            if (with_numbers && each.generation > 1) made += ' ' + std::to_string(each.generation);
        }
        return made;
    }
    [[nodiscard]] child_state state(std::size_t which) const { return it.children()[which].state; }
    void pass(gyre::duration time) {
        now += time;
        it.on_timer(now);
    }
    // Of the process that the child is.
    void ready(std::size_t which) { it.on_ready(which, it.children()[which].generation, now); }
    void ended(std::size_t which) {
        CHECK(it.on_ended(which, it.children()[which].generation, now) ==
              supervision::end_of::child);
    }
    /// Everything is started and ready.
    void all_ready() {
        for (int each = 0; each < 10 && !it.ready(); ++each)
            for (const supervision::order& order : it.take_orders())
                it.on_ready(order.child, order.generation, now);
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
    all.ready(0);
    CHECK(all.orders() == "start gateway, start distributor");
    all.ready(2);
    CHECK(all.orders().empty());
    CHECK_FALSE(all.it.ready());
    all.ready(1);
    CHECK(all.orders() == "start page");
    all.ready(3);
    CHECK(all.it.ready());
    CHECK(all.it.deadline() == gyre::never);
}

TEST_CASE("supervision: it ends from the last to the first, each behind those that need it") {
    watched all{exchange_of_four()};
    all.all_ready();
    all.it.drain(all.now);
    CHECK(all.orders() == "end page");
    all.ended(3);
    CHECK(all.orders() == "end distributor, end gateway");
    all.ended(1);
    CHECK(all.orders().empty());
    all.ended(2);
    CHECK(all.orders() == "end facility");
    CHECK_FALSE(all.it.over());
    all.ended(0);
    CHECK(all.it.over());
    CHECK_FALSE(all.it.gave_up());
}

TEST_CASE("supervision: a child that ends by itself is started again, later each time") {
    watched all{exchange_of_four()};
    all.all_ready();
    for (const gyre::duration pause : {100ms, 200ms, 400ms}) {
        all.ended(1);
        CHECK(all.state(1) == child_state::backing_off);
        CHECK(all.state(3) == child_state::ready);  // Which finds its way back.
        CHECK(all.orders().empty());
        CHECK(all.it.deadline() == all.now + pause);
        all.pass(pause - 1ms);
        CHECK(all.orders().empty());
        all.pass(1ms);
        CHECK(all.orders() == "start gateway");
        all.ready(1);
    }
    CHECK(all.it.children()[1].starts == 4);
    // Having been well for a while, it begins anew.
    all.now += 30s;
    all.ended(1);
    CHECK(all.it.deadline() == all.now + 100ms);
}

TEST_CASE("supervision: a child that fails once too often ends the exchange, in order") {
    watched all{exchange_of_four()};
    all.all_ready();
    for (int each = 0; each < 3; ++each) {
        all.ended(1);
        all.pass(5s);
        CHECK(all.orders() == "start gateway");
    }
    all.ended(1);
    CHECK(all.it.gave_up());
    CHECK(all.it.given_up() == 1);
    CHECK(all.orders() == "end page");
    all.ended(3);
    CHECK(all.orders() == "end distributor");
    all.ended(2);
    CHECK(all.orders() == "end facility");
    all.ended(0);
    CHECK(all.it.over());
}

TEST_CASE("supervision: a child that does not become ready in time is killed, and has failed") {
    watched all{exchange_of_four()};
    CHECK(all.orders() == "start facility");
    all.pass(10s - 1ms);
    CHECK(all.orders().empty());
    all.pass(1ms);
    CHECK(all.orders() == "kill facility");
    all.ready(0);  // Too late.
    CHECK(all.orders().empty());
    all.pass(1h);
    CHECK(all.orders().empty());
    all.ended(0);
    CHECK(all.state(0) == child_state::backing_off);
    all.pass(100ms);
    CHECK(all.orders() == "start facility");
    all.ready(0);
    CHECK(all.orders() == "start gateway, start distributor");
}

TEST_CASE("supervision: a child that does not end when it is asked to is killed") {
    watched all{exchange_of_four()};
    all.all_ready();
    all.it.drain(all.now);
    CHECK(all.orders() == "end page");
    all.pass(10s);
    CHECK(all.orders() == "kill page");
    all.ended(3);
    CHECK(all.orders() == "end distributor, end gateway");
}

TEST_CASE(
    "supervision: what has not been ready yet is asked to end as well, and nothing starts any "
    "more") {
    watched all{exchange_of_four()};
    CHECK(all.orders() == "start facility");
    all.ready(0);
    CHECK(all.orders() == "start gateway, start distributor");
    all.ended(2);
    all.it.drain(all.now);
    CHECK(all.orders() == "end gateway");
    CHECK(all.state(2) == child_state::ended);
    CHECK(all.state(3) == child_state::ended);
    all.ready(1);
    all.pass(5s);
    CHECK(all.orders().empty());
    all.ended(1);
    CHECK(all.orders() == "end facility");
    all.ended(0);
    CHECK(all.it.over());
}

TEST_CASE("supervision: a second word ends everything at once") {
    watched all{exchange_of_four()};
    all.all_ready();
    all.it.drain(all.now);
    CHECK(all.orders() == "end page");
    all.it.kill(all.now);
    CHECK(all.orders() == "kill facility, kill gateway, kill distributor, kill page");
    for (const std::size_t each : {2U, 0U, 3U, 1U}) all.ended(each);
    CHECK(all.it.over());
    CHECK(all.orders().find("start") == std::string::npos);
}

TEST_CASE("supervision: one child is ended in order and started again, which is no failure") {
    watched all{exchange_of_four()};
    all.all_ready();
    CHECK(all.it.restart(1, all.now));
    CHECK_FALSE(all.it.restart(1, all.now));
    CHECK(all.orders() == "end gateway");
    all.ended(1);
    CHECK(all.orders() == "start gateway");
    CHECK(all.it.children()[1].failures == 0);
    all.ready(1);
    all.it.drain(all.now);
    CHECK_FALSE(all.it.restart(0, all.now));
}

TEST_CASE("supervision: the next generation takes a child's place when it is ready, not before") {
    watched all{exchange_of_four()};
    all.all_ready();
    all.pass(1s);
    CHECK(all.it.replace(1, all.now));
    CHECK_FALSE(all.it.replace(1, all.now));
    CHECK_FALSE(all.it.restart(1, all.now));
    CHECK(all.numbered() == "start gateway 2");
    CHECK(all.state(1) == child_state::ready);
    CHECK(all.it.ready());
    CHECK(all.it.children()[1].generation == 1);
    all.pass(1s);
    all.it.on_ready(1, 2, all.now);
    CHECK(all.numbered() == "end gateway");
    CHECK(all.it.children()[1].generation == 2);
    CHECK(all.it.children()[1].since == all.now);
    CHECK(all.it.ready());
    CHECK_FALSE(all.it.replace(1, all.now));  // The one before has not ended.
    CHECK(all.it.on_ended(1, 1, all.now) == supervision::end_of::replaced);
    CHECK(all.numbered().empty());
    CHECK(all.it.deadline() == gyre::never);
    CHECK(all.it.children()[1].failures == 0);
    CHECK(all.it.replace(1, all.now));
    CHECK(all.numbered() == "start gateway 3");
}

TEST_CASE("supervision: a replacement that fails leaves the child as it was") {
    watched all{exchange_of_four()};
    all.all_ready();
    // It ends by itself.
    CHECK(all.it.replace(1, all.now));
    CHECK(all.numbered() == "start gateway 2");
    CHECK(all.it.on_ended(1, 2, all.now) == supervision::end_of::replacement);
    CHECK(all.state(1) == child_state::ready);
    CHECK(all.it.children()[1].failures == 0);
    // It does not become ready in time.
    CHECK(all.it.replace(1, all.now));
    CHECK(all.numbered() == "start gateway 3");
    all.pass(10s - 1ms);
    CHECK(all.numbered().empty());
    all.pass(1ms);
    CHECK(all.numbered() == "kill gateway 3");
    all.it.on_ready(1, 3, all.now);  // Too late.
    all.pass(1h);
    CHECK(all.numbered().empty());
    CHECK(all.it.on_ended(1, 3, all.now) == supervision::end_of::replacement);
    CHECK(all.it.children()[1].generation == 1);
    CHECK(all.it.ready());
}

TEST_CASE("supervision: one that was replaced and does not end in time is killed") {
    watched all{exchange_of_four()};
    all.all_ready();
    CHECK(all.it.replace(1, all.now));
    all.it.on_ready(1, 2, all.now);
    CHECK(all.numbered() == "start gateway 2, end gateway");
    all.pass(10s);
    CHECK(all.numbered() == "kill gateway");
    CHECK(all.state(1) == child_state::ready);
    CHECK(all.it.on_ended(1, 1, all.now) == supervision::end_of::replaced);
    CHECK(all.numbered().empty());
}

TEST_CASE("supervision: a child that dies while it is replaced goes on as the next generation") {
    watched all{exchange_of_four()};
    all.all_ready();
    CHECK(all.it.replace(1, all.now));
    CHECK(all.numbered() == "start gateway 2");
    all.pass(1s);
    CHECK(all.it.on_ended(1, 1, all.now) == supervision::end_of::child);
    CHECK(all.numbered().empty());
    CHECK(all.state(1) == child_state::starting);
    CHECK(all.it.children()[1].generation == 2);
    CHECK(all.it.deadline() == all.now + 9s);  // Counted from its own start.
    all.ready(1);
    CHECK(all.it.ready());
    all.ended(1);
    CHECK(all.state(1) == child_state::backing_off);
}

TEST_CASE("supervision: an exchange that ends waits for both processes of a child") {
    watched all{exchange_of_four()};
    all.all_ready();
    CHECK(all.it.replace(1, all.now));
    all.it.on_ready(1, 2, all.now);
    CHECK(all.it.replace(2, all.now));
    CHECK(all.numbered() == "start gateway 2, end gateway, start distributor 2");
    all.it.drain(all.now);
    CHECK(all.numbered() == "kill distributor 2, end page");
    CHECK_FALSE(all.it.replace(0, all.now));
    all.ended(3);
    CHECK(all.numbered() == "end distributor, end gateway 2");
    all.ended(1);
    all.ended(2);
    CHECK(all.numbered().empty());  // The facility is needed by the gateway before.
    CHECK(all.it.on_ended(2, 2, all.now) == supervision::end_of::replacement);
    CHECK(all.numbered().empty());
    CHECK(all.it.on_ended(1, 1, all.now) == supervision::end_of::replaced);
    CHECK(all.numbered() == "end facility");
    all.ended(0);
    CHECK(all.it.over());
}

TEST_CASE("supervision: a second word ends both processes of a child at once") {
    watched all{exchange_of_four()};
    all.all_ready();
    CHECK(all.it.replace(1, all.now));
    all.it.on_ready(1, 2, all.now);
    CHECK(all.numbered() == "start gateway 2, end gateway");
    all.it.kill(all.now);
    CHECK(
        all.numbered().ends_with("kill facility, kill gateway, kill gateway 2, "
                                 "kill distributor, kill page"));
}

TEST_CASE(
    "supervision: whatever happens, a child has two processes at most, one of them known to be "
    "superfluous, and in the end all have ended") {
    const auto seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937_64 dice{seed};
    for (int round = 0; round < 300; ++round) {
        std::vector<supervised_child> how = exchange_of_four();
        supervision it{how};
        gyre::time_point now{};
        std::vector<std::set<unsigned>> runs(how.size());  // Generations.
        const auto known = [&it](std::size_t which, unsigned generation) {
            const supervision::child& child = it.children()[which];
            return generation == child.generation || generation == child.next.generation ||
                   generation == child.before.generation;
        };
        const auto obey = [&] {
            for (const supervision::order& each : it.take_orders()) {
                REQUIRE(known(each.child, each.generation));
                if (each.what == child_action::start) {
                    REQUIRE_FALSE(it.draining());
                    REQUIRE(runs[each.child].insert(each.generation).second);
                    REQUIRE(runs[each.child].size() <= 2);
                } else {
                    REQUIRE(runs[each.child].contains(each.generation));
                }
            }
        };
        const auto any_of = [&](std::size_t which) {
            return *std::next(runs[which].begin(),
                              static_cast<std::ptrdiff_t>(dice() % runs[which].size()));
        };
        const auto end = [&](std::size_t which, unsigned generation) {
            runs[which].erase(generation);
            static_cast<void>(it.on_ended(which, generation, now));
            obey();
        };
        it.begin(now);
        obey();
        for (int step = 0; step < 200; ++step) {
            const std::size_t which = dice() % how.size();
            const auto what = dice() % 10;
            if (what < 3 && !runs[which].empty()) {
                it.on_ready(which, any_of(which), now);
            } else if (what == 3 && !runs[which].empty()) {
                end(which, any_of(which));
            } else if (what < 7) {
                now += std::chrono::milliseconds{dice() % 4000};
                it.on_timer(now);
            } else if (what == 7) {
                static_cast<void>(it.replace(which, now));
            } else if (what == 8) {
                static_cast<void>(it.restart(which, now));
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
            for (std::size_t each = 0; each < how.size(); ++each) {
                const supervision::child& child = it.children()[each];
                for (const unsigned generation : std::set<unsigned>{runs[each]})
                    if (generation != child.generation || child.state == child_state::draining)
                        end(each, generation);
            }
        }
        REQUIRE(it.over());
        for (const auto& each : runs) REQUIRE(each.empty());
    }
}

// SPDX-License-Identifier: BSL-1.0
//
// Whose turn it is, how late mistakes are told, and what a table forgets when it is full.
#include <exchange/net/application/login_throttle.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <vector>

using namespace exchange;
using namespace std::chrono_literals;

namespace {

constexpr gyre::time_point day_start{std::chrono::hours{1}};

gyre::endpoint at(const char* text) { return gyre::endpoint::parse(text).value(); }
const gyre::endpoint here = at("10.0.0.1:1000");

struct noted_login final : waiting_login {
    noted_login(int name, std::vector<int>& order) : name{name}, order{order} {}
    void check_login(gyre::time_point) noexcept override { order.push_back(name); }

    int name;
    std::vector<int>& order;
};

}  // namespace

TEST_CASE("logins beyond the bound wait for their turn, in order, and one that has left has none") {
    login_throttle it{{.checks_per_second_max = 10, .checks_at_once_max = 3}, day_start};
    std::vector<int> order;
    std::deque<noted_login> all;
    for (int each = 0; each < 7; ++each) {
        all.emplace_back(each, order);
        it.submit(all.back(), "user", here, day_start);
    }
    CHECK(order == std::vector{0, 1, 2});

    it.on_timer(day_start + 99ms);
    CHECK(order.size() == 3);
    all[4].unlink();
    it.on_timer(day_start + 100ms);
    CHECK(order == std::vector{0, 1, 2, 3});
    noted_login late{7, order};
    it.submit(late, "user", here, day_start + 200ms);
    CHECK(order == std::vector{0, 1, 2, 3, 5});
    it.on_timer(day_start + 10s);
    CHECK(order == std::vector{0, 1, 2, 3, 5, 6, 7});
}

TEST_CASE("a rest allows as many checks at once as agreed, and no more") {
    login_throttle it{{.checks_per_second_max = 10, .checks_at_once_max = 3}, day_start};
    std::vector<int> order;
    std::deque<noted_login> all;
    for (int each = 0; each < 5; ++each) {
        all.emplace_back(each, order);
        it.submit(all.back(), "user", here, day_start + 1h);
    }
    CHECK(order.size() == 3);
    it.on_timer(day_start + 1h + 200ms);
    CHECK(order.size() == 5);
}

TEST_CASE("a login that costs several hashes counts as several") {
    login_throttle it{
        {.checks_per_second_max = 10, .checks_at_once_max = 4, .hashes_of_a_login = 2}, day_start};
    std::vector<int> order;
    std::deque<noted_login> all;
    for (int each = 0; each < 7; ++each) {
        all.emplace_back(each, order);
        it.submit(all.back(), "user", here, day_start);
    }
    CHECK(order.size() == 2);
    it.on_timer(day_start + 199ms);
    CHECK(order.size() == 2);
    it.on_timer(day_start + 200ms);
    CHECK(order.size() == 3);
    it.on_timer(day_start + 1h);
    CHECK(order.size() == 5);  // Four hashes, and something else has its turn.

    login_throttle rare{
        {.checks_per_second_max = 10, .checks_at_once_max = 1, .hashes_of_a_login = 8}, day_start};
    noted_login one{8, order};
    rare.submit(one, "user", here, day_start);
    CHECK(order.back() == 8);
}

TEST_CASE("however many wait, a call checks a few, and says when the next is due") {
    login_throttle it{{.checks_per_second_max = 10, .checks_at_once_max = 1}, day_start};
    CHECK(it.deadline() == gyre::never);
    std::vector<int> order;
    std::deque<noted_login> all;
    for (int each = 0; each < 7; ++each) {
        all.emplace_back(each, order);
        it.submit(all.back(), "user", here, day_start);
    }
    CHECK(order.size() == 1);
    CHECK(it.deadline() == day_start + 100ms);

    login_throttle rested{{.checks_per_second_max = 10, .checks_at_once_max = 50}, day_start};
    for (noted_login& each : all) each.unlink();
    static_cast<void>(rested.note_mistake("user", here, day_start));
    for (noted_login& each : all) rested.submit(each, "user", here, day_start);
    order.clear();
    CHECK(rested.deadline() == day_start + 1s);
    rested.on_timer(day_start + 1s);
    CHECK(order == std::vector{0, 1, 2, 3});  // Nothing else had a turn meanwhile.
    rested.on_timer(day_start + 1s);
    CHECK(order.size() == 7);
    CHECK(it.deadline() == gyre::never);
}

TEST_CASE("until a refusal is told, no other try for this name from this host is checked") {
    login_throttle it{{}, day_start};
    std::vector<int> order;
    std::deque<noted_login> all;
    const auto submit = [&](const char* name, const gyre::endpoint& from, gyre::time_point now) {
        all.emplace_back(static_cast<int>(all.size()), order);
        it.submit(all.back(), name, from, now);
    };
    CHECK(it.note_mistake("alice", here, day_start) == 1s);
    submit("alice", at("10.0.0.1:2000"), day_start);  // Another connection, and no use.
    CHECK(order.empty());
    submit("bob", here, day_start);
    submit("alice", at("10.0.0.2:1000"), day_start);
    CHECK(order == std::vector{1, 2});

    it.on_timer(day_start + 999ms);
    CHECK(order.size() == 2);
    it.on_timer(day_start + 1s);
    CHECK(order == std::vector{1, 2, 0});
}

TEST_CASE("each mistake is told twice as late, up to a bound, by name and by host") {
    login_throttle it{{}, day_start};
    for (const gyre::duration late : std::vector<gyre::duration>{1s, 2s, 4s, 8s, 8s})
        CHECK(it.note_mistake("alice", here, day_start) == late);

    CHECK(it.note_mistake("bob", at("10.0.0.1:2000"), day_start) == 8s);    // Another port.
    CHECK(it.note_mistake("alice", at("10.0.0.2:1000"), day_start) == 8s);  // Another host.
    CHECK(it.note_mistake("carol", at("10.0.0.3:1000"), day_start) == 1s);
    CHECK(it.note_mistake("dave", at("[2001:db8::1]:1"), day_start) == 1s);
    CHECK(it.note_mistake("erin", at("[2001:db8::2]:1"), day_start) == 2s);  // The same network.
}

TEST_CASE("after a minute without another one, mistakes are forgotten") {
    login_throttle it{{}, day_start};
    CHECK(it.note_mistake("alice", here, day_start) == 1s);
    CHECK(it.note_mistake("alice", here, day_start + 59s) == 2s);
    CHECK(it.note_mistake("alice", here, day_start + 118s) == 4s);
    CHECK(it.note_mistake("alice", here, day_start + 178s) == 1s);
}

TEST_CASE("a full table forgets the oldest mistake") {
    login_throttle it{{.mistakes_max = 2}, day_start};
    CHECK(it.note_mistake("alice", at("10.0.0.1:1"), day_start) == 1s);
    CHECK(it.note_mistake("bob", at("10.0.0.2:1"), day_start + 1s) == 1s);
    CHECK(it.note_mistake("carol", at("10.0.0.3:1"), day_start + 2s) == 1s);
    CHECK(it.note_mistake("bob", at("10.0.0.4:1"), day_start + 3s) == 2s);
    CHECK(it.note_mistake("alice", at("10.0.0.1:1"), day_start + 4s) == 1s);
}

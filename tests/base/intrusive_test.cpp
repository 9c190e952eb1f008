// SPDX-License-Identifier: BSL-1.0
//
// What gyre/base/intrusive.hpp promises: lists that never allocate and are left in constant time.
#include <gyre/base/intrusive.hpp>

#include <doctest/doctest.h>

#include <type_traits>
#include <vector>

using namespace gyre;

namespace {

struct by_age {};

struct person : list_link<>, list_link<by_age> {
    explicit person(int n) noexcept : name{n} {}
    void leave() noexcept { list_link<>::unlink(); }
    [[nodiscard]] bool listed() const noexcept { return list_link<>::linked(); }
    int name;
};

static_assert(!std::is_copy_constructible_v<person> && !std::is_move_constructible_v<list<person>>);

std::vector<int> names(list<person>& in) {
    std::vector<int> found;
    in.for_each([&](const person& each) { found.push_back(each.name); });
    return found;
}

void clear(list<person>& it) {
    while (!it.empty()) it.pop_front();
}

}  // namespace

TEST_CASE("a list keeps the order in which its elements came") {
    person a{1}, b{2}, c{3};
    list<person> line;
    CHECK(line.empty());

    for (person* each : {&a, &b, &c}) line.push_back(*each);

    CHECK(names(line) == std::vector{1, 2, 3});
    CHECK(line.size() == 3);
    CHECK(&line.front() == &a);
    CHECK(line.pop_front().name == 1);
    CHECK(names(line) == std::vector{2, 3});
    clear(line);
    CHECK(line.empty());
}

TEST_CASE("an element leaves from the front, the middle and the end") {
    for (int leaver = 0; leaver < 3; ++leaver) {
        CAPTURE(leaver);
        person all[] = {person{0}, person{1}, person{2}};
        list<person> line;
        for (person& each : all) line.push_back(each);
        std::vector rest{0, 1, 2};
        rest.erase(rest.begin() + leaver);

        all[leaver].leave();

        CHECK(names(line) == rest);
        CHECK_FALSE(all[leaver].listed());
        line.push_back(all[leaver]);
        CHECK(line.size() == 3);
        clear(line);
    }
}

TEST_CASE("leaving no list, or leaving twice, does nothing") {
    person alone{1};
    person other{2};
    list<person> line;
    line.push_back(alone);
    line.push_back(other);

    alone.leave();
    alone.leave();

    CHECK(names(line) == std::vector{2});
    other.leave();
    CHECK(line.empty());
}

TEST_CASE("a list moves behind another one as a whole") {
    person a{1}, b{2}, c{3};
    list<person> line;
    list<person> others;
    line.append(others);
    CHECK(line.empty());
    others.push_back(b);
    others.push_back(c);

    line.append(others);
    CHECK(others.empty());
    CHECK(names(line) == std::vector{2, 3});
    others.push_back(a);
    line.append(others);

    CHECK(names(line) == std::vector{2, 3, 1});
    c.leave();
    CHECK(names(line) == std::vector{2, 1});
    clear(line);
}

TEST_CASE("an element may leave while it is visited") {
    person a{1}, b{2}, c{3};
    list<person> line;
    for (person* each : {&a, &b, &c}) line.push_back(*each);
    std::vector<int> visited;

    line.for_each([&](person& each) {
        visited.push_back(each.name);
        each.leave();
    });

    CHECK(visited == std::vector{1, 2, 3});
    CHECK(line.empty());
}

TEST_CASE("a walk along a list that shrinks visits each item that stays, whichever others leave") {
    for (int leaver = 0; leaver < 4; ++leaver) {
        CAPTURE(leaver);
        person all[] = {person{0}, person{1}, person{2}, person{3}};
        list<person> line;
        for (person& each : all) line.push_back(each);
        std::vector<bool> met(4);

        line.for_each_shrinking([&](const person& each) {
            met[static_cast<std::size_t>(each.name)] = true;
            all[leaver].leave();
        });

        for (int name = 0; name < 4; ++name) {
            CHECK(met[static_cast<std::size_t>(name)] == (name == 0 || name != leaver));
        }
        CHECK(line.size() == 3);
        clear(line);
    }
}

TEST_CASE("a walk along a list that shrinks ends when all items leave at once") {
    person a{1}, b{2}, c{3};
    list<person> line;
    for (person* each : {&a, &b, &c}) line.push_back(*each);
    int visits = 0;

    line.for_each_shrinking([&](const person&) {
        ++visits;
        clear(line);
    });

    CHECK(visits == 1);
}

TEST_CASE("a list tells whether an element is all it holds") {
    person a{1}, b{2};
    list<person> line;
    CHECK_FALSE(line.is_only(a));
    line.push_back(a);
    CHECK(line.is_only(a));
    CHECK_FALSE(line.is_only(b));
    line.push_back(b);
    CHECK_FALSE(line.is_only(a));
    CHECK_FALSE(line.is_only(b));
    a.leave();
    CHECK(line.is_only(b));
    clear(line);
}

TEST_CASE("one object stands in several lists, one for each tag") {
    person a{1}, b{2};
    list<person> by_arrival;
    list<person, by_age> aged;
    by_arrival.push_back(a);
    by_arrival.push_back(b);
    aged.push_back(b);
    aged.push_back(a);

    a.leave();

    CHECK(names(by_arrival) == std::vector{2});
    CHECK(aged.size() == 2);
    CHECK(aged.pop_front().name == 2);
    CHECK(aged.pop_front().name == 1);
    b.leave();
}

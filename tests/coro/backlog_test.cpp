// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/backlog.hpp promises: the deepest first, others in turn, and items that go early.
#include <gyre/coro/backlog.hpp>

#include <gyre/coro/environment.hpp>
#include <gyre/sync/strand.hpp>
#include <support/harness.hpp>

#include <coro/manual_loop.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;

namespace {

// Notes when it acts, and does what the test says.
class noted final : public backlog_item {
public:
    noted(const environment& where, std::string& order, char name, std::function<void()> what = {})
        : backlog_item{&act}, order_{order}, name_{name}, what_{std::move(what)} {
        attach(where);
    }

    using backlog_item::put_off;
    using backlog_item::put_off_in_row;

private:
    static void act(backlog_item& it) noexcept {
        auto& self = static_cast<noted&>(it);
        self.order_ += self.name_;
        if (self.what_) self.what_();
    }

    std::string& order_;
    char name_;
    std::function<void()> what_;
};

struct fixture {
    manual_loop loop;
    environment env;
    std::string order;

    fixture() {
        env.executor = executor_ref{loop};
        env.loop = &loop;
    }

    // From here on the running item has done what it may do on the spot.
    void spend_streak() {
        while (loop.may_go_on()) static_cast<void>(loop.spend());
    }
};

}  // namespace

TEST_CASE("an item's backlog runs in its order, and what that puts off comes first") {
    fixture in;
    noted d{in.env, in.order, 'd'};
    noted e{in.env, in.order, 'e'};
    noted f{in.env, in.order, 'f'};
    noted b{in.env, in.order, 'b', [&] {
                d.put_off();
                e.put_off();
            }};
    noted c{in.env, in.order, 'c', [&] { f.put_off(); }};
    noted a{in.env, in.order, 'a', [&] {
                b.put_off();
                c.put_off();
            }};

    a.put_off();
    in.loop.run();

    CHECK(in.order == "abdecf");
}

TEST_CASE("backlogs take turns when their items have used up their share") {
    fixture in;
    const auto spend = [&] { in.spend_streak(); };
    noted second_of_a{in.env, in.order, 'A', spend};
    noted second_of_b{in.env, in.order, 'B', spend};
    noted a{in.env, in.order, 'a', [&] {
                second_of_a.put_off();
                spend();
            }};
    noted b{in.env, in.order, 'b', [&] {
                second_of_b.put_off();
                spend();
            }};

    a.put_off();
    in.loop.backlog().begin_item();  // Another item does what follows.
    b.put_off();
    in.loop.run();

    CHECK(in.order == "abAB");
}

TEST_CASE("a backlog goes on before others while its items leave some of their share") {
    fixture in;
    noted second_of_a{in.env, in.order, 'A'};
    noted second_of_b{in.env, in.order, 'B'};
    noted a{in.env, in.order, 'a', [&] { second_of_a.put_off(); }};
    noted b{in.env, in.order, 'b', [&] { second_of_b.put_off(); }};

    a.put_off();
    in.loop.backlog().begin_item();
    b.put_off();
    in.loop.run();

    CHECK(in.order == "aAbB");
}

TEST_CASE("a long backlog lets others have their turn") {
    fixture in;
    constexpr int steps_max = 10'000;
    int steps = 0;
    int steps_before_other = steps_max;
    noted other{in.env, in.order, 'o', [&] { steps_before_other = steps; }};
    std::optional<noted> even;
    std::optional<noted> odd;
    even.emplace(in.env, in.order, '.', [&] {
        if (++steps < steps_max) odd->put_off();
    });
    odd.emplace(in.env, in.order, '.', [&] {
        if (++steps < steps_max) even->put_off();
    });

    even->put_off();
    in.loop.backlog().begin_item();
    other.put_off();
    in.loop.run();

    CHECK(steps == steps_max);
    CHECK(steps_before_other < 1'000);
}

TEST_CASE("what stands below one that is never done runs all the same") {
    for (const bool spends : {false, true}) {
        CAPTURE(spends);
        fixture in;
        bool below_ran = false;
        noted below{in.env, in.order, 'b', [&] { below_ran = true; }};
        std::optional<noted> even;
        std::optional<noted> odd;
        const auto go_on_with = [&](std::optional<noted>& next) {
            if (spends) in.spend_streak();
            if (!below_ran) next->put_off();
        };
        even.emplace(in.env, in.order, '.', [&] { go_on_with(odd); });
        odd.emplace(in.env, in.order, '.', [&] { go_on_with(even); });

        even->put_off();
        below.put_off();
        in.loop.run(100'000);

        CHECK(below_ran);
    }
}

TEST_CASE("those in a row run in their order, and each counts as an item") {
    fixture in;
    noted a{in.env, in.order, 'a'};
    noted b{in.env, in.order, 'b'};
    noted c{in.env, in.order, 'c'};

    for (noted* each : {&a, &b, &c}) each->put_off_in_row();

    CHECK(in.loop.run(2) == 2);
    CHECK(in.order == "ab");
    CHECK(in.loop.run() == 1);
    CHECK(in.order == "abc");
}

TEST_CASE("what one in a row puts off comes before the rest of the row") {
    fixture in;
    noted d{in.env, in.order, 'd'};
    noted e{in.env, in.order, 'e'};
    noted f{in.env, in.order, 'f'};
    noted a{in.env, in.order, 'a', [&] {
                d.put_off_in_row();
                e.put_off();
                f.put_off_in_row();
            }};
    noted b{in.env, in.order, 'b'};
    noted c{in.env, in.order, 'c'};

    for (noted* each : {&a, &b, &c}) each->put_off_in_row();
    in.loop.run();

    CHECK(in.order == "adefbc");
}

TEST_CASE("one in a row that has used up its share lets others have their turn") {
    fixture in;
    noted a{in.env, in.order, 'a', [&] { in.spend_streak(); }};
    noted b{in.env, in.order, 'b'};
    noted other{in.env, in.order, 'o'};

    a.put_off_in_row();
    b.put_off_in_row();
    in.loop.backlog().begin_item();
    other.put_off();
    in.loop.run();

    CHECK(in.order == "aob");
}

TEST_CASE("those of different executors stand in no row together") {
    fixture in;
    strand other{in.loop};
    environment there = in.env;
    there.executor = executor_ref{other};
    noted b{there, in.order, 'b'};
    noted c{there, in.order, 'c'};
    noted d{in.env, in.order, 'd'};
    noted e{in.env, in.order, 'e'};
    noted a{in.env, in.order, 'a', [&] {
                for (noted* each : {&b, &d, &c, &e}) each->put_off_in_row();
            }};

    a.put_off();
    in.loop.run();

    CHECK(in.order == "adebc");
}

TEST_CASE("an item of another executor waits there") {
    fixture in;
    strand other{in.loop};
    environment there = in.env;
    there.executor = executor_ref{other};
    noted b{there, in.order, 'b'};
    noted c{in.env, in.order, 'c'};
    noted a{in.env, in.order, 'a', [&] {
                b.put_off();
                c.put_off();
            }};

    a.put_off();
    in.loop.run();

    CHECK(in.order.size() == 3);
    CHECK(in.order.find('b') != std::string::npos);
    CHECK(in.order.find('c') != std::string::npos);
}

TEST_CASE("whichever item of a backlog is destroyed, the others run in their order") {
    for (const std::size_t gone : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
        CAPTURE(gone);
        fixture in;
        std::optional<noted> items[3];
        noted last{in.env, in.order, 'd'};
        for (std::size_t each = 0; each < 3; ++each) {
            items[each].emplace(in.env, in.order, "abc"[each]);
            items[each]->put_off();
        }

        items[gone].reset();
        last.put_off();
        in.loop.run();

        std::string expected{"abcd"};
        expected.erase(gone, 1);
        CHECK(in.order == expected);
    }
}

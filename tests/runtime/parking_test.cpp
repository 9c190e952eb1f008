// SPDX-License-Identifier: BSL-1.0
//
// Every order in which the members of a small pool can fall asleep, search and be woken.
//
// The bounds: up to three members, up to four items from two posters outside, and as many preemptions as
// each test says, for pools without a watch and with one. GYRE_MORE_PREEMPTIONS=1 in the environment adds
// one. The orders are those of sequential consistency: parking asks for it, the queues do not quite.
#include <runtime/parking.hpp>

#include <runtime/model_pool.hpp>
#include <runtime/pace_watch.hpp>
#include <support/every_order.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <string>

using namespace gyre::testing;

namespace {

struct outcome {
    std::string wrong;
    std::size_t unannounced;
};

template <unsigned Members, class Pace, template <class> class Watch>
outcome explore(const scenario& of, unsigned preemptions_max) {
    using pool_type = model_pool<Members, Pace, Watch>;
    const char* const more = std::getenv("GYRE_MORE_PREEMPTIONS");
    if (more != nullptr) preemptions_max += static_cast<unsigned>(std::atoi(more));
    pool_type pool{of};

    const orders_explored all = explorer{pool, preemptions_max}.explore();

    const std::string watched = pool_type::has_watch ? " with a watch" : "";
    MESSAGE(Members, " members", watched, ", ", preemptions_max, " preemptions: ", all.states,
            " states, ", all.runs, " runs, ", all.ends, " ends");
    CHECK((all.ends > 0 || all.wrong != ""));
    return {all.wrong, pool.unannounced};
}

/// How often one that could go on may be left for another, in pools without a watch and with one.
struct preemptions {
    unsigned alone;
    unsigned watched;
};

/// Nothing is ever left, not even behind an item that holds its member up.
template <unsigned Members>
void check_every_order(const scenario& of, preemptions most) {
    const outcome alone = explore<Members, no_pace, no_watch>(of, most.alone);
    CHECK(alone.wrong == "");
    CHECK(alone.unannounced == 0);

    const outcome watched =
        explore<Members, gyre::pool_pace<stepped_atomic>, gyre::pace_watch>(of, most.watched);
    CHECK(watched.wrong == "");
    CHECK(watched.unannounced == 0);
}

}  // namespace

TEST_CASE("exploration finds what is lost when members do not look again before they sleep") {
    scenario of;
    of.posts = {1};
    of.looks_again = false;

    const outcome found = explore<2, no_pace, no_watch>(of, 2);

    CHECK(found.wrong.starts_with("an item is left in the inbox, after"));
}

TEST_CASE("an item that is posted while members fall asleep is taken, and its end told") {
    scenario of;
    of.posts = {1};
    of.waits = true;

    check_every_order<2>(of, {3, 2});
    check_every_order<3>(of, {2, 1});
}

TEST_CASE("items of two posters are taken while members fall asleep") {
    scenario of;
    of.posts = {1, 2};
    of.items[1].is_long = true;

    check_every_order<1>(of, {4, 2});
    check_every_order<2>(of, {2, 1});
    check_every_order<3>(of, {1, 1});
}

TEST_CASE("items wake as many sleepers as they need") {
    scenario of;
    of.posts = {0x21};
    of.items[1].waits_for = 2;
    of.batch = 1;
    of.begins_asleep = true;

    check_every_order<2>(of, {4, 4});
    check_every_order<3>(of, {3, 3});
}

TEST_CASE("the end of a pool is told after the last of several items") {
    scenario of;
    of.posts = {0x21};
    of.waits = true;
    of.begins_asleep = true;

    check_every_order<2>(of, {3, 3});
    check_every_order<3>(of, {3, 2});
}

TEST_CASE("the end of a pool is not told while a message wanders from loop to loop") {
    scenario of;
    of.letters = {1};
    of.items[1].mails = 2;
    of.waits = true;
    of.begins_asleep = true;

    check_every_order<2>(of, {3, 3});
}

TEST_CASE("what a member shares is run, stolen or not") {
    scenario of;
    of.posts = {1};
    of.items[1] = {.shares = 0x32, .is_long = true};

    check_every_order<2>(of, {2, 2});
    of.begins_asleep = true;
    check_every_order<3>(of, {3, 2});
}

TEST_CASE("a lone item is stolen from a member that is held up") {
    scenario of;
    of.posts = {1};
    of.items[1] = {.shares = 2, .waits_for = 2};
    of.begins_asleep = true;

    check_every_order<2>(of, {4, 4});
    check_every_order<3>(of, {3, 2});
}

TEST_CASE("a member that is held up by work of its own leaves the inbox to others") {
    scenario of;
    of.posts = {1};
    of.letters = {no_item, 2};
    of.items[2].waits_for = 1;

    check_every_order<2>(of, {2, 2});
    of.begins_asleep = true;
    check_every_order<3>(of, {3, 2});
}

TEST_CASE("a member that is held up by work of its own keeps no watch") {
    scenario of;
    of.posts = {0x321};
    of.letters = {no_item, 4};
    of.items[2].waits_for = 3;
    of.items[4].waits_for = 3;
    of.batch = 1;
    of.begins_asleep = true;

    check_every_order<3>(of, {2, 2});
}

// What decisions 0008 and 0010 leave: a thief that finds a queue empty says so at the very moment at which
// its owner adds to it, and is held up then. If this fails because nothing is left any more, they are wrong.
TEST_CASE("what is added while a thief withdraws a surplus waits for the one that added it") {
    scenario of;
    of.posts = {1};
    of.items[1] = {.shares = 0x32, .waits_for = 0x32};
    of.begins_asleep = true;
    const outcome alone = explore<2, no_pace, no_watch>(of, 2);
    CHECK(alone.wrong == "");
    CHECK(alone.unannounced > 0);

    of.items[1] = {.shares = 2, .waits_for = 2};
    of.begins_asleep = false;
    const outcome watched = explore<2, gyre::pool_pace<stepped_atomic>, gyre::pace_watch>(of, 2);
    CHECK(watched.wrong == "");
    CHECK(watched.unannounced > 0);
}

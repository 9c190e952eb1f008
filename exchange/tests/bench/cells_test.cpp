// SPDX-License-Identifier: BSL-1.0
//
// What exchange/bench/cells.hpp promises: the rows of the tables, and shapes that the scenarios have.
#include <exchange/bench/cells.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::bench;

namespace {

cell find(std::string_view name) {
    const auto all = all_cells();
    const auto found =
        std::ranges::find_if(all, [&](const cell& it) { return name_of(it) == name; });
    REQUIRE(found != all.end());
    return *found;
}

}  // namespace

TEST_CASE("every scenario is played with both books at every rate, a mass cancel at three") {
    const auto all = all_cells();

    std::set<std::string> names;
    for (const cell& each : all) names.insert(name_of(each));
    CHECK(names.size() == all.size());
    CHECK(all.size() == 7 * 2 * 5 + 5 + 2 * 3);  // A fill-or-kill that walks a book needs one.
    CHECK(name_of(all.front()) == "1_empty_1000");
    CHECK(name_of(all.back()) == "8_filled_unbounded");
}

TEST_CASE("all turns of a row have as many events as the tables that are reproduced") {
    const auto in_all = [](std::string_view name) { return turns_of_row * find(name).events; };

    CHECK(in_all("1_empty_200000") == 2'000'000);
    CHECK(in_all("1_filled_200000") == 1'000'000);
    CHECK(in_all("2b_filled_10000") == 100'000);
    CHECK(in_all("5_empty_1000") == 2'000);
    CHECK(in_all("7_filled_unbounded") == 100'000);
}

TEST_CASE("a turn has enough events for quantiles, if need be more than its part") {
    CHECK(find("8_empty_1000").events == 100);
    CHECK(find("7_filled_10000").events == 5'000);
    CHECK(find("8_filled_unbounded").events == 5'000);
    CHECK(find("3_empty_unbounded").events == 250'000);  // A twentieth takes 30 ms.
}

TEST_CASE("what is measured has the shape that its scenario gives it") {
    for (const cell& each : all_cells()) {
        CAPTURE(name_of(each));
        scenario play{each.which, each.state};
        static_cast<void>(play.prepare());
        std::vector<command> before;
        std::vector<command> measured;
        play.before(before);
        play.measured(measured);

        const event_shape shape = shape_of(each.which);

        CHECK(before.size() == shape.before);
        CHECK(measured.size() == shape.measured);
        CHECK(shape.derived == play.derived());
    }
}

TEST_CASE("a quick look has both ends of each table") {
    std::map<std::string, std::vector<std::uint32_t>> rates;
    for (const cell& each : quick_cells()) {
        const std::string name = name_of(each);
        rates[name.substr(0, name.rfind('_'))].push_back(each.rate_per_second);
        CHECK(each.events == find(name).events);
    }
    CHECK(rates.size() == 17);  // Nine scenarios with two books each, but 2b, which has one.
    for (const auto& [table, found] : rates) {
        CAPTURE(table);
        CHECK(found == std::vector<std::uint32_t>{10'000, unbounded});
    }
}

TEST_CASE("a glance has each of the eight scenarios once, and is over in a second") {
    std::string names;
    std::uint32_t events = 0;
    for (const cell& each : glance_cells()) {
        names += name_of(each) + ' ';
        CHECK(each.rate_per_second == 1'000);
        CHECK(each.warm_up_events > 0);
        CHECK(each.kept_share < find(name_of(each)).kept_share);
        events += each.events_in_all();
    }
    CHECK(names ==
          "1_filled_1000 2_filled_1000 3_filled_1000 4_filled_1000 5_filled_1000 6_filled_1000 "
          "7_filled_1000 8_filled_1000 ");
    CHECK(events < 1'000);
}

TEST_CASE("what is tuned are rows of the tables") {
    const auto tuned = tuned_cells();

    CHECK(tuned.size() == 8);
    CHECK(name_of(tuned.front()) == "1_filled_1000");
    CHECK(tuned.front().events == find("1_filled_1000").events);
    CHECK(name_of(tuned.back()) == "8_filled_unbounded");
}

TEST_CASE("through a gateway a quick look's rows are played, and no turn is longer than a moment") {
    const auto quick = quick_cells();
    const auto found = end_to_end_cells();

    REQUIRE(found.size() == quick.size());
    for (std::size_t at = 0; at < found.size(); ++at) {
        CAPTURE(name_of(found[at]));
        CHECK(name_of(found[at]) == name_of(quick[at]));
        CHECK(found[at].events <= quick[at].events);
        CHECK(found[at].warm_up_events == found[at].events / 10);
        // Eight hundred times as much is derived from some, so a turn is counted in messages.
        const std::uint64_t messages =
            std::uint64_t{found[at].events} * shape_of(found[at].which).derived_in_all();
        CHECK(messages <= 1'600'000);
        CHECK(messages >= 5'000);
    }
}

TEST_CASE("jitter is looked at for eight seconds, each of which has a p99.9") {
    const auto found = jitter_cells();

    REQUIRE(found.size() == 1);
    CHECK(name_of(found.front()) == "2_filled_20000");
    CHECK(found.front().events == 8 * found.front().rate_per_second);
    CHECK(found.front().rate_per_second >= 5'000);
    CHECK(short_jitter_cells().front().events == 2 * found.front().rate_per_second);
    CHECK(name_of(short_jitter_cells().front()) == name_of(found.front()));
}

TEST_CASE("what is tuned through a gateway are rows of that suite") {
    const auto all = end_to_end_cells();

    const auto tuned = tuned_end_to_end_cells();

    CHECK(tuned.size() == 3);
    for (const cell& each : tuned) {
        const auto same =
            std::ranges::find(all, name_of(each), [](const cell& it) { return name_of(it); });
        REQUIRE(same != all.end());
        CHECK(same->events == each.events);
    }
}

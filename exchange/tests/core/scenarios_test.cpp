// SPDX-License-Identifier: BSL-1.0
//
// What the eight scenarios say, message for message, on an empty and on a filled book.
//
// The short ones are spelled out. Of all of them the whole stream is hashed, as text so that padding does
// not count: the same hash on every compiler and in every build, or a journal would not replay.
#include <exchange/bench/scenarios.hpp>
#include <exchange/core/partition.hpp>
#include <exchange/tests/support/describe.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using bench::book_state;
using bench::scenario;
using bench::scenario_name;

namespace {

using lines = std::vector<std::string>;

// A scenario that was prepared and is played event by event.
class stage {
public:
    stage(scenario_name which, book_state state) : script_{which, state} {
        for (const command& each : script_.prepare()) apply(each);
        CHECK(refused_ == 0);
    }

    // The derived messages of the next event.
    const lines& play() {
        std::vector<command> commands;
        script_.before(commands);
        for (const command& each : commands) apply(each);
        said_.clear();
        commands.clear();
        script_.measured(commands);
        CHECK(commands.size() == script_.inbound());
        for (const command& each : commands) apply(each);
        CHECK(said_.size() == script_.derived());
        return said_;
    }

    [[nodiscard]] std::uint64_t hash() const { return hash_; }

private:
    void apply(const command& it) {
        const auto take = [this](const event_batch& batch) {
            for (std::size_t at = 0; at < batch.events.size(); ++at) {
                if (batch.events[at].kind == event_kind::order_rejected) ++refused_;
                const event_stamp stamp = batch.stamp(at);
                CHECK(stamp.out_seq == ++out_seq_);
                CHECK(stamp.last_in_event == (batch.complete && at + 1 == batch.events.size()));
                said_.push_back(describe(batch.events[at]));
                mix(said_.back());
            }
        };
        partition_.apply(1'000, it, event_sink::to(take));
    }
    void mix(const std::string& line) {
        for (const char each : line) {
            hash_ = (hash_ ^ static_cast<unsigned char>(each)) * 0x100'0000'01b3;
        }
    }

    scenario script_;
    partition partition_{scenario::limits()};
    lines said_;
    out_sequence out_seq_ = 0;
    std::uint32_t refused_ = 0;
    std::uint64_t hash_ = 0xcbf2'9ce4'8422'2325;
};

std::size_t count(const lines& all, const std::string& prefix) {
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [&](const std::string& each) { return each.starts_with(prefix); }));
}

// Ten events; the stream of all of them, preparation included, is `golden`.
void check_stream(scenario_name which, book_state state, std::uint64_t golden) {
    stage on{which, state};

    for (int each = 0; each < 10; ++each) on.play();

    CHECK(on.hash() == golden);
}

// Ten fills, each with its ten messages in the order of the rules.
void check_sweep(const lines& said) {
    static const lines row = {"executed", "executed", "trade", "volume",     "captured",
                              "captured", "book",     "level", "statistics", "top"};
    REQUIRE(said.size() == 100);
    for (std::size_t each = 0; each < said.size(); ++each) {
        CHECK_MESSAGE(said[each].starts_with(row[each % row.size()]), each, ": ", said[each]);
    }
}

}  // namespace

TEST_CASE("scenario 1, empty: placed and cancelled by sequence, four messages each") {
    stage on{scenario_name::place_and_cancel, book_state::empty};

    CHECK(on.play() == lines{"entered 1.1 i1 a2 s2/1 buy 10@99991 done 0 tif 2",
                             "book add 1.1 i1 buy 10@99991", "level i1 buy 10@99991 of 1",
                             "top i1 10@99991 of 1 | 0@0 of 0",
                             "cancelled 1.1 i1 a2 s2/1 buy 10@99991 done 0 by 2 why 1",
                             "book erase 1.1 i1 buy 0@99991", "level i1 buy 0@99991 of 0",
                             "top i1 0@0 of 0 | 0@0 of 0"});
}

TEST_CASE("scenario 1, filled: the order becomes the best and ceases to be") {
    stage on{scenario_name::place_and_cancel, book_state::filled};

    const lines& said = on.play();

    CHECK(said[0].starts_with("entered 20001.1 i1 a2 s2/1 buy 10@99991"));
    CHECK(said[3].starts_with("top i1 10@99991 of 1 | "));
    CHECK(said[4].starts_with("cancelled 20001.1 i1 a2 s2/1 buy 10@99991"));
    CHECK(said[7].starts_with("top i1 "));
    CHECK(said[7].find("@99990 of 10 | ") != std::string::npos);
}

TEST_CASE("scenario 2, empty: an IOC without a counterparty is refused") {
    stage on{scenario_name::ioc_without_execution, book_state::empty};

    CHECK(on.play() == lines{"rejected 0.0 i1 s2/1 command 1 why 19"});
}

TEST_CASE("scenario 2, filled: an IOC short of the best is cancelled") {
    stage on{scenario_name::ioc_without_execution, book_state::filled};

    CHECK(on.play() == lines{"cancelled 20001.1 i1 a2 s2/1 buy 10@100009 done 0 by 0 why 3"});
}

TEST_CASE("scenario 2b, filled: an FOK that fifty levels cannot fill is cancelled whole") {
    stage on{scenario_name::fok_without_execution, book_state::filled};

    CHECK(on.play() == lines{"cancelled 20001.1 i1 a2 s2/1 buy 50001@100059 done 0 by 0 why 4"});
}

TEST_CASE("scenario 3, empty: an amend down keeps the place and changes the best size") {
    stage on{scenario_name::amend_quantity, book_state::empty};

    CHECK(on.play() ==
          lines{"amended 1.1 i1 a1 s1/1 buy 2147483646@99990 done 0 by 2 priority 1 why 1",
                "book modify 1.1 i1 buy 2147483646@99990", "level i1 buy 2147483646@99990 of 1",
                "top i1 2147483646@99990 of 1 | 0@0 of 0"});
}

TEST_CASE("scenario 3, filled: any of a thousand own orders at the best is found by sequence") {
    stage on{scenario_name::amend_quantity, book_state::filled};

    const lines& said = on.play();

    CHECK(said[0].starts_with("amended "));
    CHECK(said[1].starts_with("book modify "));
    CHECK(said[2].ends_with("@99990 of 1010"));
    CHECK(said[3].starts_with("top i1 "));
}

TEST_CASE("scenario 4: one trade is ten messages") {
    for (const book_state state : {book_state::empty, book_state::filled}) {
        stage on{scenario_name::trade, state};
        const bool filled = state == book_state::filled;
        const std::string own = filled ? "20001.1" : "1.1";
        const std::string other = filled ? "20002.1" : "2.1";

        const lines said = on.play();

        CHECK(lines(said.begin(), said.end() - 1) ==
              lines{"executed " + own + " i1 a1 s1/1 sell 10@100000 open 0 maker trade 1",
                    "executed " + other + " i1 a2 s2/1 buy 10@100000 open 0 taker trade 1",
                    "trade 1 i1 10@100000 aggressor buy", "volume i1 10 in 1",
                    "captured " + other + " i1 a2 f2 with f1 s2 buy 10@100000 taker trade 1",
                    "captured " + own + " i1 a1 f1 with f2 s1 sell 10@100000 maker trade 1",
                    "book erase " + own + " i1 sell 0@100000", "level i1 sell 0@100000 of 0",
                    "statistics i1 open 100000 high 100000 low 100000 last 100000 volume 10 in 1"});
        CHECK(said.back().starts_with("top i1 "));
    }
}

TEST_CASE("scenarios 5, 6 and 7: ten orders swept are ten trades and a hundred messages") {
    for (const scenario_name which :
         {scenario_name::sweep_one_level, scenario_name::sweep_adjacent_levels,
          scenario_name::sweep_sparse_levels}) {
        for (const book_state state : {book_state::empty, book_state::filled}) {
            stage on{which, state};

            check_sweep(on.play());
            check_sweep(on.play());
        }
    }
}

TEST_CASE("scenario 8: a mass cancel of 200 quotes in 100 markets is 800 messages") {
    for (const book_state state : {book_state::empty, book_state::filled}) {
        stage on{scenario_name::mass_cancel, state};

        const lines& said = on.play();

        CHECK(count(said, "cancelled ") == 200);
        CHECK(count(said, "book erase ") == 200);
        CHECK(count(said, "level ") == 200);
        CHECK(count(said, "top ") == 200);
    }
}

TEST_CASE("the streams of scenarios 1 to 4 are the same everywhere, to the letter") {
    using enum scenario_name;
    using enum book_state;
    check_stream(place_and_cancel, empty, 0xd770'f631'd752'e69b);
    check_stream(place_and_cancel, filled, 0x1b07'83ab'4009'cad4);
    check_stream(ioc_without_execution, empty, 0xf800'bae0'6479'69a8);
    check_stream(ioc_without_execution, filled, 0xc134'9919'be30'7c81);
    check_stream(fok_without_execution, filled, 0x2831'18eb'1533'0f37);
    check_stream(amend_quantity, empty, 0xc237'6972'd177'c74f);
    check_stream(amend_quantity, filled, 0xb274'374e'1c55'453b);
    check_stream(trade, empty, 0x10bb'5912'70a1'd2e1);
    check_stream(trade, filled, 0xa276'4e63'd19b'e8aa);
}

TEST_CASE("the streams of scenarios 5 to 8 are the same everywhere, to the letter") {
    using enum scenario_name;
    using enum book_state;
    check_stream(sweep_one_level, empty, 0xd172'ff9d'ac1c'2e98);
    check_stream(sweep_one_level, filled, 0xd143'd387'5f99'b57d);
    check_stream(sweep_adjacent_levels, empty, 0x2e4d'e0ed'63db'2d72);
    check_stream(sweep_adjacent_levels, filled, 0xcc05'8b3c'4ac3'a8dd);
    check_stream(sweep_sparse_levels, empty, 0x8d8b'62d9'6e15'd554);
    check_stream(sweep_sparse_levels, filled, 0xc231'bbab'63ba'26a4);
    check_stream(mass_cancel, empty, 0x6855'2b3a'b759'dd2f);
    check_stream(mass_cancel, filled, 0x9395'b628'da77'4e68);
}

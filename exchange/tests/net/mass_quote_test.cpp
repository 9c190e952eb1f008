// SPDX-License-Identifier: BSL-1.0
//
// What a host makes of a mass quote (codec/mass_quote.hpp): quotes with a number each, one after the other.
#include <exchange/codec/mass_quote_codec.hpp>

#include <exchange/tests/net/socketless_client.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

constexpr quote_entry in_market(std::uint32_t instrument, price_ticks bid = 90) {
    return {instrument_id{instrument}, bid, bid + 9, 5, 5};
}

struct quoting_host {
    explicit quoting_host(std::uint32_t step_work = 2'048) : host{options(step_work), day_start} {
        open_market(host);
        for (std::uint32_t each = 2; each <= 3; ++each) {
            define_instrument another{};
            another.instrument = instrument_id{each};
            another.product = product_id{1};
            another.type = instrument_kind::future;
            host.apply(another);
            host.apply(set_phase{another.instrument, market_phase::continuous});
        }
        alices.connect();
    }
    static order_entry_host_options options(std::uint32_t step_work) {
        order_entry_host_options made = two_traders();
        made.sequencing.limits.step_work_max = step_work;
        return made;
    }
    void quote(std::uint64_t first, const std::vector<quote_entry>& entries) {
        enter_quotes it{};
        it.client_seq = client_sequence{first};
        for (const quote_entry& each : entries) it.entries[it.count++] = each;
        std::vector<std::byte> bytes(mass_quote_bytes(it.count));
        encode(it, bytes);
        REQUIRE(alices.send_bytes(bytes));
        alices.exchange_bytes();
    }
    [[nodiscard]] std::uint32_t resting() { return host.market().state().memory.orders.in_use(); }

    order_entry_host host;
    socketless_client alices{host, login_of("alice")};
};

}  // namespace

TEST_CASE("each entry of a mass quote is answered as a quote, with its own number") {
    for (const std::uint32_t step_work : {1u, 2'048u}) {
        quoting_host it{step_work};
        it.quote(5, {in_market(1), in_market(7), in_market(2)});

        const auto entered = it.alices.heard_of<order_entered>();
        REQUIRE(entered.size() == 4);
        CHECK(entered[0].instrument == instrument_id{1});
        CHECK(entered[0].client_seq == client_sequence{5});
        CHECK(entered[3].instrument == instrument_id{2});
        CHECK(entered[3].client_seq == client_sequence{7});
        const auto refused = it.alices.heard_of<order_rejected>();
        REQUIRE(refused.size() == 1);
        CHECK(refused[0].client_seq == client_sequence{6});
        CHECK(refused[0].command == command_kind::enter_quote);
        CHECK(refused[0].reason == reject_reason::unknown_instrument);
        CHECK(it.resting() == 4);
    }
}

TEST_CASE("a session counts on from behind the last entry") {
    quoting_host it;
    it.quote(1, {in_market(1), in_market(2)});
    it.alices.forget();
    it.alices.tell(limit(client_sequence{2}, order_side::buy, 80, 1));
    CHECK(it.alices.heard_of<order_rejected>().at(0).reason ==
          reject_reason::duplicate_client_sequence);
    it.alices.tell(limit(client_sequence{3}, order_side::buy, 80, 1));
    CHECK(it.alices.heard_of<order_entered>().size() == 1);
}

TEST_CASE("a mass quote replaces quotes, and a later entry an earlier one of the same market") {
    quoting_host it;
    it.quote(1, {in_market(1), in_market(2)});
    it.quote(3, {in_market(1, 80), in_market(1, 70)});
    CHECK(it.resting() == 4);
    const auto entered = it.alices.heard_of<order_entered>();
    CHECK(entered.back().price == 79);
    CHECK(it.alices.heard_of<order_cancelled>().size() == 4);
}

TEST_CASE("many quotes are given in turns, in which nobody else has a command") {
    quoting_host it;
    struct stopped final : command_runner {
        void host_is_busy() noexcept override { ++told; }
        int told = 0;
    } runner;
    it.host.run_with(&runner);
    std::vector<quote_entry> entries;
    for (int each = 0; each < 30; ++each)
        entries.push_back(in_market(1 + static_cast<std::uint32_t>(each % 3), 90 - each));
    it.quote(1, entries);
    CHECK(runner.told == 1);
    std::size_t turns = 0;
    for (; it.host.busy(); ++turns) it.host.resume();
    CHECK(turns == 3);
    it.host.announce();
    it.alices.exchange_bytes();
    CHECK(it.alices.heard_of<order_entered>().size() == 60);
    CHECK(it.resting() == 6);
}

TEST_CASE("what is no mass quote is refused as what is no command") {
    quoting_host it;
    enter_quotes none{};
    none.client_seq = client_sequence{1};
    std::vector<std::byte> bytes(mass_quote_bytes(0));
    encode(none, bytes);
    REQUIRE(it.alices.send_bytes(bytes));
    it.alices.exchange_bytes();
    const auto refusals = it.alices.refusals();
    REQUIRE(refusals.size() == 1);
    CHECK(refusals[0].error == decode_error::field_missing);
    CHECK(refusals[0].client_seq == client_sequence{1});
}

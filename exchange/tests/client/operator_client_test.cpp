// SPDX-License-Identifier: BSL-1.0
//
// What exchange/client/operator_client.hpp promises, beside a facility on the same loop.
#include <exchange/client/operator_client.hpp>

#include <exchange/net/application/matching_facility.hpp>
#include <exchange/tests/net/facility_fixture.hpp>
#include <exchange/tests/net/gyre_side.hpp>

#include <gyre/sync/when_all.hpp>

#include <string>

using namespace exchange;
using namespace exchange::testing;
using gyre::task;
using laws = facility_fixture<gyre_side, matching_facility<gyre_traits>>;

namespace {

gyre::time_point soon() { return std::chrono::steady_clock::now() + gyre::testing::patience; }

order_entry_client_options operator_at(const laws::fixture& it) { return it.client("ops", 0); }

/// Runs a client beside what asks.
template <class Ask>
task<> beside(operator_client& client, Ask ask) {
    const auto asking = [](operator_client& of, Ask& what) -> task<> {
        co_await what(of);
        of.leave();
    };
    co_await gyre::when_all(client.run(), asking(client, ask));
}

}  // namespace

TEST_CASE("operator client: commands are answered, each with what became of it") {
    laws::hold([](laws::fixture& it) -> task<> {
        operator_client client{it.on, operator_at(it)};
        co_await beside(client, [](operator_client& ops) -> task<> {
            CHECK(co_await ops.log_in(soon()) == "");
            const command_answer halted =
                co_await ops.give(set_phase{the_market, market_phase::halted}, soon());
            CHECK(halted.outcome == command_outcome::accepted);
            const command_answer refused =
                co_await ops.give(set_phase{instrument_id{99}, market_phase::halted}, soon());
            CHECK(refused.outcome == command_outcome::refused);
            CHECK(refused.reason == reject_reason::unknown_instrument);
            const command_answer again =
                co_await ops.give(set_phase{the_market, market_phase::continuous}, soon());
            CHECK(again.outcome == command_outcome::accepted);
        });
    });
}

TEST_CASE("operator client: a wrong password is told, and no command is sent") {
    laws::hold([](laws::fixture& it) -> task<> {
        order_entry_client_options options = operator_at(it);
        options.login.password = std::string_view{"wrong"};
        operator_client client{it.on, options};
        co_await beside(client, [](operator_client& ops) -> task<> {
            CHECK((co_await ops.log_in(soon())).find("wrong name or password") !=
                  std::string::npos);
            const command_answer answer =
                co_await ops.give(set_phase{the_market, market_phase::halted}, soon());
            CHECK(answer.outcome == command_outcome::not_sent);
        });
    });
}

TEST_CASE("operator client: an exchange that does not answer leaves a command unanswered") {
    laws::hold([](laws::fixture& it) -> task<> {
        operator_client client{it.on, operator_at(it)};
        co_await beside(client, [](operator_client& ops) -> task<> {
            CHECK(co_await ops.log_in(soon()) == "");
            const command_answer late =
                co_await ops.give(set_phase{the_market, market_phase::halted}, gyre::time_point{});
            CHECK(late.outcome == command_outcome::unanswered);
        });
        const auto ended = co_await client.over();
        CHECK(ended.ok());
    });
}

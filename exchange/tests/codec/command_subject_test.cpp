// SPDX-License-Identifier: BSL-1.0
//
// The number that a command is said to be about is the one that the core answers with.
#include <exchange/codec/command_subject.hpp>

#include <exchange/core/partition.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using namespace exchange;

namespace {

// What the core answers; everything is unknown there, so it refuses.
template <class Command>
std::uint32_t answered_subject(const Command& what) {
    session_numbers numbers{4};
    partition trial{{.products_max = 4,
                     .instruments_max = 4,
                     .accounts_max = 4,
                     .sessions_max = 4,
                     .orders_max = 16,
                     .holdings_max = 16,
                     .level_chunks_max = 16,
                     .far_nodes_max = 16},
                    numbers};
    std::uint32_t found = ~0U;
    const auto take = [&found](const event_batch& batch) {
        const event& first = batch.events.front();
        if (first.kind == event_kind::admin_rejected) found = first.admin_rejected.subject;
        if (first.kind == event_kind::admin_accepted) found = first.admin_accepted.subject;
    };
    trial.apply(0, what, event_sink::to(take));
    return found;
}

template <class Command>
void check_subject(const Command& what) {
    CAPTURE(+number(Command::kind));
    CHECK(subject_of(what) == answered_subject(what));
}

}  // namespace

TEST_CASE("every command of an operator is about the number that the core says") {
    define_product product{};
    product.product = product_id{3};
    check_subject(product);
    define_instrument instrument{};
    instrument.instrument = instrument_id{2};
    instrument.product = product_id{3};
    check_subject(instrument);
    define_account account{};
    account.account = account_id{2};
    account.firm = firm_id{3};
    check_subject(account);
    check_subject(define_session{session_id{2}, account_id{3}, disconnect_policy::keep_orders});
    check_subject(set_phase{instrument_id{2}, market_phase::halted});
    check_subject(set_account_state{account_id{2}, account_state::blocked});
    check_subject(set_settlement_price{instrument_id{2}, 7});
    check_subject(end_session{session_id{2}});
    check_subject(end_day{instrument_id{2}});
    check_subject(retire{definition_kind::account, 2});
    check_subject(expire_instruments{});
    check_subject(set_position{account_id{2}, instrument_id{3}, 7});
    check_subject(uncross{instrument_id{3}});
    check_subject(set_interruption{instrument_id{2}, 5, 7});
    check_subject(advance_phases{});
    check_subject(schedule_phase{instrument_id{3}, market_phase::halted, 7});
    check_subject(bust_trade{instrument_id{2}, trade_id{7}});
}

TEST_CASE("a client's command is about none") {
    enter_order order{};
    order.instrument = instrument_id{2};
    CHECK(subject_of(order) == 0);
    cancel_orders cancel{};
    cancel.account = account_id{3};
    CHECK(subject_of(cancel) == 0);
}

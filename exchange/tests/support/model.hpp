// SPDX-License-Identifier: BSL-1.0
//
// The exchange once more, as simply as it can be said: the judge of the real one.
//
// Maps of lists, sums that are added up when they are asked for, no index but by name and by owner. It
// shares the words of types.hpp, commands.hpp and events.hpp with the core, and no code. Its order
// ids count from 1; the comparison learns which real id stands for which.
#pragma once

#include <exchange/core/commands.hpp>
#include <exchange/core/events.hpp>
#include <exchange/core/venue.hpp>

#include <cstdint>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace exchange::testing {

template <class Enum>
bool within(Enum it, Enum first, Enum last) {
    return number(it) >= number(first) && number(it) <= number(last);
}

inline bool is_price(price_ticks it) { return it >= -price_ticks_max && it <= price_ticks_max; }

struct model_order {
    order_id id;
    enter_order terms;  ///< As entered, with the effective time in force, limit and action.
    account_id account;
    contracts open;
    contracts executed;
    bool is_quote;
    bool advanced;  ///< Entered as one; the rest is of those.
    order_type type;
    price_ticks trigger;
    contracts display;  ///< 0: all.
    contracts shown;    ///< At the moment, if it rests and does not show all.
    contracts minimum;
    std::uint32_t last_day;
    bool waits;  ///< For its trigger.
};

/// What the public sees of an order that rests.
inline contracts shown_of(const model_order& it) { return it.display == 0 ? it.open : it.shown; }

/// Orders by price, at each price the oldest first.
using model_side = std::map<price_ticks, std::list<order_id>>;

/// What an account did in a market in a day.
struct model_day {
    contracts_total bought = 0;
    contracts_total sold = 0;
    trade_value bought_value = 0;
    trade_value sold_value = 0;
    std::uint32_t trades = 0;
};

struct model_trade {
    instrument_id instrument;
    price_ticks price;
    contracts quantity;
    model_order buy;
    model_order sell;
    bool busted;
};

struct model_product {
    define_product terms;
    bool retired = false;
};

struct model_market {
    define_instrument terms;
    market_phase phase = market_phase::closed;
    market_statistics day{};
    top_of_book told{};
    model_side buys;
    model_side sells;
    std::list<order_id> stops;  ///< In the order in which they came, or were changed.
    set_interruption interruption{};
    auction_indication indicated{};
    std::optional<timestamp_ns> auction_until{};
    std::map<market_phase, std::uint32_t> schedule{};  ///< The second of a day.
    std::optional<std::pair<timestamp_ns, market_phase>> due{};
    std::uint64_t last_before = 0;  ///< The last trade of a day that is over.
    std::map<account_id, model_day> days{};
    bool day_over = false;
};

struct model_protection {
    struct fill {
        timestamp_ns at;
        std::int64_t bought;  ///< Less sold.
    };

    set_protection terms;
    std::vector<fill> fills;  ///< Of the window that began last.
    bool struck = false;
};

struct model_session {
    define_session terms;
    client_sequence last;
    bool retired = false;
};

struct model_account {
    define_account terms;
    account_state state = account_state::active;
    timestamp_ns entries_occupied_until = 0;
    timestamp_ns cancels_occupied_until = 0;
    std::map<instrument_id, std::int64_t> position;
};

/// Who asked for what happens to an order: nobody, or a client's command.
struct model_request {
    session_id session = session_id::none;
    client_sequence client_seq = client_sequence::none;
};

/// What a stop is to become.
struct stop_wish {
    price_ticks trigger;
    price_ticks price;
    contracts quantity;
};

/// Which of an account's two allowances a message takes from.
enum class model_message : std::uint8_t { entry, cancel };

class model {
public:
    explicit model(const partition_limits& limits) : limits_{limits} {}

    /// The event of this command.
    std::vector<event> apply(timestamp_ns now, const command& what);

    /// How many nodes are left for prices far away, which depends on where the real windows stand:
    /// the one thing about the core that its model has to be told. Before each command.
    void far_nodes_left(std::uint32_t count) { far_nodes_left_ = count; }

    /// Those that rest, and stops that wait.
    [[nodiscard]] const std::map<order_id, model_order>& orders() const { return orders_; }

    [[nodiscard]] const std::map<trade_id, model_trade>& trades() const { return trades_; }

    /// Of the day that a report of this market is about.
    [[nodiscard]] model_day day_of(account_id whose, instrument_id in) const;

    /// Defined, and not retired.
    [[nodiscard]] bool knows(session_id it) const;

    [[nodiscard]] std::int64_t position_of(account_id whose, instrument_id in) const;

    /// Stops that wait, in the order in which a price that moves reaches them.
    [[nodiscard]] std::vector<order_id> stops_of(instrument_id in, order_side side) const;

    /// What rests or waits of an account in a market.
    [[nodiscard]] contracts_total open_of(account_id whose, instrument_id in,
                                          order_side side) const;

private:
    void handle(const enter_order& it);
    void handle(const amend_order& it);
    void handle(const cancel_order& it);
    void handle(const cancel_orders& it);
    void handle(const enter_quote& it);
    void handle(const enter_advanced_order& it);
    void handle(const amend_stop& it);
    void handle(const set_protection& it);
    void handle(const define_product& it);
    void handle(const define_instrument& it);
    void handle(const define_account& it);
    void handle(const define_session& it);
    void handle(const set_phase& it);
    void handle(const set_account_state& it);
    void handle(const set_settlement_price& it);
    void handle(const end_session& it);
    void handle(const end_day& it);
    void handle(const retire& it);
    void handle(const expire_instruments& it);
    void handle(const set_position& it);
    void handle(const uncross& it);
    void handle(const set_interruption& it);
    void handle(const advance_phases& it);
    void handle(const bust_trade& it);
    void handle(const schedule_phase& it);

    reject_reason why_not(const enter_order& it);
    reject_reason why_not(const amend_order& it);
    reject_reason why_not(const cancel_order& it);
    reject_reason why_not(const cancel_orders& it);
    reject_reason why_not(const enter_quote& it);
    reject_reason why_not(const enter_advanced_order& it);
    reject_reason why_not(const amend_stop& it);
    reject_reason why_not(const set_protection& it);
    reject_reason why_no_terms(const enter_advanced_order& it) const;
    reject_reason why_no_trigger(const model_market& in, price_ticks trigger) const;
    bool is_passed(const model_market& in, order_side side, price_ticks trigger) const;
    bool has_stop_room(instrument_id in, order_side side, price_ticks trigger) const;
    reject_reason change_stop(model_order& old, const stop_wish& to, model_request by);
    reject_reason why_not_more(const model_order& old, const stop_wish& to,
                               const model_account& whose) const;
    reject_reason withdraw(const enter_quote& it);
    reject_reason why_no_message(session_id from, client_sequence seq, model_message what);
    bool has_allowance(model_account& whose, model_message what) const;
    reject_reason why_no_market(instrument_id in) const;
    reject_reason why_no_price(const model_market& in, price_ticks price) const;
    reject_reason why_no_quantity(const model_market& in, contracts quantity) const;
    reject_reason why_no_value(const model_market& in, order_side side, price_ticks price,
                               contracts quantity) const;
    reject_reason why_no_retirement(const retire& it) const;
    reject_reason why_no_position(const set_position& it) const;
    reject_reason why_no_bust(const bust_trade& it) const;
    reject_reason why_no_product(const define_product& it) const;
    reject_reason why_no_instrument(const define_instrument& it) const;
    reject_reason why_no_account(const define_account& it) const;
    reject_reason why_no_session(const define_session& it) const;
    reject_reason why_no_limits(const model_account& whose, instrument_id in, order_side side,
                                contracts quantity, std::int64_t more, std::int64_t orders) const;

    bool is_over(const model_market& in) const;
    bool is_own(account_id one, account_id other) const;
    std::optional<price_ticks> best_of(const model_market& in, order_side side) const;
    std::optional<price_ticks> bound_at_market(const model_market& in, order_side side) const;
    std::optional<price_ticks> market_limit(const model_market& in, order_side side) const;
    std::optional<price_ticks> market_limit(const model_market& in, order_side side,
                                            price_ticks from) const;
    price_ticks value_at_trigger(const model_market& in, order_side side,
                                 price_ticks trigger) const;

    bool has_holding(account_id whose, instrument_id in) const;
    bool has_room(instrument_id in, order_side side, price_ticks price) const;
    std::size_t chunks_in_use() const;

    void arrive(model_order it);
    void go_its_way(model_order it);
    void wait_for_trigger(const model_order& it);
    std::optional<order_id> next_reached() const;
    void follow_trading();
    void trigger(order_id id);
    void show_more(model_order& it);
    void lessen(model_order& it, contracts open, amend_reason reason, model_request by);
    static bool is_in_auction(const model_market& in);
    static price_ticks reference_of(const model_market& in);
    price_ticks reach_of(const model_order& it) const;
    auction_result auction_of(instrument_id which) const;
    void touch(instrument_id in);
    void say_indications();
    void enter_phase(instrument_id in, market_phase phase);
    void change_phase(instrument_id in, market_phase phase);
    void end_auction(instrument_id in, market_phase then);
    bool advance(instrument_id in);
    void trade_auction(instrument_id in);
    contracts cross(order_id buy, order_id sell, price_ticks price, contracts_total most);
    void finish_day(instrument_id which);
    bool trade_on_arrival(model_order& it, contracts least);
    void trade_against_book(model_order& it, price_ticks reach);
    void meet_own(model_order& it, order_id resting);
    void lose(order_id resting, contracts less);
    void fill(model_order& taker, order_id resting);
    std::uint64_t within_reach(const model_order& it, price_ticks reach) const;
    bool is_struck(account_id whose, instrument_id in) const;
    void count_quoted(const model_order& maker, contracts quantity);
    void withdraw_struck();
    void count_trade(const model_order& one, const model_order& other, price_ticks price,
                     contracts quantity);
    void change(model_order& old, const amend_order& how);
    void cancel(order_id id, cancel_reason reason, model_request by = {});
    std::size_t cancel_where(const std::function<bool(const model_order&)>& wanted,
                             cancel_reason reason, model_request by = {});
    std::size_t cancel_quote(account_id whose, instrument_id in, model_request by);
    void end_market(instrument_id in, cancel_reason why);
    void say_cancelled(const model_order& it, contracts gone, cancel_reason reason,
                       model_request by = {});
    void say_amended(const model_order& it, amend_priority priority, amend_reason reason,
                     model_request by = {});
    void say_executed(const model_order& it, price_ticks price, contracts quantity,
                      execution_role role);
    void say_captured(const model_order& it, const model_order& other, price_ticks price,
                      contracts quantity, execution_role role);
    void say_book(const model_order& it, book_action action);
    void say_level(const model_order& it);
    void say_top(instrument_id in);
    template <class Message>
    void say(const Message& it) {
        event made{};
        made.kind = Message::kind;
        // All alternatives begin where the event begins.
        std::memcpy(static_cast<void*>(&made), &it, sizeof it);
        said_.push_back(made);
    }
    template <class Command>
    void refuse(const Command& it, order_id order, instrument_id in, reject_reason why) {
        say(order_rejected{order, in, it.client_seq, it.session, it.kind, why});
    }
    template <class Command>
    bool answer(const Command& it, std::uint32_t subject, reject_reason why) {
        if (why == reject_reason::none) say(admin_accepted{subject, it.kind});
        else say(admin_rejected{subject, it.kind, why});
        return why == reject_reason::none;
    }

    template <class Command>
    static model_request asked_by(const Command& it) {
        return {it.session, it.client_seq};
    }

    std::vector<order_id> find(session_id from, const order_reference& target) const;
    std::vector<order_id> in_priority(instrument_id in) const;
    model_side& side_of(const model_order& it);
    void put(model_order& it);
    void take(const model_order& it);
    void take_from_level(const model_order& it);
    void forget(const model_order& it);
    order_id quote_of(account_id whose, instrument_id in, order_side side) const;
    const model_account& account_of(session_id from) const;
    const define_product& product_of(const model_market& in) const;

    partition_limits limits_;
    timestamp_ns now_ = 0;
    std::uint32_t far_nodes_left_ = 0;
    std::uint64_t last_order_ = 0;
    std::uint64_t last_trade_ = 0;
    std::vector<event> said_;
    std::vector<std::pair<instrument_id, price_ticks>>
        printed_;  // Which stops have not followed yet.
    std::map<order_id, model_order>
        orders_;  // Those that rest or wait; in the order in which they came.
    std::multimap<std::pair<session_id, client_sequence>, order_id> by_name_;
    std::map<account_id, std::set<order_id>> by_account_;
    std::set<std::pair<account_id, instrument_id>> holdings_;
    std::map<product_id, model_product> products_;
    std::map<instrument_id, model_market> markets_;
    std::map<account_id, model_account> accounts_;
    std::map<session_id, model_session> sessions_;
    std::map<std::pair<account_id, product_id>, model_protection> protections_;
    std::vector<std::pair<account_id, product_id>> struck_;
    std::vector<protection_struck> struck_said_;  // Of each of them.
    std::map<trade_id, model_trade> trades_;
    std::vector<instrument_id> touched_;  // Markets in an auction, by the command at hand.
};

}  // namespace exchange::testing

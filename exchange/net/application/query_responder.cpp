// SPDX-License-Identifier: BSL-1.0
//
// From tables to pages: see query_responder.hpp.
//
// A place in a list of several partitions has the partition in its high bits, as ids have, and below it the
// number of an order's or a holding's place in its table. Tables never move what they hold, so a place stays
// good whatever comes and goes.
#include <exchange/net/application/query_responder.hpp>

#include <algorithm>
#include <limits>

namespace exchange {
namespace {

constexpr query_place place_of(std::size_t partition, std::uint32_t at) noexcept {
    return numbers_of(partition) | at;
}
constexpr std::size_t partition_in(query_place it) noexcept { return partition_of(it); }
constexpr std::uint32_t index_in(query_place it) noexcept { return static_cast<std::uint32_t>(it); }

}  // namespace

// ---------------------------------------------------------------------------------------------
// One page
// ---------------------------------------------------------------------------------------------

template <class Row>
class query_responder::page_maker {
public:
    explicit page_maker(const query& asked) noexcept {
        page_.from = asked.from;
        page_.account = asked.account;
        page_.instrument = asked.instrument;
        page_.last = true;
    }

    [[nodiscard]] std::uint16_t room() const noexcept {
        return static_cast<std::uint16_t>(page_.rows.size() - page_.count);
    }
    [[nodiscard]] std::uint32_t work_left() const noexcept { return work_left_; }
    void spend(std::uint32_t looks) noexcept { work_left_ -= std::min(looks, work_left_); }

    /// May one more be looked at? If not, the list goes on there.
    [[nodiscard]] bool look_at(query_place at) noexcept {
        if (room() == 0 || work_left_ == 0) {
            stop_at(at);
            return false;
        }
        --work_left_;
        return true;
    }

    /// There is `room`.
    void add(const Row& it) noexcept { page_.rows[page_.count++] = it; }

    void stop_at(query_place next) noexcept {
        page_.next = next;
        page_.last = false;
    }
    [[nodiscard]] bool stopped() const noexcept { return !page_.last; }

    [[nodiscard]] query_page<Row>& page() noexcept { return page_; }

private:
    query_page<Row> page_{};
    std::uint32_t work_left_ = query_work_max;
};

template <class Row>
std::size_t query_responder::write_page(const query& question, const query_origin& who) noexcept {
    page_maker<Row> made{question};
    list(question, made);
    made.page().next_in_stream = who.next_in_stream;
    return encode(made.page(), std::span{bytes_});
}

std::span<const std::byte> query_responder::answer(std::span<const std::byte> message,
                                                   const query_origin& who) noexcept {
    std::size_t size = 0;
    const auto reply = [&](const auto& question) { size = answer(question, who); };
    // What is wrong with a question that is none is told by the reader of commands.
    if (decode_question(message, reply)) return {};
    return std::span{bytes_}.first(size);
}

std::size_t query_responder::answer(const book_request& question,
                                    const query_origin& who) noexcept {
    if (let_through(who.queries_until, pace_, who.now))
        return books_.answer(question, std::span{bytes_}.first<book_answer_bytes_max>());
    constexpr std::size_t size = message_bytes_of<book_refused>;
    encode(book_refused{question.instrument, reject_reason::message_rate},
           std::span{bytes_}.first<size>());
    return size;
}

std::size_t query_responder::answer(query question, const query_origin& who) noexcept {
    const query asked = question;
    if (const reject_reason why = check(question, who); why != reject_reason::none) {
        constexpr std::size_t size = message_bytes_of<query_refused>;
        encode(query_refused{asked.from, asked.account, asked.instrument, asked.subject, why},
               std::span{bytes_}.first<size>());
        return size;
    }
    switch (question.subject) {
        case query_subject::orders: return write_page<order_row>(question, who);
        case query_subject::positions: return write_page<position_row>(question, who);
        case query_subject::accounts: return write_page<account_row>(question, who);
        case query_subject::sessions: return write_page<session_row>(question, who);
        case query_subject::instruments: return write_page<instrument_row>(question, who);
        case query_subject::products: return write_page<product_row>(question, who);
        case query_subject::report: return write_page<report_row>(question, who);
    }
    return 0;  // The decoder lets no other through.
}

// ---------------------------------------------------------------------------------------------
// Who may ask what
// ---------------------------------------------------------------------------------------------

reject_reason query_responder::check(query& question, const query_origin& who) const noexcept {
    if (!let_through(who.queries_until, pace_, who.now)) return reject_reason::message_rate;
    const bool of_all = question.subject == query_subject::instruments ||
                        question.subject == query_subject::products;
    if (!of_all) {
        const reject_reason why = check_own(question, who);
        if (why != reject_reason::none) return why;
    }
    return check_known(question);
}

reject_reason query_responder::check_own(query& question, const query_origin& who) const noexcept {
    account_id own = who.account;
    if (who.session != session_id::none) {
        const auto& sessions = state(0).sessions;
        const std::uint32_t asking = number(who.session);
        if (asking >= sessions.size() || sessions[asking].account == account_id::none ||
            sessions[asking].retired)
            return reject_reason::unknown_session;
        own = sessions[asking].account;
    }
    if (own == account_id::none) return reject_reason::none;  // About all of them.
    if (question.account == account_id::none) question.account = own;
    return question.account == own ? reject_reason::none : reject_reason::not_permitted;
}

reject_reason query_responder::check_known(const query& question) const noexcept {
    const auto& accounts = state(0).accounts;
    const std::uint32_t account = number(question.account);
    if (account != 0 &&
        (account >= accounts.size() || accounts[account].terms.account == account_id::none))
        return reject_reason::unknown_account;
    const auto& markets = state(sequencer_.home_of(question.instrument)).markets;
    const std::uint32_t market = number(question.instrument);
    if (market != 0 && (market >= markets.size() ||
                        markets[market].terms.instrument.instrument == instrument_id::none))
        return reject_reason::unknown_instrument;
    return reject_reason::none;
}

// ---------------------------------------------------------------------------------------------
// Lists of all partitions
// ---------------------------------------------------------------------------------------------

template <class Row, class ListOne>
void query_responder::list_partitions(const query& question, page_maker<Row>& into,
                                      const ListOne& list_one) const noexcept {
    const bool one = question.instrument != instrument_id::none;
    std::uint32_t at = index_in(question.from);
    for (std::size_t each = partition_in(question.from);
         each < sequencer_.partitions() && !into.stopped(); ++each) {
        if (!one || each == sequencer_.home_of(question.instrument)) list_one(each, at);
        at = 0;
    }
}

namespace {

order_row row_of(const venue& in, order_index at) noexcept {
    const order& it = in.memory.orders[at];
    const holding& held = in.holdings[it.holding];
    const bool waits = in.memory.waits(at);
    const advanced_terms& more = in.memory.advanced[it.advanced ? at : 0];
    return {.order = it.id,
            .client_seq = it.client_seq,
            .price = it.price,
            .instrument = instrument_id{held.market},
            .account = held.account,
            .open = in.memory.open_of(it),
            .executed = it.executed,
            .session = it.session,
            .side = it.side,
            .tif = it.tif,
            .instruction = it.instruction,
            .self_trade = it.self_trade,
            .quote = held.quote[number(it.side)] == at,
            .type = waits ? more.type : order_type::limit,
            .trigger_price = waits ? more.trigger : 0,
            .expiry_yyyymmdd = more.expiry_yyyymmdd};
}

bool is_in(const venue& in, order_index at, const query& asked) noexcept {
    const std::uint32_t market = in.holdings[in.memory.orders[at].holding].market;
    return asked.instrument == instrument_id::none || market == number(asked.instrument);
}

/// Does an order rest in this place that is asked for?
bool is_meant(const venue& in, order_index at, const query& asked) noexcept {
    const order& it = in.memory.orders[at];
    if (it.open == 0) return false;
    const account_id whose = in.holdings[it.holding].account;
    return (asked.account == account_id::none || whose == asked.account) && is_in(in, at, asked) &&
           is_linked(in.accounts[number(whose)], in.memory.orders, at);
}

/// Those places of an account's orders that come first, in ascending order.
class first_places {
public:
    explicit first_places(std::size_t wanted) noexcept : wanted_{wanted} {}

    void offer(order_index at) noexcept {
        order_index* const begin = found_.data();
        if (count_ == wanted_) {
            if (at > found_.front()) return;
            std::pop_heap(begin, begin + count_--);
        }
        found_[count_++] = at;
        std::push_heap(begin, begin + count_);
    }
    [[nodiscard]] std::span<const order_index> sorted() noexcept {
        std::sort_heap(found_.data(), found_.data() + count_);
        return std::span{found_}.first(count_);
    }

private:
    std::array<order_index, query_rows_max<order_row> + 1u> found_{};  // Of those, a heap.
    std::size_t wanted_;                                               // Above zero.
    std::size_t count_ = 0;
};

}  // namespace

// In the order of their places, which an order keeps as long as it rests. An account's list has another
// order, in which only an order that may be gone by then could say where to go on; but if it is short, it is
// a better way to the next places than the places of all accounts.
void query_responder::list(const query& question, page_maker<order_row>& into) const noexcept {
    list_partitions(question, into, [&](std::size_t partition, order_index at) {
        const venue& in = state(partition);
        const std::uint32_t listed = in.accounts[number(question.account)].open_orders;
        if (question.account == account_id::none || listed > query_work_max)
            list_places(question, partition, at, into);
        else if (listed > into.work_left())
            into.stop_at(place_of(partition, at));  // For a page of its own there is enough.
        else list_account(question, partition, at, into);
    });
}

void query_responder::list_places(const query& question, std::size_t partition, order_index at,
                                  page_maker<order_row>& into) const noexcept {
    const venue& in = state(partition);
    for (at = std::max(at, 1u); at < in.memory.orders.end(); ++at) {
        if (!into.look_at(place_of(partition, at))) return;
        if (is_meant(in, at, question)) into.add(row_of(in, at));
    }
}

void query_responder::list_account(const query& question, std::size_t partition, order_index at,
                                   page_maker<order_row>& into) const noexcept {
    const venue& in = state(partition);
    const account& whose = in.accounts[number(question.account)];
    into.spend(whose.open_orders);
    first_places places{into.room() + std::size_t{1}};
    for (order_index each = whose.first_order; each != 0;
         each = in.memory.orders[each].account_next)
        if (each >= at && is_in(in, each, question)) places.offer(each);
    for (const order_index each : places.sorted()) {
        if (into.room() == 0) return into.stop_at(place_of(partition, each));
        into.add(row_of(in, each));
    }
}

namespace {

/// Adds a holding, if there is something in it.
template <class Page>
void add_position(const holding& it, Page& into) noexcept {
    const bool quote = it.quote[0] != 0 || it.quote[1] != 0;
    if (it.position == 0 && it.open[0] == 0 && it.open[1] == 0 && !quote) return;
    into.add({.position = it.position,
              .open_buy = it.open[number(order_side::buy)],
              .open_sell = it.open[number(order_side::sell)],
              .account = it.account,
              .instrument = instrument_id{it.market},
              .quote = quote});
}

/// As far as it can be said in 63 bits.
std::int64_t said(trade_value it) noexcept {
    constexpr trade_value most = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::clamp(it, -most, most));
}

/// Adds a holding, if it traded in the day of its market, or has a position.
template <class Page>
void add_report(const venue& in, holding_index at, Page& into) noexcept {
    const holding& it = in.holdings[at];
    const market& where = in.markets[it.market];
    const day_sums& kept = in.days[at];
    const day_sums sums = kept.day == where.cycle.day ? kept : day_sums{};
    if (sums.trades == 0 && it.position == 0) return;
    const trade_value multiplier = where.terms.product.multiplier;
    const auto [bought, sold] = sums.quantities;
    into.add({.position_begin = it.position - sums.net(),
              .bought = bought,
              .sold = sold,
              .bought_value = said(sums.values[number(order_side::buy)] * multiplier),
              .sold_value = said(sums.values[number(order_side::sell)] * multiplier),
              .position_end = it.position,
              .account = it.account,
              .instrument = instrument_id{it.market},
              .trades = sums.trades});
}

}  // namespace

// No holding ever goes, or changes its place among others of its account: those come newest first, the rest
// oldest first.
template <class Row, class Add>
void query_responder::list_holdings(const query& question, page_maker<Row>& into,
                                    const Add& add) const noexcept {
    const auto is_meant = [&](const holding& it) {
        return question.instrument == instrument_id::none ||
               it.market == number(question.instrument);
    };
    list_partitions(question, into, [&](std::size_t partition, holding_index at) {
        const venue& in = state(partition);
        if (question.account == account_id::none) {
            for (at = std::max(at, 1u); at < in.holdings.end(); ++at) {
                if (!into.look_at(place_of(partition, at))) return;
                if (is_meant(in.holdings[at])) add(in, at);
            }
            return;
        }
        if (at == 0) at = in.accounts[number(question.account)].last_holding;
        // A place that is no holding of this account was not given by a page.
        const bool its_own = at < in.holdings.end() && in.holdings[at].account == question.account;
        for (; its_own && at != 0; at = in.holdings[at].account_next) {
            if (!into.look_at(place_of(partition, at))) return;
            if (is_meant(in.holdings[at])) add(in, at);
        }
    });
}

void query_responder::list(const query& question, page_maker<position_row>& into) const noexcept {
    list_holdings(question, into,
                  [&](const venue& in, holding_index at) { add_position(in.holdings[at], into); });
}

void query_responder::list(const query& question, page_maker<report_row>& into) const noexcept {
    list_holdings(question, into,
                  [&](const venue& in, holding_index at) { add_report(in, at, into); });
}

// ---------------------------------------------------------------------------------------------
// Lists by number
// ---------------------------------------------------------------------------------------------

namespace {

/// Calls `add` with each number from where the question begins, or with `only` that if it is not 0.
template <class Page, class Add>
void list_numbers(const query& asked, std::uint32_t only, std::size_t size, Page& into,
                  const Add& add) noexcept {
    std::uint64_t each = std::max<std::uint64_t>({1, asked.from, only});
    const std::uint64_t end = only == 0 ? size : only + std::uint64_t{1};
    for (; each < end; ++each) {
        if (!into.look_at(each)) return;
        add(static_cast<std::uint32_t>(each));
    }
}

}  // namespace

void query_responder::list(const query& question, page_maker<account_row>& into) const noexcept {
    const auto& accounts = state(0).accounts;
    list_numbers(question, number(question.account), accounts.size(), into, [&](std::uint32_t at) {
        const define_account& terms = accounts[at].terms;
        if (terms.account == account_id::none) return;
        account_row made{.position_max = terms.position_max,
                         .account = terms.account,
                         .firm = terms.firm,
                         .group = terms.group,
                         .order_quantity_max = terms.order_quantity_max,
                         .open_orders_max = terms.open_orders_max,
                         .messages_per_second_max = terms.messages_per_second_max,
                         .message_burst_max = terms.message_burst_max,
                         .cancels_per_second_max = terms.cancels_per_second_max,
                         .cancel_burst_max = terms.cancel_burst_max,
                         .open_orders = 0,
                         .self_trade = terms.self_trade,
                         .state = accounts[at].state};
        for (std::size_t each = 0; each < sequencer_.partitions(); ++each)
            made.open_orders += state(each).accounts[at].open_orders;
        into.spend(static_cast<std::uint32_t>(sequencer_.partitions() - 1));
        into.add(made);
    });
}

void query_responder::list(const query& question, page_maker<session_row>& into) const noexcept {
    const auto& sessions = state(0).sessions;
    list_numbers(question, 0, sessions.size(), into, [&](std::uint32_t at) {
        const session& it = sessions[at];
        const bool meant = question.account == account_id::none || it.account == question.account;
        if (it.account == account_id::none || !meant) return;
        const session_id which{static_cast<std::uint16_t>(at)};
        into.add({.last_client_seq = sequencer_.numbers().last(which),
                  .account = it.account,
                  .session = which,
                  .on_disconnect = it.on_disconnect,
                  .retired = it.retired,
                  .logged_in = logins_.is_logged_in(which)});
    });
}

void query_responder::list(const query& question, page_maker<instrument_row>& into) const noexcept {
    list_numbers(question, number(question.instrument), state(0).markets.size(), into,
                 [&](std::uint32_t at) {
                     const market& in = state(sequencer_.home_of(instrument_id{at})).markets[at];
                     const define_instrument& terms = in.terms.instrument;
                     if (terms.instrument == instrument_id::none) return;
                     into.add({.strike = terms.strike,
                               .settlement_price = terms.settlement_price,
                               .collar = terms.collar,
                               .market_band = terms.market_band,
                               .order_value_max = terms.order_value_max,
                               .open = in.day.open,
                               .high = in.day.high,
                               .low = in.day.low,
                               .last = in.day.last,
                               .volume = in.day.volume,
                               .instrument = terms.instrument,
                               .product = terms.product,
                               .order_quantity_max = terms.order_quantity_max,
                               .expiry_yyyymmdd = terms.expiry_yyyymmdd,
                               .trades = in.day.trades,
                               .type = terms.type,
                               .lone_orders = terms.lone_orders,
                               .phase = in.phase});
                 });
}

void query_responder::list(const query& question, page_maker<product_row>& into) const noexcept {
    const auto& products = state(0).products;
    list_numbers(question, 0, products.size(), into, [&](std::uint32_t at) {
        const define_product& terms = products[at].terms;
        if (terms.product == product_id::none) return;
        into.add({.product = terms.product,
                  .multiplier = terms.multiplier,
                  .lot = terms.lot,
                  .bands = terms.bands,
                  .tick_1 = terms.ticks[0],
                  .tick_2 = terms.ticks[1],
                  .tick_3 = terms.ticks[2],
                  .tick_4 = terms.ticks[3],
                  .retired = products[at].retired});
    });
}

}  // namespace exchange

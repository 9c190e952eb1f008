// SPDX-License-Identifier: BSL-1.0
//
// What is asked next, and what an answer changes: see book_recovery.hpp.
#include <exchange/net/application/book_recovery.hpp>

#include <algorithm>

namespace exchange {

struct book_recovery::answer {
    book_recovery& to;
    gyre::time_point now;

    void operator()(const book_page& it) const { to.on_page(it, now); }
    void operator()(const book_refused& it) const {
        if (to.asked_ == question_kind::page && it.instrument == to.next_.instrument)
            to.on_refusal(it.reason, now);
    }
    void operator()(const query_page<instrument_row>& it) const { to.on_instruments(it); }
    void operator()(const query_refused& it) const {
        if (to.asked_ == question_kind::instruments && it.subject == query_subject::instruments)
            to.on_refusal(it.reason, now);
    }
    template <class Other>
    void operator()(const Other&) const noexcept {}
};

void book_recovery::note_loss() noexcept {
    list_due_ = true;
    list_from_ = 0;
    list_asked_at_ = books_.next_in_feed();
    list_void_ = asked_ == question_kind::instruments;
    // The pages that are here of a book are of no use any more.
    if (asked_ != question_kind::page) next_.instrument = instrument_id::none;
}

void book_recovery::begin_anew() noexcept {
    list_due_ = false;
    next_.instrument = instrument_id::none;
    asked_ = question_kind::none;
}

void book_recovery::connect() noexcept {
    connected_ = true;
    not_before_ = {};
}

void book_recovery::disconnect() noexcept {
    connected_ = false;
    asked_ = question_kind::none;  // And is asked again: what was answered before is still true.
}

void book_recovery::begin_book(instrument_id which, order_side side) noexcept {
    next_ = {which, best_of(side), side};
}

void book_recovery::on_refusal(reject_reason why, gyre::time_point now) noexcept {
    ++counts_.refused;
    if (why != reject_reason::message_rate) next_.instrument = instrument_id::none;
    ask_later(now);
}

void book_recovery::ask_later(gyre::time_point now) noexcept {
    asked_ = question_kind::none;
    not_before_ = gyre::deadline_after(now, pause_);
    pause_ = std::min(pause_ * 2, options_.again_after_max);
}

/// Is there a book that is to be asked for?
bool book_recovery::find_book() {
    if (next_.instrument != instrument_id::none) return true;
    const auto& all = books_.all();
    for (std::size_t looked_at = 0; looked_at < all.size(); ++looked_at) {
        if (turn_ >= all.size()) turn_ = 0;
        const market_book& it = all[turn_++];
        if (it.book() == market_book::state::complete ||
            (it.book() == market_book::state::recovering && it.paged()))
            continue;
        begin_book(it.instrument(), order_side::buy);
        return true;
    }
    return false;
}

std::span<const std::byte> book_recovery::ask(question_kind what, std::size_t size,
                                              gyre::time_point now) noexcept {
    asked_ = what;
    patient_until_ = gyre::deadline_after(now, options_.answer_within);
    ++counts_.questions;
    return std::span<const std::byte>{message_}.first(size);
}

std::span<const std::byte> book_recovery::question(gyre::time_point now) {
    if (!connected_) return {};
    if (asked_ != question_kind::none) {
        if (now < patient_until_) return {};
        ++counts_.in_vain;
        ask_later(now);
    }
    if (now < not_before_) return {};
    if (list_due_) {
        list_void_ = false;
        const query whole{list_from_, account_id::none, instrument_id::none,
                          query_subject::instruments};
        constexpr std::size_t size = message_bytes_of<query>;
        encode(whole, std::span{message_}.first<size>());
        return ask(question_kind::instruments, size, now);
    }
    if (!find_book()) return {};
    // Its first page: whatever was known of it is asked for anew.
    if (next_.side == order_side::buy && next_.from == best_of(order_side::buy))
        books_.recover(next_.instrument);
    constexpr std::size_t size = message_bytes_of<book_request>;
    encode(next_, std::span{message_}.first<size>());
    return ask(question_kind::page, size, now);
}

void book_recovery::hear(std::span<const std::byte> message, gyre::time_point now) {
    if (asked_ == question_kind::none) return;
    answer to{*this, now};
    if (decode_book_answer(message, to)) static_cast<void>(decode_query_answer(message, to));
}

void book_recovery::on_page(const book_page& page, gyre::time_point now) {
    if (asked_ != question_kind::page || page.instrument != next_.instrument ||
        page.side != next_.side || page.from != next_.from)
        return;
    const bool taken = books_.splice(page);
    const market_book* const book = books_.find(page.instrument);
    // Too late an answer to the same question as it was put before: that to the last one comes behind it.
    if (!taken && book != nullptr && book->book() == market_book::state::recovering) return;
    asked_ = question_kind::none;
    ++counts_.pages;
    // More levels than there is room for, or more changes than could be kept meanwhile; or no list at all.
    if (book == nullptr || book->book() == market_book::state::incomplete ||
        (page.count == 0 && !page.last)) {
        ++counts_.in_vain;
        next_.instrument = instrument_id::none;
        return ask_later(now);
    }
    if (!page.last) {
        const price_ticks worst = page.levels[page.count - 1U].price;
        next_.from = page.side == order_side::buy ? worst - 1 : worst + 1;
    } else if (page.side == order_side::buy) {
        begin_book(page.instrument, order_side::sell);
    } else {
        pause_ = options_.again_after;  // Not before: a book may turn out too large at its end.
        next_.instrument = instrument_id::none;
    }
}

void book_recovery::on_instruments(const query_page<instrument_row>& page) {
    if (asked_ != question_kind::instruments || (page.from != list_from_ && !list_void_)) return;
    asked_ = question_kind::none;
    if (list_void_) return;
    for (std::uint16_t each = 0; each < page.count; ++each) {
        const instrument_row& it = page.rows[each];
        const market_statistics sums{it.open,   it.high,       it.low,   it.last,
                                     it.volume, it.instrument, it.trades};
        books_.learn(sums, it.phase, list_asked_at_);
    }
    list_from_ = page.next;
    if (page.last) list_due_ = false;
}

bool book_recovery::complete() const noexcept {
    return !list_due_ && std::ranges::all_of(books_.all(), [](const market_book& it) {
        return it.book() == market_book::state::complete;
    });
}

gyre::time_point book_recovery::deadline() const noexcept {
    if (!connected_) return gyre::never;
    if (asked_ != question_kind::none) return patient_until_;
    return not_before_;
}

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// From the ladder to a page: see book_responder.hpp.
#include <exchange/net/application/book_responder.hpp>

namespace exchange {

std::size_t book_responder::answer(
    const book_request& question, std::span<std::byte, book_answer_bytes_max> into) const noexcept {
    const venue& state = sequencer_.at(sequencer_.home_of(question.instrument)).state();
    const auto& markets = state.markets;
    const std::uint32_t at = number(question.instrument);
    const bool known =
        at < markets.size() && markets[at].terms.instrument.instrument == question.instrument;
    if (known) return encode(page_for(question, state), into);
    constexpr std::size_t size = message_bytes_of<book_refused>;
    encode(book_refused{question.instrument, reject_reason::unknown_instrument},
           into.first<size>());
    return size;
}

book_page book_responder::page_for(const book_request& question,
                                   const venue& state) const noexcept {
    const market& in = state.markets[number(question.instrument)];
    const level_memory& memory = state.memory.levels;
    const ladder& levels = in.book.of(question.side);
    book_page made{};
    made.next_in_feed = feed_.messages().next_sequence();
    made.from = question.from;
    made.instrument = question.instrument;
    made.side = question.side;
    made.phase = in.phase;
    level_index at = levels.at_or_after(memory, rank_of(question.side, question.from));
    for (; at != 0 && made.count < book_page_levels_max; at = levels.after(memory, at)) {
        const price_level& level = memory.chunks.level(at);
        made.levels[made.count++] = {price_of(question.side, ladder::rank_of(memory, at)),
                                     level.quantity, level.orders};
    }
    made.last = at == 0;
    return made;
}

}  // namespace exchange

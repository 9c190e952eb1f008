// SPDX-License-Identifier: BSL-1.0
//
// See the header: what happens when chunks come and go, which is rare beside orders.
#include <exchange/core/ladder.hpp>

#include <algorithm>

namespace exchange {

level_index ladder::find(const level_memory& memory, price_rank rank) const noexcept {
    const chunk_index chunk = find_chunk(memory, chunk_of(rank));
    const unsigned slot = slot_of(rank);
    if ((memory.chunks[chunk].occupied >> slot & 1) == 0) return 0;
    return chunk << chunk_bits | slot;
}

level_index ladder::at_or_after(const level_memory& memory, price_rank rank) const noexcept {
    const chunk_index chunk = chunk_from(memory, chunk_of(rank));
    if (chunk == 0) return 0;
    const std::uint64_t occupied = memory.chunks[chunk].occupied;
    const bool behind = memory.chunks[chunk].number != chunk_of(rank);
    const unsigned slot =
        behind ? static_cast<unsigned>(std::countr_zero(occupied)) : slot_of(rank);
    const level_index level = chunk << chunk_bits | slot;
    return (occupied >> slot & 1) != 0 ? level : after(memory, level);
}

level_index ladder::after(const level_memory& memory, level_index level) const noexcept {
    chunk_index chunk = level >> chunk_bits;
    const unsigned slot = level % levels_per_chunk;
    std::uint64_t behind = memory.chunks[chunk].occupied >> slot >> 1;
    if (behind != 0) return level + 1 + static_cast<unsigned>(std::countr_zero(behind));
    chunk = chunk_from(memory, memory.chunks[chunk].number + 1);
    if (chunk == 0) return 0;
    return chunk << chunk_bits |
           static_cast<unsigned>(std::countr_zero(memory.chunks[chunk].occupied));
}

chunk_index ladder::make_chunk(level_memory& memory, chunk_number number) noexcept {
    if (used_words_ == 0) place_window(memory, number);
    const chunk_index made = memory.chunks.take(number);
    if (!in_window(number)) {
        far_.insert(memory, made);
        return made;
    }
    const auto at = static_cast<unsigned>(number - window_begin_);
    directory_[at] = made;
    used_[at / 64] |= std::uint64_t{1} << at % 64;
    used_words_ |= std::uint64_t{1} << at / 64;
    return made;
}

// It holds no chunk, and must not come to stand over one that is found elsewhere.
void ladder::place_window(const level_memory& memory, chunk_number number) noexcept {
    constexpr chunk_number first = chunk_of(-price_ticks_max);
    if (number == first) return;
    const chunk_number begin = number - window_chunks / 2;
    if (!far_.empty()) {
        const chunk_index far = far_.at_or_after(memory, std::max(begin, first));
        if (far != 0 && memory.chunks[far].number - begin < window_chunks) return;
    }
    window_begin_ = begin;
}

void ladder::drop_chunk(level_memory& memory, chunk_index chunk) noexcept {
    const chunk_number number = memory.chunks[chunk].number;
    memory.chunks.give_back(chunk);
    if (!in_window(number)) {
        far_.erase(memory, number);
        return;
    }
    const auto at = static_cast<unsigned>(number - window_begin_);
    directory_[at] = 0;
    used_[at / 64] &= ~(std::uint64_t{1} << at % 64);
    if (used_[at / 64] == 0) used_words_ &= ~(std::uint64_t{1} << at / 64);
}

void ladder::find_best(const level_memory& memory) noexcept {
    // Nothing is left before the best level that just closed.
    const chunk_index chunk = chunk_from(memory, chunk_of(best_rank_));
    best_ = 0;
    if (chunk != 0) set_best(memory, chunk);
}

chunk_index ladder::chunk_from(const level_memory& memory, chunk_number number) const noexcept {
    const chunk_number offset = number - window_begin_;
    chunk_index near = 0;
    if (offset < 0) near = window_from(0);
    else if (offset < window_chunks) near = window_from(static_cast<unsigned>(offset));
    // What lies in the window is nearer than what lies behind it, but not than what lies before.
    if (far_.empty() || (near != 0 && offset >= 0)) return near;
    const chunk_index far = far_.at_or_after(memory, number);
    if (far == 0 || near == 0) return far | near;
    return memory.chunks[far].number < memory.chunks[near].number ? far : near;
}

chunk_index ladder::window_from(unsigned offset) const noexcept {
    unsigned word = offset / 64;
    std::uint64_t rest = used_[word] & ~std::uint64_t{0} << offset % 64;
    if (rest == 0) {
        const std::uint64_t words = used_words_ >> word >> 1;
        if (words == 0) return 0;
        word += 1 + static_cast<unsigned>(std::countr_zero(words));
        rest = used_[word];
    }
    return directory_[word * 64 + static_cast<unsigned>(std::countr_zero(rest))];
}

}  // namespace exchange

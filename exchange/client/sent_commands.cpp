// SPDX-License-Identifier: BSL-1.0
//
// The ring of numbers: see sent_commands.hpp.
#include <exchange/client/sent_commands.hpp>

#include <gyre/base/check.hpp>

namespace exchange {

void sent_commands::sent(client_sequence it, command_kind what, client_sequence message) noexcept {
    gyre::expects(has_room(1), "room for a command");
    at(span_++) = {.number = it, .message = message, .what = what};
    ++unanswered_;
}

std::size_t sent_commands::place_of(client_sequence it) noexcept {
    std::size_t low = 0;
    std::size_t high = span_;
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (at(middle).number < it) low = middle + 1;
        else high = middle;
    }
    return low;
}

void sent_commands::close(entry& it) noexcept {
    if (it.answered) return;
    it.answered = true;
    --unanswered_;
}

void sent_commands::answered(client_sequence it) noexcept {
    const std::size_t place = place_of(it);
    if (place == span_ || at(place).number != it) return;
    close(at(place));
    drop_answered();
}

bool sent_commands::waits_for(client_sequence it) noexcept {
    const std::size_t place = place_of(it);
    return place < span_ && at(place).number == it && !at(place).answered;
}

void sent_commands::refused(client_sequence message) noexcept {
    for (std::size_t place = place_of(message); place < span_ && at(place).message == message;
         ++place)
        close(at(place));
    drop_answered();
}

void sent_commands::doubt() noexcept {
    for (std::size_t each = 0; each < span_; ++each) at(each).doubtful = true;
}

void sent_commands::drop_answered() noexcept {
    while (span_ > 0 && at(0).answered) {
        first_ = (first_ + 1) % ring_.size();
        --span_;
    }
}

}  // namespace exchange

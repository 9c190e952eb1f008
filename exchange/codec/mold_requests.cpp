// SPDX-License-Identifier: BSL-1.0
//
// Slots in the order of their messages: see mold_requests.hpp.
#include <exchange/codec/mold_requests.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>

namespace exchange {

mold_requests::mold_requests(const mold_requests_options& options)
    : options_{options}, window_{options.outstanding_max} {
    gyre::expects(options.outstanding_max > 0 && options.attempts_max > 0);
    under_way_.reserve(options.outstanding_max);
}

mold_gap mold_requests::ask(mold_gap missing, std::size_t nearer_max,
                            gyre::time_point now) noexcept {
    auto place = under_way_.begin();
    for (; place != under_way_.end() && place->messages.first <= missing.first; ++place)
        missing.first = std::max(missing.first, place->messages.last);
    const auto nearer = static_cast<std::size_t>(place - under_way_.begin());
    if (missing.first >= missing.last || nearer > nearer_max) return {};
    if (nearer >= window_) return {};

    if (place != under_way_.end()) missing.last = std::min(missing.last, place->messages.first);
    if (under_way_.size() == options_.outstanding_max) under_way_.pop_back();
    // Where nothing can be asked for beside it, a request asks for all: its answer is as long as it can be.
    const std::uint64_t most = options_.outstanding_max > 1 ? answer_messages_ : mold_messages_max;
    missing.last = std::min(missing.last, missing.first + most);
    under_way_.insert(under_way_.begin() + static_cast<std::ptrdiff_t>(nearer),
                      {missing, due_after(1, now)});
    return missing;
}

mold_gap mold_requests::ask_again(gyre::time_point now) noexcept {
    for (std::size_t at = 0; at < std::min(window_, under_way_.size()); ++at) {
        request& it = under_way_[at];
        if (it.hopeless || now < it.due) continue;
        it.hopeless = it.attempts == options_.attempts_max;
        if (it.hopeless) continue;
        it.due = due_after(++it.attempts, now);
        window_ = std::max<std::size_t>(window_ / 2, 1);
        return it.messages;
    }
    return {};
}

gyre::time_point mold_requests::due_after(std::size_t attempts,
                                          gyre::time_point now) const noexcept {
    gyre::duration wait = options_.again_after;
    for (; attempts > 1 && wait < options_.again_after_max; --attempts) wait *= 2;
    return gyre::deadline_after(now, std::min(wait, options_.again_after_max));
}

void mold_requests::arrived(mold_gap messages, std::size_t bytes) noexcept {
    largest_bytes_ = std::max(largest_bytes_, bytes);
    for (auto each = under_way_.begin(); each != under_way_.end();) {
        mold_gap& asked = each->messages;
        if (messages.first > asked.first && messages.first < asked.last) {
            asked.last = messages.first;
            each->attempts = 1;
            each->hopeless = false;
        }
        const bool begun = messages.first <= asked.first && asked.first < messages.last;
        if (messages.first == asked.first && begun) learn(asked, messages, bytes);
        each = begun ? under_way_.erase(each) : each + 1;
        if (begun) window_ = std::min(window_ + 1, options_.outstanding_max);
    }
}

/// An answer that was whole could have been longer; a full datagram that was not shows what fits. One that
/// is neither is no answer, but late. Asking for twice what fits costs nothing: the other half is asked for
/// anew.
void mold_requests::learn(mold_gap asked, mold_gap answered, std::size_t bytes) noexcept {
    const bool whole = answered.last >= asked.last;
    const bool full = bytes >= largest_bytes_ - largest_bytes_ / 4;
    if (!whole && full) answer_messages_ = answered.size();
    if (whole && asked.size() >= answer_messages_) answer_messages_ *= 2;
    answer_messages_ = std::min<std::uint64_t>(answer_messages_, mold_messages_max);
}

void mold_requests::forget_before(std::uint64_t sequence) noexcept {
    std::erase_if(under_way_,
                  [sequence](const request& each) { return each.messages.last <= sequence; });
    if (!under_way_.empty())
        under_way_.front().messages.first = std::max(under_way_.front().messages.first, sequence);
}

void mold_requests::forget_all() noexcept {
    under_way_.clear();
    window_ = options_.outstanding_max;
}

bool mold_requests::hopeless(std::uint64_t sequence) const noexcept {
    return !under_way_.empty() && under_way_.front().hopeless &&
           under_way_.front().messages.first <= sequence;
}

gyre::time_point mold_requests::deadline() const noexcept {
    gyre::time_point first = gyre::never;
    for (std::size_t at = 0; at < std::min(window_, under_way_.size()); ++at)
        if (!under_way_[at].hopeless) first = std::min(first, under_way_[at].due);
    return first;
}

}  // namespace exchange

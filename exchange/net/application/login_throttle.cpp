// SPDX-License-Identifier: BSL-1.0
//
// Turns, and two tables of mistakes: see login_throttle.hpp.
#include <exchange/net/application/login_throttle.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace exchange {
namespace {

/// FNV-1a. Who finds two names with one number shares their delays.
std::uint64_t number_of(std::span<const std::byte> bytes) noexcept {
    std::uint64_t made = 0xcbf29ce484222325;
    for (const std::byte each : bytes)
        made = (made ^ std::to_integer<std::uint64_t>(each)) * 0x100000001b3;
    return made;
}

/// The host, whatever the port. An IPv6 host has a whole network of 64 bits to itself.
std::uint64_t number_of(const gyre::endpoint& peer) noexcept {
    using family = gyre::endpoint::family;
    if (peer.kind() == family::v4) {
        const gyre::ipv4 host = peer.v4();
        return number_of(std::as_bytes(std::span{host.bytes}));
    }
    if (peer.kind() == family::v6) {
        const gyre::ipv6 host = peer.v6();
        return number_of(std::as_bytes(std::span{host.bytes}.first(8)));
    }
    return 0;
}

std::uint64_t number_of(const soup_username& name) noexcept {
    const std::string_view text = name.view();
    return number_of(std::as_bytes(std::span{text}));
}

std::uint64_t pair_of(const soup_username& name, const gyre::endpoint& peer) noexcept {
    const std::array<std::uint64_t, 2> both{number_of(name), number_of(peer)};
    return number_of(std::as_bytes(std::span{both}));
}

gyre::duration hash_period(const login_throttle_options& options) noexcept {
    return std::chrono::duration_cast<gyre::duration>(std::chrono::seconds{1}) /
           std::max(options.checks_per_second_max, 1U);
}

}  // namespace

login_throttle::login_throttle(const login_throttle_options& options, gyre::time_point now)
    : options_{options},
      check_period_{hash_period(options) *
                    static_cast<std::int64_t>(std::max<std::size_t>(options.hashes_of_a_login, 1))},
      credit_{
          std::max(hash_period(options) * std::max(options.checks_at_once_max, 1U) - check_period_,
                   gyre::duration{})},
      next_check_{now - credit_} {
    by_name_.reserve(options.mistakes_max);
    by_host_.reserve(options.mistakes_max);
    by_pair_.reserve(options.untold_max);
}

void login_throttle::submit(waiting_login& login, const soup_username& name,
                            const gyre::endpoint& peer, gyre::time_point now) noexcept {
    login.pair_ = pair_of(name, peer);
    const gyre::time_point until = told_at(login.pair_);
    if (until > now) return hold(login, until);
    waiting_.push_back(login);
    on_timer(now);
}

void login_throttle::hold(waiting_login& login, gyre::time_point until) noexcept {
    login.held_until_ = until;
    held_.push_back(login);
    held_due_ = std::min(held_due_, until);
}

void login_throttle::let_wait_who_is_due(gyre::time_point now) noexcept {
    if (now < held_due_) return;
    held_due_ = gyre::never;
    held_.for_each([&](waiting_login& it) {
        if (it.held_until_ > now) {
            held_due_ = std::min(held_due_, it.held_until_);
        } else {
            it.unlink();
            waiting_.push_back(it);
        }
    });
}

void login_throttle::on_timer(gyre::time_point now) noexcept {
    let_wait_who_is_due(now);
    for (std::size_t hashes = 0; hashes < hashes_a_call && !waiting_.empty();
         hashes += std::max<std::size_t>(options_.hashes_of_a_login, 1)) {
        if (!take_turn(now)) return;
        waiting_.pop_front().check_login(now);
    }
}

gyre::time_point login_throttle::told_at(std::uint64_t pair) const noexcept {
    const auto found = std::ranges::find(by_pair_, pair, &mistakes::of);
    return found == by_pair_.end() ? gyre::time_point::min() : found->last;
}

// The time of the next check lies in the past after a rest, by as many checks as may come at once.
bool login_throttle::take_turn(gyre::time_point now) noexcept {
    const gyre::time_point next = std::max(next_check_, now - credit_);
    if (next > now) return false;
    next_check_ = next + check_period_;
    return true;
}

gyre::duration login_throttle::note_mistake(const soup_username& name, const gyre::endpoint& peer,
                                            gyre::time_point now) noexcept {
    const gyre::duration late =
        std::max(note(by_name_, number_of(name), now), note(by_host_, number_of(peer), now));
    if (late == gyre::duration::zero()) return late;
    const std::uint64_t pair = pair_of(name, peer);
    const gyre::time_point told = gyre::deadline_after(now, late);
    find_or_make(by_pair_, options_.untold_max, pair, now).last = told;
    waiting_.for_each([&](waiting_login& it) {
        if (it.pair_ != pair) return;
        it.unlink();
        hold(it, told);
    });
    return late;
}

login_throttle::mistakes& login_throttle::find_or_make(table& in, std::size_t most,
                                                       std::uint64_t whose,
                                                       gyre::time_point now) noexcept {
    auto it = std::ranges::find(in, whose, &mistakes::of);
    if (it != in.end()) return *it;
    if (in.size() < most) it = in.insert(in.end(), mistakes{});
    else it = std::ranges::min_element(in, {}, &mistakes::last);
    *it = {.of = whose, .count = 0, .last = now};
    return *it;
}

gyre::duration login_throttle::note(table& in, std::uint64_t whose, gyre::time_point now) noexcept {
    mistakes* const it = &find_or_make(in, options_.mistakes_max, whose, now);
    if (now - it->last >= options_.forget_after) it->count = 0;
    it->last = now;
    gyre::duration delay = options_.delay_first;
    for (std::uint32_t each = 0; each < it->count && delay < options_.delay_max; ++each) delay *= 2;
    it->count = std::min(it->count + 1, 32U);
    return std::min(delay, options_.delay_max);
}

}  // namespace exchange

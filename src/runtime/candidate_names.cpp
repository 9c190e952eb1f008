// SPDX-License-Identifier: BSL-1.0
//
// Search domains: see candidate_names.hpp.
#include <runtime/candidate_names.hpp>

#include <algorithm>
#include <utility>

namespace gyre {
namespace {

// RFC 1035 2.3.4.
bool fits(std::string_view name) noexcept {
    constexpr std::size_t name_max = 253;
    constexpr std::size_t label_max = 63;
    if (name.ends_with('.')) name.remove_suffix(1);
    if (name.size() > name_max || name.find('\0') != std::string_view::npos) return false;
    for (std::size_t at = 0; at <= name.size();) {
        const std::size_t size = std::min(name.find('.', at), name.size()) - at;
        if (size == 0 || size > label_max) return false;
        at += size + 1;
    }
    return true;
}

}  // namespace

int weight_of(error it) noexcept {
    if (it == errc::canceled) return 3;
    if (it == errc::host_not_found) return 0;
    return it == errc::no_data ? 1 : 2;
}

candidate_names::candidate_names(std::string_view name, const std::vector<std::string>& domains,
                                 int dots_min, bool no_top_level_names)
    : name_{name}, outcome_{error{errc::malformed, activity::resolve}} {
    const auto dots = std::ranges::count(name, '.');
    as_it_is_first_ = dots >= dots_min || name.ends_with('.');
    if (as_it_is_first_) add(name_);
    if (name.ends_with('.')) return;
    for (std::string_view domain : domains) {
        if (domain.starts_with('.')) domain.remove_prefix(1);
        if (domain.ends_with('.')) domain.remove_suffix(1);
        std::string longer = name_;
        if (!domain.empty()) longer.append(1, '.').append(domain);
        add(std::move(longer));
    }
    if (dots > 0 || domains.empty() || !no_top_level_names) add(name_);
}

void candidate_names::add(std::string candidate) {
    // The name itself may be due twice. A name that is too long with one domain may fit with the next.
    if (!fits(candidate)) return;
    if (candidate == name_ && std::ranges::find(all_, candidate) != all_.end()) return;
    all_.push_back(std::move(candidate));
}

const std::string* candidate_names::next() noexcept {
    while (!is_over_ && at_ < all_.size()) {
        const std::string& it = all_[at_++];
        if (!no_more_domains_ || it == name_) return &it;
    }
    return nullptr;
}

void candidate_names::note(name_verdict it) noexcept {
    const bool is_first = at_ == 1;
    if (weight_of(it.failed) >= 2) {
        // A failure of our own, or that reaches no server, would come again with each candidate.
        is_over_ =
            it.is_unreached || (it.failed != errc::server_failure && it.failed != errc::timed_out);
        // Each domain would cost the same time again.
        if (it.failed == errc::timed_out) no_more_domains_ = !(is_first && as_it_is_first_);
    }
    // A failure is worth another try, so it outlasts "no". The name as it is, if it was asked for first, has
    // more to say than what a domain makes of it.
    const int before = weight_of(outcome_.failed);
    const int now = weight_of(it.failed);
    const bool settled = as_it_is_first_ ? before >= now || now < 2 : before >= now;
    if (is_first || !settled) outcome_ = it;
}

}  // namespace gyre

// SPDX-License-Identifier: BSL-1.0
//
// Places that are taken and given back: see operator_table.hpp.
#include <exchange/net/application/operator_table.hpp>

#include <algorithm>

namespace exchange {

operator_table::operator_table(const std::vector<operator_user>& users, std::size_t connections_max,
                               const soup_stream_options& stream)
    : users_{users}, stream_{stream} {
    const std::size_t most = users.empty() ? 0 : connections_max;
    touched_.reserve(most);
    while (places_.size() < most) places_.emplace_back(touched_);
}

const operator_user* operator_table::find(std::string_view name) const noexcept {
    const auto found = std::ranges::find_if(
        users_, [name](const operator_user& each) { return each.username.view() == name; });
    return found == users_.end() ? nullptr : &*found;
}

operator_session* operator_table::find(std::uint32_t number) noexcept {
    if (number == 0) return nullptr;
    const auto found = std::ranges::find_if(places_, [number](const operator_session& each) {
        return each.connection() != nullptr && each.number() == number;
    });
    return found == places_.end() ? nullptr : &*found;
}

operator_session* operator_table::open(const operator_user& who, order_entry_session& connection,
                                       const gyre::endpoint& peer) {
    if (!has_place_for(who)) return nullptr;
    const auto place = std::ranges::find_if(places_, &operator_session::free);
    place->open(who, ++last_number_, connection, peer, stream_);
    if (ended_) place->end();
    return &*place;
}

bool operator_table::has_place_for(const operator_user& who) const noexcept {
    const auto is_here = [this](const operator_user& it) {
        return std::ranges::any_of(places_, [&](const operator_session& each) {
            return !each.free() && &each.user() == &it;
        });
    };
    const auto left = std::ranges::count_if(places_, &operator_session::free);
    if (left == 0 || !is_here(who)) return left > 0;
    // One that is here already leaves a place to each who is not.
    return left >
           std::ranges::count_if(users_, [&](const operator_user& each) { return !is_here(each); });
}

void operator_table::end() noexcept {
    ended_ = true;
    for (operator_session& each : places_) each.end();
}

}  // namespace exchange

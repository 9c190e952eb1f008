// SPDX-License-Identifier: BSL-1.0
//
// Who may log in as a participant, and changes of that: see participant_table.hpp.
#include <exchange/net/application/participant_table.hpp>

#include <exchange/codec/participant_codec.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>

namespace exchange {

participant_table::participant_table(const participant_table_options& options,
                                     const std::vector<credentials>& known)
    : options_{options},
      streams_{options.stream_memory},
      by_session_(std::size_t{options.sessions_max} + 1) {
    options_.participants_max = std::max(options.participants_max, known.size());
    touched_.reserve(options_.participants_max);
    for (const credentials& who : known) {
        gyre::expects(find(who.username.view()) == nullptr, "user names differ");
        gyre::expects((who.what == told::own) == (who.session != session_id::none),
                      "who trades has a session");
        gyre::expects(number(who.session) < by_session_.size(),
                      "a session that the partition can have");
        gyre::expects(find(who.session) == nullptr, "one participant for each session");
        add(who);
    }
}

participant* participant_table::find(std::string_view name) noexcept {
    const auto found = std::ranges::find_if(participants_, [name](const participant& each) {
        return !each.removed() && each.who().username.view() == name;
    });
    return found == participants_.end() ? nullptr : &*found;
}

std::size_t participant_table::participants_now() const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count(participants_, false, &participant::removed));
}

participant_outcome participant_table::check(std::string_view name, const define_participant& what,
                                             bool taken_by_operator) noexcept {
    using enum participant_outcome;
    const bool creates = what.action == definition_action::create;
    if (name.empty()) return invalid_name;
    if (what.action > definition_action::change) return invalid_action;
    const auto hash = text_of(what.hash);
    if (!hash || hash->empty()) return invalid_hash;
    if (options_.is_secret != nullptr && !options_.is_secret(std::string{*hash}))
        return invalid_hash;
    if (what.session == session_id::none || number(what.session) >= by_session_.size())
        return unknown_session;
    const participant* const known = find(name);
    if (creates && (known != nullptr || taken_by_operator)) return name_taken;
    if (!creates && known == nullptr) return unknown_participant;
    if (known != nullptr && known->who().what != told::own) return invalid_action;
    const participant* const there = find(what.session);
    if (there != nullptr && there != known) return session_taken;
    if (creates && participants_now() >= options_.participants_max) return at_capacity;
    const bool stays = known != nullptr && known->who().session == what.session;
    return stays || has_place_for(known) ? done : at_capacity;
}

participant_outcome participant_table::check(std::string_view name,
                                             const remove_participant& /*what*/) noexcept {
    using enum participant_outcome;
    if (name.empty()) return invalid_name;
    return find(name) == nullptr ? unknown_participant : done;
}

// Streams that do not read may have taken all memory; then there is none for the first message of another.
bool participant_table::has_place_for(const participant* instead_of) const noexcept {
    if (instead_of != nullptr && instead_of->has_no_reader()) return true;
    return streams_.has_room() || std::ranges::any_of(participants_, &participant::is_free);
}

void participant_table::change(std::string_view name, const define_participant& what) {
    const std::string secret{*text_of(what.hash)};
    participant* const known = find(name);
    if (known != nullptr && known->who().session == what.session) {
        known->become(secret);
        return known->cut();
    }
    // What the removal tells others must not take the memory that there is for this one.
    const bool reserves = known != nullptr && !known->has_no_reader() &&
                          std::ranges::none_of(participants_, &participant::is_free);
    if (reserves) streams_.join();
    if (known != nullptr) remove(*known);
    if (reserves) streams_.leave();
    add({name, secret, what.session});
}

void participant_table::change(std::string_view name, const remove_participant& /*what*/) {
    remove(*find(name));
}

void participant_table::add(const credentials& who) {
    soup_stream_options stream = options_.stream;
    // A user who comes back resumes behind what was told before, or would take new messages for old ones.
    if (const auto told = told_.find(std::string{who.username.view()}); told != told_.end())
        stream.first_sequence = told->second;
    const auto place = std::ranges::find_if(participants_, &participant::is_free);
    participant& made = place != participants_.end()
                            ? *place
                            : participants_.emplace_back(who, stream, streams_, touched_);
    if (place != participants_.end()) made.become(who, stream);
    if (who.what == told::own) by_session_[number(who.session)] = &made;
    else listeners_.push_back(&made);
}

void participant_table::remove(participant& whose) {
    told_[std::string{whose.who().username.view()}] = whose.stream().messages().next_sequence();
    if (whose.who().what == told::own) by_session_[number(whose.who().session)] = nullptr;
    else std::erase(listeners_, &whose);
    whose.remove();
}

void participant_table::end() noexcept {
    for (participant& each : participants_) each.end();
}

}  // namespace exchange

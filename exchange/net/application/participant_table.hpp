// SPDX-License-Identifier: BSL-1.0
//
// All participants: by user name for who logs in, by session for who is told.
//
// They change while the exchange runs, when an administrator says so. participant.hpp is one of them.
#pragma once

#include <exchange/codec/participant_change.hpp>
#include <exchange/net/application/participant.hpp>
#include <exchange/net/application/query_responder.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace exchange {

struct participant_table_options {
    std::uint32_t sessions_max = 0;
    std::size_t participants_max = 0;  ///< At least those that are given.
    bool (*is_secret)(const std::string&) =
        nullptr;  ///< Can it be one? Null: whatever is not empty.
    soup_stream_options stream{};
    segment_pool_options stream_memory{};  ///< Of all streams together.
};

/// Threads:  One at a time, as everything of its host.
/// Cost:     Address space at construction. User names are searched one after the other.
class participant_table final : public login_table {
public:
    /// @param  known  User names and sessions differ from each other.
    participant_table(const participant_table_options& options,
                      const std::vector<credentials>& known);
    participant_table(const participant_table&) = delete;
    participant_table& operator=(const participant_table&) = delete;

    /// Null if no user has this name.
    [[nodiscard]] participant* find(std::string_view name) noexcept;
    /// Null if no user trades through this session.
    [[nodiscard]] participant* find(session_id which) const noexcept {
        return by_session_[number(which)];
    }
    [[nodiscard]] bool is_logged_in(session_id which) const noexcept override {
        const participant* const whose = find(which);
        return whose != nullptr && whose->connection() != nullptr;
    }
    /// Those who are told what others are told.
    [[nodiscard]] const std::vector<participant*>& listeners() const noexcept { return listeners_; }

    /// Places of participants, of removed ones too.
    [[nodiscard]] const std::deque<participant>& all() const noexcept { return participants_; }
    [[nodiscard]] std::size_t participants_max() const noexcept {
        return options_.participants_max;
    }
    [[nodiscard]] const segment_pool& streams() const noexcept { return streams_; }

    /// What would come of a change; `done` if it can be made.
    [[nodiscard]] participant_outcome check(std::string_view name, const define_participant& what,
                                            bool taken_by_operator) noexcept;
    [[nodiscard]] participant_outcome check(std::string_view name,
                                            const remove_participant& what) noexcept;

    /// Makes a change that was checked.
    void change(std::string_view name, const define_participant& what);
    void change(std::string_view name, const remove_participant& what);

    /// Nothing follows.
    void end() noexcept;
    /// Those who have got messages: see release_list.hpp.
    [[nodiscard]] release_list<participant>& touched() noexcept { return touched_; }

private:
    /// For a stream more, or for one instead of another participant's.
    [[nodiscard]] bool has_place_for(const participant* instead_of) const noexcept;
    [[nodiscard]] std::size_t participants_now() const noexcept;
    void add(const credentials& who);
    void remove(participant& whose);

    participant_table_options options_;
    segment_pool streams_;
    release_list<participant> touched_;
    std::deque<participant> participants_;
    std::vector<participant*> by_session_;
    std::vector<participant*> listeners_;
    std::map<std::string, std::uint64_t> told_;  // To users who were removed: what comes next.
};

}  // namespace exchange

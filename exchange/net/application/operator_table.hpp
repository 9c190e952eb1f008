// SPDX-License-Identifier: BSL-1.0
//
// Operators: who may log in as one, and the places of those who are here.
//
// operator_session.hpp is such a place.
#pragma once

#include <exchange/net/application/operator_session.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

namespace exchange {

/// Threads:  One at a time, as everything of its host.
/// Cost:     A place is small; its stream is taken at a login.
class operator_table {
public:
    /// @param  connections_max  Of all operators together.
    operator_table(const std::vector<operator_user>& users, std::size_t connections_max,
                   const soup_stream_options& stream);
    operator_table(const operator_table&) = delete;
    operator_table& operator=(const operator_table&) = delete;

    /// Null if no operator has this name.
    [[nodiscard]] const operator_user* find(std::string_view name) const noexcept;
    /// Who is connected by this number, or null.
    [[nodiscard]] operator_session* find(std::uint32_t number) noexcept;

    /// Gives a connection a place.
    ///
    /// @param  who  One of these users.
    /// @return Null if as many are connected as there may be: beyond the first place of each user, which no
    ///         other user can take, those that are left.
    [[nodiscard]] operator_session* open(const operator_user& who, order_entry_session& connection,
                                         const gyre::endpoint& peer);

    /// Places, free or not.
    [[nodiscard]] const std::deque<operator_session>& places() const noexcept { return places_; }

    /// Nothing follows.
    void end() noexcept;
    /// Those who have got messages: see release_list.hpp.
    [[nodiscard]] release_list<operator_session>& touched() noexcept { return touched_; }

private:
    [[nodiscard]] bool has_place_for(const operator_user& who) const noexcept;

    std::vector<operator_user> users_;
    soup_stream_options stream_;
    release_list<operator_session> touched_;
    std::deque<operator_session> places_;
    std::uint32_t last_number_ = 0;
    bool ended_ = false;
};

}  // namespace exchange

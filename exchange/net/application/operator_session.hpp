// SPDX-License-Identifier: BSL-1.0
//
// An operator's connection, with a stream of its own.
//
// Operators are people and scripts that ask one thing and leave, several at once, also as one user. So what
// answers them belongs to the connection and not to the user: its stream begins at 1 with the login and ends
// with the connection. Nothing is resumed. participant.hpp is what outlives its connections.
#pragma once

#include <exchange/codec/soup_stream.hpp>
#include <exchange/net/application/operator_role.hpp>
#include <exchange/net/application/release_list.hpp>

#include <gyre/io/endpoint.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace exchange {

class operator_session;
class order_entry_session;

/// Who may log in as an operator.
struct operator_user {
    soup_username username;
    std::string secret;  ///< What its password is compared with: see password_check.hpp.
    operator_role role = operator_role::viewer;
};

/// A place for one operator's connection after the other.
///
/// Threads:  One at a time, as everything of its host.
/// Cost:     A stream's memory while somebody is connected.
class operator_session {
public:
    /// @param  touched  Borrowed; has room for every operator_session.
    explicit operator_session(release_list<operator_session>& touched) noexcept
        : touched_list_{touched} {}
    operator_session(const operator_session&) = delete;
    operator_session& operator=(const operator_session&) = delete;

    /// Is it free for another connection? It is not while the last one may still be read from.
    [[nodiscard]] bool free() const noexcept { return !stream_.has_value(); }

    // Of one that is not free.

    [[nodiscard]] const operator_user& user() const noexcept { return *user_; }
    /// By which answers find it. Another one for each connection.
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    [[nodiscard]] const soup_stream& stream() const noexcept { return *stream_; }
    [[nodiscard]] const gyre::endpoint& peer() const noexcept { return peer_; }
    /// Null once it has ended.
    [[nodiscard]] order_entry_session* connection() const noexcept { return connection_; }

    /// As a sink of event_codec.hpp; as that of a participant.
    [[nodiscard]] std::span<std::byte> prepare(std::size_t size) noexcept {
        const std::span<std::byte> room = stream_->prepare(size);
        if (!touched_) touch();
        cut_if_outrun();
        return room;
    }
    void commit(std::size_t size) noexcept { stream_->commit(size); }

    // For the host.

    /// Takes charge of a connection. It is free.
    ///
    /// @param  who  Borrowed while it is not free.
    void open(const operator_user& who, std::uint32_t number, order_entry_session& connection,
              const gyre::endpoint& peer, const soup_stream_options& stream);
    /// The connection has ended, and may still write. False if it had before.
    bool detach() noexcept;
    /// It does not write any more either.
    void let_go() noexcept;
    /// Nothing follows.
    void end() noexcept;

    void announce_output() noexcept;
    void seal_stream() noexcept {
        touched_ = false;
        stream_->seal();
    }
    void release_stream() noexcept;

private:
    void touch() noexcept {
        touched_ = true;
        touched_list_.add(*this);
    }
    void cut_if_outrun() noexcept;

    const operator_user* user_ = nullptr;
    std::uint32_t number_ = 0;
    gyre::endpoint peer_;
    std::optional<soup_stream> stream_;
    release_list<operator_session>& touched_list_;
    order_entry_session* connection_ = nullptr;
    bool touched_ = false;
};

}  // namespace exchange

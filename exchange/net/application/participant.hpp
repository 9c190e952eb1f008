// SPDX-License-Identifier: BSL-1.0
//
// A user that may log in and is told messages: credentials, pending messages, and the present connection.
//
// A participant outlives its connections: what was derived for it while it was away waits in its stream.
// participant_table.hpp owns these; session/order_entry_session.hpp is the connection.
#pragma once

#include <exchange/codec/soup_stream.hpp>
#include <exchange/core/types.hpp>
#include <exchange/net/application/release_list.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace exchange {

class order_entry_session;
class participant;

/// Which messages a user is told.
enum class told : std::uint8_t {
    own,      ///< Those of the session that it trades through.
    account,  ///< A copy of those of all sessions of one account (drop copy). It cannot trade.
    all,      ///< A copy of those of all sessions (surveillance). It cannot trade.
};

/// What a client must know to log in, and as whom.
struct credentials {
    soup_username username{};
    std::string secret{};  ///< What its password is compared with: see password_check.hpp.
    session_id session = session_id::none;  ///< Of `told::own`.
    told what = told::own;
    account_id account = account_id::none;  ///< Of `told::account`.
};

/// Threads:  One at a time, as everything of its host.
class participant {
public:
    /// @param  pool     Of all streams. Borrowed; outlives this.
    /// @param  touched  Borrowed; has room for every participant.
    participant(const credentials& who, const soup_stream_options& stream, segment_pool& pool,
                release_list<participant>& touched)
        : pool_{pool}, touched_list_{touched} {
        become(who, stream);
    }
    participant(const participant&) = delete;
    participant& operator=(const participant&) = delete;

    [[nodiscard]] const credentials& who() const noexcept { return who_; }
    [[nodiscard]] const soup_stream& stream() const noexcept { return *stream_; }

    /// May nobody log in as this one any more? Then it is a place for another one, as soon as no connection
    /// writes from its stream.
    [[nodiscard]] bool removed() const noexcept { return removed_; }
    [[nodiscard]] bool is_free() const noexcept { return removed_ && readers_ == 0; }
    /// Does no connection write from its stream, nor may write any more?
    [[nodiscard]] bool has_no_reader() const noexcept { return readers_ == 0; }

    /// The connection that is logged in as this participant, or null.
    [[nodiscard]] order_entry_session* connection() const noexcept { return connection_; }

    /// Which opening of its session commands come from, since the last login.
    [[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_; }

    /// Has it been here, and neither logged out nor been told that its stream has ended? Then it may come
    /// again, for the rest.
    [[nodiscard]] bool is_expected() const noexcept { return expected_; }

    /// As a sink of event_codec.hpp. A client that reads so slowly that new messages take the place
    /// of those that it has not got is cut off before they do.
    [[nodiscard]] std::span<std::byte> prepare(std::size_t size) noexcept {
        const std::span<std::byte> room = stream_->prepare(size);
        if (!touched_) touch();
        if (stream_->messages().outrun()) [[unlikely]]
            cut_who_is_outrun();
        return room;
    }
    void commit(std::size_t size) noexcept { stream_->commit(size); }

    // For the host.

    /// Takes the place of another one.
    void become(const credentials& who, const soup_stream_options& stream);
    void become(std::string secret) noexcept { who_.secret = std::move(secret); }

    /// Nobody may log in as this one any more. Whoever is logged in is cut off.
    void remove() noexcept;

    /// Ends the session of its connection, as if that were lost.
    void cut() noexcept;

    /// `connection` hears what it is owed from now on; the one before is sent away.
    void attach(order_entry_session& connection, std::uint32_t epoch) noexcept;

    /// `connection` has ended. False if it was not the participant's any more.
    bool detach(order_entry_session& connection) noexcept;

    /// `connection`, which has ended before, does not write any more either.
    void let_go(const order_entry_session& connection) noexcept;

    /// `connection` has written some of what is owed.
    void note_sent(const order_entry_session& connection) noexcept;

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
    void cut_who_is_outrun() noexcept;

    credentials who_;
    segment_pool& pool_;
    std::optional<soup_stream> stream_;
    release_list<participant>& touched_list_;
    order_entry_session* connection_ = nullptr;
    order_entry_session* leaving_ =
        nullptr;  // Ended; a write of it may still read from the stream.
    std::uint32_t readers_ =
        0;  // Connections that have, or may still have, a write from the stream.
    std::uint32_t epoch_ = 0;
    bool touched_ = false;
    bool expected_ = false;
    bool removed_ = false;
};

}  // namespace exchange

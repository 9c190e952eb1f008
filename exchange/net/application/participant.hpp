// SPDX-License-Identifier: BSL-1.0
//
// A participant that may log in: credentials, pending messages, and the present connection.
//
// A participant outlives its connections: what was derived for it while it was away waits in its stream.
// order_entry_host.hpp owns these; session/order_entry_session.hpp is the connection.
#pragma once

#include <exchange/codec/soup_stream.hpp>
#include <exchange/core/types.hpp>

#include <optional>
#include <string>
#include <vector>

namespace exchange {

class order_entry_session;
class participant;

/// What a client must know to log in, and as which session.
struct credentials {
    soup_username username;
    std::string secret;  ///< What its password is compared with: see password_check.hpp.
    session_id session = session_id::none;
};

/// Participants with messages that their connections were not told of. Each at most once.
using touched_participants = std::vector<participant*>;

/// Threads:  One at a time, as everything of its host.
class participant {
public:
    /// @param  pool     Of all streams. Borrowed; outlives this.
    /// @param  touched  Borrowed; has room for every participant.
    participant(const credentials& who, const soup_stream_options& stream, segment_pool& pool,
                touched_participants& touched)
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

    /// The connection that is logged in as this participant, or null.
    [[nodiscard]] order_entry_session* connection() const noexcept { return connection_; }

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

private:
    friend class order_entry_host;

    void become(const credentials& who, const soup_stream_options& stream) {
        who_ = who;
        stream_.emplace(stream, pool_);
        removed_ = expected_ = false;
    }
    [[nodiscard]] bool is_free() const noexcept { return removed_ && readers_ == 0; }
    void touch() noexcept {
        touched_ = true;
        touched_list_.push_back(this);
    }
    void cut_who_is_outrun() noexcept;

    credentials who_;
    segment_pool& pool_;
    std::optional<soup_stream> stream_;
    touched_participants& touched_list_;
    order_entry_session* connection_ = nullptr;
    order_entry_session* leaving_ =
        nullptr;  // Ended; a write of it may still read from the stream.
    std::uint32_t readers_ =
        0;                     // Connections that have, or may still have, a write from the stream.
    std::uint32_t epoch_ = 0;  // Of its session, since the last login.
    bool touched_ = false;
    bool expected_ = false;
    bool removed_ = false;
};

}  // namespace exchange

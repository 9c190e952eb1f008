// SPDX-License-Identifier: BSL-1.0
//
// The sequenced messages of one SoupBinTCP session, which outlive its connections.
//
// A client that lost its connection logs in again and names the message it wants next. So what is
// promised to it belongs to the session and not to the connection: here, framed once and kept up to a
// bound. soup_server.hpp sends from it.
#pragma once

#include <exchange/codec/message_log.hpp>
#include <exchange/codec/soup_packet.hpp>

namespace exchange {

struct soup_stream_options {
    soup_session session{};                           ///< Not empty.
    std::size_t bytes_max = std::size_t{1} << 20;     ///< Kept behind its reader, framing included.
    std::size_t messages_max = std::size_t{1} << 14;  ///< Kept behind its reader.
    std::size_t unread_bytes_max = std::size_t{4} << 20;  ///< Memory, what is unread included.
    std::size_t message_bytes_max = 1024;
    std::uint64_t first_sequence = 1;
    bool held = false;  ///< A message is sent only once it is released.
};

/// Threads:  One at a time, its connection included.
/// Cost:     That of a message_log: memory is taken from its pool.
class soup_stream {
public:
    /// With a pool of its own.
    explicit soup_stream(const soup_stream_options& options)
        : session_{session_of(options)}, messages_{log_of(options)} {}
    /// @param  pool  Borrowed; outlives this.
    soup_stream(const soup_stream_options& options, segment_pool& pool)
        : session_{session_of(options)}, messages_{log_of(options), pool} {}

    [[nodiscard]] static message_log_options log_of(const soup_stream_options& options) noexcept {
        return {.kept_bytes_max = options.bytes_max,
                .kept_messages_max = options.messages_max,
                .unread_bytes_max = options.unread_bytes_max,
                .message_bytes_max = options.message_bytes_max,
                .prefix_bytes = soup_header_bytes,
                .first_sequence = options.first_sequence,
                .held = options.held};
    }

    /// Room for the next message; an encoder writes straight into what will be sent.
    ///
    /// @param  size  At most `message_bytes_max`. The stream must not have ended.
    [[nodiscard]] std::span<std::byte> prepare(std::size_t size) noexcept {
        gyre::expects(!ended_, "nothing follows the end of a session");
        return messages_.prepare(size);
    }

    /// Makes the prepared bytes the next sequenced message.
    void commit(std::size_t size) noexcept {
        const std::span<std::byte> framed = messages_.commit(size);
        write_soup_header(framed.first<soup_header_bytes>(), soup_type::sequenced, size);
    }

    /// Somebody has got everything below `sequence`, and is to get the rest; nobody is.
    void reader_at(std::uint64_t sequence) noexcept { messages_.reader_at(sequence); }
    void reader_left() noexcept { messages_.reader_left(); }

    /// Of a stream that is held: `release` lets be sent what stands before the line that `seal` draws.
    void seal() noexcept { messages_.seal(); }
    void release() noexcept { messages_.release(); }

    /// Nothing will follow. Clients are told so behind the last message.
    void end() noexcept { ended_ = true; }

    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] const soup_session& session() const noexcept { return session_; }
    [[nodiscard]] const message_log& messages() const noexcept { return messages_; }

private:
    [[nodiscard]] static const soup_session& session_of(
        const soup_stream_options& options) noexcept {
        gyre::expects(!options.session.empty(), "a session has a name");
        gyre::expects(options.message_bytes_max <= soup_payload_bytes_max);
        return options.session;
    }

    soup_session session_;
    message_log messages_;
    bool ended_ = false;
};

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// Messages deflated and inflated in pieces, as permessage-deflate wants them.
//
// A few bytes inflate to a thousand times as many, so the inflater never has memory of its own for what
// comes out: it fills what it is given and says that there is more. zlib is behind it and stays there.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/stream/flat_buffer.hpp>
#include <gyre/websocket/violation.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

struct z_stream_s;

namespace gyre::websocket {

/// Where a piece of a message ends.
enum class piece_end : std::uint8_t {
    open,      ///< Nowhere in particular: more follows soon, and may come out with it.
    fragment,  ///< All of it has to come out now, though more of the message follows.
    message    ///< With the message.
};

/// How a deflater works.
struct deflater_settings {
    deflater_settings() noexcept = default;

    int window_bits = 15;       ///< 9 to 15.
    int level = 6;              ///< How hard zlib tries: 1 to 9.
    int memory_level = 8;       ///< How much memory it takes for that: 1 to 9.
    bool context_kept = false;  ///< Messages refer to earlier ones.
};

/// Compresses messages, one after another. Does not move. Memory: 2^(window_bits + 2) bytes and
/// 2^(memory_level + 9), from its first message on; running out of it is a failed check.
class deflater {
public:
    explicit deflater(const deflater_settings& settings) noexcept;
    deflater(const deflater&) = delete;
    deflater& operator=(const deflater&) = delete;
    ~deflater();

    /// Adds the next piece of a message, compressed, to `into`, whose bound must allow it.
    ///
    /// Cost: some 10 to 30 ns for each byte.
    void add(const_buffer piece, flat_buffer& into, piece_end end) noexcept;

    /// Forgets the messages before: for one that went out past this deflater. Not within a message.
    void forget() noexcept;

private:
    struct closer {
        void operator()(z_stream_s* it) const noexcept;
    };

    void open() noexcept;
    void end_message(flat_buffer& into, std::size_t produced) noexcept;

    deflater_settings settings_;
    std::unique_ptr<z_stream_s, closer> stream_;
    std::size_t message_bytes_ = 0;  // That came out of the message so far.
};

/// Inflates messages, one after another. Does not move. Memory: about 8 KiB from its first message on, and
/// a window of up to 32 KiB for what needs one.
class inflater {
public:
    enum class context : std::uint8_t { dropped, kept };
    explicit inflater(context earlier_messages) noexcept : context_{earlier_messages} {}
    inflater(const inflater&) = delete;
    inflater& operator=(const inflater&) = delete;
    ~inflater() = default;

    /// How far a call came.
    struct progress {
        std::size_t consumed = 0;
        std::size_t produced = 0;
        bool full = false;  ///< There may be more: call again, with the rest and other room.
        violation why = violation::none;
    };

    /// Inflates the next piece of a message into `into`.
    ///
    /// @param  into  Not empty.
    /// @return Unless it is full or there is a violation, all of `from` is consumed; with `message`, that
    ///         was the message's end.
    [[nodiscard]] progress add(const_buffer from, mutable_buffer into, piece_end end) noexcept;

private:
    struct closer {
        void operator()(z_stream_s* it) const noexcept;
    };

    void open() noexcept;
    [[nodiscard]] violation run(const_buffer& from) noexcept;
    [[nodiscard]] bool go_on_behind_final_block() noexcept;
    [[nodiscard]] bool end_message() noexcept;

    context context_;
    std::unique_ptr<z_stream_s, closer> stream_;
    std::size_t tail_used_ = 0;        // Of what ends each message, and is not sent.
    std::size_t streams_ = 0;          // Final blocks in the message so far.
    bool behind_final_block_ = false;  // Nothing has come since the last of them.
};

}  // namespace gyre::websocket

// SPDX-License-Identifier: BSL-1.0
//
// Takes the framing off a chunked body, in place, and reads the trailers behind it.
//
// It hands out views of the bytes that it is given instead of copying them, so a body goes from the socket's
// buffer to its reader in one copy, and large chunks in none. As strict as head_parser.hpp, for the same
// reason.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/http/fields.hpp>
#include <gyre/http/refusal.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace gyre::http {

/// How much there may be around a body's chunks.
struct chunk_limits {
    std::size_t extension_bytes_max =
        4 * 1024;  ///< Of all chunks of a body together, without sizes.
    std::size_t trailer_bytes_max = 8 * 1024;
    std::size_t trailers_max = 32;

    friend bool operator==(const chunk_limits&, const chunk_limits&) = default;
};

/// One chunked body after another. No I/O.
class chunk_decoder {
public:
    explicit chunk_decoder(chunk_limits limits = {}) noexcept : limits_{limits} {}

    /// What one call came to.
    struct step {
        std::size_t consumed = 0;  ///< Bytes of the input, `data` included.
        const_buffer data;         ///< A part of the body, a view of the input; may be empty.
    };

    /// Takes framing from the front of `in`, up to and including the next piece of the body. Call again with
    /// what follows `consumed` until it consumes nothing.
    ///
    /// @param  into  The trailers are added to it.
    [[nodiscard]] step decode(const_buffer in, fields& into);

    /// Bytes of the present chunk that are still to come, which may be read past the decoder, at most
    /// this many; it is told by `skip`.
    [[nodiscard]] std::uint64_t in_chunk() const noexcept { return at_ == place::data ? left_ : 0; }
    /// @pre  at most `in_chunk()`.
    void skip(std::size_t count) noexcept;

    /// Whether the body and its trailers are over; what follows belongs to the next message.
    [[nodiscard]] bool ended() const noexcept { return at_ == place::over; }

    /// Not `none` once the framing was wrong; nothing is consumed any more.
    [[nodiscard]] refusal why() const noexcept { return why_; }

    /// Begins the next body.
    void reset() noexcept;

private:
    enum class place : std::uint8_t {
        size,          // At the first digit of a chunk's size.
        more_size,     // Behind a digit.
        extension,     // Between the size and its line's end.
        size_feed,     // Before the LF of that line.
        data,          // Inside of a chunk.
        data_return,   // Before the CR behind a chunk.
        data_feed,     // Before its LF.
        trailer,       // In a line of the trailers, or the empty one behind them.
        trailer_feed,  // Before the LF of such a line.
        over
    };

    bool take_framing(char c, fields& into);
    void take_size(char c) noexcept;
    void end_trailer(fields& into);
    bool refuse(refusal why) noexcept {
        why_ = why;
        return false;
    }

    chunk_limits limits_;
    place at_ = place::size;
    refusal why_ = refusal::none;
    std::uint64_t left_ = 0;  // Of the chunk.
    unsigned size_digits_ = 0;
    std::size_t extension_bytes_ = 0;
    std::size_t trailer_bytes_ = 0;
    std::size_t trailers_ = 0;
    std::string line_;  // A trailer that is being read.
};

}  // namespace gyre::http

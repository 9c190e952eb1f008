// SPDX-License-Identifier: BSL-1.0
//
// Content codings: bodies that travel compressed by gzip or zstd, and the bombs among those that arrive so.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/http/fields.hpp>
#include <gyre/http/handler.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gyre::http {

/// A content coding.
enum class coding : std::uint8_t { identity, gzip, deflate, zstd };

/// "gzip", ...; static storage.
[[nodiscard]] std::string_view name_of(coding which) noexcept;

/// What a peer that sent these fields likes best of what `compressor` makes: zstd before gzip where it likes
/// them equally.
// RFC 9110, 12.5.3.
[[nodiscard]] coding preferred_coding(const fields& asked) noexcept;

/// Compresses one body. Moves. Bound to no thread.
class compressor {
public:
    enum class then : std::uint8_t {
        go_on,  ///< Output comes when it pays.
        flush,  ///< All of the input so far can be decoded from what is returned.
        end     ///< The body is over.
    };

    /// @param  with  `gzip`, `deflate` (in the zlib format) or `zstd`.
    /// @pre  `with` is not `identity`.
    explicit compressor(coding with);
    compressor(compressor&&) noexcept;
    compressor& operator=(compressor&&) noexcept;
    ~compressor();

    /// Appends what comes of `in` to `out`.
    ///
    /// Errors:  `errc::not_enough_memory`.
    [[nodiscard]] io_result<> add(const_buffer in, then what, std::string& out);

private:
    struct state;

    std::unique_ptr<state> state_;
};

/// Decodes one body, within bounds. Moves. Bound to no thread.
///
/// A body may have several members of gzip, with zeros behind the last one, or several frames of zstd, of
/// which some are skipped. `deflate` is read with the header of zlib and without it, as browsers do.
// RFC 1952, 2.2; RFC 8878, 3; RFC 9110, 8.4.1.
class decompressor {
public:
    /// @param  with       Not `identity`.
    /// @param  bytes_max  Of the decoded body: a bomb ends here.
    decompressor(coding with, std::uint64_t bytes_max);
    decompressor(decompressor&&) noexcept;
    decompressor& operator=(decompressor&&) noexcept;
    ~decompressor();

    struct step {
        std::size_t consumed = 0;
        std::size_t produced = 0;
    };

    /// Decodes from the front of `in` into `out`, which is not empty. Call again with what follows
    /// `consumed`; with nothing in, while it produces something.
    ///
    /// Errors:  `errc::malformed`, also of what cannot follow an end; `errc::limit_exceeded` beyond
    ///          `bytes_max`, or if the window that the body wants is larger than 8 MiB;
    ///          `errc::not_enough_memory`.
    [[nodiscard]] io_result<step> decode(const_buffer in, mutable_buffer out);

    /// True if the coded body may end here: one that stops elsewhere is incomplete. Another member or frame
    /// may follow.
    [[nodiscard]] bool ended() const noexcept;

private:
    struct state;

    std::unique_ptr<state> state_;
};

/// When answers are compressed.
struct compression_policy {
    std::size_t bytes_min = 860;  ///< Smaller ones fit in a packet as they are.

    /// Bodies that are there already, and larger, are compressed piece by piece, and give way in between.
    std::size_t at_once_bytes_max = 64 * 1024;
};

/// Compresses answers for peers that accept it: text, JSON and the like, whose coding no handler has set and
/// whose `cache-control` has no `no-transform`. Strong tags become weak.
///
/// HEAD is answered with the fields of GET. Where a coding would be chosen for the whole, answers of 304 and
/// 206 have its `vary` and its weak tag; a client that names the strong tag keeps it with 304.
[[nodiscard]] middleware compress_responses(compression_policy policy = {});

}  // namespace gyre::http

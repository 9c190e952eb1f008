// SPDX-License-Identifier: BSL-1.0
//
// How frames are told from each other: by the end of a line, by a length in front, by their size.
//
// Each is a value for framed.hpp, and a model for a program's own. None trusts a peer: what it announces is
// compared with a maximum before it is added to anything.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/check.hpp>
#include <gyre/base/result.hpp>
#include <gyre/stream/framed.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace gyre {

/// What is written behind a line. Either is understood when read.
enum class line_ending : std::uint8_t { lf, crlf };

/// Text in lines. A line ends with a line feed, before which one carriage return is not part of it; what
/// comes without either at the end of a stream is no line: it stays in the reader's window.
///
/// A line is not written if it would be read otherwise, `errc::invalid_argument`: with a line feed in it, or
/// a carriage return at its end.
class lines_codec {
public:
    /// @param  line_bytes_max  Without its end. A longer one is `errc::limit_exceeded`.
    explicit lines_codec(std::size_t line_bytes_max = std::numeric_limits<std::size_t>::max(),
                         line_ending written = line_ending::lf) noexcept
        : line_bytes_max_{line_bytes_max}, written_{written} {}

    [[nodiscard]] found_frame find(const_buffer bytes, std::size_t seen) const noexcept;
    [[nodiscard]] std::string_view view(const_buffer content GYRE_LIFETIMEBOUND) const noexcept {
        return text_of(content);
    }
    [[nodiscard]] dropped_bytes drop(const_buffer bytes) const noexcept;
    [[nodiscard]] io_result<frame_edges> enclose(const_buffer content) const noexcept;

private:
    std::size_t line_bytes_max_;
    line_ending written_;
};

/// How a length in front is written.
struct length_delimited_options {
    std::size_t prefix_bytes = 4;          ///< 1, 2, 4 or 8.
    std::endian order = std::endian::big;  ///< Big is the network's.
    bool prefix_counted = false;           ///< Whether the length includes its own bytes.

    /// Bytes of content at most, both ways; what the reader or writer holds is a limit as well.
    std::size_t frame_bytes_max = std::numeric_limits<std::size_t>::max();
};

/// Bytes behind their number, which may be 0. A larger number than allowed is `errc::limit_exceeded`, one
/// that does not even count the prefix it should, `errc::malformed`: where the next frame begins is not
/// known then, and `skip` does not help.
class length_delimited_codec {
public:
    explicit length_delimited_codec(const length_delimited_options& options = {}) noexcept;

    [[nodiscard]] found_frame find(const_buffer bytes, std::size_t seen) const noexcept;
    [[nodiscard]] const_buffer view(const_buffer content GYRE_LIFETIMEBOUND) const noexcept {
        return content;
    }
    [[nodiscard]] dropped_bytes drop(const_buffer bytes) noexcept;
    [[nodiscard]] io_result<frame_edges> enclose(const_buffer content) const noexcept;

private:
    struct length {
        std::uint64_t content = 0;
        bool wrong = false;  // It is less than the prefix that it counts.
    };
    [[nodiscard]] length read_length(const_buffer prefix) const noexcept;

    length_delimited_options options_;
    std::uint64_t to_drop_ = 0;  // Of a frame of which a part was dropped.
};

/// Bytes in pieces of one size.
class fixed_size_codec {
public:
    explicit fixed_size_codec(std::size_t frame_bytes) noexcept : frame_bytes_{frame_bytes} {
        expects(frame_bytes > 0, "frames of at least one byte");
    }

    [[nodiscard]] found_frame find(const_buffer bytes, std::size_t) const noexcept {
        if (bytes.size() < frame_bytes_) return found_frame::partial(frame_bytes_ - bytes.size());
        return found_frame::whole(0, frame_bytes_, frame_bytes_);
    }
    [[nodiscard]] const_buffer view(const_buffer content GYRE_LIFETIMEBOUND) const noexcept {
        return content;
    }
    /// Errors: `errc::invalid_argument` if `content` has another size.
    [[nodiscard]] io_result<frame_edges> enclose(const_buffer content) const noexcept;

private:
    std::size_t frame_bytes_;
};

static_assert(skipping_decoder<lines_codec> && frame_encoder<lines_codec>);
static_assert(skipping_decoder<length_delimited_codec> && frame_encoder<length_delimited_codec>);
static_assert(frame_decoder<fixed_size_codec> && frame_encoder<fixed_size_codec>);

}  // namespace gyre

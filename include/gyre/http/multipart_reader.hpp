// SPDX-License-Identifier: BSL-1.0
//
// Reads a body of several parts, such as a form with files, one part after another as they come.
//
// Nothing is kept but a window: a file of any size passes through it, and its reader says where to. What a
// peer can make large, the heads of parts and their number, has bounds.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/http/fields.hpp>
#include <gyre/http/request.hpp>
#include <gyre/stream/flat_buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gyre::http {

/// The head of one part.
struct part_head {
    std::string name;  ///< Of the form's field; empty if there is none.
    /// As the peer has it, backslashes included: never a path to write to.
    std::optional<std::string> file_name;
    http::fields fields;
};

/// Bounds of such a body; the body itself is bounded by its connection.
struct multipart_limits {
    std::size_t parts_max = 100;
    std::size_t head_bytes_max = 8 * 1024;  ///< Of a part's fields.
    std::size_t fields_max = 16;            ///< Of a part.
};

/// The boundary of a request's body; nothing if its content is not of several parts, or the boundary is not
/// of the grammar.
// RFC 2046, 5.1.1.
[[nodiscard]] std::optional<std::string> multipart_boundary(const fields& of);

/// Goes through the parts. One await at a time; belongs to the loop of the body.
class multipart_reader {
public:
    /// @param  from      A copy of the message's reader.
    /// @param  boundary  As `multipart_boundary` found it.
    multipart_reader(body_reader from, std::string_view boundary, multipart_limits limits = {});

    /// The next part's head, once what was left of the last part has been dropped; nothing after the last
    /// one.
    ///
    /// Errors:        `errc::malformed`, also if the body ended before its last boundary;
    ///                `errc::limit_exceeded`; those of the body.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          one frame; the head's text.
    [[nodiscard]] task<io_result<std::optional<part_head>>> next();

    /// Bytes of the present part.
    ///
    /// @param  into  Borrowed until completion; not empty.
    ///
    /// Errors:        `errc::eof` at the part's end; the rest as `next`.
    /// Cancellation, Threads: as `next`.
    /// Cost:          one frame; a copy.
    [[nodiscard]] task<io_result<std::size_t>> read_some(mutable_buffer into);

    /// All that is left of the present part.
    ///
    /// Errors:        `errc::limit_exceeded` if that is more than `bytes_max`; the rest as `next`.
    /// Cancellation, Threads: as `next`.
    /// Cost:          a frame, and one for each piece.
    [[nodiscard]] task<io_result<std::string>> read_all(std::size_t bytes_max);

private:
    enum class place : std::uint8_t { preamble, part, over };

    [[nodiscard]] task<io_result<>> fill();
    [[nodiscard]] task<io_result<bool>> pass_boundary();
    [[nodiscard]] task<io_result<part_head>> read_head();
    [[nodiscard]] std::size_t data_at_hand(bool& boundary_follows) const noexcept;

    body_reader from_;
    std::string delimiter_;  // CR LF, two dashes, the boundary.
    multipart_limits limits_;
    flat_buffer window_;
    place at_ = place::preamble;
    bool fresh_ = false;  // The empty line behind the head is in the window still.
    std::size_t parts_ = 0;
};

}  // namespace gyre::http

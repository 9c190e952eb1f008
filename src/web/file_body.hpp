// SPDX-License-Identifier: BSL-1.0
//
// Parts of a file as the body of a response, with what is to stand between them.
#pragma once

#include <gyre/http/body_writer.hpp>
#include <gyre/io/file.hpp>
#include <web/byte_ranges.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gyre::web {

/// Reads a piece, sends it, and reads the next: what a slow client costs is one piece.
class file_body final : public http::body_producer {
public:
    struct part {
        std::string before;  ///< Sent before the bytes.
        byte_range bytes;
    };

    /// @param  from   Owned. Not shorter than what is wanted of it.
    /// @param  parts  In the order in which they are sent.
    file_body(file from, std::vector<part> parts, std::string behind);

    [[nodiscard]] std::optional<std::uint64_t> size() const noexcept override { return size_; }
    [[nodiscard]] task<io_result<>> write(http::body_writer to) override;

private:
    file from_;
    std::vector<part> parts_;
    std::string behind_;
    std::uint64_t size_ = 0;
};

}  // namespace gyre::web

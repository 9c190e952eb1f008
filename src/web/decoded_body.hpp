// SPDX-License-Identifier: BSL-1.0
//
// The body of a response as its reader wants it: without its content coding, and within a time.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/http/compression.hpp>
#include <gyre/http/fields.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gyre::web {

/// The coding of a body that can be decoded: `identity` also for those that cannot.
[[nodiscard]] http::coding coding_of(const http::fields& of) noexcept;

/// A body that is decoded while it is read. Does not move.
class decoded_body final : public http::body_source {
public:
    /// @param  from       The body as it comes.
    /// @param  with       May be `identity`.
    /// @param  bytes_max  Of what is decoded.
    /// @param  until      When its last byte is to be there.
    decoded_body(http::body_reader from, http::coding with, std::uint64_t bytes_max,
                 time_point until);
    decoded_body(const decoded_body&) = delete;
    decoded_body& operator=(const decoded_body&) = delete;

    [[nodiscard]] std::optional<io_result<std::size_t>> try_read(
        mutable_buffer into) noexcept override;
    [[nodiscard]] task<io_result<std::size_t>> read(mutable_buffer into) override;
    [[nodiscard]] std::optional<std::uint64_t> size() const noexcept override;
    [[nodiscard]] bool ended() const noexcept override { return ended_; }
    [[nodiscard]] const http::fields& trailers() const noexcept override {
        return from_.trailers();
    }

private:
    [[nodiscard]] std::optional<io_result<std::size_t>> decode_at_hand(mutable_buffer into);
    [[nodiscard]] io_result<std::size_t> finish(error with) noexcept;

    http::body_reader from_;
    std::optional<http::decompressor> decoder_;  // None for `identity`.
    const time_point until_;
    std::vector<std::byte> window_;  // Of coded bytes.
    const_buffer at_hand_;           // In the window.
    bool more_ = false;              // The decoder may have more without input.
    bool begun_ = false;             // A coded byte has come.
    bool ended_ = false;
    error failed_;
};

}  // namespace gyre::web

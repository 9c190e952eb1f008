// SPDX-License-Identifier: BSL-1.0
//
// A stream of another owner, as a value: for what would otherwise own its stream.
//
// take_stream, tee_stream and their like, any_stream and serve own what they are given; this lets them
// borrow it.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/concepts.hpp>

#include <cstdint>

namespace gyre {

/// Does what the stream does that it refers to, which outlives it and its copies. Copies.
template <class Stream>
class stream_ref {
public:
    stream_ref(Stream& to) noexcept : to_{&to} {}

    /// As the stream's own, here and below.
    [[nodiscard]] auto read_some(read_space into)
        requires read_stream<Stream>
    {
        return to_->read_some(mutable_buffer{into});
    }
    [[nodiscard]] auto read()
        requires lease_stream<Stream>
    {
        return to_->read();
    }
    [[nodiscard]] auto write_some(const_buffer from GYRE_LIFETIMEBOUND)
        requires write_stream<Stream>
    {
        return to_->write_some(from);
    }
    auto shutdown_send() noexcept
        requires half_closing_stream<Stream>
    {
        return to_->shutdown_send();
    }
    [[nodiscard]] std::uint64_t traffic() const noexcept { return traffic_of(*to_); }

    [[nodiscard]] Stream& stream() const noexcept { return *to_; }

private:
    Stream* to_;
};

/// A message by a reference is one of its stream, to the exclusion of others where the stream sees to that.
template <write_stream Stream>
struct referring_message_writer : message_writer_of<Stream> {
    explicit referring_message_writer(stream_ref<Stream>& by) noexcept
        : message_writer_of<Stream>{by.stream()} {}
};
template <write_stream Stream>
struct message_writer_for<stream_ref<Stream>> {
    using type = referring_message_writer<Stream>;
};

}  // namespace gyre

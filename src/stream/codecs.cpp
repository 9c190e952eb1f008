// SPDX-License-Identifier: BSL-1.0
//
// Finding the ends of frames: see include/gyre/stream/codecs.hpp.
#include <gyre/stream/codecs.hpp>

#include <algorithm>
#include <limits>

namespace gyre {

found_frame lines_codec::find(const_buffer bytes, std::size_t seen) const noexcept {
    const std::string_view text = text_of(bytes);
    const std::size_t feed = text.find('\n', seen);
    const std::string_view line = text.substr(0, feed);
    // The last byte of what has come so far may turn out to belong to the end.
    const std::size_t size = line.ends_with('\r') ? line.size() - 1 : line.size();
    if (size > line_bytes_max_) return found_frame::refused(errc::limit_exceeded);
    if (feed == std::string_view::npos) return found_frame::partial(1);
    return found_frame::whole(0, size, feed + 1);
}

dropped_bytes lines_codec::drop(const_buffer bytes) const noexcept {
    const std::size_t feed = text_of(bytes).find('\n');
    if (feed == std::string_view::npos) return {bytes.size(), false};
    return {feed + 1, true};
}

io_result<frame_edges> lines_codec::enclose(const_buffer content) const noexcept {
    const std::string_view line = text_of(content);
    if (line.size() > line_bytes_max_) return error{errc::limit_exceeded, activity::write};
    if (line.ends_with('\r') || line.find('\n') != std::string_view::npos) {
        return error{errc::invalid_argument, activity::write};
    }
    frame_edges edges;
    if (written_ == line_ending::crlf) edges.after.space[edges.after.size++] = std::byte{'\r'};
    edges.after.space[edges.after.size++] = std::byte{'\n'};
    return io_result<frame_edges>{edges};
}

length_delimited_codec::length_delimited_codec(const length_delimited_options& options) noexcept
    : options_{options} {
    expects(std::has_single_bit(options.prefix_bytes) && options.prefix_bytes <= 8,
            "a length has 1, 2, 4 or 8 bytes");
}

length_delimited_codec::length length_delimited_codec::read_length(
    const_buffer prefix) const noexcept {
    length found;
    for (std::size_t each = 0; each < prefix.size(); ++each) {
        const bool big = options_.order == std::endian::big;
        const std::byte digit = prefix[big ? each : prefix.size() - 1 - each];
        found.content = found.content << 8 | std::to_integer<std::uint64_t>(digit);
    }
    if (options_.prefix_counted) {
        found.wrong = found.content < prefix.size();
        found.content -= prefix.size();
    }
    return found;
}

found_frame length_delimited_codec::find(const_buffer bytes, std::size_t) const noexcept {
    const std::size_t prefix = options_.prefix_bytes;
    if (bytes.size() < prefix) return found_frame::partial(prefix - bytes.size());
    const length found = read_length(bytes.first(prefix));
    if (found.wrong) return found_frame::refused(errc::malformed);
    const std::size_t countable = std::numeric_limits<std::size_t>::max() - prefix;
    if (found.content > std::min(options_.frame_bytes_max, countable)) {
        return found_frame::refused(errc::limit_exceeded);
    }
    const auto size = static_cast<std::size_t>(found.content);
    if (bytes.size() - prefix < size) {
        return found_frame::partial(size - (bytes.size() - prefix));
    }
    return found_frame::whole(prefix, size, prefix + size);
}

dropped_bytes length_delimited_codec::drop(const_buffer bytes) noexcept {
    const std::size_t prefix = options_.prefix_bytes;
    if (to_drop_ == 0) {
        if (bytes.size() < prefix) return {};
        const length found = read_length(bytes.first(prefix));
        if (found.wrong) return {0, true};
        // No size gets beyond 2 to the power of 64.
        to_drop_ =
            prefix + std::min(found.content, std::numeric_limits<std::uint64_t>::max() - prefix);
    }
    const std::uint64_t count = std::min<std::uint64_t>(to_drop_, bytes.size());
    to_drop_ -= count;
    return {static_cast<std::size_t>(count), to_drop_ == 0};
}

io_result<frame_edges> length_delimited_codec::enclose(const_buffer content) const noexcept {
    const std::size_t prefix = options_.prefix_bytes;
    const std::uint64_t length_max = std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * prefix);
    const std::uint64_t counted = options_.prefix_counted ? prefix : 0;
    if (content.size() > options_.frame_bytes_max || content.size() > length_max - counted) {
        return error{errc::limit_exceeded, activity::write};
    }
    frame_edges edges;
    edges.before.size = prefix;
    std::uint64_t rest = content.size() + counted;
    for (std::size_t each = 0; each < prefix; ++each) {
        const bool big = options_.order == std::endian::big;
        edges.before.space[big ? prefix - 1 - each : each] = static_cast<std::byte>(rest & 0xff);
        rest >>= 8;
    }
    return io_result<frame_edges>{edges};
}

io_result<frame_edges> fixed_size_codec::enclose(const_buffer content) const noexcept {
    if (content.size() != frame_bytes_) return error{errc::invalid_argument, activity::write};
    return io_result<frame_edges>{};
}

}  // namespace gyre

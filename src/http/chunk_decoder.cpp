// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/chunk_decoder.hpp>

#include <gyre/base/check.hpp>
#include <http/text.hpp>
#include <http/trailer_names.hpp>

#include <algorithm>
#include <string_view>

namespace gyre::http {
chunk_decoder::step chunk_decoder::decode(const_buffer in, fields& into) {
    step done;
    while (done.consumed < in.size() && at_ != place::over && why_ == refusal::none) {
        if (at_ == place::data) {
            const std::size_t size =
                static_cast<std::size_t>(std::min<std::uint64_t>(left_, in.size() - done.consumed));
            done.data = in.subspan(done.consumed, size);
            done.consumed += size;
            skip(size);
            return done;
        }
        if (take_framing(static_cast<char>(in[done.consumed]), into)) ++done.consumed;
    }
    return done;
}

void chunk_decoder::skip(std::size_t count) noexcept {
    expects(count <= in_chunk(), "bytes of the chunk");
    left_ -= count;
    if (left_ == 0 && at_ == place::data) at_ = place::data_return;
}

void chunk_decoder::reset() noexcept {
    at_ = place::size;
    why_ = refusal::none;
    left_ = 0;
    extension_bytes_ = trailer_bytes_ = trailers_ = 0;
    line_.clear();
}

// RFC 9112, 7.1.
bool chunk_decoder::take_framing(char c, fields& into) {
    switch (at_) {
        case place::size:
        case place::more_size: take_size(c); break;
        case place::extension:
            // RFC 9112, 7.1.1: they are read over, but not without end.
            if (c == '\r') at_ = place::size_feed;
            else if (is_control(c)) return refuse(refusal::chunk_size);
            else if (++extension_bytes_ > limits_.extension_bytes_max) {
                return refuse(refusal::chunk_extensions);
            }
            break;
        case place::size_feed:
            if (c != '\n') return refuse(refusal::chunk_size);
            at_ = left_ > 0 ? place::data : place::trailer;
            break;
        case place::data_return:
            if (c != '\r') return refuse(refusal::chunk_framing);
            at_ = place::data_feed;
            break;
        case place::data_feed:
            if (c != '\n') return refuse(refusal::chunk_framing);
            at_ = place::size;
            break;
        case place::trailer:
            if (++trailer_bytes_ > limits_.trailer_bytes_max) {
                return refuse(refusal::trailers_too_large);
            }
            if (c == '\r') at_ = place::trailer_feed;
            else if (is_control(c)) return refuse(refusal::trailers_malformed);
            else line_.push_back(c);
            break;
        case place::trailer_feed:
            if (c != '\n') return refuse(refusal::trailers_malformed);
            at_ = line_.empty() ? place::over : place::trailer;
            if (!line_.empty()) end_trailer(into);
            break;
        case place::data:
        case place::over: break;
    }
    return why_ == refusal::none;
}

void chunk_decoder::take_size(char c) noexcept {
    constexpr std::uint64_t size_max = std::uint64_t{1} << 59;
    constexpr unsigned size_digits_max = 16;  // Of each chunk: a body may have any number of them.
    const int digit = hex_digit_of(c);
    if (digit >= 0) {
        if (at_ == place::size) left_ = size_digits_ = 0;
        left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
        at_ = place::more_size;
        // Leading zeros are within the grammar, but no size needs endless ones.
        if (left_ > size_max || ++size_digits_ > size_digits_max) refuse(refusal::chunk_size);
    } else if (at_ == place::more_size && c == '\r') {
        at_ = place::size_feed;
    } else if (at_ == place::more_size && c == ';') {
        at_ = place::extension;
        ++extension_bytes_;
    } else {
        // A blank before the extension as well: readers differ about it.
        refuse(refusal::chunk_size);
    }
}

void chunk_decoder::end_trailer(fields& into) {
    const std::string_view line{line_};
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, std::min(colon, line.size()));
    std::string_view value =
        colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
    value = trimmed(value);
    if (colon == std::string_view::npos || !is_token(name) || !is_field_value(value)) {
        refuse(refusal::trailers_malformed);
    } else if (++trailers_ > limits_.trailers_max) {
        refuse(refusal::trailers_too_large);
    } else if (may_be_trailer(name)) {
        into.add_checked(name, value);
    }
    line_.clear();
}

}  // namespace gyre::http

// SPDX-License-Identifier: BSL-1.0
#include <http2/frame_scanner.hpp>

#include <algorithm>
#include <string_view>

namespace gyre::http2 {

bool frame_scanner::next(const_buffer& bytes, frame_head& head) noexcept {
    // RFC 9113, 3.4.
    constexpr std::string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    static_assert(preface.size() == preface_size);
    while (!bytes.empty() && !foreign_) {
        if (preface_at_ < preface_size) {
            foreign_ = static_cast<char>(bytes.front()) != preface[preface_at_++];
            bytes = bytes.subspan(1);
            continue;
        }
        if (left_ > 0) {
            const std::size_t skipped = std::min(left_, bytes.size());
            left_ -= skipped;
            bytes = bytes.subspan(skipped);
            continue;
        }
        head_[head_size_++] = static_cast<std::uint8_t>(bytes.front());
        bytes = bytes.subspan(1);
        if (head_size_ < head_.size()) continue;
        head_size_ = 0;
        left_ = (std::size_t{head_[0]} << 16) | (std::size_t{head_[1]} << 8) | head_[2];
        head = {left_, head_[3], head_[4]};
        return true;
    }
    return false;
}

}  // namespace gyre::http2

// SPDX-License-Identifier: BSL-1.0
//
// The content of the endless stream.
#include <lab/kit/payloads.hpp>

#include <random>

namespace lab {

stream_content::stream_content(std::size_t buffer_bytes) : bytes_(period + buffer_bytes) {
    std::mt19937 random{2'011};
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
        bytes_[i] = i < period ? static_cast<std::byte>(random() >> 24) : bytes_[i - period];
    }
}

}  // namespace lab

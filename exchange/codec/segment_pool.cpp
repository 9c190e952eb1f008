// SPDX-License-Identifier: BSL-1.0
//
// How much a pool reserves: see segment_pool.hpp.
#include <exchange/codec/segment_pool.hpp>

#include <algorithm>

namespace exchange {

namespace {

[[nodiscard]] std::size_t capacity_for(const segment_pool_options& options) noexcept {
    const std::size_t whole = options.bytes_max / options.segment_bytes;
    return std::max<std::size_t>(whole + (options.bytes_max % options.segment_bytes != 0),
                                 segment_pool::for_sure);
}

}  // namespace

std::size_t segment_pool::bytes_for(const segment_pool_options& options) noexcept {
    constexpr std::size_t too_many = ~std::size_t{0};
    const std::size_t capacity = capacity_for(options);
    const std::size_t list = table_bytes<number>(capacity);
    if (capacity > too_many / options.segment_bytes) return too_many;
    const std::size_t segments = table_bytes<std::byte>(capacity * options.segment_bytes);
    return segments > too_many - list ? too_many : segments + list;
}

segment_pool::segment_pool(const segment_pool_options& options)
    : segment_bytes_{options.segment_bytes},
      next_free_{capacity_for(options)},
      memory_{next_free_.size() * segment_bytes_} {
    gyre::expects(segment_bytes_ <= segment_bytes_most && segment_bytes_ % 4 == 0);
    gyre::expects(capacity() < none, "segments are numbered");
    constexpr std::size_t page = 4096;
    const std::size_t warm = std::min(options.warm_bytes, memory_.size());
    // It is written: a page that was only read is still the one of zeros that all share.
    for (std::size_t at = 0; at < warm; at += page)
        const_cast<volatile std::byte&>(memory_[at]) = std::byte{};
}

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
#include <web/file_body.hpp>

#include <gyre/stream/algorithms.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace gyre::web {

file_body::file_body(file from, std::vector<part> parts, std::string behind)
    : from_{std::move(from)}, parts_{std::move(parts)}, behind_{std::move(behind)} {
    for (const part& each : parts_) size_ += each.before.size() + each.bytes.size;
    size_ += behind_.size();
}

task<io_result<>> file_body::write(http::body_writer to) {
    constexpr std::uint64_t piece_max = std::uint64_t{64} * 1024;
    std::uint64_t largest = 0;
    for (const part& each : parts_) largest = std::max(largest, each.bytes.size);
    const auto room = static_cast<std::size_t>(std::min(largest, piece_max));
    const auto space = std::make_unique_for_overwrite<std::byte[]>(room);

    for (const part& each : parts_) {
        if (!each.before.empty()) {
            const auto sent = co_await write_all(to, bytes_of(each.before));
            if (!sent.ok()) co_return sent.error();
        }
        std::uint64_t offset = each.bytes.first;
        std::uint64_t left = each.bytes.size;
        while (left > 0) {
            const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, room));
            const io_result<std::size_t> got =
                co_await from_.read_some_at(offset, mutable_buffer{space.get(), wanted});
            if (!got.ok()) co_return got.error();  // Also of a file that was cut meanwhile.
            const auto sent = co_await write_all(to, const_buffer{space.get(), got.value()});
            if (!sent.ok()) co_return sent.error();
            offset += got.value();
            left -= got.value();
        }
    }
    if (!behind_.empty()) {
        const auto sent = co_await write_all(to, bytes_of(behind_));
        if (!sent.ok()) co_return sent.error();
    }
    co_return io_result<>{};
}

}  // namespace gyre::web

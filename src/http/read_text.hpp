// SPDX-License-Identifier: BSL-1.0
//
// Reading a body or a part of one to its end, as text of a bounded size.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/error.hpp>
#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace gyre::http {

/// What is left of `from`, which is borrowed if `From` is a reference; with an error, what came before it.
/// `errc::limit_exceeded` for more than `bytes_max`.
template <class From>
task<io_result<std::string>> read_text(From from, std::size_t bytes_max) {
    constexpr std::size_t piece_max = 16 * 1024;
    std::string all;
    for (;;) {
        const std::size_t before = all.size();
        std::size_t piece = std::max(piece_max, before);
        // One byte beyond what is allowed, so that too much is told from just enough.
        if (bytes_max - before < piece) piece = bytes_max - before + 1;
        all.resize(before + piece);
        const io_result<std::size_t> got = co_await from.read_some(
            mutable_buffer{std::as_writable_bytes(std::span{all.data() + before, piece})});
        all.resize(before + got.value());
        if (got.error() == errc::eof) co_return io_result<std::string>{std::move(all)};
        if (!got.ok()) co_return io_result<std::string>{got.error(), std::move(all)};
        if (all.size() > bytes_max) {
            all.resize(bytes_max);
            co_return io_result<std::string>{error{errc::limit_exceeded, activity::read},
                                             std::move(all)};
        }
    }
}

}  // namespace gyre::http

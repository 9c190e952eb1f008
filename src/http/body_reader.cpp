// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/body_reader.hpp>

#include <algorithm>
#include <utility>

namespace gyre::http {

std::coroutine_handle<> body_read_awaiter::await_suspend(std::coroutine_handle<> waiter,
                                                         const environment* given) {
    std::optional<io_result<std::size_t>> now;
    if (into_.empty()) now = io_result<std::size_t>{std::size_t{0}};
    else if (from_ == nullptr) now = io_result<std::size_t>{error{errc::eof, activity::read}};
    else now = from_->try_read(into_);

    if (!now) return waits_.emplace(from_->read(into_)).await_suspend(waiter, given);
    at_hand_ = *now;
    if (given->loop->spend_in_memory()) return waiter;
    back_.post(waiter, *given);
    return std::noop_coroutine();
}

task<io_result<std::string>> body_reader::read_all(std::size_t bytes_max) const {
    body_reader from = *this;
    std::string all;
    const std::optional<std::uint64_t> declared = from.size();
    if (declared && *declared > bytes_max) {
        co_return io_result<std::string>{error{errc::limit_exceeded, activity::read}};
    }
    constexpr std::size_t piece_max = 16 * 1024;
    for (;;) {
        const std::size_t before = all.size();
        // One byte beyond what is allowed, so that too much is told from just enough.
        const std::size_t piece = std::min(std::max(piece_max, before), bytes_max - before + 1);
        const std::size_t wanted =
            declared
                ? std::min<std::size_t>(piece, static_cast<std::size_t>(*declared) - before + 1)
                : piece;
        all.resize(before + wanted);
        const io_result<std::size_t> got = co_await from.read_some(
            mutable_buffer{std::as_writable_bytes(std::span{all.data() + before, wanted})});
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

const fields& body_reader::trailers() const noexcept {
    static const fields none;
    return from_ != nullptr ? from_->trailers() : none;
}

}  // namespace gyre::http

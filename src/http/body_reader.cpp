// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/body_reader.hpp>

#include <gyre/stream/read_all.hpp>

#include <utility>

namespace gyre::http {
namespace {

task<io_result<std::string>> refused(error why) { co_return why; }

}  // namespace

std::coroutine_handle<> body_read_awaiter::await_suspend(std::coroutine_handle<> waiter,
                                                         const environment* given) {
    std::optional<io_result<std::size_t>> now;
    if (given->chain->stopping())
        now = io_result<std::size_t>{error{errc::canceled, activity::read}};
    else if (into_.empty()) now = io_result<std::size_t>{std::size_t{0}};
    else if (from_ == nullptr) now = io_result<std::size_t>{error{errc::eof, activity::read}};
    else now = from_->try_read(into_);

    if (!now) return waits_.emplace(from_->read(into_)).await_suspend(waiter, given);
    at_hand_ = *now;
    if (given->loop->spend_in_memory()) return waiter;
    back_.post(waiter, *given);
    return std::noop_coroutine();
}

task<io_result<std::string>> body_reader::read_all(std::size_t bytes_max) const {
    const std::uint64_t declared = size().value_or(bytes_max);
    if (declared > bytes_max) return refused({errc::limit_exceeded, activity::read});
    return read_to_end(*this, static_cast<std::size_t>(declared));
}

const fields& body_reader::trailers() const noexcept {
    static const fields none;
    return from_ != nullptr ? from_->trailers() : none;
}

}  // namespace gyre::http

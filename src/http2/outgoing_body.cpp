// SPDX-License-Identifier: BSL-1.0
#include <http2/outgoing_body.hpp>

#include <gyre/sync/timeout.hpp>

#include <algorithm>

namespace gyre::http2 {
namespace {

constexpr std::size_t kept_piece_bytes = 16 * 1024;

}  // namespace

outgoing_body::outgoing_body(connection_core& on, engine_stream& of, std::size_t bytes_max) noexcept
    : on_{on}, of_{of}, collected_{buffer_bounds{0, std::max<std::size_t>(bytes_max, 1)}} {}

void outgoing_body::clear() noexcept {
    collected_.consume(collected_.size());
    if (collected_.capacity() > kept_piece_bytes) collected_.shrink_to_fit();
    whole_ = {};
    trailers_ = nullptr;
    room_.reset();
    left_.reset();
    sent_ = 0;
    failed_ = {};
    complete_ = asleep_ = held_ = done_ = false;
}

void outgoing_body::begin(const_buffer whole, http::fields& trailers) noexcept {
    whole_ = whole;
    trailers_ = &trailers;
    complete_ = true;
}

void outgoing_body::begin(std::optional<std::uint64_t> size, http::fields& trailers) noexcept {
    left_ = size;
    trailers_ = &trailers;
}

std::optional<io_result<std::size_t>> outgoing_body::try_write(const_buffer from) noexcept {
    if (failed_) return io_result<std::size_t>{error{failed_.code(), activity::write}};
    if (left_ && from.size() > *left_) {
        return io_result<std::size_t>{error{errc::limit_exceeded, activity::write}};
    }
    const std::size_t room = collected_.max_size() - collected_.size();
    if (room == 0) return std::nullopt;
    const std::size_t size = std::min(room, from.size());
    collected_.append(from.first(size));
    if (left_) *left_ -= size;
    // Small pieces leave together.
    if (collected_.size() >= collected_.max_size() / 2) rouse();
    return io_result<std::size_t>{size};
}

// A peer that opens no window is not waited for without end.
task<io_result<>> outgoing_body::wait_for_room() {
    rouse();
    room_.reset();
    io_result<> waited;
    do {
        waited = co_await with_timeout(on_.times().write_max, room_.wait());
    } while (waited.error() == errc::timed_out && is_behind_others());
    if (waited.error() == errc::timed_out) fail(waited.error());
    co_return waited;
}

task<io_result<std::size_t>> outgoing_body::write(const_buffer from) {
    for (;;) {
        const std::optional<io_result<std::size_t>> put = try_write(from);
        if (put) co_return *put;
        const io_result<> waited = co_await wait_for_room();
        if (!waited.ok()) {
            co_return io_result<std::size_t>{error{waited.error().code(), activity::write}};
        }
    }
}

task<io_result<>> outgoing_body::flush() {
    rouse();
    while (!collected_.empty() && !failed_) {
        const io_result<> waited = co_await wait_for_room();
        if (!waited.ok()) co_return error{waited.error().code(), activity::write};
    }
    co_return failed_ ? error{failed_.code(), activity::write} : error{};
}

io_result<> outgoing_body::end() noexcept {
    if (failed_) return error{failed_.code(), activity::write};
    if (left_ && *left_ > 0) return error{errc::malformed, activity::write};
    complete_ = true;
    rouse();
    return {};
}

void outgoing_body::let_go() noexcept {
    held_ = false;
    rouse();
}

void outgoing_body::fail(error why) noexcept {
    if (!failed_) failed_ = why;
    room_.set();
}

void outgoing_body::rouse() noexcept {
    if (!asleep_ || held_) return;
    asleep_ = false;
    on_.wire().resume(of_);
    on_.wake();
}

// RFC 9113, 8.1: trailers end the stream, or the last data do.
pulled::state outgoing_body::last() noexcept {
    done_ = true;
    if (trailers_->empty()) return pulled::state::end;
    on_.send_trailers(of_, *trailers_);
    return pulled::state::end_with_trailers;
}

pulled outgoing_body::pull(mutable_buffer into) noexcept {
    pulled got;
    if (held_ || failed_) {
        asleep_ = true;
        return got;
    }
    const_buffer from = whole_.empty() ? collected_.data() : whole_;
    from = from.first(std::min(from.size(), into.size()));
    std::ranges::copy(from, into.begin());
    got.bytes = from.size();
    if (!whole_.empty()) {
        whole_ = whole_.subspan(from.size());
    } else if (!from.empty()) {
        collected_.consume(from.size());
        room_.set();
    }
    sent_ += from.size();
    if (complete_ && whole_.empty() && collected_.empty()) {
        got.then = last();
    } else if (from.empty()) {
        asleep_ = true;
    } else {
        got.then = pulled::state::more;
    }
    return got;
}

}  // namespace gyre::http2

// SPDX-License-Identifier: BSL-1.0
#include <http2/incoming_body.hpp>

#include <gyre/sync/timeout.hpp>
#include <http/trailer_names.hpp>

#include <algorithm>
#include <utility>

namespace gyre::http2 {
namespace {

constexpr std::size_t kept_body_bytes = 16 * 1024;

}  // namespace

incoming_body::incoming_body(connection_core& on, engine_stream& of, const limits& bounds) noexcept
    : on_{&on}, of_{of}, bounds_{bounds}, waiting_{buffer_bounds{0, bounds.window}} {}

void incoming_body::clear() noexcept {
    waiting_.consume(waiting_.size());
    if (waiting_.capacity() > kept_body_bytes) waiting_.shrink_to_fit();
    came_.reset();
    declared_.reset();
    trailers_.clear();
    failed_ = {};
    continue_due_ = came_whole_ = dropping_ = false;
}

void incoming_body::begin(std::optional<std::uint64_t> declared, bool continues) noexcept {
    declared_ = declared;
    continue_due_ = continues;
    allowed_left_ = bounds_.bytes_max;
}

io_result<std::size_t> incoming_body::failure() const noexcept {
    return error{failed_.code(), activity::read};
}

std::optional<io_result<std::size_t>> incoming_body::try_read(mutable_buffer into) noexcept {
    // What came before a failure can still be read, as over HTTP/1.
    if (failed_ && (waiting_.empty() || failed_ == errc::limit_exceeded)) return failure();
    if (waiting_.empty()) {
        if (came_whole_) return io_result<std::size_t>{error{errc::eof, activity::read}};
        if (continue_due_) tell_to_go_on();
        return std::nullopt;
    }
    const std::size_t allowed =
        static_cast<std::size_t>(std::min<std::uint64_t>(allowed_left_, waiting_.size()));
    if (allowed == 0) {
        failed_ = errc::limit_exceeded;
        return failure();
    }
    const std::size_t size = std::min(into.size(), allowed);
    std::ranges::copy(waiting_.data().first(size), into.begin());
    waiting_.consume(size);
    allowed_left_ -= size;
    if (on_ != nullptr) on_->consumed(of_.id, size);
    return io_result<std::size_t>{size};
}

task<io_result<std::size_t>> incoming_body::read(mutable_buffer into) {
    silence_watch silence{bounds_.silence_max};
    for (;;) {
        const std::optional<io_result<std::size_t>> got = try_read(into);
        if (got) co_return *got;
        came_.reset();
        const time_point begun = on_ != nullptr ? on_->now() : time_point{};
        const io_result<> came = co_await with_timeout(silence.patience(), came_.wait());
        if (!came.ok()) {
            if (came.error() == errc::timed_out && !is_silent(silence, begun)) continue;
            if (came.error() == errc::timed_out) failed_ = errc::timed_out;
            co_return io_result<std::size_t>{error{came.error().code(), activity::read}};
        }
    }
}

// No piece has come for a part of the limit. A record of TLS that is not whole yet may have one; what came
// for other streams meanwhile says that it has not.
bool incoming_body::is_silent(silence_watch& silence, time_point since) const noexcept {
    if (on_ == nullptr) return true;
    const bool others_came = on_->heard_at() > since;
    silence.note(on_->now() - since, others_came ? silence.traffic() : on_->traffic());
    return silence.over();
}

const http::fields& incoming_body::trailers() const noexcept {
    static const http::fields none;
    return ended() ? trailers_ : none;
}

void incoming_body::add_trailer(std::string_view name, std::string_view value) {
    if (http::may_be_trailer(name)) trailers_.add(name, value);
}

// RFC 9110, 10.1.1.
void incoming_body::tell_to_go_on() noexcept {
    continue_due_ = false;
    if (on_ == nullptr || !of_.known) return;
    on_->wire().add(":status", "100");
    on_->wire().send_interim(of_);
    on_->wake();
}

// RFC 9113, 5.2: what has come is within the window, which grows as it is read.
void incoming_body::take(const_buffer bytes) noexcept {
    continue_due_ = false;
    if (dropping_ || failed_) {
        // Beyond what is dropped the stream's window stays shut; that of the others must not.
        const std::size_t given =
            static_cast<std::size_t>(std::min<std::uint64_t>(may_drop_, bytes.size()));
        may_drop_ -= given;
        on_->consumed(of_.id, given);
        on_->wire().consume_for_connection(bytes.size() - given);
        return;
    }
    waiting_.append(bytes);
    came_.set();
}

void incoming_body::end() noexcept {
    came_whole_ = true;
    continue_due_ = false;
    came_.set();
}

void incoming_body::fail(error why) noexcept {
    // What came whole can still be read.
    if (!failed_ && !came_whole_) failed_ = why;
    came_.set();
}

void incoming_body::drop(std::uint64_t bytes_max) noexcept {
    if (dropping_) return;
    dropping_ = true;
    may_drop_ = bytes_max;
    const std::size_t here = waiting_.size();
    waiting_.consume(here);
    if (here > 0 && on_ != nullptr) on_->consumed(of_.id, here);
}

void incoming_body::detach() noexcept {
    if (on_ == nullptr) return;
    if (!waiting_.empty()) on_->wire().consume_for_connection(waiting_.size());
    waiting_.consume(waiting_.size());
}

}  // namespace gyre::http2

// SPDX-License-Identifier: BSL-1.0
//
// The ring behind include/gyre/stream/memory_pipe.hpp.
#include <gyre/stream/memory_pipe.hpp>

#include <gyre/base/check.hpp>
#include <gyre/stream/concepts.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace gyre {

static_assert(duplex_stream<memory_stream>);

bool memory_channel::read_awaiter::await_suspend(std::coroutine_handle<> handle,
                                                 const environment* given) noexcept {
    if (stopped_before(*given)) return go_on(handle, *given, errc::canceled);
    if (from_ == nullptr || from_->reading_ended_) return go_on(handle, *given, errc::closed);
    count_ = from_->take(into_);
    from_->move_waiting();
    if (count_ > 0 || into_.empty()) return go_on(handle, *given);
    if (from_->writing_ended_) return go_on(handle, *given, errc::eof);
    return wait_in(from_->readers_, handle, *given);
}

io_result<std::size_t> memory_channel::read_awaiter::await_resume() const noexcept {
    return {outcome() ? error{outcome().code(), activity::read} : error{}, count_};
}

bool memory_channel::write_awaiter::await_suspend(std::coroutine_handle<> handle,
                                                  const environment* given) noexcept {
    if (stopped_before(*given)) return go_on(handle, *given, errc::canceled);
    if (to_ == nullptr || to_->writing_abandoned_) return go_on(handle, *given, errc::closed);
    if (to_->reading_ended_ || to_->writing_ended_) return go_on(handle, *given, errc::broken_pipe);
    count_ = to_->put(from_);
    to_->move_waiting();
    if (count_ > 0 || from_.empty()) return go_on(handle, *given);
    return wait_in(to_->writers_, handle, *given);
}

io_result<std::size_t> memory_channel::write_awaiter::await_resume() const noexcept {
    return {outcome() ? error{outcome().code(), activity::write} : error{}, count_};
}

std::size_t memory_channel::put(const_buffer from) noexcept {
    const std::size_t count = std::min(from.size(), bytes_.size() - count_);
    const std::size_t at = (first_ + count_) % bytes_.size();
    const std::size_t before_wrap = std::min(count, bytes_.size() - at);
    std::copy_n(from.begin(), before_wrap, bytes_.begin() + static_cast<std::ptrdiff_t>(at));
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(before_wrap), count - before_wrap,
                bytes_.begin());
    count_ += count;
    return count;
}

std::size_t memory_channel::take(mutable_buffer into) noexcept {
    const std::size_t count = std::min(into.size(), count_);
    const std::size_t before_wrap = std::min(count, bytes_.size() - first_);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(first_), before_wrap, into.begin());
    std::copy_n(bytes_.begin(), count - before_wrap,
                into.begin() + static_cast<std::ptrdiff_t>(before_wrap));
    first_ = (first_ + count) % bytes_.size();
    count_ -= count;
    taken_ += count;
    return count;
}

// Gives waiters what has become possible for them; each then wakes by a post.
void memory_channel::move_waiting() noexcept {
    for (;;) {
        if (count_ > 0 && !readers_.empty()) {
            auto& reader = static_cast<read_awaiter&>(readers_.front());
            readers_.wake_one();
            reader.count_ = take(reader.into_);
        } else if (count_ < bytes_.size() && !writers_.empty()) {
            auto& writer = static_cast<write_awaiter&>(writers_.front());
            writers_.wake_one();
            writer.count_ = put(writer.from_);
        } else {
            return;
        }
    }
}

void memory_channel::end_writing() noexcept {
    writing_ended_ = true;
    readers_.wake_all(errc::eof);  // Readers wait only while it is empty.
    writers_.wake_all(errc::broken_pipe);
}

void memory_channel::end_reading() noexcept {
    reading_ended_ = true;
    writers_.wake_all(errc::broken_pipe);
}

void memory_channel::abandon_writing() noexcept {
    writing_abandoned_ = true;
    end_writing();
}

memory_stream& memory_stream::operator=(memory_stream&& other) noexcept {
    close();
    in_ = std::move(other.in_);
    out_ = std::move(other.out_);
    return *this;
}

void memory_stream::close() noexcept {
    if (out_ != nullptr) out_->abandon_writing();
    if (in_ != nullptr) in_->end_reading();
    in_.reset();
    out_.reset();
}

memory_pipe::memory_pipe(std::size_t capacity) {
    expects(capacity > 0, "a pipe that can hold a byte");
    auto there = std::make_shared<memory_channel>(capacity);
    auto back = std::make_shared<memory_channel>(capacity);
    first = memory_stream{back, there};
    second = memory_stream{there, back};
}

}  // namespace gyre

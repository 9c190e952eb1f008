// SPDX-License-Identifier: BSL-1.0
//
// Steps, one after the other: see include/gyre/test/scripted_stream.hpp.
#include <gyre/test/scripted_stream.hpp>

#include <gyre/base/check.hpp>
#include <gyre/runtime/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace gyre::test {
namespace {

// As in a source file, and cut where no reader goes on.
std::string quote(std::string_view bytes) {
    constexpr std::size_t shown_max = 60;
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text = "\"";
    for (const char each : bytes.substr(0, shown_max)) {
        const auto code = static_cast<unsigned char>(each);
        if (each == '\r') {
            text += "\\r";
        } else if (each == '\n') {
            text += "\\n";
        } else if (each == '"' || each == '\\') {
            text += {'\\', each};
        } else if (code < 0x20 || code >= 0x7f) {
            text += {'\\', 'x', digits[code / 16], digits[code % 16]};
        } else {
            text += each;
        }
    }
    text += '"';
    if (bytes.size() > shown_max) text += "...";
    return text;
}

std::string bytes_in_words(std::size_t count) {
    return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

std::string duration_in_words(duration it) {
    const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(it);
    return std::to_string(whole.count()) + " ms";
}

}  // namespace

// The writing of it.

script& script::add(step it) {
    gyre::expects(!begun_, "a script is written before its stream is used");
    const bool silent = !steps_.empty() && steps_.back().what == kind::stays_silent;
    gyre::expects(!silent, "silence is the last step of a script");
    const bool gives =
        it.what == kind::gives || it.what == kind::fails_read || it.what == kind::ends;
    const bool ended = std::ranges::find(steps_, kind::ends, &step::what) != steps_.end();
    gyre::expects(!gives || !ended, "a script gives nothing after the end");
    steps_.push_back(std::move(it));
    return *this;
}

script& script::gives(std::string_view text) {
    gyre::expects(!text.empty(), "a step of a script gives bytes");
    return add({kind::gives, std::string{text}, text.size(), SIZE_MAX, {}, {}});
}

script& script::fails_read(error failure) {
    gyre::expects(static_cast<bool>(failure), "a failure is an error");
    return add({kind::fails_read, {}, 0, 0, failure, {}});
}

script& script::ends() { return add({kind::ends, {}, 0, 0, {}, {}}); }

script& script::expects(std::string_view text, std::size_t at_most) {
    gyre::expects(!text.empty() && at_most > 0, "a step of a script takes bytes");
    return add({kind::expects, std::string{text}, text.size(), at_most, {}, {}});
}

script& script::takes(std::size_t count, std::size_t at_most) {
    gyre::expects(count > 0 && at_most > 0, "a step of a script takes bytes");
    return add({kind::takes, {}, count, at_most, {}, {}});
}

script& script::fails_write(error failure) {
    gyre::expects(static_cast<bool>(failure), "a failure is an error");
    return add({kind::fails_write, {}, 0, 0, failure, {}});
}

script& script::expects_end() { return add({kind::expects_end, {}, 0, 0, {}, {}}); }

script& script::waits(duration time) { return add({kind::waits, {}, 0, 0, {}, time}); }

script& script::stays_silent() { return add({kind::stays_silent, {}, 0, 0, {}, {}}); }

// Transfers.

script::transfer::transfer(script* by, mutable_buffer into) noexcept
    : waiter{"scripted stream read"}, timer{&script::on_time}, by_{by}, into_{into}, reads_{true} {}

script::transfer::transfer(script* by, const_buffer from) noexcept
    : waiter{"scripted stream write"},
      timer{&script::on_time},
      by_{by},
      from_{from},
      reads_{false} {}

// Who has waited behind it for the same moment is the first now.
script::transfer::~transfer() {
    disarm();
    if (abandon() == wait_state::waiting) by_->arm_waiting();
}

void script::transfer::disarm() noexcept {
    if (armed()) given_->loop->disarm(*this);
}

waiters& script::transfer::queue() noexcept { return reads_ ? by_->readers_ : by_->writers_; }

bool script::transfer::await_suspend(std::coroutine_handle<> handle,
                                     const environment* given) noexcept {
    if (stopped_before(*given)) return go_on(handle, *given, errc::canceled);
    if (by_ == nullptr || by_->closed_) return go_on(handle, *given, errc::closed);
    given_ = given;
    if (!std::exchange(by_->begun_, true)) by_->reach_step(given->loop->now());
    if (queue().empty() && by_->try_to_end(*this)) {
        const bool suspended = go_on(handle, *given, failure_);
        by_->serve_waiting();
        return suspended;
    }
    const bool suspended = wait_in(queue(), handle, *given);
    by_->arm_waiting();
    return suspended;
}

io_result<std::size_t> script::transfer::await_resume() const noexcept {
    const activity what = reads_ ? activity::read : activity::write;
    const error it = outcome() ? outcome() : failure_;
    return {it ? error{it.code(), what} : error{}, count_};
}

void script::transfer::request(stop_level level) noexcept {
    waiter::request(level);
    if (level < stop_level::stop) return;
    disarm();
    by_->arm_waiting();
}

// The one whose timer it was has waited longest for the end of the step.
void script::on_time(timer& it) noexcept {
    auto& waiting = static_cast<transfer&>(it);
    script& of = *waiting.by_;
    const time_point now = waiting.given_->loop->now();
    const bool due = !of.over() && of.steps_[of.next_].what == kind::waits && of.due_ <= now;
    if (due) of.complete_step(now);
    of.serve_waiting();
}

// False if it has to wait.
bool script::try_to_end(transfer& it) noexcept {
    const time_point now = last_seen_ = it.given_->loop->now();
    if (!over() && steps_[next_].what == kind::waits && due_ <= now) complete_step(now);
    const bool nothing = it.reads_ ? it.into_.empty() : it.from_.empty();
    if (nothing) return true;
    if (!deviation_.empty()) {
        it.failure_ = errc::connection_aborted;
        return true;
    }
    return it.reads_ ? read(it) : write(it);
}

bool script::read(transfer& it) noexcept {
    if (receiving_ended_) {
        it.failure_ = errc::eof;
        return true;
    }
    if (over()) {
        deviate("a read of up to " + bytes_in_words(it.into_.size()) + " came after the last step");
        it.failure_ = errc::connection_aborted;
        return true;
    }
    const step& at = steps_[next_];
    if (at.what == kind::fails_read) {
        it.failure_ = at.failure;
        complete_step(it.given_->loop->now());
        return true;
    }
    if (at.what != kind::gives) return false;
    it.count_ = std::min(it.into_.size(), at.count - done_);
    std::copy_n(bytes_of(at.bytes).begin() + static_cast<std::ptrdiff_t>(done_), it.count_,
                it.into_.begin());
    done_ += it.count_;
    if (done_ == at.count) complete_step(it.given_->loop->now());
    return true;
}

bool script::write(transfer& it) noexcept {
    if (sending_ended_) {
        it.failure_ = errc::broken_pipe;
        return true;
    }
    const std::string_view came = text_of(it.from_);
    const auto refuse = [&](const std::string& what) {
        deviate(what);
        it.failure_ = errc::connection_aborted;
        return true;
    };
    if (over()) return refuse("a write of " + quote(came) + " came after the last step");
    const step& at = steps_[next_];
    if (at.what == kind::expects_end) return refuse("a write of " + quote(came) + " came");
    if (at.what == kind::fails_write) {
        it.failure_ = at.failure;
        complete_step(it.given_->loop->now());
        return true;
    }
    if (at.what != kind::expects && at.what != kind::takes) return false;
    const std::size_t size = std::min({it.from_.size(), at.count - done_, at.at_most});
    if (at.what == kind::expects) {
        const std::string_view wanted = std::string_view{at.bytes}.substr(done_, size);
        const auto differs = std::ranges::mismatch(wanted, came).in1 - wanted.begin();
        if (static_cast<std::size_t>(differs) < size) {
            return refuse("at byte " + std::to_string(done_ + static_cast<std::size_t>(differs)) +
                          " came " + quote(came.substr(static_cast<std::size_t>(differs))));
        }
    }
    it.count_ = size;
    done_ += size;
    if (done_ == at.count) complete_step(it.given_->loop->now());
    return true;
}

void script::end_sending() noexcept {
    // Who does nothing else has used the stream if that is what was expected.
    const bool is_first = !steps_.empty() && steps_.front().what == kind::expects_end;
    if (std::exchange(sending_ended_, true) || (!begun_ && !is_first)) return;
    begun_ = true;
    // The stream is used on a loop, so this is called there or when that has ended.
    const io_context* const loop = io_context::current();
    reach_step(loop == nullptr ? last_seen_ : loop->now());
    serve_waiting();
}

void script::close() noexcept {
    closed_ = true;
    end_sending();
    readers_.wake_all(errc::canceled);
    writers_.wake_all(errc::canceled);
}

// Steps.

void script::complete_step(time_point now) noexcept {
    ++next_;
    done_ = 0;
    due_ = never;
    reach_step(now);
}

// Takes the steps that need no caller.
void script::reach_step(time_point now) noexcept {
    for (; !over(); ++next_) {
        const step& at = steps_[next_];
        if (at.what == kind::waits) {
            if (due_ == never) due_ = deadline_after(now, at.time);
            return;
        }
        if (at.what == kind::ends) {
            receiving_ended_ = true;
            continue;
        }
        const bool wants_bytes = at.what == kind::expects || at.what == kind::takes;
        if (wants_bytes && sending_ended_) deviate("the end of sending came");
        if (at.what != kind::expects_end || !sending_ended_) return;
    }
}

// Each caller that can go on does, and wakes by a post.
void script::serve_waiting() noexcept {
    for (bool any = true; any;) {
        any = false;
        for (waiters* const queue : {&readers_, &writers_}) {
            if (queue->empty()) continue;
            auto& first = static_cast<transfer&>(queue->front());
            if (!try_to_end(first)) continue;
            first.disarm();
            queue->wake_one();
            any = true;
        }
    }
    arm_waiting();
}

void script::arm_waiting() noexcept {
    if (over() || steps_[next_].what != kind::waits) return;
    for (waiters* const queue : {&readers_, &writers_}) {
        if (queue->empty()) continue;
        auto& first = static_cast<transfer&>(queue->front());
        if (!first.armed()) first.given_->loop->arm(first, due_);
    }
}

// What went wrong.

void script::deviate(const std::string& what) {
    if (!deviation_.empty()) return;
    deviation_ = over() ? what + '\n' : describe(next_) + ": " + what + '\n';
}

std::string script::describe(std::size_t index) const {
    const step& it = steps_[index];
    std::string text =
        "step " + std::to_string(index + 1) + " of " + std::to_string(steps_.size()) + ", ";
    switch (it.what) {
        case kind::gives: text += "gives " + quote(it.bytes); break;
        case kind::fails_read: text += "fails a read: " + it.failure.message(); break;
        case kind::ends: text += "ends"; break;
        case kind::expects: text += "expects " + quote(it.bytes); break;
        case kind::takes: text += "takes " + bytes_in_words(it.count); break;
        case kind::fails_write: text += "fails a write: " + it.failure.message(); break;
        case kind::expects_end: text += "expects the end of sending"; break;
        case kind::waits: text += "waits for " + duration_in_words(it.time); break;
        case kind::stays_silent: text += "stays silent"; break;
    }
    if (index == next_ && done_ > 0) text += ", of which " + bytes_in_words(done_) + " passed";
    return text;
}

std::string script::text() const {
    std::string all = deviation_;
    for (std::size_t index = next_; index < steps_.size(); ++index) {
        if (steps_[index].what == kind::stays_silent) break;
        all += "remains: " + describe(index) + '\n';
    }
    return all;
}

scripted_stream::scripted_stream(script& by) noexcept : by_{&by} {
    expects(!std::exchange(by.taken_, true), "a script is of one stream");
}

scripted_stream& scripted_stream::operator=(scripted_stream&& other) noexcept {
    close();
    by_ = std::exchange(other.by_, nullptr);
    return *this;
}

}  // namespace gyre::test

// SPDX-License-Identifier: BSL-1.0
//
// Streams that do what a test tells them, for what no real one can be made to do.
//
// `trickle` is a source that hands out a text in pieces of given sizes and then ends with a given
// error; `sink` takes pieces of at most a given size and fails after a given total. Their functions
// are tasks, which a stream's may be; `waits` makes each of them suspend first. `check_gives_way` is for what
// never has to wait.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::testing {

enum class pace : bool { at_once, waits };

class trickle {
public:
    trickle(std::string text, std::vector<std::size_t> pieces, error end = errc::eof,
            pace how = pace::at_once)
        : text_{std::move(text)}, pieces_{std::move(pieces)}, end_{end}, pace_{how} {}

    task<io_result<std::size_t>> read_some(mutable_buffer into) {
        ++reads;
        if (pace_ == pace::waits) co_await yield();
        if (into.empty()) co_return io_result<std::size_t>{std::size_t{0}};
        if (at_ == text_.size()) co_return end_;
        const std::size_t piece = next_ < pieces_.size() ? pieces_[next_++] : text_.size();
        const std::size_t count = std::min({piece, into.size(), text_.size() - at_});
        std::memcpy(into.data(), text_.data() + at_, count);
        at_ += count;
        co_return io_result<std::size_t>{count};
    }

    int reads = 0;

private:
    std::string text_;
    std::vector<std::size_t> pieces_;  // The sizes of the first reads; then whatever fits.
    error end_;
    pace pace_;
    std::size_t at_ = 0;
    std::size_t next_ = 0;
};

class sink {
public:
    explicit sink(std::size_t at_once_max, std::size_t total_max = std::numeric_limits<int>::max(),
                  pace how = pace::at_once)
        : at_once_max_{at_once_max}, total_max_{total_max}, pace_{how} {}

    task<io_result<std::size_t>> write_some(const_buffer from) {
        ++writes;
        if (pace_ == pace::waits) co_await yield();
        if (from.empty()) co_return io_result<std::size_t>{std::size_t{0}};
        if (text.size() >= total_max_) co_return errc::broken_pipe;
        const std::size_t count = std::min({from.size(), at_once_max_, total_max_ - text.size()});
        text += text_of(from.first(count));
        co_return io_result<std::size_t>{count};
    }

    std::string text;
    int writes = 0;

private:
    std::size_t at_once_max_;
    std::size_t total_max_;
    pace pace_;
};

/// A coroutine that awaits nothing but what `make()` returns, which is always ready, lets others run, and
/// timers fire.
template <class Make>
task<> check_gives_way(Make make) {
    constexpr int awaits_max = 1'000'000;  // Far more than fit into the millisecond.
    bool yielded = false;
    bool fired = false;
    const auto neighbour = [&]() -> task<> {
        co_await yield();
        yielded = true;
        static_cast<void>(co_await sleep_for(std::chrono::milliseconds{1}));
        fired = true;
    };
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(neighbour());
        int awaits = 0;
        for (; !yielded && awaits < awaits_max; ++awaits) static_cast<void>(co_await make());
        CHECK(awaits < 1000);
        for (; !fired && awaits < awaits_max; ++awaits) static_cast<void>(co_await make());
        CHECK(fired);
    };
    co_await with_group(body);
}

}  // namespace gyre::testing

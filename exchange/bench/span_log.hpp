// SPDX-License-Identifier: BSL-1.0
//
// The facility's own record of how long each message stayed inside it.
//
// A facility reads several messages at once and writes for several at once, so it says only two things:
// that so many messages were received by now, and that by now the kernel has taken every byte
// derived from what was received. Which of the messages are measured is found out when all is over: inside
// the facility there is nothing but two readings of the clock and two words per batch.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/time.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace exchange::bench {

/// Is told, on the facility's thread, when what is measured begins and when it is over: the moments to
/// read counters of that thread.
class measurement_edges {
public:
    virtual void begins() noexcept = 0;
    /// The last one was carried out, and what came behind it was not yet.
    virtual void last_received() noexcept {}
    virtual void ends() noexcept = 0;

protected:
    ~measurement_edges() = default;
};

/// Messages by number, from 0 on, in the order in which they were received.
struct message_range {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
};

/// Threads:  One at a time; the facility's until it has stopped.
/// Cost:     All memory is taken, and touched, at construction; 32 bytes per message.
class span_log {
public:
    /// @param  measured  Messages up to `measured.end` are recorded, later ones are not.
    /// @param  edges     Borrowed; may be null.
    explicit span_log(message_range measured, measurement_edges* edges = nullptr)
        : measured_{measured}, edges_{edges}, received_(measured.end), flushed_(measured.end) {}

    /// `messages` more were received, the last byte of each of them at `when` or before. Messages are
    /// sequenced in the order in which this is told of them, and none is counted that is not sequenced.
    void received(gyre::time_point when, std::size_t messages) noexcept {
        if (messages == 0) return;
        const std::uint64_t before = count_;
        if (edges_ != nullptr && before <= measured_.first && before + messages > measured_.first)
            edges_->begins();
        add(received_, received_size_, when, count_ += messages);
        if (edges_ != nullptr && before < measured_.end && count_ >= measured_.end)
            edges_->last_received();
    }

    /// The kernel has taken the last byte that was derived from the messages received so far.
    void flushed(gyre::time_point when) noexcept {
        const std::uint64_t before = flushed_size_ == 0 ? 0 : flushed_[flushed_size_ - 1].count;
        if (before == count_) return;
        add(flushed_, flushed_size_, when, count_);
        if (edges_ != nullptr && before < measured_.end && count_ >= measured_.end) edges_->ends();
    }

    /// How many messages were received, ever.
    [[nodiscard]] std::uint64_t messages() const noexcept { return count_; }

    /// How many times something was received, and flushed, for the messages of the range.
    [[nodiscard]] std::size_t receptions() const noexcept { return received_size_; }
    [[nodiscard]] std::size_t flushes() const noexcept { return flushed_size_; }

    /// When `message` was there entirely, and when everything derived from it had left. It must have been
    /// flushed. Logarithmic time.
    [[nodiscard]] gyre::time_point received_at(std::uint64_t message) const noexcept {
        return moment(received_, received_size_, message);
    }
    [[nodiscard]] gyre::time_point flushed_at(std::uint64_t message) const noexcept {
        return moment(flushed_, flushed_size_, message);
    }

    [[nodiscard]] bool was_flushed(std::uint64_t message) const noexcept {
        return flushed_size_ > 0 && flushed_[flushed_size_ - 1].count > message;
    }

private:
    struct entry {
        gyre::time_point when;
        std::uint64_t count;  // So many messages up to then.
    };

    static void add(std::vector<entry>& to, std::size_t& size, gyre::time_point when,
                    std::uint64_t count) noexcept {
        if (size < to.size()) to[size++] = {when, count};
    }

    [[nodiscard]] static gyre::time_point moment(const std::vector<entry>& in, std::size_t size,
                                                 std::uint64_t message) noexcept {
        const auto end = in.begin() + static_cast<std::ptrdiff_t>(size);
        const auto found = std::upper_bound(
            in.begin(), end, message,
            [](std::uint64_t wanted, const entry& each) { return wanted < each.count; });
        gyre::expects(found != end, "the message was recorded");
        return found->when;
    }

    message_range measured_;
    measurement_edges* edges_;
    std::vector<entry> received_;
    std::vector<entry> flushed_;
    std::size_t received_size_ = 0;
    std::size_t flushed_size_ = 0;
    std::uint64_t count_ = 0;
};

}  // namespace exchange::bench

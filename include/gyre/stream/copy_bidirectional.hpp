// SPDX-License-Identifier: BSL-1.0
//
// Two connections joined to one, as every proxy and port forwarder does.
//
// Each direction ends by itself: the end of one stream becomes the end of what is sent to the other,
// which may still answer. `copy` in algorithms.hpp is one direction of this.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/check.hpp>
#include <gyre/base/lease.hpp>
#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/concepts.hpp>
#include <gyre/stream/silence.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/sync/when_any.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

namespace gyre {

/// Bytes that a copy in both directions has handed over.
struct copied_both_ways {
    std::uint64_t first_to_second = 0;
    std::uint64_t second_to_first = 0;
};

/// How long a copy may be silent, and how much memory it has.
struct copy_options {
    copy_options() noexcept = default;

    /// How long both directions together may move no byte before the copy ends; an eighth of it more at most.
    /// Each byte counts that is read, written, or taken by a peer from what was written before
    /// (`traffic_stream`), so a slow peer is not a silent one.
    duration silence_max = duration::max();

    /// Bytes of memory for a direction whose source lends none, at least 1; allocated once.
    std::size_t bytes_at_once = std::size_t{32} * 1024;
};

/// Implementation: one direction. What it has copied is counted in `copied` at every moment, and what it has
/// read in `got_in_all`.
template <read_stream From, write_stream To>
task<io_result<>> copy_one_way(From& from, To& to, std::uint64_t& copied, std::uint64_t& got_in_all,
                               std::size_t bytes_at_once) {
    const std::unique_ptr<std::byte[]> space{lease_stream<From> ? nullptr
                                                                : new std::byte[bytes_at_once]};
    for (;;) {
        error failure;
        buffer_lease lease;
        const_buffer piece;
        if constexpr (lease_stream<From>) {
            io_result<buffer_lease> got = co_await from.read();
            failure = got.error();
            lease = got.take();
            piece = lease.bytes();
        } else {
            const io_result<std::size_t> got =
                co_await from.read_some(mutable_buffer{space.get(), bytes_at_once});
            failure = got.error();
            piece = {space.get(), got.value()};
        }
        if (failure == errc::eof) break;
        if (failure) co_return failure;

        got_in_all += piece.size();
        message_writer_of<To> message{to};
        while (!piece.empty()) {
            const io_result<std::size_t> put = co_await message.write_some(piece);
            copied += put.value();
            if (!put.ok()) co_return put.error();
            piece = piece.subspan(put.value());
        }
        message.end();
    }
    co_return end_sending(to);
}

/// Implementation: both at once; the first failure ends the other, and is the one reported.
template <duplex_stream First, duplex_stream Second>
task<io_result<>> copy_two_ways(First& first, Second& second, copied_both_ways& copied,
                                std::uint64_t& got_in_all, std::size_t bytes_at_once) {
    const auto both = co_await when_all(
        copy_one_way(first, second, copied.first_to_second, got_in_all, bytes_at_once),
        copy_one_way(second, first, copied.second_to_first, got_in_all, bytes_at_once));
    const error there = std::get<0>(both).error();
    const error back = std::get<1>(both).error();
    const bool there_was_stopped = there == errc::canceled && back;
    const error failed = there && !there_was_stopped ? there : back;
    // A peer that is gone for both directions need not be told that one ends; the other ends with it.
    const bool gone = failed == errc::not_connected && failed.during() == activity::shutdown;
    co_return gone ? error{} : failed;
}

/// Implementation: ends with `errc::timed_out` when no byte has moved for `silence_max`.
template <duplex_stream First, duplex_stream Second>
task<io_result<>> watch_silence(const First& first, const Second& second,
                                const copied_both_ways& copied, const std::uint64_t& got_in_all,
                                duration silence_max) {
    silence_watch silence{silence_max};
    loop& home = co_await this_task::loop();
    while (!silence.over()) {
        const time_point begun = home.now();
        const io_result<> slept = co_await sleep_for(silence.patience());
        if (!slept.ok()) co_return slept;
        const std::uint64_t moved = got_in_all + copied.first_to_second + copied.second_to_first;
        silence.note(home.now() - begun, moved + traffic_of(first) + traffic_of(second));
    }
    co_return error{errc::timed_out};
}

/// Copies each stream into the other until both have ended.
///
/// The end of one is passed on at once (`end_sending`), while the other may still send.
///
/// @param  first, second  Borrowed; the copy is the only reader and writer of both. They are not closed.
/// @return The bytes handed over in each direction, valid in every case; ok when both have ended.
///
/// Errors:        those of either stream, but `errc::eof`, and `errc::not_connected` of one that cannot be
///                told of the other's end: its peer is gone, which is ok; `errc::timed_out` if both were
///                silent for `options.silence_max`, also where one has ended and the other does not follow.
///                A failure of one direction ends the other.
/// Cancellation:  `errc::canceled`; bytes read and not yet written are lost, so only close follows.
/// Threads:       resumes on the caller's executor.
/// Cost:          four frames, with a limit on silence five; a buffer for each direction whose source lends
///                no memory.
template <duplex_stream First, duplex_stream Second>
task<io_result<copied_both_ways>> copy_bidirectional(First& first, Second& second,
                                                     copy_options options = copy_options{}) {
    copied_both_ways copied;
    std::uint64_t got_in_all = 0;
    error ended;
    expects(options.bytes_at_once > 0, "a copy needs space");
    if (options.silence_max == duration::max()) {
        const io_result<> copying =
            co_await copy_two_ways(first, second, copied, got_in_all, options.bytes_at_once);
        ended = copying.error();
    } else {
        const auto both = co_await when_any(
            copy_two_ways(first, second, copied, got_in_all, options.bytes_at_once),
            watch_silence(first, second, copied, got_in_all, options.silence_max));
        ended = std::get<0>(both.results).error();
        const bool silent = std::get<1>(both.results).error() == errc::timed_out;
        if (silent && ended == errc::canceled) ended = error{errc::timed_out, ended.during()};
    }
    co_return io_result<copied_both_ways>{ended, copied};
}

}  // namespace gyre

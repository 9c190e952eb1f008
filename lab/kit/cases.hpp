// SPDX-License-Identifier: BSL-1.0
//
// What is measured, without a word about how: the case records of the in-process suites.
//
// suites.toml has every number of every case; measure/suites.py expands it to records of JSON, and
// `read_case` turns one of those into one of the structs below. Contenders receive these structs and
// nothing else, so none of them can do more or less work than another.
//
// Each record has "kind" and "warm_up" (operations played and verified byte for byte before the first
// slice, a multiple of the case's unit or 0) and exactly the fields named beside its struct. A field that
// is missing, unknown or out of range is an error. The unit is what `operations` of a slice must be a
// multiple of, so that all parts of a case have equal shares.
#pragma once

#include <lab/kit/sockets.hpp>

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

namespace lab {

enum class dispatch_item {
    continuation,  ///< The cheapest callable the library can queue: it increments a counter.
    coroutine,     ///< A coroutine per item, spawned as detached; it increments a counter.
};

enum class dispatch_order {
    all_then_run,         ///< Every item is posted before the loop is entered.
    batches_from_inside,  ///< Something that runs on the loop posts a batch, then yields to it.
    interleaved,          ///< A batch is posted from outside, then the loop runs until it is idle.
    from_another_thread,  ///< One thread posts everything while another one runs the loop.
};

/// suite "dispatch": {"kind": "post", "item": "continuation" | "coroutine", "order": as above,
///                    "batch": of `batches_from_inside` and `interleaved`, else 1}
/// Operation: an item. Unit: `batch`.
struct dispatch_case {
    dispatch_item item;
    dispatch_order order;
    std::uint64_t batch;
};

enum class shared_order {
    from_outside,         ///< Other threads post everything while the threads run.
    batches_from_inside,  ///< On each thread something posts a batch, then itself behind it.
    post_then_run,        ///< Each thread posts its share, then runs whatever has been posted.
    queued,               ///< Everything was posted, by one thread, before the clock starts.
};

/// Several threads share what is posted: each item is for any of them.
///
/// suite "dispatch": {"kind": "shared_post", "item", "order": as above, "threads": that run items,
///                    "posters": further threads, which post, of `from_outside`, else 0,
///                    "batch": of `batches_from_inside`, else 1}
/// Operation: an item. Unit: `threads * batch` of `batches_from_inside`, `posters` of `from_outside`,
/// `threads` of the others.
struct shared_dispatch_case {
    dispatch_item item;
    shared_order order;
    std::size_t threads;
    std::size_t posters;
    std::uint64_t batch;
};

/// Writer and reader share one loop, or there is a pair of sockets for each of several threads. Both use
/// buffers of `buffer_bytes`; a write may be partial.
///
/// suite "throughput": {"kind": "stream", "via": "tcp" | "unix", "directions": 1 | 2,
///                      "bytes": of a buffer}
///                     {"kind": "stream_threads", and "threads" as well}
/// Operation: a buffer's worth of bytes, of either direction. Unit: `directions`, for each of the threads.
struct throughput_case {
    transport via;
    std::size_t directions;
    std::size_t buffer_bytes;
    std::size_t threads = 0;  ///< 0: the one that holds the stopwatch.
};

enum class ping_pong {
    one_actor,  ///< One flow of control sends, receives, sends back and receives: it never waits.
    two_sides,  ///< Client and server are independent; each waits until the other has sent.
};

/// suite "latency": {"kind": "ping_pong", "via": "tcp" | "unix", "bytes": of a message,
///                   "pairs", "play": "one_actor" | "two_sides"}
/// Operation: a round trip, of any pair. Unit: `pairs`.
struct latency_case {
    transport via;
    ping_pong played_by;
    std::size_t message_bytes;
    std::size_t pairs;
};

/// Client and server share one loop; connections are kept alive. See payloads.hpp for the messages. Several
/// threads have equal shares of the connections, both ends of one on the same thread, unless the threads
/// share everything.
///
/// suite "http": {"kind": "http", "connections"}
///               {"kind": "http_threads", "threads", "connections": a multiple of it}
/// Operation: a request, of any connection. Unit: `connections`.
struct http_case {
    std::size_t connections;
    std::size_t threads = 0;  ///< 0: the one that holds the stopwatch.
};

enum class timer_use {
    cancel_waited,    ///< Armed for an hour and waited for; cancelled, and the waiter resumes.
    cancel_unwaited,  ///< Armed for an hour and cancelled; nothing ever waits.
    fire_in_a_row,    ///< One timer: waited for until it fires, then armed again.
    fire_together,    ///< Many timers, each armed again when it has fired.
    push_back,        ///< Many timers that never fire: random ones are moved to a later moment.
};

/// One loop on one thread.
///
/// suite "timers": {"kind": "cancel_waited"}
///                 {"kind": "cancel_unwaited"}
///                 {"kind": "fire_in_a_row", "delay_ns"}
///                 {"kind": "fire_together", "timers", "delay_min_ns", "delay_max_ns": of each firing}
///                 {"kind": "push_back", "timers", "delay_ns": 60 s, "per_tick": so many pushes every
///                  10 ms, 0: without pause}
/// Operation: a cancellation, a firing or a push. Unit: `timers` of `fire_together`, else 1.
/// A slice of `fire_together` lasts about (operations / timers) times the mean delay, one of a paced
/// `push_back` operations / per_tick times 10 ms.
struct timers_case {
    timer_use use;
    std::size_t timers = 1;  ///< Pending at the same time.
    std::chrono::nanoseconds delay_min{};
    std::chrono::nanoseconds delay_max{};
    std::uint64_t per_tick = 0;
};

enum class churn_play {
    one_actor,  ///< One flow of control connects, accepts, sends a byte, reads it, closes both ends.
    bursts,     ///< Clients and server are independent; clients leave when the server has closed.
    http_1_0,   ///< As `bursts`, with a request and a response instead of the byte.
};

/// Connections over TCP that end as soon as they have been of use; the server closes first. See
/// `set_reset_on_close`.
///
/// suite "churn": {"kind": "churn", "play": as above, "listeners": which connections take in turns,
///                 1 unless `one_actor`, "at_once": clients that begin together; the next ones begin
///                 when all are over; 1 of `one_actor`}
/// Operation: a connection. Unit: `at_once`.
struct churn_case {
    churn_play play;
    std::size_t listeners;
    std::size_t at_once;
};

/// Parents that start children and wait for all of them, again and again. A child lets the loop go round
/// once, then ends.
///
/// suite "fan_out": {"kind": "fork_join", "parents": independent of each other,
///                   "groups": children of a parent that are parents themselves, 1: none,
///                   "children": of each of these, or of the parent}
/// Operation: a child that has none itself. Unit: `parents * groups * children`.
struct fan_out_case {
    std::size_t parents;
    std::size_t groups;
    std::size_t children_per_group;
};

enum class files_play {
    random_reads,  ///< `at_once` reads under way, each of a block at a random position.
    writes_at,     ///< The file is written from its beginning to its end at positions, then synced.
    writes_in_order,  ///< The same with the position that the file itself keeps.
    reads_in_order,   ///< The file is read from its beginning to its end with that position.
    group_commit,     ///< `at_once` committers of a journal share writes that are durable.
};

/// One loop on one thread; a file of its own, filled before.
///
/// suite "files": {"kind": as above, "cache": "page" | "none": past the page cache, "bytes": of a block,
///                 "at_once": 1 of the plays in order, "file_bytes": a multiple of the block}
/// Operation: a block. Unit: `at_once`, or the blocks of the file where it is passed over.
struct files_case {
    files_play play;
    bool past_page_cache;
    std::size_t block_bytes;
    std::size_t at_once;
    std::uint64_t file_bytes;
};

/// Numbers go from senders on one loop to a receiver on another; each loop has a thread.
///
/// suite "channels": {"kind": "channel", "capacity", "senders", "take": what the receiver takes at once: 1,
///                    or as many as there are, up to that many}
/// Operation: a number. Unit: `senders`.
struct channel_case {
    std::size_t capacity;
    std::size_t senders;
    std::size_t taken_max;
};

using work =
    std::variant<dispatch_case, shared_dispatch_case, throughput_case, latency_case, http_case,
                 timers_case, churn_case, fan_out_case, files_case, channel_case>;

struct case_record {
    work what;
    std::uint64_t warm_up;  ///< Operations.
};

/// Reads one record. Fails, and says which field of which case is wrong.
[[nodiscard]] case_record read_case(std::string_view suite, const nlohmann::json& record);

/// What the operations of a slice must be a multiple of.
[[nodiscard]] std::uint64_t unit_of(const work& what) noexcept;

/// Whether the thread that holds the stopwatch does all the work, so that its allocations are all.
[[nodiscard]] bool is_played_by_one_thread(const work& what) noexcept;

}  // namespace lab

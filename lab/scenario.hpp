// SPDX-License-Identifier: BSL-1.0
//
// What is measured, without a word about how.
//
// Each case of each suite is written down once, in scenario.cpp, as plain numbers. Contenders
// receive these records and nothing else, so none of them can do more or less work than another.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace lab {

/// `quick` is for looking (a case takes about 0.2 s), `full` for judging (about 1 s).
enum class scale { quick, full };

/// Every pair of sockets is connected inside one machine; TCP sockets have TCP_NODELAY set.
enum class transport { tcp, unix_stream };

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

struct dispatch_case {
    dispatch_item item;
    dispatch_order order;
    std::uint64_t items;
    std::uint64_t batch_items;  ///< A divisor of `items`; equal to it where there are no batches.
};

enum class shared_order {
    from_outside,         ///< Others post everything while the threads run.
    batches_from_inside,  ///< On each thread something posts a batch, then itself behind it.
    post_then_run,        ///< Each thread posts its share, then runs whatever has been posted.
    queued,               ///< Everything was posted, by one of us, before the clock starts.
};

/// Several threads share what is posted: each item is for any of them.
struct shared_dispatch_case {
    dispatch_item item;
    shared_order order;
    std::size_t threads;  ///< They run items.
    std::size_t posters;  ///< Of `from_outside`: further threads, which post. Else 0.
    std::uint64_t items;  ///< A multiple of whatever divides them.
    std::uint64_t batch_items;
};

enum class flow { one_way, both_ways };

/// Writer and reader share one loop. Both use buffers of `buffer_bytes`; a write may be partial.
struct throughput_case {
    transport via;
    flow direction;
    std::size_t buffer_bytes;
    std::uint64_t bytes_per_direction;
    std::uint64_t warm_up_bytes_per_direction;  ///< Verified byte for byte, outside of the timing.
};

/// As many pairs of sockets as threads, where `each` is one pair's work. A pair belongs to a thread,
/// unless the threads share everything.
struct threads_throughput_case {
    std::size_t threads;
    throughput_case each;
};

enum class ping_pong {
    one_actor,  ///< One flow of control sends, receives, sends back and receives: it never waits.
    two_sides,  ///< Client and server are independent; each waits until the other has sent.
};

struct latency_case {
    transport via;
    ping_pong played_by;
    std::size_t message_bytes;
    std::size_t pairs;
    std::uint64_t rounds_per_pair;
    std::uint64_t warm_up_rounds_per_pair;
};

/// Client and server share one loop; connections are kept alive. See `load.hpp` for the messages.
struct http_case {
    std::size_t connections;
    std::uint64_t requests_per_connection;
    std::uint64_t warm_up_requests_per_connection;
};

/// The same with the connections spread evenly over several threads, both ends of one on the same
/// thread, unless the threads share everything.
struct threads_http_case {
    std::size_t threads;
    http_case all;
};

/// Server and load are two processes, on cores of their own if there are enough. A connection sends a
/// message and waits until all of it has come back; then it sends the next one, at once or when that is
/// due. What is fixed here is time, not work: a server that costs less is loaded more.
struct echo_case {
    std::size_t message_bytes;
    std::size_t connections;
    std::size_t threads;       ///< Of the server, which spreads its connections evenly over them.
    std::size_t buffer_bytes;  ///< What the server reads at most at once.
    std::uint64_t messages_per_second;  ///< Over all connections, in turns; 0: at once.
    std::chrono::milliseconds warm_up;
    std::chrono::milliseconds measured;
};

enum class timer_use {
    cancel_waited,    ///< Armed for an hour and waited for; cancelled, and the waiter resumes.
    cancel_unwaited,  ///< Armed for an hour and cancelled; nobody ever waits.
    fire_in_a_row,    ///< One timer: waited for until it fires, then armed again.
    fire_together,    ///< Many timers, each armed again when it has fired.
    push_back,        ///< Many timers that never fire: random ones are moved to a later moment.
};

/// One loop on one thread.
struct timers_case {
    timer_use use;
    std::size_t timers;        ///< Pending at the same time.
    std::uint64_t operations;  ///< Cancellations, firings or push-backs; a multiple of `timers` if
                               ///< these fire.
    std::uint64_t warm_up_operations;
    std::chrono::nanoseconds delay_min;  ///< From one firing of a timer to its next.
    std::chrono::nanoseconds delay_max;  ///< The delays of `fire_together` are spread between them.
    std::uint64_t operations_per_tick;   ///< Of `push_back`: so many every 10 ms. 0: without pause.
};

enum class churn_play {
    one_actor,  ///< One flow of control connects, accepts, sends a byte, reads it, closes both ends.
    bursts,     ///< Clients and server are independent; clients leave when the server has closed.
    http_1_0,   ///< As `bursts`, with a request and a response instead of the byte.
};

/// Connections over TCP that end as soon as they have been of use; the server closes first. See
/// `churn_load.hpp`.
struct churn_case {
    churn_play play;
    std::size_t listeners;  ///< Connections take turns at them.
    std::size_t at_once;    ///< Clients that begin together; the next ones begin when all are over.
    std::uint64_t connections;  ///< In all; like the warm-up, a multiple of `at_once`.
    std::uint64_t warm_up_connections;
};

/// Parents that start children and wait for all of them, again and again. A child lets the loop go
/// round once, then ends.
struct fan_out_case {
    std::size_t parents;             ///< Independent of each other.
    std::size_t groups;              ///< Children of a parent that are parents themselves; 1: none.
    std::size_t children_per_group;  ///< Of each of these, or of the parent.
    std::uint64_t forks_per_parent;
    std::uint64_t warm_up_forks_per_parent;

    [[nodiscard]] constexpr std::uint64_t children() const noexcept {
        return parents * forks_per_parent * groups * children_per_group;
    }
};

using work = std::variant<dispatch_case, shared_dispatch_case, throughput_case,
                          threads_throughput_case, latency_case, http_case, threads_http_case,
                          echo_case, timers_case, churn_case, fan_out_case>;

struct scenario {
    std::string suite;
    std::string name;         ///< Unique within its suite.
    std::string description;  ///< One line for people.
    std::size_t threads;      ///< How many the case keeps busy: as many cores are granted to it, or
                              ///< all that there are.
    work what;
    std::size_t rounds_max =
        0;  ///< How often it is measured at most unless told; 0: as all others.
};

/// Every case of every suite, in the order of the tables.
[[nodiscard]] std::vector<scenario> all_scenarios(scale size);

}  // namespace lab

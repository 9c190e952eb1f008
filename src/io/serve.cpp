// SPDX-License-Identifier: BSL-1.0
//
// Intake: see include/gyre/io/serve.hpp.
#include <gyre/io/serve.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>

#include <algorithm>
#include <chrono>

#include <sys/socket.h>

namespace gyre {
namespace {

constexpr duration ask_pause_min = std::chrono::milliseconds{1};

bool is_exhaustion(error failed) noexcept {
    return failed == errc::process_descriptors_exhausted ||
           failed == errc::system_descriptors_exhausted || failed == errc::no_buffer_space ||
           failed == errc::not_enough_memory;
}

// accept(2) passes on errors of connections that died in the queue, and what a firewall says of one; the
// next one may be fine. Its list for Linux, and what comes of a queue besides.
bool is_passing(error failed) noexcept {
    switch (failed.code()) {
        case errc::connection_aborted:
        case errc::connection_reset:
        case errc::connection_timed_out:
        case errc::interrupted:
        case errc::network_down:
        case errc::protocol_error:
        case errc::no_protocol_option:
        case errc::host_down:
        case errc::no_network:
        case errc::host_unreachable:
        case errc::not_supported:
        case errc::network_unreachable:
        case errc::operation_not_permitted: return true;
        default: return false;
    }
}

struct opened_spare {
    [[nodiscard]] handle operator()(io_context& on) const noexcept {
        open_socket_operation spare{AF_UNIX, SOCK_DGRAM};
        const int number = on.host().perform_now(spare);
        return number >= 0 ? handle{on.host(), number} : handle{};
    }
};

}  // namespace

connection_intake::connection_intake(loop& on, stream_acceptor& from,
                                     const serve_options& options) noexcept
    : on_{on},
      from_{from},
      options_{options},
      keeps_sessions_{options.peers != nullptr || options.on_stragglers != nullptr},
      slots_{options.connections_max} {
    if (options.accepts) pace_.emplace(on, *options.accepts);
}

// A session's place, when none was free.
task<io_result<>> connection_intake::wait_for_place() {
    if (!options_.on_full) {
        const io_result<> room = co_await slots_.acquire_for_intake();
        co_return room;
    }
    for (;;) {
        // However hasty the program is, asking it must not keep the loop turning.
        const duration patience = std::max<duration>(options_.on_full(), ask_pause_min);
        const io_result<> room = co_await with_timeout(patience, slots_.acquire_for_intake());
        if (room.error() != errc::timed_out) co_return room;
    }
}

// A drain has come while a connection was there without a place. No other server can have that one; those
// that wait in the queue may find one.
task<io_result<>> connection_intake::wait_for_last_place() {
    is_over_ = true;
    static_cast<void>(from_.close());
    const io_result<> room = co_await slots_.acquire();
    co_return room;
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity): a part that awaits is a frame for each accept.
task<io_result<admitted_connection>> connection_intake::next() {
    if (is_over_) co_return error{errc::canceled, activity::accept};
    // Where room can be made, it is when a connection is there that wants it.
    const bool connection_first = options_.on_full != nullptr;
    if (!connection_first && !slots_.try_acquire()) {
        const io_result<> room = co_await wait_for_place();
        if (!room.ok()) co_return room.error();
    }
    if (!reserve_.open()) reserve_ = co_await immediate{opened_spare{}};

    for (;;) {
        if (pace_) {
            const io_result<> due = co_await idle(pace_->acquire());
            if (!due.ok()) co_return due.error();
        }
        descriptor_freed_.reset();
        io_result<stream_socket, endpoint> taken;
        if (keeps_sessions_) {
            taken = co_await from_.accept_from();
        } else {
            io_result<stream_socket> alone = co_await from_.accept();
            taken = {alone.error(), alone.take(), endpoint{}};
        }
        if (taken.ok()) {
            failed_in_a_row_ = 0;
            auto [ok, socket, peer] = std::move(taken);
            if (!admits(peer)) continue;
            if (connection_first && !slots_.try_acquire()) {
                io_result<> room = co_await wait_for_place();
                if (room.error() == errc::canceled) room = co_await wait_for_last_place();
                if (!room.ok()) {
                    if (options_.peers != nullptr) options_.peers->left(peer, on_.read_clock());
                    co_return room.error();
                }
            }
            ++counters_.accepted;
            admitted_connection admitted{std::move(socket)};
            if (keeps_sessions_) {
                admitted.place =
                    std::make_unique<session_list::place>(sessions_, peer, on_.read_clock());
            }
            co_return admitted;
        }
        const io_result<> rested = co_await rest_after(taken.error());
        if (!rested.ok()) co_return rested.error();
    }
}

bool connection_intake::admits(const endpoint& peer) {
    if (options_.peers == nullptr) return true;
    const peer_verdict verdict = options_.peers->admit(peer, on_.read_clock());
    if (verdict == peer_verdict::admitted) return true;
    ++(verdict == peer_verdict::too_many ? counters_.refused_many : counters_.refused_often);
    if (options_.on_refused) options_.on_refused(peer, verdict);
    return false;
}

bool connection_intake::session_ended(std::unique_ptr<session_list::place> place,
                                      const exception_slot& failure) noexcept {
    if (place != nullptr && options_.peers != nullptr) {
        options_.peers->left(place->peer(), on_.read_clock());
    }
    place.reset();
    if (sessions_.empty()) last_session_.wake_all();
    slots_.release();
    descriptor_freed_.set();
    if (failure.empty()) return false;
    ++counters_.threw;
    return options_.on_exception == session_exception::ends_server;
}

// Their chains have not been asked yet: the body's is the first of the group.
void connection_intake::last_session_awaiter::request(stop_level level) noexcept {
    if (level == stop_level::stop && of_.options_.on_stragglers && !of_.sessions_.empty()) {
        of_.options_.on_stragglers(of_.sessions_.report(of_.on_, of_.options_.stragglers_told_max));
    }
    waiter::request(level);
}

// Ok if intake may go on after an accept that failed.
task<io_result<>> connection_intake::rest_after(error failed) {
    if (is_passing(failed)) {
        ++counters_.failed;
        const bool stays = ++failed_in_a_row_ > passing_failures_max;
        // A socket that cannot accept at all says the same as a connection without a protocol.
        if (stays && failed == errc::not_supported) co_return failed;
        // A queue full of dead connections must not starve the sessions: a pause of no length. What does
        // not pass, such as a policy that forbids every accept, must not keep the loop turning.
        const duration pause = stays ? options_.exhausted_pause : duration::zero();
        const io_result<> yielded = co_await idle(sleep_for(pause));
        co_return yielded;
    }
    if (!is_exhaustion(failed)) co_return failed;

    ++counters_.exhausted;
    if (options_.on_full) static_cast<void>(options_.on_full());
    const io_result<> freed =
        co_await with_timeout(options_.exhausted_pause, idle(descriptor_freed_.wait()));
    if (freed.error() != errc::timed_out) co_return freed;
    const io_result<> shed = co_await shed_one();
    co_return shed;
}

// Closes the oldest waiting connection, by the descriptor kept for this, so that its peer hears at
// once instead of waiting in a queue that does not move.
task<io_result<>> connection_intake::shed_one() {
    if (!reserve_.open()) co_return io_result<>{};
    reserve_.close();
    {
        const io_result<stream_socket> refused =
            co_await with_timeout(duration::zero(), from_.accept());
        if (refused.ok()) ++counters_.shed;
        if (refused.error() == errc::canceled) co_return refused.error();
    }  // Closed here, which frees the descriptor for the next reserve.
    reserve_ = co_await immediate{opened_spare{}};
    co_return io_result<>{};
}

}  // namespace gyre

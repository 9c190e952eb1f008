// SPDX-License-Identifier: BSL-1.0
#include <http2/connection_core.hpp>

#include <gyre/coro/this_task.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/silence.hpp>
#include <gyre/sync/timeout.hpp>
#include <http/connection_io.hpp>
#include <http2/message_fields.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace gyre::http2 {
namespace {

constexpr std::size_t read_bytes_first = 4 * 1024;
constexpr std::size_t kept_output_bytes = 4 * 1024;
constexpr duration goaway_wait = std::chrono::seconds{1};

}  // namespace

connection_core::connection_core(any_stream stream, const core_options& options)
    : options_{options}, stream_{std::move(stream)} {
    // RFC 9113, 6.9.2: until the peer has seen other SETTINGS, it may send so much.
    constexpr std::uint32_t least = 65'535;
    constexpr std::uint32_t most = 0x7fff'ffff;
    window_limits& windows = options_.engine.windows;
    windows.stream_bytes = std::clamp(windows.stream_bytes, least, most);
    windows.connection_bytes = std::clamp(windows.connection_bytes, least, most);
    engine_.emplace(options_.engine, *this);
}

void connection_core::consumed(std::int32_t id, std::size_t bytes) noexcept {
    wire().consume(id, bytes);
    if (wire().wants_write()) wake();
}

void connection_core::send_trailers(engine_stream& on, const http::fields& trailers) noexcept {
    add_fields(wire(), trailers);
    wire().send_trailers(on);
}

// -------- Life --------

task<io_result<>> connection_core::run() {
    env_ = co_await look_awaiter{[](const environment& env) noexcept { return &env; }};
    const time_point begun = env_->loop->read_clock();
    heard_at_ = idle_since_ = busy_since_ = begun;
    wire().begin(begun);
    if (std::exchange(draining_, false)) begin_drain();  // It was closed before.
    const auto body = [this](task_group& group) { return run_in(group); };
    co_await with_group(body);
    over_ = true;
    if (ended_ == errc::canceled) co_await say_goaway_when_stopped();
    // RFC 9113, 5.4.1: GOAWAY may be lost where bytes are unread.
    if (lingers_) static_cast<void>(co_await http::end_and_drop_rest(stream_, times().linger_max));
    const bool stopping = env_->chain->stopping();
    const bool told = lingers_ && !stopping;
    // A write that a stop has ended is no failure: what it has encrypted leaves by itself.
    const bool can_send = !write_failed_ || (stopping && write_failed_ == errc::canceled);
    const bool may_hear = wire().why() != breach::silence && can_send;
    if (!told && may_hear) co_await http::say_end(stream_, times().linger_max);
    stream_.close();
    co_return ended_;
}

task<> connection_core::run_in(task_group& group) {
    group_ = &group;
    group.spawn(read_all());
    group.spawn(write_all());
    group.spawn(watch());
    begins();
    const io_result<> ended = co_await read_ended_.wait();
    if (ended.ok()) {
        // What is to be said last has a while to leave.
        static_cast<void>(co_await with_timeout(times().linger_max, group.join_unless_stopped()));
    }
    if (writer_ != nullptr) writer_->request(stop_level::stop);
    co_await group.join();
    group_ = nullptr;
}

// -------- Reading --------

task<> connection_core::read_all() {
    reader_ = co_await look_awaiter{[](const environment& env) noexcept { return env.chain; }};
    in_.resize(std::min(read_bytes_first, options_.read_bytes_max));
    error why;
    while (!given_up() && !write_failed_) {
        io_result<std::size_t> got;
        if (draining_) {
            got = co_await stream_.read_some(mutable_buffer{in_});
        } else {
            got = co_await idle(stream_.read_some(mutable_buffer{in_}));
        }
        if (got.ok()) {
            receive(got.value());
        } else if (got.error() == errc::canceled && !reader_->stopping()) {
            begin_drain();
        } else {
            why = got.error();
            break;
        }
    }
    end_reading(why);
}

void connection_core::receive(std::size_t size) noexcept {
    heard_at_ = now();
    pinged_ = false;
    wire().receive(const_buffer{in_}.first(size), heard_at_);
    if (size == in_.size() && size < options_.read_bytes_max) {
        in_.resize(std::min(size * 4, options_.read_bytes_max));
    }
    look_again();
    if (wire().wants_write()) wake();
}

void connection_core::stop_reader() noexcept {
    if (reader_ != nullptr) reader_->request(stop_level::stop);
}

// Everything on the connection ends with this.
void connection_core::end_reading(error why) noexcept {
    const bool was_used = live() > 0;
    if (wire().why() != breach::none) {
        ended_ = error_for(wire().why());
        lingers_ = wire().why() != breach::silence;
    } else if (write_failed_) {
        ended_ = write_failed_;
    } else if (finished_) {
        lingers_ = true;
    } else if (why == errc::eof) {
        // RFC 9113, 9.1: an end between requests is no error.
        if (was_used) ended_ = error{errc::connection_reset, activity::read};
    } else {
        ended_ = why;
    }
    reader_ = nullptr;
    over_ = true;
    closes_intake();
    fail_streams(ended_ ? ended_ : error{errc::closed});
    last_ = true;
    if (!lingers_ && writer_ != nullptr) writer_->request(stop_level::stop);
    read_ended_.set();
    look_.set();
    wake();
}

// -------- Deadlines --------

// The only one that waits for time to pass: a stream that begins or ends moves what is due while a read goes
// on, and a request while nothing is heard.
task<> connection_core::watch() {
    while (!over_ && !given_up()) {
        look_.reset();
        watched_until_ = deadline();
        const io_result<> woken = co_await with_deadline(watched_until_, look_.wait());
        if (woken.ok() || over_) continue;
        if (woken.error() != errc::timed_out) break;
        expire();
    }
}

// Something may be due earlier than what is waited for. What is due later is found out when that is due.
void connection_core::look_again() noexcept {
    note_use();
    if (deadline() < watched_until_) look_.set();
}

void connection_core::note_use() noexcept {
    const std::size_t alive = live();
    if (alive == 0 && live_before_ > 0) {
        idle_since_ = now();
        traffic_.reset();
    }
    if (alive > 0 && live_before_ == 0) busy_since_ = now();
    live_before_ = alive;
}

time_point connection_core::deadline() const noexcept {
    return std::min(wire().deadline(), own_deadline());
}

time_point connection_core::own_deadline() const noexcept {
    if (draining_ || goaway_said_) {
        return goaway_said_ ? drain_until_ : std::min(goaway_until_, drain_until_);
    }
    if (live() == 0) return deadline_after(idle_since_, until_look(times().idle_max));
    if (pinged_) return deadline_after(pinged_at_, until_look(times().ping_max));
    return deadline_after(std::max(heard_at_, busy_since_), times().ping_after);
}

void connection_core::expire() noexcept {
    const time_point at = now();
    note_use();
    wire().expire(at);
    if (at >= own_deadline()) expire_own(at);
    if (given_up()) stop_reader();
    wake();
}

void connection_core::expire_own(time_point at) noexcept {
    if (draining_ || goaway_said_) {
        if (at < drain_until_) return say_goaway();
        // Bounded: what has not ended by now is given up.
        fail_streams(error{errc::timed_out});
        finished_ = true;
    } else if (live() == 0) {
        if (has_rested(idle_since_, at)) say_goaway();
    } else if (pinged_) {
        // RFC 9113, 6.7.
        if (has_rested(pinged_at_, at)) wire().give_up(breach::silence);
    } else {
        wire().ping();
        pinged_ = true;
        pinged_at_ = never;
        traffic_.reset();
    }
}

// Of a limit for something to come, which may stand behind much that moves slowly, either way: an eighth of
// it first, and then the rest.
duration connection_core::until_look(duration limit) const noexcept {
    constexpr int parts = 8;
    return traffic_ ? limit : limit / parts;
}

// If bytes have moved since the last look, the limit counts anew.
bool connection_core::has_rested(time_point& since, time_point at) noexcept {
    const std::optional<std::uint64_t> before = std::exchange(traffic_, stream_.traffic());
    if (before && before != traffic_) since = at;
    return before == traffic_;
}

// -------- GOAWAY --------

// RFC 9113, 6.8: in two steps, since requests may be on their way.
void connection_core::begin_drain() noexcept {
    if (draining_ || over_) return;
    draining_ = true;
    closes_intake();
    if (env_ == nullptr) return;
    const time_point at = now();
    drain_until_ = std::min(drain_until_, deadline_after(at, times().drain_max));
    if (options_.engine.we == role::client) {
        say_goaway();
    } else if (!goaway_said_) {
        wire().announce_goaway();
        goaway_until_ = deadline_after(at, goaway_wait);
    }
    look_again();
    wake();
}

void connection_core::say_goaway() noexcept {
    if (goaway_said_) return;
    goaway_said_ = true;
    drain_until_ = std::min(drain_until_, deadline_after(now(), times().drain_max));
    closes_intake();
    wire().goaway(error_code::none);
    look_again();
    wake();
}

// RFC 9113, 6.8: what a stop ends is said to end as well, unless the peer has no room for it. Not within a
// frame that the stop has cut.
task<> connection_core::say_goaway_when_stopped() {
    if (goaway_said_ || write_failed_ || wire().why() != breach::none) co_return;
    wire().goaway(error_code::none);
    out_.clear();
    static_cast<void>(wire().produce(out_, options_.write_bytes_max, now()));
    const io_result<std::size_t> put =
        co_await shielded(gyre::write_all(stream_, bytes_of(out_)), http::wait_when_stopped);
    write_failed_ = put.error();
}

// A code that blames us blames the peer where it is ours.
error connection_core::error_of_close(const engine_stream& of, error_code code) noexcept {
    const error known = error_for(code);
    return of.reset_sent && known == errc::protocol_error ? errc::malformed : known;
}

void connection_core::pong_came() noexcept {
    if (draining_ && !goaway_said_) say_goaway();
}

void connection_core::goaway_came(error_code code, std::int32_t) noexcept {
    peer_going_ = true;
    peers_code_ = code;
    closes_intake();
    wake();
}

// Nothing is left to be said. True if there is something to write now.
bool connection_core::finish_if_done() noexcept {
    if (live() > 0 || over_) return false;
    if ((draining_ || peer_going_) && !goaway_said_) {
        // A drain waits for requests on their way; a peer that goes has none.
        if (!peer_going_) return false;
        say_goaway();
        return true;
    }
    if (goaway_said_ && !finished_) {
        finished_ = true;
        stop_reader();
    }
    return false;
}

// -------- Writing --------

void connection_core::stop_reader_if_broken() noexcept {
    if (wire().why() != breach::none) stop_reader();
}

task<> connection_core::write_all() {
    writer_ = co_await look_awaiter{[](const environment& env) noexcept { return env.chain; }};
    for (;;) {
        output_.reset();
        out_.clear();
        const bool pings = pinged_ && pinged_at_ == never;
        const bool any = wire().produce(out_, options_.write_bytes_max, now());
        stop_reader_if_broken();
        look_again();
        if (!any) {
            if (last_) break;
            if (finish_if_done()) continue;
            shrink_output();
            const io_result<> woken = co_await output_.wait();
            if (!woken.ok()) break;
            continue;
        }
        const_buffer rest = bytes_of(out_);
        io_result<std::size_t> put;
        silence_watch silence{times().write_max};
        while (!rest.empty() && put.ok()) {
            const time_point begun = now();
            put = co_await with_timeout(silence.patience(), stream_.write_some(rest));
            rest = rest.subspan(put.value());
            silence.count(now() - begun, put.value() > 0, stream_);
            if (put.error() == errc::timed_out && !silence.over()) put = {};
        }
        if (pings) pinged_at_ = now();
        if (!put.ok()) {
            write_failed_ = put.error();
            stop_reader();
            break;
        }
    }
    writer_ = nullptr;
}

void connection_core::shrink_output() noexcept {
    if (out_.capacity() > kept_output_bytes && live() == 0) out_ = std::string{};
}

}  // namespace gyre::http2

// SPDX-License-Identifier: BSL-1.0
#include <gyre/tls/stream.hpp>

#include <gyre/sync/timeout.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace gyre::tls {

stream_state::stream_state(any_stream transport, engine connection, stream_options chosen) noexcept
    : callback_frame{[](callback_frame* frame) {
          auto* const self = static_cast<stream_state*>(frame);
          self->take_written();
          self->send();
      }},
      below{std::move(transport)},
      tls{std::move(connection)},
      options{std::move(chosen)},
      ready{tls.established()} {}

stream_state::~stream_state() { close(); }

void stream_state::remember(const environment& given) noexcept {
    if (sending_) return;
    home_ = given;
    home_.chain = &chain_;
    home_.locals = nullptr;
}

void stream_state::flush() noexcept {
    if (sending_ || closed || home_.loop == nullptr) return;
    sending_ = true;
    send();
}

void stream_state::send() noexcept {
    while (!tls.output().empty()) {
        write_.emplace(below.write_some(tls.output()));
        if (write_->await_suspend(callback_frame::handle(), &home_)) return;
        take_written();
    }
    sending_ = false;
    drained.wake_all();
}

void stream_state::take_written() noexcept {
    io_result<std::size_t> written;
    exception_slot thrown;
    run_catching(thrown, [&] { written = write_->await_resume(); });
    write_.reset();
    moved += written.value();
    tls.sent(written.value());
    if (written.ok() && thrown.empty()) return;
    send_failure = thrown.empty() ? written.error() : error{errc::foreign, activity::write};
    tls.sent(tls.output().size());  // It cannot be sent any more.
    // RFC 8446, 6.1: the peer, which waits for close_notify perhaps, hears of an end at least.
    static_cast<void>(below.shutdown_send());
}

void stream_state::close() noexcept {
    if (std::exchange(closed, true)) return;
    write_.reset();
    sending_ = false;
    below.close();
    drained.wake_all(errc::closed);
}

bool drained_awaiter::await_suspend(std::coroutine_handle<> handle,
                                    const environment* given) noexcept {
    if (stopped_before(*given)) return go_on(handle, *given, errc::canceled);
    if (of_->closed) return go_on(handle, *given, errc::closed);
    of_->remember(*given);
    of_->flush();
    if (!of_->sending()) return go_on(handle, *given);
    return wait_in(of_->drained, handle, *given);
}

bool read_awaiter::await_suspend(std::coroutine_handle<> waiter,
                                 const environment* given) noexcept {
    over_ = begin(*given);
    return repeated::await_suspend(waiter, given);
}

io_result<std::size_t> read_awaiter::await_resume() {
    end();
    rethrow_if_any();
    return result_;
}

bool read_awaiter::begin(const environment& given) noexcept {
    const auto refuse = [this](errc why) { return finish(error{why, activity::read}); };
    if (given.chain->stopping()) return refuse(errc::canceled);
    if (of_ == nullptr || of_->closed) return refuse(errc::closed);
    if (into_.empty()) return finish(std::size_t{0});
    if (!of_->ready) return refuse(errc::not_connected);
    if (of_->reading) return refuse(errc::busy);
    of_->reading = mine_ = true;
    of_->remember(given);
    return attempt();
}

bool read_awaiter::attempt() noexcept {
    const io_result<std::size_t> got = of_->tls.read(into_);
    of_->flush();  // An answer to the peer's new key, or why there is nothing more.
    // After a failure to send, the peer was told of an end: its own says nothing about who began.
    if (got.error() == errc::tls_truncated && of_->send_failure) return finish(of_->send_failure);
    return got.error() != errc::resource_unavailable && finish(got);
}

read_awaiter::step_type read_awaiter::step() noexcept {
    if (of_->tls.held_up()) return {std::in_place_index<1>, drained_awaiter{of_}};
    return {std::in_place_index<0>, of_->below.read_some(of_->tls.input_space())};
}

bool read_awaiter::take(io_result<std::size_t> ended) noexcept {
    if (of_->closed) return !finish(error{errc::closed, activity::read});
    if (ended.error() == errc::eof) {
        of_->tls.input_ended();
    } else if (!ended.ok()) {
        return !finish(ended.error());
    }
    of_->moved += ended.value();
    of_->tls.received(ended.value());
    return !attempt();
}

bool read_awaiter::finish(io_result<std::size_t> with) noexcept {
    result_ = with;
    return true;
}

void read_awaiter::end() noexcept {
    if (std::exchange(mine_, false)) of_->reading = false;
}

bool write_awaiter::await_suspend(std::coroutine_handle<> handle,
                                  const environment* given) noexcept {
    if (stopped_before(*given)) return go_on(handle, *given, errc::canceled);
    if (of_ == nullptr || of_->closed) return go_on(handle, *given, errc::closed);
    if (is_empty() && !of_->said_end) return go_on(handle, *given);
    if (of_->writing) return go_on(handle, *given, errc::busy);
    of_->remember(*given);
    of_->flush();
    if (of_->sending()) {
        of_->writing = mine_ = true;
        return wait_in(of_->drained, handle, *given);
    }
    put();
    return go_on(handle, *given, result_.error());
}

io_result<std::size_t> write_awaiter::await_resume() noexcept {
    if (mine_) {
        end();
        if (outcome()) return error{outcome().code(), activity::write};
        put();
        return result_;
    }
    if (outcome()) return error{outcome().code(), activity::write};
    return result_;
}

error write_awaiter::refusal() const noexcept {
    if (of_->closed) return {errc::closed, activity::write};
    if (!of_->ready) return {errc::not_connected, activity::write};
    return of_->send_failure;
}

bool write_awaiter::is_empty() const noexcept {
    return only_.empty() && size_of(list_) <= skipped_;
}

namespace {

// What becomes records: a long buffer as it stands, short ones joined. Otherwise a header of a few bytes
// would be a record of its own, and cost as much as the rest of its message.
class record_joiner {
public:
    record_joiner(const_buffers from, std::size_t skipped) noexcept
        : from_{from}, skipped_{skipped} {}

    /// The next bytes; empty at the end. Good until the next call.
    [[nodiscard]] const_buffer next() noexcept {
        const_buffer first = rest_of_first();
        if (first.size() >= joined_.size() || from_.size() <= 1) {
            drop(first.size());
            return first;
        }
        std::size_t size = 0;
        for (; size < joined_.size() && !first.empty(); first = rest_of_first()) {
            const const_buffer part = first.first(std::min(first.size(), joined_.size() - size));
            std::memcpy(joined_.data() + size, part.data(), part.size());
            size += part.size();
            drop(part.size());
        }
        return {joined_.data(), size};
    }

private:
    static constexpr std::size_t record_max = std::size_t{16} * 1024;  // RFC 8446, 5.1.

    const_buffer rest_of_first() noexcept {
        for (; !from_.empty(); from_ = from_.subspan(1)) {
            if (skipped_ < from_.front().size()) return from_.front().subspan(skipped_);
            skipped_ -= from_.front().size();
        }
        return {};
    }
    void drop(std::size_t count) noexcept { skipped_ += count; }

    const_buffers from_;
    std::size_t skipped_;
    std::array<std::byte, record_max> joined_;  // Not zeroed.
};

}  // namespace

void write_awaiter::put() noexcept {
    if (const error why = refusal()) {
        result_ = why;
        return;
    }
    record_joiner rest{list_.empty() ? const_buffers{&only_, 1} : list_, skipped_};
    std::size_t done = 0;
    error failed;
    for (const_buffer part = rest.next(); !part.empty(); part = rest.next()) {
        const io_result<std::size_t> written = of_->tls.write(part);
        done += written.value();
        failed = written.error();
        if (written.value() < part.size()) break;
    }
    result_ = done > 0 ? io_result<std::size_t>{done} : io_result<std::size_t>{failed};
    of_->flush();
}

void write_awaiter::end() noexcept {
    if (std::exchange(mine_, false)) of_->writing = false;
}

namespace {

// Runs one step of the handshake where the options say; its result is left in the state.
task<> compute_step(std::shared_ptr<stream_state> it) {
    const offload& elsewhere = it->options.handshake_steps;
    it->handshake_step.reset();
    if (!elsewhere) {
        it->handshake_step = it->tls.handshake();
        co_return;
    }
    // What is being sent stands in the memory that a step adds to.
    const io_result<> sent = co_await drained_awaiter{it};
    if (!sent.ok()) co_return;
    std::function<void()> work = [it] { it->handshake_step = it->tls.handshake(); };
    co_await elsewhere(std::move(work));
}

// Moves what the peer says to the engine.
task<error> receive_some(std::shared_ptr<stream_state> it) {
    const io_result<std::size_t> got = co_await it->below.read_some(it->tls.input_space());
    if (it->closed) co_return error{errc::closed, activity::handshake};
    if (got.error() == errc::eof) it->tls.input_ended();
    else if (!got.ok()) co_return error{got.error().code(), activity::handshake};
    it->moved += got.value();
    it->tls.received(got.value());
    co_return error{};
}

task<io_result<>> shake_hands(std::shared_ptr<stream_state> it) {
    for (;;) {
        co_await compute_step(it);
        if (it->closed) co_return error{errc::closed, activity::handshake};
        if (!it->handshake_step) co_return error{errc::canceled, activity::handshake};
        const error step = it->handshake_step->error();
        const bool goes_on = step == errc::resource_unavailable;
        if (step && !goes_on) {
            const io_result<> told =
                co_await with_timeout(it->options.alert_wait, drained_awaiter{it});
            static_cast<void>(told);  // Why it failed is what counts.
            if (step == errc::tls_truncated && it->send_failure) co_return it->send_failure;
            co_return step;
        }
        if (!goes_on) {
            // Its last words are sent beside what follows: the peer may write, too, before it reads them.
            it->ready = true;
            it->flush();
            co_return io_result<>{};
        }
        // Before the peer is heard: it waits for what is said here. If it will not have it, it may say why.
        const io_result<> sent = co_await drained_awaiter{it};
        if (!sent.ok()) co_return sent.error();
        if (it->tls.held_up()) continue;
        const error received = co_await receive_some(it);
        if (received) co_return received;
    }
}

// Reads what the peer still says, up to its end.
task<io_result<>> hear_out(std::shared_ptr<stream_state> it) {
    constexpr std::size_t at_once = 4096;
    std::vector<std::byte> thrown_away(at_once);
    std::size_t total = 0;
    const io_result<> sent = co_await drained_awaiter{it};
    if (!sent.ok()) co_return sent.error();
    if (it->send_failure) co_return it->send_failure;
    while (total <= it->options.discarded_bytes_max) {
        const io_result<std::size_t> got = co_await read_awaiter{it, mutable_buffer{thrown_away}};
        if (got.error() == errc::eof) co_return io_result<>{};
        if (!got.ok()) co_return got.error();
        total += got.value();
    }
    co_return error{errc::limit_exceeded, activity::close};
}

task<io_result<>> shake_hands_in_time(std::shared_ptr<stream_state> it) {
    const io_result<> ended = co_await with_timeout(it->options.handshake_wait, shake_hands(it));
    co_return ended;
}

task<io_result<>> finish_in_time(std::shared_ptr<stream_state> it) {
    const io_result<> ended = co_await with_timeout(it->options.close_wait, hear_out(it));
    it->close();
    co_return ended;
}

task<io_result<>> ended_with(error why) { co_return why; }

task<io_result<stream>> opened(any_stream below, io_result<engine> made, stream_options options) {
    if (!made.ok()) co_return made.error();
    stream it{std::move(below), made.take(), std::move(options)};
    const io_result<> ended = co_await it.handshake();
    if (ended.ok()) co_return io_result<stream>{std::move(it)};
    it.close();
    co_return io_result<stream>{ended.error(), std::move(it)};
}

}  // namespace

stream::stream(any_stream below, engine connection, stream_options options)
    : state_{std::make_shared<stream_state>(std::move(below), std::move(connection),
                                            std::move(options))} {}

stream& stream::operator=(stream&& other) noexcept {
    if (this == &other) return *this;
    close();
    state_ = std::move(other.state_);
    return *this;
}

task<io_result<>> stream::handshake() {
    if (state_ == nullptr || state_->closed) return ended_with({errc::closed, activity::handshake});
    return shake_hands_in_time(state_);
}

void stream::send_from(const environment& home) noexcept {
    if (state_ == nullptr) return;
    state_->remember(home);
    state_->flush();
}

io_result<> stream::shutdown_send() noexcept {
    if (state_ == nullptr || state_->closed) return error{errc::closed, activity::shutdown};
    if (!state_->ready) return error{errc::not_connected, activity::shutdown};
    if (state_->send_failure) return state_->send_failure;
    state_->said_end = true;
    const io_result<> ended = state_->tls.end_writing();
    state_->flush();
    return ended;
}

task<io_result<>> stream::finish() {
    const io_result<> said = shutdown_send();
    if (state_ == nullptr) return ended_with({errc::closed, activity::close});
    if (said.ok()) return finish_in_time(state_);
    close();
    return ended_with({said.error().code(), activity::close});
}

void stream::close() noexcept {
    if (state_ != nullptr) state_->close();
}

const engine& stream::connection() const noexcept {
    static const engine none;
    return state_ != nullptr ? state_->tls : none;
}

task<io_result<stream>> connect(any_stream below, const context& settings, std::string_view host,
                                stream_options options) {
    io_result<engine> made = engine::client(settings, host, options.protocol_left_out);
    return opened(std::move(below), std::move(made), std::move(options));
}

task<io_result<stream>> accept(any_stream below, const context& settings, stream_options options) {
    return opened(std::move(below), engine::server(settings), std::move(options));
}

}  // namespace gyre::tls

// SPDX-License-Identifier: BSL-1.0
//
// Which handler follows which: see connection.hpp.
#include <exchange/net/asio/callback/connection.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace exchange {

using boost::system::error_code;

namespace {

[[nodiscard]] gyre::time_point now() noexcept { return std::chrono::steady_clock::now(); }

}  // namespace

void callback_shared_state::write_announced() {
    while (!announced.empty()) announced.pop_front().write_announced();
}

callback_connection::callback_connection(callback_shared_state& shared) : shared_{shared} {}

void callback_connection::open(asio_stream_socket socket) {
    socket_ = std::move(socket);
    framer_.emplace(shared_.options.framing);
    accepted_at_ = now();
    session_.emplace(shared_.host, *this, shared_.options.sessions, accepted_at_);
    over_since_ = gyre::never;
    broken_ = leaving_ = finished_ = awaits_login_ = hung_up_ = false;
    error_code impossible;  // It only sets a flag; the descriptor does not block in either case.
    if (shared_.style == callback_style::tried_first) socket_.open().non_blocking(true, impossible);
    read();
}

void callback_connection::on_timer(gyre::time_point now) noexcept {
    if (session_->over()) {
        over_since_ = std::min(over_since_, now);
        if (now >= gyre::deadline_after(over_since_, shared_.options.linger)) cut();
        return;
    }
    // What it has sent meanwhile waits for us.
    if (gyre::list_link<awaits_host>::linked()) session_->keep_waiting(now);
    if (now < session_->deadline()) return;
    session_->on_timer(now);
    has_output();
}

void callback_connection::hang_up() noexcept {
    cut();
    hung_up_ = true;
    // Nothing is pending that the cut could end.
    if (awaits_login_ && !gyre::list_link<>::linked()) shared_.announced.push_back(*this);
}

void callback_connection::has_output() noexcept {
    if (!unwritten_) {
        unwritten_ = true;
        shared_.spans.note_unwritten();
    }
    if (!carrying_out_ && !gyre::list_link<>::linked()) shared_.announced.push_back(*this);
}

gyre::endpoint callback_connection::peer() const noexcept {
    const auto [unknown, where] = socket_.remote_endpoint();
    return unknown ? gyre::endpoint{} : where;
}

void callback_connection::write_announced() {
    if (write_out()) shared_.note_written();
    if (awaits_login_ && (hung_up_ || !session_->login_pending())) login_decided();
}

void callback_connection::login_decided() {
    awaits_login_ = false;
    if (hung_up_) leave();
    else carry_on();
}

void callback_connection::read() {
    if (session_->over()) return leave();
    socket_.open().async_read_some(
        asio_buffer(framer_->space()),
        read_memory_.lend_to(
            [this](const error_code& failure, std::size_t size) { on_read(failure, size); }));
}

void callback_connection::on_read(const error_code& failure, std::size_t size) {
    if (failure) return leave();
    framer_->received(size);
    shared_.spans.received();
    carry_on();
}

void callback_connection::carry_on() {
    do {
        if (shared_.host.busy()) return shared_.waiting.push_back(*this);
        if (!take_packets()) {
            if (!session_->login_pending()) return read();
            return hung_up_ ? leave() : await_login();
        }
    } while (write_out_all());
}

/// Carries out packets that are here, up to the limit of one turn. False if there was none.
bool callback_connection::take_packets() noexcept {
    carrying_out_ = true;
    const std::size_t taken = session_->take_packets(*framer_, shared_.options.packets_per_turn_max,
                                                     now(), shared_.spans);
    if (taken > 0) has_output();  // An acceptance, a refusal: not all output is announced.
    shared_.host.announce();
    carrying_out_ = false;
    return taken > 0;
}

/// The feed first: the public must not wait for one client's window. False if a handler will go on.
bool callback_connection::write_out_all() { return shared_.feed.flush(this) && write_own(); }

void callback_connection::feed_sent() {
    if (write_own()) reader_goes_on();
}

/// Others' answers behind its own.
bool callback_connection::write_own() {
    reader_awaits_write_ = !write_out();
    own_left_ = reader_awaits_write_ ? output_->size() : 0;
    shared_.write_announced();
    if (reader_awaits_write_) return false;
    shared_.note_written();
    return true;
}

void callback_connection::reader_goes_on() {
    if (leaving_) return let_it_read_the_end();
    carry_on();
}

void callback_connection::leave() {
    leaving_ = true;
    if (write_out_all()) let_it_read_the_end();
}

/// Lets the client read our last words: what it still sends is dropped until it closes, or for as long
/// as `on_timer` allows. Closing at once would reset the connection, and destroy them.
void callback_connection::let_it_read_the_end() {
    if (!session_->over()) return gone();  // The client went first.
    over_since_ = std::min(over_since_, now());
    if (writing_) {  // Begun for others: it goes on here once it is through.
        reader_awaits_write_ = true;
        return;
    }
    static_cast<void>(socket_.shutdown(gyre::shutdown_side::send));
    discard();
}

void callback_connection::discard() {
    framer_->reset();
    socket_.open().async_read_some(
        asio_buffer(framer_->space()),
        read_memory_.lend_to(
            [this](const error_code& failure, std::size_t) { failure ? gone() : discard(); }));
}

void callback_connection::gone() {
    session_->disconnected();
    shared_.host.announce();  // Its orders may have been cancelled, which others hear of.
    static_cast<void>(shared_.feed.flush(nullptr));
    shared_.write_announced();
    finished_ = true;
    if (!writing_) close();
}

void callback_connection::close() {
    note_clean();
    shared_.note_written();
    static_cast<void>(socket_.close());
    framer_.reset();
    session_.reset();
    shared_.owner.left();
}

bool callback_connection::write_out() {
    if (writing_) return true;  // The present writer goes on until nothing is left.
    writing_ = true;
    return write_rest();
}

bool callback_connection::write_rest() {
    while (!broken_) {
        output_ = &session_->output();
        if (output_->size() == 0) break;
        if (shared_.style == callback_style::tried_first && write_at_once()) continue;
        begin_write();
        return false;
    }
    writing_ = false;
    note_clean();
    return true;
}

/// False if the kernel has no room.
bool callback_connection::write_at_once() {
    error_code failure;
    const std::size_t size = socket_.open().write_some(asio_buffers{output_->buffers()}, failure);
    if (failure == boost::asio::error::would_block) return false;
    note_sent(failure, size);
    return true;
}

void callback_connection::begin_write() {
    socket_.open().async_write_some(
        asio_buffers{output_->buffers()},
        write_memory_.lend_to(
            [this](const error_code& failure, std::size_t size) { on_written(failure, size); }));
}

void callback_connection::on_written(const error_code& failure, std::size_t size) {
    note_sent(failure, size);
    // Others may cause more for ever, and a client that is told much must be heard; unless it leaves.
    if (!write_rest()) {
        if (own_left_ > 0 || leaving_) return;
    } else {
        shared_.note_written();
        if (finished_) return close();
    }
    if (std::exchange(reader_awaits_write_, false)) reader_goes_on();
}

void callback_connection::note_sent(const error_code& failure, std::size_t size) noexcept {
    if (!failure) {
        own_left_ -= std::min(own_left_, size);
        return session_->sent(size, now());
    }
    broken_ = true;
    cut();
}

void callback_connection::note_clean() noexcept {
    if (!unwritten_) return;
    unwritten_ = false;
    shared_.spans.note_clean();
}

}  // namespace exchange

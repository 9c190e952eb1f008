// SPDX-License-Identifier: BSL-1.0
//
// The sending side of a connection: see include/gyre/websocket/connection.hpp.
#include <gyre/websocket/connection.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/stream/silence.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/when_any.hpp>

#include "websocket/frame_gatherer.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace gyre::websocket {

namespace {

constexpr std::size_t gathered_bytes = std::size_t{16} << 10;
constexpr std::size_t deflate_bytes_max = std::size_t{64} << 10;
constexpr std::size_t kept_deflated_max = std::size_t{64} << 10;
constexpr int our_window_bits_min = 9;

frame_header header_of(frame_opcode code) noexcept {
    frame_header made;
    made.code = code;
    return made;
}

// Not more than a close frame holds, and no half of a character.
std::string_view close_text(std::string_view text) noexcept {
    if (text.size() <= close_text_bytes_max) return text;
    std::size_t size = close_text_bytes_max;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) --size;
    return text.substr(0, size);
}

}  // namespace

// -------- Messages --------

error connection::send_refusal() const noexcept {
    if (torn_ || message_torn_) return {errc::broken_pipe, activity::write};
    if (close_sent_ || failure_) return {errc::closed, activity::write};
    return {};
}

bool connection::compresses(std::size_t bytes) const noexcept {
    return agreed_.deflate && agreed_.deflate->our_window_bits >= our_window_bits_min &&
           bytes >= options_.deflate.bytes_min;
}

deflater& connection::our_deflater() noexcept {
    if (!deflater_) {
        deflater_settings settings;
        settings.window_bits = agreed_.deflate->our_window_bits;
        settings.level = options_.deflate.level;
        settings.memory_level = options_.deflate.memory_level;
        settings.context_kept = agreed_.deflate->our_context_kept;
        deflater_.emplace(settings);
    }
    return *deflater_;
}

// With `messages_` held. Into `deflated_`.
task<> connection::deflate_piece(const_buffer payload, piece_end end) {
    deflater& by = our_deflater();
    deflated_.consume(deflated_.size());
    if (deflated_.capacity() > kept_deflated_max) deflated_.shrink_to_fit();
    while (payload.size() > deflate_bytes_max) {
        by.add(payload.first(deflate_bytes_max), deflated_, piece_end::open);
        payload = payload.subspan(deflate_bytes_max);
        co_await yield();
    }
    by.add(payload, deflated_, end);
}

task<io_result<>> connection::send(message_kind kind, const_buffer payload) {
    if (const error refused = send_refusal()) co_return refused;
    if (kind == message_kind::text && !is_utf8(payload)) {
        co_return error{errc::malformed, activity::write};
    }
    io_result<mutex::guard> turn = co_await messages_.lock();
    if (!turn.ok()) co_return turn.error();
    const mutex::guard held = turn.take();
    if (const error refused = send_refusal()) co_return refused;

    frame_header header = header_of(opcode_of(kind));
    header.compressed = compresses(payload.size());
    if (header.compressed) {
        co_await deflate_piece(payload, piece_end::message);
        payload = deflated_.data();
    }
    const io_result<> sent = co_await send_frame(header, payload);
    // What the peer has not got, later messages must not refer to.
    if (header.compressed && !sent.ok()) our_deflater().forget();
    co_return sent;
}

task<io_result<>> connection::send_batch(std::span<const message> batch) {
    if (const error refused = send_refusal()) co_return refused;
    const auto is_wrong = [](const message& it) {
        return it.kind == message_kind::text && !is_utf8(it.bytes);
    };
    if (std::ranges::any_of(batch, is_wrong)) co_return error{errc::malformed, activity::write};
    if (agreed_.deflate) {
        io_result<> sent;
        for (const message& each : batch) {
            if (sent.ok()) sent = co_await send(each.kind, each.bytes);
        }
        co_return sent;
    }
    io_result<mutex::guard> message_turn = co_await messages_.lock();
    if (!message_turn.ok()) co_return message_turn.error();
    const mutex::guard message_held = message_turn.take();
    io_result<mutex::guard> frame_turn = co_await frames_.lock();
    if (!frame_turn.ok()) co_return frame_turn.error();
    const mutex::guard frame_held = frame_turn.take();
    if (const error refused = send_refusal()) co_return refused;
    const io_result<> sent = co_await put_batch(batch);
    if (sent.ok() && pong_due_) static_cast<void>(co_await put_pong());
    co_return sent;
}

task<io_result<message_writer>> connection::begin_message(message_kind kind) {
    if (const error refused = send_refusal()) co_return refused;
    io_result<mutex::guard> turn = co_await messages_.lock();
    if (!turn.ok()) co_return turn.error();
    mutex::guard held = turn.take();
    if (const error refused = send_refusal()) co_return refused;
    co_return io_result<message_writer>{message_writer{*this, std::move(held), kind}};
}

message_writer::message_writer(connection& on, mutex::guard turn, message_kind kind) noexcept
    : on_{&on},
      turn_{std::move(turn)},
      kind_{kind},
      compressed_{on.compresses(on.options_.deflate.bytes_min)} {}

message_writer::message_writer(message_writer&& other) noexcept
    : on_{std::exchange(other.on_, nullptr)},
      turn_{std::move(other.turn_)},
      kind_{other.kind_},
      begun_{other.begun_},
      compressed_{other.compressed_},
      text_{other.text_} {}

message_writer& message_writer::operator=(message_writer&& other) noexcept {
    if (this == &other) return *this;
    leave();
    on_ = std::exchange(other.on_, nullptr);
    turn_ = std::move(other.turn_);
    kind_ = other.kind_;
    begun_ = other.begun_;
    compressed_ = other.compressed_;
    text_ = other.text_;
    return *this;
}

void message_writer::leave() noexcept {
    if (on_ == nullptr) return;
    if (begun_) on_->message_torn_ = true;
    on_ = nullptr;
    turn_.unlock();
}

task<io_result<>> message_writer::write(const_buffer bytes) {
    return send(bytes, piece_end::fragment);
}

task<io_result<>> message_writer::finish(const_buffer bytes) {
    return send(bytes, piece_end::message);
}

// RFC 6455, 5.4.
task<io_result<>> message_writer::send(const_buffer bytes, piece_end end) {
    expects(on_ != nullptr, "a message is written until it is finished");
    connection& on = *on_;
    const bool last = end == piece_end::message;
    const bool text = kind_ == message_kind::text;
    if (text && (!text_.take(bytes) || (last && !text_.complete()))) {
        leave();
        co_return error{errc::malformed, activity::write};
    }
    frame_header header = header_of(begun_ ? frame_opcode::continuation : opcode_of(kind_));
    header.final = last;
    header.compressed = compressed_ && !begun_;
    begun_ = true;
    if (compressed_) {
        co_await on.deflate_piece(bytes, end);
        bytes = on.deflated_.data();
    }
    const io_result<> sent = co_await on.send_frame(header, bytes);
    if (sent.ok() && last) begun_ = false;
    if (!sent.ok() || last) leave();
    co_return sent;
}

// -------- Frames --------

task<io_result<>> connection::send_frame(frame_header header, const_buffer payload) {
    io_result<mutex::guard> turn = co_await frames_.lock();
    if (!turn.ok()) co_return turn.error();
    const mutex::guard held = turn.take();
    if (const error refused = send_refusal()) co_return refused;
    const io_result<> sent = co_await put_frame(header, payload);
    // What becomes of the answer is no matter of this frame.
    if (sent.ok() && pong_due_) static_cast<void>(co_await put_pong());
    co_return sent;
}

task<io_result<>> connection::ping(const_buffer payload) {
    expects(payload.size() <= control_bytes_max, "a ping holds 125 bytes");
    const io_result<> sent = co_await send_frame(header_of(frame_opcode::ping), payload);
    co_return sent;
}

// A writer that is busy says by itself, or by its end, whether the peer is there.
task<io_result<>> connection::ask_peer() {
    const mutex::guard held = frames_.try_lock();
    if (!held.owns() || torn_) co_return io_result<>{};
    asked_ = true;
    const io_result<> sent = co_await put_frame(header_of(frame_opcode::ping), {});
    co_return sent;
}

// A send that is writing a frame answers behind it: a receive must not wait for that.
task<io_result<>> connection::answer_ping() {
    const mutex::guard held = frames_.try_lock();
    if (!held.owns() || close_sent_ || torn_) co_return io_result<>{};
    const io_result<> sent = co_await put_pong();
    // A stop has left the answer to the next receive, unless it came within.
    if (!sent.ok() && torn_) co_return fail(sent.error());
    co_return sent;
}

task<io_result<>> connection::put_pong() {
    const std::array<std::byte, control_bytes_max> payload = pong_;
    const std::size_t bytes = pong_bytes_;
    pong_due_ = false;
    const io_result<> sent =
        co_await put_frame(header_of(frame_opcode::pong), const_buffer{payload}.first(bytes));
    if (!sent.ok() && !torn_) pong_due_ = true;
    co_return sent;
}

// RFC 6455, 5.5.1: nothing is sent behind it.
task<io_result<>> connection::send_close(close_reason why) {
    io_result<mutex::guard> turn = co_await frames_.lock();
    if (!turn.ok()) co_return turn.error();
    const mutex::guard held = turn.take();
    if (close_sent_) co_return io_result<>{};
    if (torn_) co_return error{errc::broken_pipe, activity::write};

    std::array<std::byte, control_bytes_max> payload{};
    std::size_t bytes = 0;
    if (why.code != close_code::no_status) {
        expects(may_travel(why.code), "a close code that may be sent");
        const auto number = static_cast<std::uint16_t>(why.code);
        payload[bytes++] = static_cast<std::byte>(number >> 8);
        payload[bytes++] = static_cast<std::byte>(number & 0xff);
        const const_buffer text = bytes_of(close_text(why.text));
        std::ranges::copy(text, payload.begin() + static_cast<std::ptrdiff_t>(bytes));
        bytes += text.size();
    }
    close_sent_ = true;
    const io_result<> sent =
        co_await put_frame(header_of(frame_opcode::close), const_buffer{payload}.first(bytes));
    co_return sent;
}

// -------- Queues of frames --------

task<io_result<>> connection::send_from(outbox& from) {
    expects(we_ == role::server, "a client's frames are masked one by one");
    outbox::writing messages{from};
    const auto ended = co_await when_any(pump(messages), messages.failed());
    if (from.failure()) co_return from.failure();
    const error failed = std::get<0>(ended.results).error();
    if (failed && failed != errc::canceled) from.fail(failed);
    co_return failed;
}

task<io_result<>> connection::pump(outbox::writing& messages) {
    for (;;) {
        const io_result<> waited = co_await messages.next();
        if (waited.error() == errc::closed) co_return io_result<>{};
        if (!waited.ok()) co_return waited.error();
        io_result<mutex::guard> message_turn = co_await messages_.lock();
        if (!message_turn.ok()) co_return message_turn.error();
        io_result<mutex::guard> frame_turn = co_await frames_.lock();
        if (!frame_turn.ok()) co_return frame_turn.error();
        const mutex::guard message_held = message_turn.take();
        const mutex::guard frame_held = frame_turn.take();
        if (const error refused = send_refusal()) co_return refused;

        any_message_writer writer{stream_};
        io_result<std::size_t> written;
        do {
            const const_buffers parts = messages.gather();
            if (parts.empty()) break;  // What it was woken for has been dropped.
            written = co_await put_some(writer, parts, messages.skipped());
        } while (messages.wrote(written.value()) && written.ok());
        writer.end();
        // They were compressed elsewhere, past this connection's window.
        if (deflater_) deflater_->forget();
        if (!written.ok()) {
            note_sent(messages.skipped(), written.error());
            co_return written.error();
        }
        if (pong_due_) static_cast<void>(co_await put_pong());
    }
}

// -------- Bytes --------

task<io_result<>> connection::put_frame(frame_header header, const_buffer payload) {
    header.payload_bytes = payload.size();
    io_result<std::size_t> sent;
    if (we_ == role::client) {
        sent = co_await put_copied(header, payload);
    } else {
        const encoded_header head{header};
        const std::array<const_buffer, 2> parts{head.bytes(), payload};
        sent = co_await put(parts);
    }
    note_sent(sent.value(), sent.error());
    co_return sent.error();
}

mutable_buffer connection::gathered() {
    if (gathered_ == nullptr) gathered_.reset(new std::byte[gathered_bytes]);
    return {gathered_.get(), gathered_bytes};
}

// RFC 6455, 5.3.
frame_header connection::masked(frame_header header) noexcept {
    if (we_ == role::client) header.key = keys_.next();
    return header;
}

task<io_result<std::size_t>> connection::put_copied(frame_header header, const_buffer payload) {
    frame_gatherer copied{gathered()};
    copied.begin(masked(header), payload);
    std::size_t sent = 0;
    for (bool whole = false; !whole; copied.clear()) {
        whole = copied.take();
        const const_buffer ready = copied.ready();
        const io_result<std::size_t> put_now = co_await put({&ready, 1});
        sent += put_now.value();
        if (!put_now.ok()) co_return io_result<std::size_t>{put_now.error(), sent};
    }
    co_return io_result<std::size_t>{sent};
}

task<io_result<>> connection::put_batch(std::span<const message> batch) {
    frame_gatherer copied{gathered()};
    std::size_t sent = 0;
    for (auto each = batch.begin(); each != batch.end(); ++each) {
        frame_header header = header_of(opcode_of(each->kind));
        header.payload_bytes = each->bytes.size();
        copied.begin(masked(header), each->bytes);
        const bool is_last = each + 1 == batch.end();
        for (bool whole = false; !whole;) {
            whole = copied.take();
            if (whole && !is_last) break;
            const const_buffer ready = copied.ready();
            const io_result<std::size_t> put_now = co_await put({&ready, 1});
            copied.clear();
            sent += put_now.value();
            if (put_now.ok()) continue;
            note_sent(sent, put_now.error());
            co_return put_now.error();
        }
    }
    co_return io_result<>{};
}

task<io_result<std::size_t>> connection::put(const_buffers parts) {
    any_message_writer writer{stream_};
    std::size_t sent = 0;
    std::size_t skipped = 0;
    for (;;) {
        while (!parts.empty() && skipped >= parts.front().size()) {
            skipped -= parts.front().size();
            parts = parts.subspan(1);
        }
        if (parts.empty()) co_return io_result<std::size_t>{sent};
        const io_result<std::size_t> written = co_await put_some(writer, parts, skipped);
        sent += written.value();
        skipped += written.value();
        if (!written.ok()) co_return io_result<std::size_t>{written.error(), sent};
    }
}

task<io_result<std::size_t>> connection::put_some(any_message_writer& writer, const_buffers parts,
                                                  std::size_t skipped) {
    const error late{errc::timed_out, activity::write};
    if (aborted_) co_return late;
    loop& on = co_await this_task::loop();
    if (!stalled_) stalled_.emplace(on);
    silence_watch silence{options_.write_timeout};
    do {
        const time_point begun = on.read_clock();
        stalled_->expires_at(deadline_after(begun, silence.patience()));
        auto ended = co_await when_any(writer.write_some(parts, skipped), stalled_->wait());
        const io_result<std::size_t> written = std::get<0>(ended.results);
        const bool waited = written.error() == errc::canceled && std::get<1>(ended.results).ok();
        if (!waited) co_return written;
        silence.count(on.read_clock() - begun, false, stream_);
    } while (!aborted_ && !silence.over());
    co_return late;
}

// A frame of which some has gone cannot be taken back; one of which nothing has was never begun.
void connection::note_sent(std::size_t bytes, error why) noexcept {
    if (!why || torn_) return;
    if (bytes > 0 || why != errc::canceled) torn_ = why;
}

}  // namespace gyre::websocket

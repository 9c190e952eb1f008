// SPDX-License-Identifier: BSL-1.0
#include <http/connection_io.hpp>

#include <gyre/coro/this_task.hpp>
#include <gyre/http/serializer.hpp>
#include <gyre/sync/timeout.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <string_view>

namespace gyre::http {
namespace {

constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::size_t chunk_digits = 4;
constexpr std::size_t chunk_bytes_max = 0xffff;

class set_while {
public:
    explicit set_while(bool& it) noexcept : it_{it} { it_ = true; }
    set_while(const set_while&) = delete;
    set_while& operator=(const set_while&) = delete;
    ~set_while() { it_ = false; }

private:
    bool& it_;
};

}  // namespace

task<> say_end(any_stream& to, duration limit) {
    if (!to.shutdown_send().ok()) co_return;
    // A write of nothing: at once of a socket, and of TLS when all that it has encrypted is sent.
    const std::array<std::byte, 1> byte{};
    const const_buffer whole{byte};
    any_message_writer writer{to};
    any_write_awaiter sent = writer.write_some({&whole, 1}, byte.size());
    const stop_level asked = co_await this_task::stop_state();
    if (asked < stop_level::stop) {
        static_cast<void>(co_await with_timeout(limit, std::move(sent)));
    } else {
        const duration bound = std::min(limit, wait_when_stopped);
        static_cast<void>(co_await shielded(std::move(sent), bound));
    }
}

task<io_result<>> end_and_drop_rest(any_stream& to, duration limit) {
    // Large, so that a peer in the middle of an upload is kept up with.
    constexpr std::size_t piece_bytes = std::size_t{64} << 10;
    const io_result<> said = to.shutdown_send();
    if (!said.ok()) co_return said;
    loop& home = co_await this_task::loop();
    const time_point until = deadline_after(home.now(), limit);
    const auto space = std::make_unique_for_overwrite<std::byte[]>(piece_bytes);
    while (home.now() < until) {
        const io_result<std::size_t> got =
            co_await with_deadline(until, to.read_some(mutable_buffer{space.get(), piece_bytes}));
        if (!got.ok()) break;
    }
    co_return io_result<>{};
}

task<io_result<>> connection_io::flush(const_buffer more, const_buffer behind) {
    while (flushing()) {
        const io_result<> waited = co_await idle_.wait();
        if (!waited.ok()) co_return waited;
    }
    if (broken_) co_return broken_;
    idle_.reset();
    loop& home = co_await this_task::loop();
    std::array<const_buffer, 3> parts{bytes_of(out), more, behind};
    const_buffers rest{parts};
    pace of_peer{bounds_.write_time_max, bounds_.bytes_per_second_min};
    error failed;
    while (!rest.empty() && rest.back().empty()) rest = rest.first(rest.size() - 1);
    while (!failed) {
        while (!rest.empty() && rest.front().empty()) rest = rest.subspan(1);
        if (rest.empty()) break;
        const time_point begun = home.now();
        const io_result<std::size_t> put = co_await with_deadline(
            write_timer, deadline_after(begun, of_peer.patience()), stream.write_some(rest));
        failed = put.error();
        of_peer.count(home.now() - begun, put.value(), stream);
        if (failed == errc::timed_out && !of_peer.over()) failed = {};
        std::size_t written = put.value();
        for (const_buffer& part : parts) {
            const std::size_t of_it = std::min(written, part.size());
            part = part.subspan(of_it);
            written -= of_it;
        }
    }
    if (failed) note_failure(failed, parts);
    else out.clear();
    idle_.set();
    co_return failed;
}

limited<any_write_awaiter> connection_io::write_out(time_point now) noexcept {
    const duration wait = silence_watch{bounds_.write_time_max}.patience();
    return with_deadline(write_timer, deadline_after(now, wait), stream.write_some(bytes_of(out)));
}

bool connection_io::wrote(const io_result<std::size_t>& put) noexcept {
    const bool goes_on = put.error() == errc::canceled || put.error() == errc::timed_out;
    if (!put.ok() && !goes_on) note_broken(put.error());
    if (put.value() == out.size()) out.clear();
    else out.erase(0, put.value());
    return out.empty();
}

// What has gone must not go again. After a stop the next flush sends the rest, but what stood behind `out` is
// not there any more then: nothing can follow its beginning.
void connection_io::note_failure(error failed, std::span<const const_buffer, 3> unsent) noexcept {
    out.erase(0, out.size() - unsent[0].size());
    const bool torn = !unsent[1].empty() || !unsent[2].empty();
    if (failed != errc::canceled) note_broken(failed);
    else if (torn) broken_ = {errc::broken_pipe, activity::write};
}

void connection_io::note_broken(error failed) noexcept {
    broken_ = failed;
    takes_nothing = failed == errc::connection_reset || failed == errc::broken_pipe;
}

void connection_io::rest() noexcept {
    constexpr std::size_t out_kept_max = 16 * 1024;
    if (out.capacity() > out_kept_max) std::string{}.swap(out);
    if (in.capacity() > 2 * bounds_.in.bytes_first) in.shrink_to_fit();
}

duration pace::allowance() const noexcept {
    if (rate_ == 0 || silence_.limit() == duration::max()) return duration::max();
    constexpr std::uint64_t seconds_max = 1'000'000'000;
    const auto earned = static_cast<duration::rep>(std::min(bytes_ / rate_, seconds_max));
    return silence_.limit() + std::chrono::seconds{earned} - waited_;
}

void framed_source::begin(body_framing framing, std::uint64_t bytes_max, bool continues) noexcept {
    framing_ = framing;
    left_ = framing.by == body_framing::kind::length ? framing.length : 0;
    allowed_left_ = bytes_max;
    continue_due_ = continues;
    ended_ = false;
    over.reset();
    if (framing.by == body_framing::kind::none) end();
    failed_ = {};
    pace_ = pace{io_->bounds().silence_max, io_->bounds().bytes_per_second_min};
    chunks_.reset();
    trailers_.clear();
}

io_result<std::size_t> framed_source::fail(error why) noexcept {
    failed_ = why;
    over.set();
    return why;
}

// Bytes of the body were read.
std::optional<io_result<std::size_t>> framed_source::count(std::size_t size) noexcept {
    if (size > allowed_left_) return fail({errc::limit_exceeded, activity::read});
    allowed_left_ -= size;
    return io_result<std::size_t>{size};
}

std::optional<io_result<std::size_t>> framed_source::take_chunked(mutable_buffer into) noexcept {
    // A view of no more than there is room for, but framing needs none.
    while (!io_->in.empty()) {
        const const_buffer window = io_->in.data();
        const std::uint64_t in_chunk = chunks_.in_chunk();
        const const_buffer seen =
            in_chunk > 0 ? window.first(std::min(window.size(), into.size())) : window;
        if (in_chunk == 0) {
            // Up to the first byte of data only: how much of it is taken is for the reader's room to say.
            chunk_decoder::step step;
            std::size_t consumed = 0;
            while (consumed < seen.size() && chunks_.in_chunk() == 0 && !chunks_.ended() &&
                   chunks_.why() == refusal::none) {
                step = chunks_.decode(seen.subspan(consumed, 1), trailers_);
                consumed += step.consumed;
            }
            io_->in.consume(consumed);
            if (chunks_.why() != refusal::none) return fail(error_for(chunks_.why()));
            if (chunks_.ended()) {
                end();
                return io_result<std::size_t>{error{errc::eof, activity::read}};
            }
            continue;
        }
        const chunk_decoder::step step = chunks_.decode(seen, trailers_);
        std::memcpy(into.data(), step.data.data(), step.data.size());
        io_->in.consume(step.consumed);
        return count(step.data.size());
    }
    return std::nullopt;
}

std::optional<io_result<std::size_t>> framed_source::try_read(mutable_buffer into) noexcept {
    if (failed_) return io_result<std::size_t>{failed_};
    if (ended_) return io_result<std::size_t>{error{errc::eof, activity::read}};
    if (io_->in.empty()) return std::nullopt;
    continue_due_ = false;  // RFC 9110, 10.1.1: the peer has not waited.
    if (framing_.by == body_framing::kind::chunked) return take_chunked(into);

    std::size_t size = std::min(into.size(), io_->in.size());
    if (framing_.by == body_framing::kind::length) {
        size = static_cast<std::size_t>(std::min<std::uint64_t>(size, left_));
        left_ -= size;
        if (left_ == 0) end();
    }
    std::memcpy(into.data(), io_->in.data().data(), size);
    io_->in.consume(size);
    return count(size);
}

bool framed_source::is_at_hand() const noexcept {
    if (ended_) return true;
    if (framing_.by == body_framing::kind::length) return left_ <= io_->in.size();
    chunk_decoder ahead = chunks_;
    fields dropped;
    for (const_buffer rest = io_->in.data();;) {
        const std::size_t consumed = ahead.decode(rest, dropped).consumed;
        if (consumed == 0) return ahead.ended();
        rest = rest.subspan(consumed);
    }
}

// How much may be read past the window, which is empty.
std::size_t framed_source::direct_max(std::size_t wanted) const noexcept {
    std::uint64_t known = wanted;
    if (framing_.by == body_framing::kind::length) known = left_;
    if (framing_.by == body_framing::kind::chunked) known = chunks_.in_chunk();
    return static_cast<std::size_t>(std::min<std::uint64_t>(known, wanted));
}

void framed_source::note_direct(std::size_t size) noexcept {
    if (framing_.by == body_framing::kind::length) {
        left_ -= size;
        if (left_ == 0) end();
    } else if (framing_.by == body_framing::kind::chunked) {
        chunks_.skip(size);
    }
}

void framed_source::let_go_of_peer() {
    continue_due_ = false;
    io_->out.append(continue_line);
}

// What the peer has to see before it is waited for.
task<io_result<>> framed_source::before_waiting() {
    io_result<> sent;
    if (continue_due_) {
        continue_due_ = false;
        sent = co_await io_->flush(bytes_of(continue_line));
    } else if (flushes_before_waiting && !io_->out.empty() && !io_->flushing()) {
        sent = co_await io_->flush();
    }
    co_return sent;
}

bool framed_source::has_to_write_first() const noexcept {
    return continue_due_ || (flushes_before_waiting && !io_->out.empty());
}

// The time for one wait is over, and the peer has not been silent for as long as it may be.
bool framed_source::is_only_slow(error why) const noexcept {
    return why == errc::timed_out && !pace_.over();
}

// Fails if the peer is silent for too long.
task<io_result<>> framed_source::wait_for_read_ahead() {
    loop& home = co_await this_task::loop();
    const time_point begun = home.now();
    const time_point until = deadline_after(begun, pace_.patience());
    const io_result<> came = co_await with_deadline(io_->read_timer, until, io_->ahead_done.wait());
    pace_.count(home.now() - begun, io_->in.size(), io_->stream);
    if (is_only_slow(came.error())) co_return io_result<>{};
    co_return came;
}

// A read of the stream has ended without bytes to go on with.
io_result<std::size_t> framed_source::ended_by(const io_result<std::size_t>& got) noexcept {
    if (got.error() == errc::eof) {
        // RFC 9112, 8: the message is incomplete.
        if (framing_.by != body_framing::kind::until_close)
            return fail({errc::connection_reset, activity::read});
        end();
        return got;
    }
    // A stop has lost nothing; the caller may go on reading.
    if (got.error() == errc::canceled) return got.error();
    return fail(got.error());
}

task<io_result<std::size_t>> framed_source::read(mutable_buffer into) {
    constexpr std::size_t direct_min = 4096;  // Less is read through the window, with what follows.
    loop& home = co_await this_task::loop();
    const set_while reading{reading_};
    for (;;) {
        if (const auto now = try_read(into)) co_return *now;
        if (has_to_write_first()) {
            const io_result<> sent = co_await before_waiting();
            if (!sent.ok()) co_return fail(sent.error());
        }
        if (!io_->ahead_done.is_set()) {
            const io_result<> came = co_await wait_for_read_ahead();
            if (!came.ok()) co_return ended_by({came.error(), 0});
            continue;
        }
        const time_point begun = home.now();
        const time_point until = deadline_after(begun, pace_.patience());
        const std::size_t direct = direct_max(into.size());
        const bool is_direct = direct >= direct_min;
        const mutable_buffer room = is_direct ? into.first(direct) : io_->in.prepare(1);
        io_result<std::size_t> got{io_->ended};
        if (got.ok()) {
            got = co_await with_deadline(io_->read_timer, until, io_->stream.read_some(room));
        }
        pace_.count(home.now() - begun, got.value(), io_->stream);
        if (!is_direct) io_->in.commit(got.value());
        if (is_only_slow(got.error())) continue;
        if (!got.ok()) co_return ended_by(got);
        if (is_direct) {
            note_direct(got.value());
            co_return *count(got.value());
        }
    }
}

std::optional<std::uint64_t> framed_source::size() const noexcept {
    switch (framing_.by) {
        case body_framing::kind::none: return 0;
        case body_framing::kind::length: return framing_.length;
        default: return std::nullopt;
    }
}

bool framed_source::drop_at_hand(std::uint64_t& bytes_max) noexcept {
    std::array<std::byte, 1024> space;
    while (!ended_ && !io_->in.empty()) {
        const auto got = try_read(space);
        if (!got) return true;
        if (got->error() == errc::eof) return true;
        if (!got->ok() || got->value() > bytes_max) return false;
        bytes_max -= got->value();
    }
    return true;
}

void framed_sink::begin(mode how, std::uint64_t length, fields& trailers) noexcept {
    mode_ = how;
    left_ = length;
    trailers_ = &trailers;
    chunk_open_ = false;
    untouched_ = true;
    written_ = 0;
}

// The size is written when it is known, with zeros in front: RFC 9112, 7.1 allows them.
void framed_sink::open_chunk() {
    chunk_at_ = io_->out.size();
    io_->out.append("0000\r\n");
    chunk_open_ = true;
}

void framed_sink::close_chunk() noexcept {
    if (!chunk_open_) return;
    constexpr std::string_view digits = "0123456789abcdef";
    std::size_t size = io_->out.size() - chunk_at_ - chunk_digits - 2;
    for (std::size_t at = chunk_digits; at > 0; --at) {
        io_->out[chunk_at_ + at - 1] = digits[size % 16];
        size /= 16;
    }
    io_->out.append("\r\n");
    chunk_open_ = false;
}

void framed_sink::append(const_buffer from) {
    untouched_ = false;
    if (mode_ == mode::chunked) {
        const std::size_t in_it = chunk_open_ ? io_->out.size() - chunk_at_ - chunk_digits - 2 : 0;
        if (chunk_open_ && from.size() > chunk_bytes_max - in_it) close_chunk();
        if (!chunk_open_) open_chunk();
    }
    io_->out.append(text_of(from));
    written_ += from.size();
    if (mode_ == mode::length) left_ -= from.size();
}

std::optional<io_result<std::size_t>> framed_sink::try_write(const_buffer from) noexcept {
    if (exceeds(from)) return io_result<std::size_t>{error{errc::limit_exceeded, activity::write}};
    constexpr std::size_t around = chunk_digits + 4;
    if (from.size() >= direct_min || !io_->has_room_for(from.size() + around)) return std::nullopt;
    append(from);
    return io_result<std::size_t>{from.size()};
}

task<io_result<std::size_t>> framed_sink::write(const_buffer from) {
    const bool direct = from.size() >= direct_min;
    untouched_ = false;
    close_chunk();
    if (direct && mode_ == mode::chunked) append_chunk_size(io_->out, from.size());
    const std::string_view end = direct && mode_ == mode::chunked ? "\r\n" : "";
    const const_buffer body = direct ? from : const_buffer{};
    const io_result<> sent = co_await io_->flush(body, bytes_of(end));
    if (!sent.ok()) co_return sent.error();
    if (!direct) {
        append(from);
    } else {
        written_ += from.size();
        if (mode_ == mode::length) left_ -= from.size();
    }
    co_return io_result<std::size_t>{from.size()};
}

task<io_result<>> framed_sink::flush() {
    untouched_ = false;
    close_chunk();
    const io_result<> sent = co_await io_->flush();
    co_return sent;
}

io_result<> framed_sink::end() {
    close_chunk();
    if (mode_ == mode::length && left_ > 0) return error{errc::malformed, activity::write};
    if (mode_ == mode::chunked) append_last_chunk(io_->out, *trailers_);
    return {};
}

}  // namespace gyre::http

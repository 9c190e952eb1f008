// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/serve_connection.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/http/serializer.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <http/connection_io.hpp>
#include <http/message_pool.hpp>
#include <http/started_handler.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace gyre::http {
namespace {

// RFC 9110, 15.5.
status status_after(error of_body) noexcept {
    if (of_body == errc::limit_exceeded) return status::content_too_large;
    if (of_body == errc::timed_out) return status::request_timeout;
    return status::bad_request;
}

// One peer's requests that came together may be thousands, and all that others have to say waits for them.
constexpr unsigned requests_in_a_row_max = 32;

class server_connection {
public:
    server_connection(any_stream stream, const handler& handle, const connection_options& options,
                      const connection_hooks& hooks)
        : handle_{handle},
          options_{options},
          hooks_{hooks},
          io_{std::move(stream), limits_of(options)},
          message_{hooks.messages, options, io_} {}

    [[nodiscard]] task<io_result<>> run();

    /// After `run`: tells the peer of the end, unless it was told before, or has to see a cut.
    [[nodiscard]] task<> close(error ended);

private:
    // What follows an answer.
    enum class next : std::uint8_t { request, close };

    [[nodiscard]] static connection_io::limits limits_of(const connection_options& options) {
        return {room_for_heads(options.read_bytes_first, options.head.bytes_max),
                options.write_bytes_max, options.body_silence_max, options.write_time_max,
                options.bytes_per_second_min};
    }

    [[nodiscard]] limited<any_read_awaiter> read_more() noexcept;
    [[nodiscard]] bool may_still_ask(error failed) const noexcept;
    void note_read(const io_result<std::size_t>& got) noexcept;
    [[nodiscard]] task<io_result<>> end_waiting(error failed);
    [[nodiscard]] task<io_result<>> refuse(status code, const char* why, error failed);
    [[nodiscard]] task<io_result<>> finish();
    [[nodiscard]] task<io_result<>> linger(io_result<> ended);
    [[nodiscard]] task<io_result<>> write_rest(response& it, head_framing framing);
    [[nodiscard]] task<io_result<>> write_produced(response& it, head_framing framing);
    [[nodiscard]] task<io_result<>> cut(error why);
    template <class Result = response>
    [[nodiscard]] auto surroundings_of(bool writes) noexcept {
        return typename attended_task<Result>::surroundings{io_, message_->source, message_->left,
                                                            options_.half_close, writes};
    }
    [[nodiscard]] task<> drop_body();
    [[nodiscard]] task<io_result<>> upgrade(response it);

    [[nodiscard]] head_progress next_request();
    void begin_request();
    [[nodiscard]] bool has_left(error failed) const noexcept;
    void note_end(http::status code, error failed, std::uint64_t bytes) const;
    [[nodiscard]] response answer_to_exception(exception_slot& failure);
    [[nodiscard]] bool must_wait_for_body(const response& it) noexcept;
    void judge(response& it);
    [[nodiscard]] head_framing framing_of(const response& it) noexcept;
    [[nodiscard]] bool sends_body(const response& it) const noexcept {
        return message_->what.method() != method::head && !forbids_body(it.status) && !it.upgrade;
    }
    [[nodiscard]] bool leaves_body() const noexcept {
        return after_ == next::request && !message_->source.ended();
    }
    [[nodiscard]] bool append_whole(const response& it, head_framing framing);
    [[nodiscard]] std::string_view date_line() {
        return (hooks_.date != nullptr ? *hooks_.date : own_date_).line(env_->loop->now());
    }
    [[nodiscard]] bool draining() const noexcept {
        return env_->chain->level() >= stop_level::drain;
    }

    const handler& handle_;
    const connection_options& options_;
    const connection_hooks& hooks_;
    connection_io io_;
    borrowed_message message_;
    date_cache own_date_;
    const environment* env_ = nullptr;  // Of `run`, which outlives all else here.
    time_point head_deadline_ = never;
    std::uint64_t served_ = 0;
    unsigned in_a_row_ = 0;       // Requests since the last read, or since others had their turn.
    std::uint64_t may_drop_ = 0;  // Of the present request's body.
    std::size_t answer_at_ = 0;   // Of `io_.out`: where the present answer's head stands.
    refusal refused_ = refusal::none;  // Of its head.
    next after_ = next::request;
    time_point begun_at_{};           // The present request's handler.
    bool is_replaced_ = false;        // The present answer, by 500.
    bool bytes_are_counted_ = false;  // Its body's, by the sink.
    bool is_cut_ = false;      // Of an answer that ends with the connection, not all has been sent.
    bool peer_ended_ = false;  // Its direction, in order.
    bool told_end_ = false;    // And was waited for.
    bool hears_drain_ = true;  // The read between requests.
};

// NOLINTNEXTLINE(readability-function-cognitive-complexity): a part that awaits is a frame for each request.
task<io_result<>> server_connection::run() {
    env_ = co_await look_awaiter{[](const environment& env) noexcept { return &env; }};
    head_deadline_ = deadline_after(env_->loop->read_clock(), options_.head_time_max);
    for (;;) {
        const head_progress progress = io_.in.empty() ? head_progress::incomplete : next_request();
        if (progress == head_progress::refused) {
            const io_result<> ended =
                co_await refuse(status_for(refused_), describe(refused_), error_for(refused_));
            co_return ended;
        }
        if (progress == head_progress::incomplete) {
            if (!io_.out.empty()) {
                const io_result<std::size_t> put = co_await io_.write_out(env_->loop->now());
                io_result<> sent = put.error();
                const bool goes_on = put.ok() || put.error() == errc::timed_out;
                if (!io_.wrote(put) && goes_on) sent = co_await io_.flush();
                if (!sent.ok()) co_return sent;
            }
            io_result<std::size_t> got{io_.ended};
            if (got.ok()) got = co_await read_more();
            note_read(got);
            if (got.ok() || may_still_ask(got.error())) continue;
            const io_result<> ended = co_await end_waiting(got.error());
            co_return ended;
        }

        attended_task<response>& running = message_->running.emplace(
            surroundings_of(true), [this] { return handle_(message_->what); });
        const bool answered = co_await running;
        if (running.write_failure()) {
            note_end(answered ? running.result().status : status::internal_server_error,
                     running.write_failure(), 0);
            co_return running.write_failure();
        }
        std::optional<response> instead;
        if (!answered) instead = answer_to_exception(running.failure());
        response* const answer = answered ? &running.result() : &*instead;
        if (must_wait_for_body(*answer)) co_await drop_body();
        judge(*answer);
        if (answer->upgrade) {
            const io_result<> ended = co_await upgrade(std::move(*answer));
            co_return ended;
        }
        io_result<> sent;
        const head_framing framing = framing_of(*answer);
        if (!append_whole(*answer, framing)) sent = co_await write_rest(*answer, framing);
        else if (!io_.has_room_for(options_.write_bytes_max / 2)) sent = co_await io_.flush();
        note_end(answer->status, sent.error(),
                 sends_body(*answer) ? answer->body.size().value_or(0) : 0);
        if (!sent.ok()) co_return sent;
        if (after_ == next::close) {
            const io_result<> ended = co_await finish();
            co_return ended;
        }
        message_->running.reset();  // What the answer has held must not wait for the next request.
        head_deadline_ = deadline_after(env_->loop->now(), options_.head_time_max);
        if (++in_a_row_ == requests_in_a_row_max) {
            in_a_row_ = 0;
            co_await yield();
        }
    }
}

// Parses a head and, if it is complete, begins its request.
head_progress server_connection::next_request() {
    message_.take();
    const head_progress progress = message_->parser.parse_request(io_.in.data(), message_->what);
    if (progress == head_progress::incomplete) return progress;
    refused_ = message_->parser.why();
    if (progress == head_progress::complete) {
        begin_request();
        if (message_->parser.framing().length <= options_.body_bytes_max) return progress;
        refused_ = refusal::body_too_large;
    }
    if (hooks_.on_refused) hooks_.on_refused(refused_);
    return head_progress::refused;
}

// Whether the client has left. An error of a producer may be that of what it reads from, such as another
// server, and says nothing of the client: what its sink has met does.
bool server_connection::has_left(error failed) const noexcept {
    const auto says_so = [](error it) {
        return it == errc::connection_reset || it == errc::broken_pipe || it == errc::tls_truncated;
    };
    return message_->left.is_set() || io_.takes_nothing || says_so(message_->source.failure()) ||
           (!bytes_are_counted_ && says_so(failed));
}

// The listener hears of an answer once: written whole, or as far as it got.
void server_connection::note_end(http::status code, error failed, std::uint64_t bytes) const {
    if (!hooks_.on_answered) return;
    const bool gone = has_left(failed);
    answer_end end;
    end.status = is_replaced_ ? status::internal_server_error : code;
    if (bytes_are_counted_) end.body_bytes = message_->sink.written();
    else if (!failed && !gone) end.body_bytes = bytes;
    if (gone) end.how = answer_end::kind::client_left;
    else if (failed && !is_replaced_) end.how = answer_end::kind::cut;
    end.took = env_->loop->now() - begun_at_;
    hooks_.on_answered(message_->what, end);
}

response server_connection::answer_to_exception(exception_slot& failure) {
    if (hooks_.on_exception) hooks_.on_exception(message_->what, failure);
    return response{status::internal_server_error};
}

// A part of a head, or the first bytes of one: between requests, which a drain ends.
limited<any_read_awaiter> server_connection::read_more() noexcept {
    if (!io_.in.empty()) {
        if (hooks_.place != nullptr) {
            hooks_.place->wait_for_head(*env_->chain, env_->loop->now());
        }
        return with_deadline(io_.read_timer, head_deadline_,
                             io_.stream.read_some(io_.in.prepare(1)));
    }
    message_.give_back();
    io_.rest();
    const bool is_fresh = served_ == 0;
    const time_point now = env_->loop->now();
    if (hooks_.place != nullptr) {
        hooks_.place->wait_for_request(*env_->chain, now,
                                       is_fresh ? stop_level::stop : stop_level::drain);
    }
    const mutable_buffer room = io_.in.prepare(io_.bounds().in.bytes_first);
    hears_drain_ = !is_fresh || !draining();
    if (!hears_drain_) {
        const duration wait = std::min(options_.head_time_max, first_request_wait);
        return with_deadline(io_.read_timer, deadline_after(now, wait), io_.stream.read_some(room));
    }
    const duration wait = is_fresh ? options_.head_time_max : options_.idle_time_max;
    return {io_.stream.read_some(room), io_.read_timer, deadline_after(now, wait),
            stop_filter::drain_as_stop};
}

// A drain has ended the wait for the first request, which may be on its way: no other server gets it.
bool server_connection::may_still_ask(error failed) const noexcept {
    return failed == errc::canceled && hears_drain_ && served_ == 0 && io_.in.empty() &&
           !env_->chain->stopping();
}

void server_connection::note_read(const io_result<std::size_t>& got) noexcept {
    in_a_row_ = 0;
    if (io_.in.empty()) {
        head_deadline_ = deadline_after(env_->loop->now(), options_.head_time_max);
    }
    io_.in.commit(got.value());
}

// No head came.
task<io_result<>> server_connection::end_waiting(error failed) {
    const bool inside = !io_.in.empty();
    if (failed == errc::timed_out && inside) {
        const io_result<> ended =
            co_await refuse(status::request_timeout, "a head that did not end in time", failed);
        co_return ended;
    }
    if (failed == errc::eof) {
        peer_ended_ = true;
        // RFC 9112, 8.
        co_return inside ? error{errc::connection_reset, activity::read} : error{};
    }
    const bool orderly = !inside && (failed == errc::timed_out ||
                                     (failed == errc::canceled && !env_->chain->stopping()));
    co_return orderly ? error{} : failed;
}

// RFC 9112, 9.6 and 11: the peer gets an answer, and nothing after it is read as a request.
task<io_result<>> server_connection::refuse(status code, const char* why, error failed) {
    const std::string_view said{why};
    response answer{code};
    answer.fields.set("content-type", "text/plain");
    const head_framing framing{head_framing::connection::close, head_framing::body::length,
                               said.size()};
    append_head(io_.out, answer, framing, date_line());
    io_.out.append(said);
    const io_result<> sent = co_await io_.flush();
    if (!sent.ok()) co_return failed;
    const io_result<> ended = co_await linger(failed);
    co_return ended;
}

// After the last answer.
task<io_result<>> server_connection::finish() {
    const io_result<> sent = co_await io_.flush();
    if (!sent.ok()) co_return sent;
    is_cut_ = false;
    const io_result<> ended = co_await linger(error_for(message_->source.why()));
    co_return ended;
}

// RFC 9112, 9.6.
task<io_result<>> server_connection::linger(io_result<> ended) {
    const duration wait = io_.ended ? duration{} : options_.linger_time_max;
    const io_result<> said = co_await end_and_drop_rest(io_.stream, wait);
    if (!said.ok()) co_return ended;
    told_end_ = true;
    co_return ended;
}

// RFC 9112, 9.8: over TLS, what ends without close_notify looks like an attack. Not after a failure of the
// stream or of a body's producer, which the peer is to notice, nor in the middle of an answer whose end is
// that of the connection: it would look whole.
task<> server_connection::close(error ended) {
    const bool stopping = env_->chain->stopping();
    const bool in_order = !ended || peer_ended_ || stopping;
    if (is_cut_ || !in_order || (told_end_ && !stopping)) co_return;
    co_await say_end(io_.stream, options_.linger_time_max);
}

void server_connection::begin_request() {
    io_.in.consume(message_->parser.size());
    if (hooks_.place != nullptr) hooks_.place->end_wait();
    ++served_;
    may_drop_ = options_.dropped_bytes_max;
    after_ = message_->parser.keeps_alive() && served_ < options_.requests_max ? next::request
                                                                               : next::close;
    message_->source.begin(message_->parser.framing(), options_.body_bytes_max,
                           message_->parser.expects_continue());
    message_->source.flushes_before_waiting = true;
    message_->what.body = body_reader{message_->source};
    begun_at_ = env_->loop->now();
    is_replaced_ = bytes_are_counted_ = false;
    message_->what.set_chain(env_->chain);
    message_->left.reset();
    message_->what.set_peer_left(&message_->left);
    message_->what.set_peer(options_.peer);
    if (!options_.client.empty()) message_->what.set_client(options_.client);
    if (message_->what.scheme().empty()) message_->what.set_scheme(options_.scheme);
}

// Before the answer is written, what the handler has left of the body is dropped: a malformed one is refused
// even if no handler reads it, and a client that reads no answer before it has sent everything is not waited
// for in vain. Whether that takes a wait.
bool server_connection::must_wait_for_body(const response& it) noexcept {
    if (message_->source.ended()) return false;
    if (it.body.producer() != nullptr) {
        // It may read what is left while it writes; once its head is written, the peer cannot be told to go
        // on.
        if (message_->source.holds_peer() && number_of(it.status) < 300)
            message_->source.let_go_of_peer();
        else if (message_->source.holds_peer()) message_->source.give_up();
        return false;
    }
    // RFC 9110, 10.1.1: a client that has not been told to go on may send its body or not.
    if (message_->source.holds_peer() || message_->source.known_left() > may_drop_ ||
        !message_->source.drop_at_hand(may_drop_)) {
        after_ = next::close;
        return false;
    }
    return !message_->source.ended();
}

// Makes the answer one that can be sent.
void server_connection::judge(response& it) {
    if (message_->source.failure()) after_ = next::close;
    if (message_->source.why() != refusal::none) {
        if (hooks_.on_refused) hooks_.on_refused(message_->source.why());
        it = response{status_for(message_->source.why()), "text/plain",
                      describe(message_->source.why())};
    } else if (message_->source.failure() && number_of(it.status) < 300) {
        // RFC 9112, 8: what is incomplete has no success.
        it = response{status_after(message_->source.failure())};
    }
    if (it.upgrade) {
        const bool tunnel =
            message_->what.method() == method::connect && number_of(it.status) / 100 == 2;
        const bool switches =
            it.status == status::switching_protocols && message_->parser.upgrades();
        if ((!tunnel && !switches) || !message_->source.ended()) {
            it = response{status::internal_server_error};
        }
    }
    if (!is_sendable(it) || (is_interim(it.status) && !it.upgrade)) {
        it = response{status::internal_server_error};
    }
    if (draining() || it.fields.has_token("connection", "close")) after_ = next::close;
}

head_framing server_connection::framing_of(const response& it) noexcept {
    head_framing framing;
    const bool newest = message_->what.version() == version::http_1_1;
    const std::optional<std::uint64_t> size = it.body.size();
    if (forbids_body(it.status)) {
        framing.as = head_framing::body::unsaid;
    } else if (size && (it.trailers.empty() || !newest)) {
        framing.as = head_framing::body::length;
        framing.length = *size;
        // RFC 9110, 8.6: to HEAD, the length that GET would be answered with.
        if (message_->what.method() == method::head && *size == 0) {
            const std::string_view told = it.fields.value_or("content-length");
            if (!told.empty()) {
                std::from_chars(told.data(), told.data() + told.size(), framing.length);
            }
        }
    } else if (newest) {
        // RFC 9112, 6.1: only to clients of HTTP/1.1.
        framing.as = head_framing::body::chunked;
    } else if (message_->what.method() != method::head) {
        after_ = next::close;
    }
    if (after_ == next::close) framing.after = head_framing::connection::close;
    else if (!newest) framing.after = head_framing::connection::keep_alive;
    return framing;
}

// The whole answer, if that needs no waiting and its body is not worth a buffer of its own. False if
// `write_rest` has to follow.
bool server_connection::append_whole(const response& it, head_framing framing) {
    constexpr std::size_t copied_max = 16 * 1024;
    answer_at_ = io_.out.size();
    append_head(io_.out, it, framing, date_line());
    if (leaves_body()) return false;
    if (!sends_body(it)) return true;
    if (it.body.producer() != nullptr || framing.as == head_framing::body::chunked) return false;
    const const_buffer bytes = it.body.bytes();
    if (bytes.size() > copied_max || !io_.has_room_for(bytes.size())) return false;
    io_.out.append(gyre::text_of(bytes));
    return true;
}

// The answer's body, and what the handler has left of the request's, which is in the way of the next one.
task<io_result<>> server_connection::write_rest(response& it, head_framing framing) {
    io_result<> sent;
    const const_buffer bytes = it.body.bytes();
    if (!sends_body(it)) {
        // Its head was all.
    } else if (it.body.producer() != nullptr) {
        sent = co_await write_produced(it, framing);
    } else if (framing.as != head_framing::body::chunked) {
        sent = co_await io_.flush(bytes);
    } else {
        if (!bytes.empty()) {
            append_chunk_size(io_.out, bytes.size());
            sent = co_await io_.flush(bytes, bytes_of(std::string_view{"\r\n"}));
        }
        if (sent.ok()) append_last_chunk(io_.out, it.trailers);
    }
    if (sent.ok() && leaves_body()) co_await drop_body();
    co_return sent;
}

task<io_result<>> server_connection::write_produced(response& it, head_framing framing) {
    body_producer& producer = *it.body.producer();
    framed_sink::mode mode = framed_sink::mode::until_close;
    if (framing.as == head_framing::body::length) mode = framed_sink::mode::length;
    if (framing.as == head_framing::body::chunked) mode = framed_sink::mode::chunked;

    if (hooks_.send_body && mode == framed_sink::mode::length) {
        std::optional<task<io_result<>>> other_way = hooks_.send_body(producer, framing.length);
        if (other_way) {
            io_result<> sent = co_await io_.flush();
            if (sent.ok()) sent = co_await std::move(*other_way);
            co_return sent;
        }
    }
    // The producer writes, and may read while it does. What it reads is sent by a peer that may wait for what
    // stands here.
    message_->source.flushes_before_waiting = false;
    if (!message_->source.ended()) {
        const io_result<> sent = co_await io_.flush();
        if (!sent.ok()) co_return sent;
    }
    message_->sink.begin(mode, framing.length, it.trailers);
    bytes_are_counted_ = true;
    is_cut_ = mode == framed_sink::mode::until_close;
    const auto begins = [&] { return producer.write(body_writer{message_->sink}); };
    attended_task<io_result<>> writing{surroundings_of<io_result<>>(false), begins};
    const bool kept = co_await writing;
    error failed;
    if (!kept) {
        if (hooks_.on_exception) hooks_.on_exception(message_->what, writing.failure());
        failed = {errc::broken_promise, activity::write};
    } else {
        failed = writing.result().error();
    }
    if (!failed) failed = message_->sink.end().error();
    if (!failed) co_return io_result<>{};
    const io_result<> ended = co_await cut(failed);
    co_return ended;
}

// Its producer has failed: the peer gets what it has written, without an end. If it has written nothing and
// the head has not left, it is not too late for another answer.
task<io_result<>> server_connection::cut(error why) {
    if (message_->left.is_set()) co_return error{errc::connection_reset, activity::read};
    if (env_->chain->stopping()) co_return why;
    if (message_->sink.untouched()) {
        io_.out.resize(answer_at_);
        const head_framing framing{head_framing::connection::close, head_framing::body::length, 0};
        append_head(io_.out, response{status::internal_server_error}, framing, date_line());
        is_cut_ = false;
        is_replaced_ = true;
    }
    message_->sink.cut();
    const io_result<> sent = co_await io_.flush();
    // As after the last answer, where what the peer still sends would reset the connection.
    const bool reads_on = !message_->source.ended() || !io_.in.empty();
    if (!sent.ok() || is_cut_ || !reads_on) co_return why;
    const io_result<> ended = co_await linger(why);
    co_return ended;
}

// Reads the request's body to its end, if that is not asked too much: else no other request follows.
task<> server_connection::drop_body() {
    bool goes_on = !message_->source.holds_peer() && message_->source.known_left() <= may_drop_;
    message_->source.flushes_before_waiting = true;
    while (goes_on && message_->source.drop_at_hand(may_drop_) && !message_->source.ended()) {
        std::byte dropped{};
        const io_result<std::size_t> got =
            co_await message_->source.read(mutable_buffer{&dropped, 1});
        goes_on = got.ok() && got.value() <= may_drop_;
        if (goes_on) may_drop_ -= got.value();
    }
    if (!message_->source.ended()) after_ = next::close;
}

task<io_result<>> server_connection::upgrade(response it) {
    head_framing framing;
    // RFC 9110, 7.8 and 9.3.6.
    if (it.status == status::switching_protocols) {
        framing.after = head_framing::connection::upgrade;
    }
    append_head(io_.out, it, framing, date_line());
    const io_result<> sent = co_await io_.flush();
    note_end(it.status, sent.error(), 0);
    if (!sent.ok()) co_return sent;
    upgraded_connection to{std::move(io_.stream), std::string{gyre::text_of(io_.in.data())}};
    const upgrade_function go_on = std::move(it.upgrade);
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): it outlives what it makes.
    const auto begin = [&]() -> task<io_result<>> {
        co_await go_on(std::move(to));
        co_return io_result<>{};
    };
    exception_slot failure;
    kept_in running{begin(), failure};
    const std::optional<io_result<>> ran = co_await running;
    if (ran) co_return *ran;
    if (hooks_.on_exception) hooks_.on_exception(message_->what, failure);
    failure.rethrow_if_any();
    co_return error{errc::broken_promise, activity::unknown};
}

}  // namespace

task<io_result<>> serve_connection(any_stream stream, const handler& handle,
                                   const connection_options& options,
                                   const connection_hooks& hooks) {
    expects(handle != nullptr, "a server needs a handler");
    server_connection connection{std::move(stream), handle, options, hooks};
    const io_result<> ended = co_await connection.run();
    co_await connection.close(ended.error());
    co_return ended;
}

}  // namespace gyre::http

// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/client_connection.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/http/serializer.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_any.hpp>
#include <http/connection_io.hpp>

#include <algorithm>
#include <utility>

namespace gyre::http {

namespace {

// For the answer of a server that takes nothing more: it has left by then, or there is none.
constexpr duration cut_off_wait = std::chrono::seconds{1};

}  // namespace

class client_connection::state {
public:
    state(any_stream stream, const client_options& bounds)
        : options{bounds},
          io{std::move(stream), limits_of(bounds)},
          parser{bounds.head},
          source{io, bounds.chunks},
          sink{io} {
        source.flushes_before_waiting = false;
    }

    [[nodiscard]] task<io_result<received_response>> send(const request& what, response_body body);

    client_options options;
    connection_io io;
    head_parser parser;
    framed_source source;
    framed_sink sink;
    response head;
    bool broken = false;         // Nothing can follow.
    bool answered = false;       // A byte of the last response has come.
    bool keeps_alive = true;     // Both sides let another request follow.
    bool upgraded = false;       // The stream speaks another protocol.
    bool body_withheld = false;  // It was announced and not sent: the server may still wait for it.
    bool refused_it = false;     // The parser has refused the last head.

private:
    [[nodiscard]] static connection_io::limits limits_of(const client_options& options) {
        return {room_for_heads(options.read_bytes_first, options.head.bytes_max),
                options.write_bytes_max, options.body_silence_max, options.write_time_max,
                options.bytes_per_second_min};
    }
    [[nodiscard]] static head_framing framing_of(const request& what, const response_body& body);
    [[nodiscard]] task<io_result<>> write_body(response_body& body, head_framing framing);
    [[nodiscard]] task<io_result<>> write_and_watch(response_body& body, head_framing framing,
                                                    method asked, bool& final_came);
    [[nodiscard]] task<io_result<>> watch(method asked, bool& final_came);
    [[nodiscard]] task<io_result<>> read_final_head(method asked, time_point until);
    [[nodiscard]] task<io_result<>> read_head(method asked, time_point until);
    [[nodiscard]] task<io_result<>> await_continue(method asked, time_point until,
                                                   bool& final_came);

    fields no_trailers_;
};

head_framing client_connection::state::framing_of(const request& what, const response_body& body) {
    head_framing framing;
    const std::optional<std::uint64_t> size = body.size();
    if (!size) {
        framing.as = head_framing::body::chunked;
    } else if (*size > 0 || what.method() == method::post || what.method() == method::put ||
               what.method() == method::patch) {
        // RFC 9110, 8.6: a method that expects content says that there is none.
        framing.as = head_framing::body::length;
        framing.length = *size;
    }
    if (what.fields.has_token("connection", "close")) {
        framing.after = head_framing::connection::close;
    } else if (what.fields.contains("upgrade")) {
        framing.after = head_framing::connection::upgrade;
    }
    return framing;
}

task<io_result<received_response>> client_connection::state::send(const request& what,
                                                                  response_body body) {
    using result = io_result<received_response>;
    if (!is_sendable(what, body.size())) co_return result{errc::invalid_argument};
    if (!source.ended()) co_return result{errc::busy};

    broken = true;  // Until all has gone well.
    answered = upgraded = refused_it = body_withheld = false;
    const head_framing framing = framing_of(what, body);
    append_head(io.out, what, framing);
    loop& home = co_await this_task::loop();
    const bool has_body = framing.as == head_framing::body::chunked || framing.length > 0;
    bool final_came = false;
    io_result<> done;
    // RFC 9110, 10.1.1.
    if (has_body && what.fields.has_token("expect", "100-continue")) {
        done = co_await io.flush();
        if (done.ok()) {
            const time_point until = deadline_after(home.read_clock(), options.continue_time_max);
            done = co_await await_continue(what.method(), until, final_came);
        }
    }
    if (done.ok() && has_body && !final_came) {
        done = co_await write_and_watch(body, framing, what.method(), final_came);
    }
    if (done.ok() && !has_body) done = co_await io.flush();
    // A server that refuses a body may have answered before it closed: the answer says more than the error.
    const bool cut_off =
        done.error() == errc::broken_pipe || done.error() == errc::connection_reset;
    if (!done.ok() && !cut_off) co_return result{done.error()};

    if (!final_came) {
        const duration limit =
            cut_off ? std::min(cut_off_wait, options.response_time_max) : options.response_time_max;
        const time_point until = deadline_after(home.read_clock(), limit);
        const io_result<> got = co_await read_final_head(what.method(), until);
        if (!got.ok()) co_return result{cut_off ? done.error() : got.error()};
    }
    // RFC 9110, 7.8: a server must not change to a protocol that was not asked for.
    if (head.status == status::switching_protocols && !what.fields.contains("upgrade")) {
        co_return result{error{errc::malformed, activity::read}};
    }
    source.begin(parser.framing(), options.body_bytes_max, false);
    upgraded = parser.upgrades();
    keeps_alive = parser.keeps_alive() && framing.after != head_framing::connection::close &&
                  !upgraded && !cut_off && !body_withheld;
    broken = false;
    received_response received;
    received.status = head.status;
    received.version = parser.version();
    received.fields = std::move(head.fields);
    received.body = body_reader{source};
    co_return result{std::move(received)};
}

task<io_result<>> client_connection::state::write_body(response_body& body, head_framing framing) {
    io_result<> sent;
    body_producer* const producer = body.producer();
    if (producer == nullptr) {
        const const_buffer bytes = body.bytes();
        if (!io.has_room_for(bytes.size())) {
            sent = co_await io.flush(bytes);
        } else {
            io.out.append(gyre::text_of(bytes));
            sent = co_await io.flush();
        }
        co_return sent;
    }
    sink.begin(framing.as == head_framing::body::chunked ? framed_sink::mode::chunked
                                                         : framed_sink::mode::length,
               framing.length, no_trailers_);
    no_trailers_.clear();
    sent = co_await producer->write(body_writer{sink});
    if (sent.ok()) sent = sink.end();
    if (sent.ok()) sent = co_await io.flush();
    co_return sent;
}

// RFC 9112, 9.5: a server may refuse a body before it has come, and stop reading. Or it answers while it
// reads, and reads no further until some of that is taken.
task<io_result<>> client_connection::state::write_and_watch(response_body& body,
                                                            head_framing framing, method asked,
                                                            bool& final_came) {
    auto [first, outcomes] = co_await when_any(write_body(body, framing), watch(asked, final_came));
    if (first == 0) co_return std::get<0>(outcomes);
    body_withheld = true;
    co_return std::get<1>(outcomes);
}

// Ends when sending makes no sense any more.
task<io_result<>> client_connection::state::watch(method asked, bool& final_came) {
    io_result<> got = co_await read_final_head(asked, never);
    if (!got.ok()) co_return got;
    final_came = true;
    if (number_of(head.status) >= 300) co_return got;
    // A server that answers with success may still read.
    event for_ever;
    got = co_await for_ever.wait();
    co_return got;
}

task<io_result<>> client_connection::state::read_final_head(method asked, time_point until) {
    for (std::size_t interim = 0;; ++interim) {
        if (interim > options.interim_max) co_return errc::limit_exceeded;
        const io_result<> got = co_await read_head(asked, until);
        if (!got.ok()) co_return got;
        if (!is_interim(head.status) || head.status == status::switching_protocols) co_return got;
    }
}

task<io_result<>> client_connection::state::read_head(method asked, time_point until) {
    for (;;) {
        const head_progress progress = parser.parse_response(io.in.data(), asked, head);
        if (progress == head_progress::refused) {
            refused_it = true;
            co_return error_for(parser.why());
        }
        if (progress == head_progress::complete) break;
        const io_result<std::size_t> got =
            co_await with_deadline(until, io.stream.read_some(io.in.prepare(1)));
        io.in.commit(got.value());
        answered = answered || got.ok();
        if (got.error() == errc::eof) co_return error{errc::connection_reset, activity::read};
        if (!got.ok()) co_return got.error();
    }
    answered = true;
    io.in.consume(parser.size());
    co_return io_result<>{};
}

// Until the server has said that it wants the body, or something else; or nothing for too long.
task<io_result<>> client_connection::state::await_continue(method asked, time_point until,
                                                           bool& final_came) {
    for (;;) {
        const io_result<> got = co_await read_head(asked, until);
        if (got.error() == errc::timed_out) co_return io_result<>{};
        if (!got.ok()) co_return got;
        if (head.status == status::continue_request) co_return io_result<>{};
        final_came = !is_interim(head.status) || head.status == status::switching_protocols;
        if (!final_came) continue;
        body_withheld = true;
        co_return io_result<>{};
    }
}

client_connection::client_connection() noexcept = default;
client_connection::client_connection(any_stream stream, client_options options)
    : state_{std::make_unique<state>(std::move(stream), options)} {}
client_connection::client_connection(client_connection&&) noexcept = default;
client_connection& client_connection::operator=(client_connection&&) noexcept = default;
client_connection::~client_connection() = default;

task<io_result<received_response>> client_connection::send(const request& what,
                                                           response_body body) {
    if (state_ == nullptr || state_->upgraded || (!reusable() && state_->source.ended())) {
        co_return io_result<received_response>{errc::closed};
    }
    io_result<received_response> received = co_await state_->send(what, std::move(body));
    co_return received;
}

bool client_connection::reusable() const noexcept {
    // What came unasked belongs to no request.
    return state_ != nullptr && !state_->broken && state_->keeps_alive && !state_->upgraded &&
           state_->source.ended() && !state_->source.failure() && state_->io.in.empty();
}

task<bool> client_connection::still_idle() {
    if (!reusable()) co_return false;
    const mutable_buffer room = state_->io.in.prepare(1);
    const io_result<std::size_t> got =
        co_await with_timeout(duration{}, state_->io.stream.read_some(room));
    const bool idle = got.error() == errc::timed_out || got.error() == errc::canceled;
    if (!idle) close();
    co_return idle;
}

bool client_connection::answered() const noexcept { return state_ != nullptr && state_->answered; }

refusal client_connection::why() const noexcept {
    if (state_ == nullptr) return refusal::none;
    return state_->refused_it ? state_->parser.why() : state_->source.why();
}

upgraded_connection client_connection::take_stream() noexcept {
    expects(state_ != nullptr && state_->upgraded, "a stream is given away after an upgrade");
    upgraded_connection taken{std::move(state_->io.stream),
                              std::string{gyre::text_of(state_->io.in.data())}};
    state_.reset();
    return taken;
}

void client_connection::close() noexcept { state_.reset(); }

}  // namespace gyre::http

// SPDX-License-Identifier: BSL-1.0
#include <gyre/http2/serve_connection.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/http/serializer.hpp>
#include <gyre/sync/timeout.hpp>
#include <http/started_handler.hpp>
#include <http2/connection_core.hpp>
#include <http2/message_fields.hpp>
#include <http2/server_exchange.hpp>

#include <array>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

namespace gyre::http2 {
namespace {

class server_connection final : public connection_core {
public:
    server_connection(any_stream stream, const http::handler& handle,
                      const connection_options& options, const connection_hooks& hooks)
        : connection_core{std::move(stream), core_options_of(role::server, options)},
          handle_{handle},
          options_{options},
          hooks_{hooks} {}
    ~server_connection();
    server_connection(const server_connection&) = delete;
    server_connection& operator=(const server_connection&) = delete;

private:
    class produced_answer;
    static constexpr std::size_t kept_max = 16;  // Records of exchanges that are used again.

    engine_stream* opens(std::int32_t id) noexcept override;
    void field(engine_stream& of, std::string_view name, std::string_view value) noexcept override;
    void head_ends(engine_stream& of, bool last) noexcept override;
    void data(engine_stream& of, const_buffer bytes) noexcept override;
    void body_ends(engine_stream& of) noexcept override;
    void closes(engine_stream& of, error_code code) noexcept override;
    void stream_gone() noexcept override {}
    pulled pull(engine_stream& of, mutable_buffer into) noexcept override;
    void settings_came() noexcept override {}

    [[nodiscard]] std::size_t live() const noexcept override { return live_; }
    void begins() noexcept override {}
    void fail_streams(error why) noexcept override;
    void closes_intake() noexcept override {}

    [[nodiscard]] task<> serve(server_exchange& it);
    [[nodiscard]] task<> answer(server_exchange& it);
    [[nodiscard]] task<> ask(server_exchange& it);
    [[nodiscard]] task<> write_produced(server_exchange& it);
    [[nodiscard]] task<> await_close(server_exchange& it);
    void note_end(const server_exchange& it);
    void judge(server_exchange& it);
    [[nodiscard]] static bool is_bodiless(const server_exchange& it) noexcept {
        return it.request.method() == http::method::head || http::forbids_body(it.answer->status);
    }
    [[nodiscard]] static bool is_produced(const server_exchange& it) noexcept {
        return it.answer->body.producer() != nullptr && !is_bodiless(it);
    }
    static void begin_body(server_exchange& it);
    void send_head(server_exchange& it);
    void end(server_exchange& it) noexcept;
    void keep(server_exchange& it) noexcept;

    static server_exchange& of_engine(engine_stream& of) noexcept {
        return static_cast<server_exchange&>(of);
    }

    const http::handler& handle_;
    const connection_options& options_;
    const connection_hooks& hooks_;
    http::date_cache own_date_;
    list<server_exchange> present_;
    list<server_exchange> spare_;
    std::size_t live_ = 0;  // Invariant: the size of `present_`.
    std::size_t spare_count_ = 0;
    std::uint64_t served_ = 0;
};

// A producer's run. The head is sent once it waits: until then it is not too late for another one.
class server_connection::produced_answer final : public http::started_task<io_result<>> {
public:
    produced_answer(server_connection& on, server_exchange& it)
        : started_task{[&it] {
              return it.answer->body.producer()->write(http::body_writer{it.out});
          }},
          on_{on},
          it_{it} {}
    ~produced_answer() { let_go(); }

    [[nodiscard]] const char* waiting_for() const noexcept override { return "a body's producer"; }

private:
    void begins_to_wait() noexcept override {
        if (!it_.closed) on_.send_head(it_);
    }
    void has_ended() noexcept override {}

    server_connection& on_;
    server_exchange& it_;
};

server_connection::~server_connection() {
    while (!present_.empty()) delete &present_.pop_front();
    while (!spare_.empty()) delete &spare_.pop_front();
}

// -------- Events --------

// RFC 9113, 5.1.2. A stream that was reset counts until its task has ended, too.
engine_stream* server_connection::opens(std::int32_t) noexcept {
    if (live_ >= options_.streams_max || over()) return nullptr;
    server_exchange* it = nullptr;
    if (spare_.empty()) {
        const incoming_body::limits bounds{
            std::max<std::size_t>(options_.windows.stream_bytes, 65'535), options_.body_silence_max,
            options_.body_bytes_max};
        it = new server_exchange{*this, bounds, options_.body_write_bytes};
    } else {
        it = &spare_.pop_front();
        --spare_count_;
    }
    present_.push_back(*it);
    ++live_;
    return it;
}

void server_connection::field(engine_stream& of, std::string_view name,
                              std::string_view value) noexcept {
    of_engine(of).add_field(name, value);
}

void server_connection::head_ends(engine_stream& of, bool last) noexcept {
    server_exchange& it = of_engine(of);
    if (it.head_done) {
        // Trailers. RFC 9113, 8.1: they end the stream, which nghttp2 has seen to.
        if (it.head_too_large || it.in.has_bad_trailer()) {
            wire().reset(it, error_code::protocol);
        } else {
            it.in.end();
        }
        return;
    }
    it.refused = it.judge_head(last, options_.body_bytes_max);
    if (it.refused == http::status::bad_request) {
        wire().reset(it, error_code::protocol);
        return;
    }
    it.running = true;
    group_->spawn(serve(it));
    if (++served_ >= options_.requests_max) begin_drain();
}

void server_connection::data(engine_stream& of, const_buffer bytes) noexcept {
    of_engine(of).in.take(bytes);
}

void server_connection::body_ends(engine_stream& of) noexcept { of_engine(of).in.end(); }

void server_connection::closes(engine_stream& of, error_code code) noexcept {
    server_exchange& it = of_engine(of);
    it.closed = true;
    if (!it.running) return keep(it);
    // RFC 9113, 6.4: after the end of both sides this is no reset.
    const bool whole = it.out.done() && code == error_code::none;
    const error why = error_of_close(it, code);
    it.in.fail(why);
    if (!it.out.done()) it.out.fail(why);
    if (!whole) {
        if (!of.reset_sent) it.left.set();
        if (it.chain != nullptr) it.chain->request(stop_level::stop);
    }
    it.changed.set();
}

pulled server_connection::pull(engine_stream& of, mutable_buffer into) noexcept {
    server_exchange& it = of_engine(of);
    const pulled got = it.out.pull(into);
    it.sent_at = now();
    if (it.out.done()) it.changed.set();
    return got;
}

void server_connection::fail_streams(error why) noexcept {
    present_.for_each([this, why](server_exchange& it) {
        wire().forget(it);
        it.closed = true;
        if (!it.running) return keep(it);
        it.in.fail(why);
        it.out.fail(why);
        if (over() && why != errc::canceled) it.left.set();
        if (it.chain != nullptr) it.chain->request(stop_level::stop);
        it.changed.set();
    });
}

// -------- One request --------

task<> server_connection::serve(server_exchange& it) {
    it.chain = co_await look_awaiter{[](const environment& env) noexcept { return env.chain; }};
    // A request that was reset before its turn costs no handler.
    if (!it.closed) {
        co_await answer(it);
        if (hooks_.on_answered && it.answer && !it.refused) note_end(it);
    }
    end(it);
}

task<> server_connection::answer(server_exchange& it) {
    if (it.refused) {
        it.answer.emplace(*it.refused);
    } else {
        co_await ask(it);
    }
    if (it.closed) co_return;
    judge(it);
    if (is_produced(it)) {
        co_await write_produced(it);
    } else {
        begin_body(it);
        send_head(it);
    }
    it.in.drop(options_.dropped_bytes_max);
    if (!it.closed) co_await await_close(it);
}

task<> server_connection::ask(server_exchange& it) {
    it.begun_at = now();
    it.request.body = http::body_reader{it.in};
    it.request.set_chain(it.chain);
    it.request.set_peer_left(&it.left);
    it.request.set_peer(options_.peer);
    it.request.set_client(options_.client);
    it.request.set_scheme(options_.scheme);
    exception_slot failure;
    std::optional<task<http::response>> made;  // Nothing if it threw before it was a coroutine.
    run_catching(failure, [&] { made.emplace(handle_(it.request)); });
    std::optional<http::response> answered;
    if (made) {
        http::kept_in running{std::move(*made), failure};
        answered = co_await running;
    }
    if (answered) {
        it.answer.emplace(std::move(*answered));
        co_return;
    }
    if (hooks_.on_exception) hooks_.on_exception(it.request, failure);
    it.answer.emplace(http::status::internal_server_error);
}

void server_connection::note_end(const server_exchange& it) {
    http::answer_end end;
    end.status = it.answer->status;
    end.body_bytes = it.out.sent();
    end.took = now() - it.begun_at;
    using kind = http::answer_end::kind;
    const bool whole = it.head_said && it.out.sent_whole();
    if (!whole) end.how = it.left.is_set() ? kind::client_left : kind::cut;
    hooks_.on_answered(it.request, end);
}

// Makes the answer one that can be sent. RFC 9113, 8.6: there is no upgrade.
void server_connection::judge(server_exchange& it) {
    const http::response& made = *it.answer;
    if (made.upgrade || !http::is_sendable(made) || http::is_interim(made.status)) {
        it.answer.emplace(http::status::internal_server_error);
    }
}

void server_connection::begin_body(server_exchange& it) {
    http::response& made = *it.answer;
    const std::optional<std::uint64_t> size = made.body.size();
    const bool empty = made.body.producer() == nullptr && size.value_or(0) == 0;
    if (is_bodiless(it) || (empty && made.trailers.empty())) {
        it.out.begin_none();
    } else if (made.body.producer() != nullptr) {
        it.out.begin(size, made.trailers);
    } else {
        it.out.begin(made.body.bytes(), made.trailers);
    }
}

void server_connection::send_head(server_exchange& it) {
    http::response& made = *it.answer;
    std::array<char, 3> status{};
    std::to_chars(status.data(), status.data() + status.size(), http::number_of(made.status));
    wire().add(":status", {status.data(), status.size()});
    add_fields(wire(), made.fields);

    std::string_view date;
    if (!made.fields.contains("date")) {
        constexpr std::size_t name_size = 6;
        http::date_cache& dates = hooks_.date != nullptr ? *hooks_.date : own_date_;
        date = dates.line(now()).substr(name_size, std::tuple_size_v<http::http_date_text>);
        wire().add("date", date);
    }
    const bool asked_head = it.request.method() == http::method::head;
    const std::optional<std::uint64_t> size = made.body.size();
    std::array<char, 20> digits{};
    // RFC 9110, 8.6: to HEAD and with 304, the length that GET would be answered with.
    const bool may_claim =
        (asked_head || made.status == http::status::not_modified) && size.value_or(0) == 0;
    if (may_claim && made.fields.contains("content-length")) {
        wire().add("content-length", made.fields.value_or("content-length"));
    } else if (size && !http::forbids_body(made.status)) {
        const char* const end =
            std::to_chars(digits.data(), digits.data() + digits.size(), *size).ptr;
        wire().add("content-length", {digits.data(), end});
    }

    it.head_said = true;
    it.sent_at = now();
    wire().send_response(it, it.out.done());
    wake();
}

task<> server_connection::write_produced(server_exchange& it) {
    begin_body(it);
    produced_answer writing{*this, it};
    const bool kept = co_await writing;
    if (!kept && hooks_.on_exception) hooks_.on_exception(it.request, writing.failure());
    io_result<> ended = kept ? writing.result() : io_result<>{errc::canceled};
    if (ended.ok()) ended = it.out.end();
    if (it.closed) co_return;
    if (!ended.ok() && !it.head_said && it.out.untouched()) {
        // It is not too late for another answer.
        it.answer.emplace(http::status::internal_server_error);
        it.out.clear();
        begin_body(it);
        send_head(it);
        co_return;
    }
    if (!it.head_said) send_head(it);
    if (ended.ok()) co_return;
    // The peer gets what was written, and must not take it for all.
    static_cast<void>(co_await it.out.flush());
    if (it.closed) co_return;
    it.out.fail(ended.error());
    wire().reset(it, ended.error() == errc::timed_out ? error_code::cancel : error_code::internal);
    wake();
}

// Until both sides have ended. RFC 9113, 8.1: a request whose answer is complete may be cut off.
task<> server_connection::await_close(server_exchange& it) {
    const auto until = [this, &it] {
        return deadline_after(it.sent_at, it.out.done() ? times().linger_max : times().write_max);
    };
    while (!it.closed) {
        it.changed.reset();
        const io_result<> changed = co_await with_deadline(until(), it.changed.wait());
        if (changed.ok()) continue;
        if (changed.error() != errc::timed_out) break;
        if (now() < until()) continue;  // More has left meanwhile.
        if (it.out.is_behind_others()) {
            it.sent_at = now();
            continue;
        }
        wire().reset(it, it.out.done() ? error_code::none : error_code::cancel);
        wake();
        break;
    }
}

void server_connection::end(server_exchange& it) noexcept {
    if (it.head_said && it.out.sent_whole()) wire().request_done();
    if (it.known) {
        if (!it.closed && !it.out.done()) wire().reset(it, error_code::cancel);
        wire().forget(it);
    }
    keep(it);
    wake();
}

void server_connection::keep(server_exchange& it) noexcept {
    it.in.detach();
    it.unlink();
    --live_;
    if (spare_count_ >= kept_max) {
        delete &it;
        return;
    }
    it.clear();
    spare_.push_back(it);
    ++spare_count_;
}

}  // namespace

task<io_result<>> serve_connection(any_stream stream, const http::handler& handle,
                                   const connection_options& options,
                                   const connection_hooks& hooks) {
    expects(handle != nullptr, "a server needs a handler");
    server_connection connection{std::move(stream), handle, options, hooks};
    const io_result<> ended = co_await connection.run();
    if (connection.wire().why() != breach::none && hooks.on_breach) {
        hooks.on_breach(connection.wire().why());
    }
    co_return ended;
}

}  // namespace gyre::http2

// SPDX-License-Identifier: BSL-1.0
#include <gyre/http2/client_connection.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/http/serializer.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/waiters.hpp>
#include <http/started_handler.hpp>
#include <http2/client_exchange.hpp>
#include <http2/connection_core.hpp>
#include <http2/message_fields.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace gyre::http2 {

class client_connection::state final : public connection_core {
public:
    state(any_stream stream, client_options options)
        : connection_core{std::move(stream), core_options_of(role::client, options)},
          options_{std::move(options)} {}
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state();

    [[nodiscard]] task<io_result<received_response>> send(const http::request& what,
                                                          http::response_body body);
    void release(client_exchange& it) noexcept;

    [[nodiscard]] bool accepts() const noexcept {
        return !closing_ && !going() && wire().why() == breach::none;
    }
    [[nodiscard]] std::size_t streams_free() const noexcept;
    [[nodiscard]] error_code goaway_code() const noexcept { return peers_code_; }
    void close() noexcept;

    bool begun = false;  // `run` was.

private:
    // Waits for a stream that the server allows, in turn.
    class turn_awaiter final : public waiter {
    public:
        explicit turn_awaiter(state& of) noexcept : waiter{"a stream of HTTP/2"}, of_{of} {}
        turn_awaiter(turn_awaiter&&) noexcept = default;
        ~turn_awaiter() {
            if (abandon() == wait_state::woken) of_.give_turn_back();
        }

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            if (!stopped_before(*given) && of_.queue_.empty() && of_.streams_free() > 0) {
                ++of_.taken_;
                return go_on(handle, *given);
            }
            return wait_in(of_.queue_, handle, *given);
        }
        io_result<> await_resume() const noexcept { return outcome(); }

    private:
        state& of_;
    };

    // The caller's use of an exchange, until the response has it.
    class use {
    public:
        use(state& of, client_exchange& it) noexcept : of_{of}, it_{&it} {}
        use(const use&) = delete;
        use& operator=(const use&) = delete;
        ~use() {
            if (it_ != nullptr) of_.release(*it_);
        }
        client_exchange* give() noexcept { return std::exchange(it_, nullptr); }

    private:
        state& of_;
        client_exchange* it_;
    };

    engine_stream* opens(std::int32_t) noexcept override { return nullptr; }
    void field(engine_stream& of, std::string_view name, std::string_view value) noexcept override;
    void head_ends(engine_stream& of, bool last) noexcept override;
    void data(engine_stream& of, const_buffer bytes) noexcept override;
    void body_ends(engine_stream& of) noexcept override;
    void closes(engine_stream& of, error_code code) noexcept override;
    void stream_gone() noexcept override {
        give_turn_back();
        wake();
    }
    pulled pull(engine_stream& of, mutable_buffer into) noexcept override;
    void settings_came() noexcept override {
        serve_turns();
        tell_change();
    }

    [[nodiscard]] std::size_t live() const noexcept override { return wire().streams(); }
    void begins() noexcept override;
    void fail_streams(error why) noexcept override;
    void closes_intake() noexcept override;

    [[nodiscard]] bool submit(client_exchange& it, const http::request& what);
    [[nodiscard]] static bool has_answered(client_exchange& it, error why) noexcept;
    [[nodiscard]] task<io_result<>> await_head(client_exchange& it);
    void let_body_go(client_exchange& it);
    [[nodiscard]] task<> produce(client_exchange& it);
    void drop_use(client_exchange& it) noexcept;
    void give_turn_back() noexcept;
    void serve_turns() noexcept;
    void tell_change() const noexcept {
        if (options_.on_change) options_.on_change();
    }

    static client_exchange& of_engine(engine_stream& of) noexcept {
        return static_cast<client_exchange&>(of);
    }

    client_options options_;
    list<client_exchange> present_;
    waiters queue_;
    std::size_t taken_ = 0;  // Streams that were allowed, and have not gone.
    bool closing_ = false;
};

client_connection::state::~state() {
    // Responses may live longer, and bodies that have come whole may still be read.
    present_.for_each([this](client_exchange& it) {
        it.unlink();
        wire().forget(it);
        it.fail(errc::closed);
        it.in.outlive();
    });
}

// -------- Events --------

void client_connection::state::field(engine_stream& of, std::string_view name,
                                     std::string_view value) noexcept {
    of_engine(of).add_field(name, value);
}

void client_connection::state::head_ends(engine_stream& of, bool last) noexcept {
    client_exchange& it = of_engine(of);
    if (it.end_head(last, options_.interim_max)) return;
    it.fail({it.head_too_large ? errc::limit_exceeded : errc::malformed, activity::read});
    wire().reset(it, it.head_too_large ? error_code::cancel : error_code::protocol);
}

void client_connection::state::data(engine_stream& of, const_buffer bytes) noexcept {
    of_engine(of).in.take(bytes);
}

void client_connection::state::body_ends(engine_stream& of) noexcept { of_engine(of).in.end(); }

// True if the response is whole: it counts, and what was left of the request is not wanted.
bool client_connection::state::has_answered(client_exchange& it, error why) noexcept {
    if (!it.in.came_whole() || !it.head_done) return false;
    if (!it.out.done()) {
        it.out.fail(why);
        if (it.producer != nullptr) it.producer->request(stop_level::stop);
    }
    return true;
}

// RFC 9113, 8.7: what was refused, or came behind the last stream of GOAWAY, was not seen to.
void client_connection::state::closes(engine_stream& of, error_code code) noexcept {
    client_exchange& it = of_engine(of);
    // What our side has given up it gives up everywhere: the server has reset nothing.
    const bool given_up = wire().why() != breach::none;
    if (!it.reset_sent && !given_up) it.reset_by = code;
    it.unprocessed = code == error_code::refused_stream || !it.head_sent;
    if (has_answered(it, error_for(code))) return;
    const error why = given_up ? error_for(wire().why()) : error_of_close(it, code);
    it.fail({why.code(), activity::read});
}

pulled client_connection::state::pull(engine_stream& of, mutable_buffer into) noexcept {
    client_exchange& it = of_engine(of);
    const pulled got = it.out.pull(into);
    if (it.out.done()) it.changed.set();  // From now on the response is waited for.
    return got;
}

void client_connection::state::begins() noexcept {
    begun = true;
    present_.for_each([this](client_exchange& it) {
        if (!std::exchange(it.producer_due, false)) return;
        ++it.users;
        group_->spawn(produce(it));
    });
}

void client_connection::state::fail_streams(error why) noexcept {
    present_.for_each([this, why](client_exchange& it) {
        if (!it.head_sent) {
            it.unprocessed = true;
            wire().reset(it, error_code::cancel);  // Else its head leaves with what is said last.
        }
        wire().forget(it);
        if (!has_answered(it, why)) it.fail(why);
    });
}

void client_connection::state::closes_intake() noexcept {
    queue_.wake_all(errc::closed);
    tell_change();
}

// -------- Turns --------

std::size_t client_connection::state::streams_free() const noexcept {
    if (!accepts()) return 0;
    const std::size_t most = std::min(options_.streams_max, wire().peers_streams_max());
    return most > taken_ ? most - taken_ : 0;
}

void client_connection::state::give_turn_back() noexcept {
    if (taken_ > 0) --taken_;
    serve_turns();
    tell_change();
}

// RFC 9113, 5.1.2.
void client_connection::state::serve_turns() noexcept {
    while (!queue_.empty() && streams_free() > 0) {
        ++taken_;
        queue_.wake_one();
    }
}

// -------- Requests --------

task<io_result<received_response>> client_connection::state::send(const http::request& what,
                                                                  http::response_body body) {
    using result = io_result<received_response>;
    received_response got;
    got.unprocessed = true;
    if (!http2::is_sendable(what, body.size()))
        co_return result{errc::invalid_argument, std::move(got)};
    if (!accepts()) co_return result{errc::closed, std::move(got)};
    const io_result<> turn = co_await with_timeout(options_.turn_time_max, turn_awaiter{*this});
    if (!turn.ok()) co_return result{turn.error(), std::move(got)};
    if (!accepts()) {
        give_turn_back();
        co_return result{errc::closed, std::move(got)};
    }

    const incoming_body::limits bounds{std::max<std::size_t>(options_.windows.stream_bytes, 65'535),
                                       options_.body_silence_max, options_.body_bytes_max};
    auto* const it = new client_exchange{*this, bounds, options_.body_write_bytes};
    present_.push_back(*it);
    use held{*this, *it};
    it->body = std::move(body);
    if (!submit(*it, what)) {
        give_turn_back();
        closing_ = true;  // No stream is left, or no memory.
        closes_intake();
        co_return result{errc::closed, std::move(got)};
    }
    if (!it->out.held()) let_body_go(*it);
    const io_result<> came = co_await await_head(*it);
    got.unprocessed = !came.ok() && it->unprocessed;
    got.reset_by = it->reset_by;
    if (!came.ok()) co_return result{came.error(), std::move(got)};
    got.status = it->head.status;
    got.version = http::version::http_2;
    got.fields = std::move(it->head.fields);
    got.body = http::body_reader{it->in};
    got.stream_ = held.give();
    got.on_ = this;
    co_return result{std::move(got)};
}

// RFC 9113, 8.3.1.
bool client_connection::state::submit(client_exchange& it, const http::request& what) {
    const bool tunnels = what.method() == http::method::connect;
    wire().add(":method", what.method_text());
    if (!tunnels) wire().add(":scheme", what.scheme().empty() ? "http" : what.scheme());
    const std::string_view host = http::host_of(what);
    if (!host.empty() || tunnels) {
        wire().add(":authority", tunnels ? what.target() : host);
    }
    if (!tunnels) wire().add(":path", what.target());
    add_fields(wire(), what.fields);

    const std::optional<std::uint64_t> size = it.body.size();
    std::array<char, 20> digits{};
    const bool has_body = !size || *size > 0;
    if (size && (*size > 0 || what.method() == http::method::post ||
                 what.method() == http::method::put || what.method() == http::method::patch)) {
        const char* const end =
            std::to_chars(digits.data(), digits.data() + digits.size(), *size).ptr;
        wire().add("content-length", {digits.data(), end});
    }
    if (!has_body) {
        it.out.begin_none();
    } else if (it.body.producer() != nullptr) {
        it.out.begin(size, it.trailers);
    } else {
        it.out.begin(it.body.bytes(), it.trailers);
    }
    if (has_body && what.fields.has_token("expect", "100-continue")) it.out.hold();
    const bool sent = wire().send_request(it, !has_body);
    wake();
    return sent;
}

task<io_result<>> client_connection::state::await_head(client_exchange& it) {
    for (;;) {
        if (it.head_done && !it.failed) co_return io_result<>{};
        if (it.failed) co_return it.failed;
        // RFC 9110, 10.1.1.
        if (it.out.held() && it.head.status == http::status::continue_request) let_body_go(it);
        const std::uint64_t before = it.out.sent();
        const bool held = it.out.held();
        it.changed.reset();
        const duration limit = held ? options_.continue_time_max : options_.response_time_max;
        const io_result<> changed = co_await with_timeout(limit, it.changed.wait());
        if (changed.ok()) continue;
        if (changed.error() != errc::timed_out) co_return changed.error();
        if (held) let_body_go(it);
        else if (it.out.done() || (it.out.sent() == before && !it.out.is_behind_others()))
            co_return changed.error();
    }
}

void client_connection::state::let_body_go(client_exchange& it) {
    it.out.let_go();
    if (it.body.producer() == nullptr) return;
    if (group_ == nullptr) {
        it.producer_due = true;
        return;
    }
    ++it.users;
    group_->spawn(produce(it));
}

task<> client_connection::state::produce(client_exchange& it) {
    it.producer = co_await look_awaiter{[](const environment& env) noexcept { return env.chain; }};
    if (!it.failed) {
        exception_slot failure;
        http::kept_in writing{it.body.producer()->write(http::body_writer{it.out}), failure};
        const std::optional<io_result<>> written = co_await writing;
        io_result<> ended = written ? *written : io_result<>{errc::canceled};
        if (ended.ok()) ended = it.out.end();
        if (!ended.ok() && it.known) {
            wire().reset(it, code_for(ended.error()));
            it.fail(ended.error());
            wake();
        }
    }
    it.producer = nullptr;
    drop_use(it);
}

// The owner of the exchange does not want it any more; others do not notice. RFC 9113, 5.4.2.
void client_connection::state::release(client_exchange& it) noexcept {
    if (it.known) {
        const bool whole = it.in.came_whole() && it.out.done();
        if (!whole) wire().reset(it, error_code::cancel);
        wire().forget(it);
    }
    it.fail(errc::canceled);
    it.in.detach();
    it.unlink();
    wake();
    drop_use(it);
}

void client_connection::state::drop_use(client_exchange& it) noexcept {
    if (--it.users == 0) delete &it;
}

void client_connection::state::close() noexcept {
    closing_ = true;
    closes_intake();
    begin_drain();
}

// -------- Responses --------

received_response::received_response() noexcept = default;

received_response::received_response(received_response&& other) noexcept
    : http::received_response{static_cast<http::received_response&&>(other)},
      unprocessed{other.unprocessed},
      reset_by{other.reset_by},
      stream_{std::exchange(other.stream_, nullptr)},
      on_{std::exchange(other.on_, nullptr)} {}

received_response& received_response::operator=(received_response&& other) noexcept {
    if (this == &other) return *this;
    let_go();
    http::received_response::operator=(static_cast<http::received_response&&>(other));
    unprocessed = other.unprocessed;
    reset_by = other.reset_by;
    stream_ = std::exchange(other.stream_, nullptr);
    on_ = std::exchange(other.on_, nullptr);
    return *this;
}

received_response::~received_response() { let_go(); }

void received_response::let_go() noexcept {
    if (stream_ == nullptr) return;
    if (stream_->linked()) client_connection::release(on_, *stream_);
    else delete stream_;  // Its connection has gone.
    stream_ = nullptr;
}

// -------- The connection --------

client_connection::client_connection() noexcept = default;
client_connection::client_connection(any_stream stream, client_options options)
    : state_{std::make_unique<state>(std::move(stream), std::move(options))} {}
client_connection::client_connection(client_connection&&) noexcept = default;
client_connection& client_connection::operator=(client_connection&&) noexcept = default;
client_connection::~client_connection() = default;

void client_connection::release(void* on, client_exchange& it) noexcept {
    static_cast<state*>(on)->release(it);
}

task<io_result<>> client_connection::run() {
    if (state_ == nullptr) co_return errc::closed;
    expects(!state_->begun, "a connection is run once");
    state_->begun = true;
    const io_result<> ended = co_await state_->run();
    co_return ended;
}

task<io_result<received_response>> client_connection::send(const http::request& what,
                                                           http::response_body body) {
    if (state_ == nullptr) {
        received_response none;
        none.unprocessed = true;
        co_return io_result<received_response>{errc::closed, std::move(none)};
    }
    io_result<received_response> got = co_await state_->send(what, std::move(body));
    co_return got;
}

bool client_connection::reusable() const noexcept { return state_ != nullptr && state_->accepts(); }

std::size_t client_connection::streams_free() const noexcept {
    return state_ != nullptr ? state_->streams_free() : 0;
}

bool client_connection::settled() const noexcept {
    return state_ != nullptr && state_->wire().settings_came();
}

breach client_connection::why() const noexcept {
    return state_ != nullptr ? state_->wire().why() : breach::none;
}

error_code client_connection::goaway_code() const noexcept {
    return state_ != nullptr ? state_->goaway_code() : error_code::none;
}

void client_connection::close() noexcept {
    if (state_ != nullptr) state_->close();
}

}  // namespace gyre::http2

// SPDX-License-Identifier: BSL-1.0
//
// The laws of a duplex stream, asked of everything that claims to be one, on every backend and in a world.
//
// gyre/stream/concepts.hpp states them; a protocol written against that concept works on a pipe in
// memory, on a Unix-domain socket and on TCP, on halves of them and through layers above them, because
// all of them obey what stands here. `all_kinds` is the list.
#include <gyre/io/pipe.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/buffered.hpp>
#include <gyre/stream/chain_stream.hpp>
#include <gyre/stream/counted_stream.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/stream/null_stream.hpp>
#include <gyre/stream/split.hpp>
#include <gyre/stream/stream_ref.hpp>
#include <gyre/stream/take_stream.hpp>
#include <gyre/stream/tee_stream.hpp>
#include <gyre/stream/throttled_stream.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/rate_limiter.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_any.hpp>

#include <protocol_streams.hpp>
#include <support/conformance.hpp>
#include <support/disposable.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

/// Two connected ends, each kind under the same names.
struct over_memory {
    static constexpr const char* name = "memory pipe";
    explicit over_memory(io_context&) : pipe{64}, near{pipe.first}, far{pipe.second} {}

    memory_pipe pipe;
    memory_stream& near;
    memory_stream& far;
};

struct over_socket {
    explicit over_socket(socket_pair made) : ends{std::move(made)} {}
    over_socket(const over_socket&) = delete;
    over_socket& operator=(const over_socket&) = delete;

    socket_pair ends;
    stream_socket& near = ends.client;
    stream_socket& far = ends.server;
};

struct over_local : over_socket {
    static constexpr const char* name = "Unix-domain socket";
    explicit over_local(io_context& io) : over_socket{local_pair(io)} {}
};

struct over_tcp : over_socket {
    static constexpr const char* name = "TCP socket";
    explicit over_tcp(io_context& io) : over_socket{connected_pair(io)} {}
};

/// Two pipes of the kernel, one each way.
class pipe_end {
public:
    pipe_end(readable_pipe in, writable_pipe out) : in_{std::move(in)}, out_{std::move(out)} {}

    [[nodiscard]] auto read_some(read_space into) noexcept { return in_.read_some(into); }
    [[nodiscard]] auto write_some(const_buffer from) { return out_.write_some(from); }
    void shutdown_send() { static_cast<void>(out_.close()); }
    void close() {
        static_cast<void>(in_.close());
        static_cast<void>(out_.close());
    }

private:
    readable_pipe in_;
    writable_pipe out_;
};

struct over_pipes {
    static constexpr const char* name = "two pipes";
    static constexpr errc refusal_after_end = errc::closed;  // Its end is its closing.
    explicit over_pipes(io_context& io) : over_pipes{make_pipe(io), make_pipe(io)} {}
    over_pipes(io_result<readable_pipe, writable_pipe> there,
               io_result<readable_pipe, writable_pipe> back)
        : near{std::move(back.get<1>()), std::move(there.get<2>())},
          far{std::move(there.get<1>()), std::move(back.get<2>())} {}

    pipe_end near;
    pipe_end far;
};

/// The halves of a stream, each owned.
template <class Stream>
class halved_end {
public:
    explicit halved_end(Stream whole) : halves_{split(std::move(whole))} {}

    [[nodiscard]] auto read_some(read_space into) noexcept { return halves_.reads.read_some(into); }
    [[nodiscard]] auto write_some(const_buffer from) { return halves_.writes.write_some(from); }
    io_result<> shutdown_send() { return halves_.writes.shutdown_send(); }
    void close() { static_cast<void>(halves_.writes.whole().close()); }

private:
    stream_halves<Stream> halves_;
};

struct over_memory_halves {
    static constexpr const char* name = "halves of a memory pipe";
    explicit over_memory_halves(io_context&, memory_pipe pipe = memory_pipe{64})
        : near{std::move(pipe.first)}, far{std::move(pipe.second)} {}

    halved_end<memory_stream> near;
    halved_end<memory_stream> far;
};

struct over_socket_halves {
    static constexpr const char* name = "halves of a TCP socket";
    explicit over_socket_halves(io_context& io) : over_socket_halves{connected_pair(io)} {}
    explicit over_socket_halves(socket_pair ends)
        : near{std::move(ends.client)}, far{std::move(ends.server)} {}

    halved_end<stream_socket> near;
    halved_end<stream_socket> far;
};

/// An end of a memory pipe behind something that changes nothing, or nothing that shows: `Layer::over` makes
/// that. What can only read is written past.
template <class Layer>
class layered_end {
public:
    layered_end(memory_stream& end, Layer& layer) : end_{end}, layer_{layer.over(end)} {}

    [[nodiscard]] auto read_some(read_space into) { return layer_.read_some(into); }
    [[nodiscard]] auto write_some(const_buffer from) {
        if constexpr (write_stream<decltype(layer_)>) return layer_.write_some(from);
        else return end_.write_some(from);
    }
    void shutdown_send() noexcept { end_.shutdown_send(); }
    void close() noexcept { end_.close(); }

private:
    memory_stream& end_;
    decltype(std::declval<Layer&>().over(std::declval<memory_stream&>())) layer_;
};

template <class Layer>
struct over_layer {
    static constexpr const char* name = Layer::name;
    explicit over_layer(io_context& io) : layer{io} {}

    Layer layer;
    memory_pipe pipe{64};
    layered_end<Layer> near{pipe.first, layer};
    layered_end<Layer> far{pipe.second, layer};
};

struct needs_no_loop {
    explicit needs_no_loop(io_context&) noexcept {}
};

struct buffered_layer : needs_no_loop {
    static constexpr const char* name = "buffered_reader of a few bytes";
    using needs_no_loop::needs_no_loop;
    auto over(memory_stream& end) { return buffered_reader<memory_stream>{end, 16}; }
};

struct ref_layer : needs_no_loop {
    static constexpr const char* name = "stream_ref";
    using needs_no_loop::needs_no_loop;
    auto over(memory_stream& end) { return stream_ref{end}; }
};

struct take_layer : needs_no_loop {
    static constexpr const char* name = "take_stream without an end";
    using needs_no_loop::needs_no_loop;
    auto over(memory_stream& end) { return take_stream{stream_ref{end}, UINT64_MAX}; }
};

struct chain_layer : needs_no_loop {
    static constexpr const char* name = "chain_stream of nothing, one and nothing";
    using needs_no_loop::needs_no_loop;
    auto over(memory_stream& end) {
        return chain_stream{null_stream{}, chain_stream{stream_ref{end}, null_stream{}}};
    }
};

struct tee_layer : needs_no_loop {
    static constexpr const char* name = "tee_stream into nothing";
    using needs_no_loop::needs_no_loop;
    auto over(memory_stream& end) {
        return tee_stream{stream_ref{end}, null_stream{}, buffer_bounds{1, 32}};
    }
};

struct counted_layer : needs_no_loop {
    static constexpr const char* name = "counted_stream";
    using needs_no_loop::needs_no_loop;
    auto over(memory_stream& end) { return counted_stream{stream_ref{end}}; }
};

struct throttle_layer {
    static constexpr const char* name = "throttled_stream of a high rate";
    explicit throttle_layer(io_context& io) : limiter{io, {1'000'000'000, 1s, 1'000'000}} {}
    auto over(memory_stream& end) {
        return throttled_stream{stream_ref{end}, throttles{&limiter, &limiter}};
    }

    rate_limiter limiter;
};

/// Both ends of a connection of another kind, erased.
struct over_any {
    template <class Stream>
    over_any(Stream&& one, Stream&& other) : near{std::move(one)}, far{std::move(other)} {}

    any_stream near;
    any_stream far;
};

struct over_any_memory : over_any {
    static constexpr const char* name = "any_stream of a memory pipe";
    explicit over_any_memory(io_context&, memory_pipe pipe = memory_pipe{64})
        : over_any{std::move(pipe.first), std::move(pipe.second)} {}
};

struct over_any_socket : over_any {
    static constexpr const char* name = "any_stream of a TCP socket";
    explicit over_any_socket(io_context& io) : over_any_socket{connected_pair(io)} {}
    explicit over_any_socket(socket_pair ends)
        : over_any{std::move(ends.client), std::move(ends.server)} {}
};

/// Every stream there is.
template <class... Kinds>
struct kinds {};
using all_kinds =
    with_protocols<kinds, over_memory, over_local, over_tcp, over_pipes, over_memory_halves,
                   over_socket_halves, over_any_memory, over_any_socket, over_layer<buffered_layer>,
                   over_layer<ref_layer>, over_layer<take_layer>, over_layer<chain_layer>,
                   over_layer<tee_layer>, over_layer<counted_layer>, over_layer<throttle_layer>>;

/// Asks a law of one kind on each backend.
template <class Connection, class Law>
void on_each_backend(const Law& law) {
    INFO(Connection::name);
    const auto test = [&](io_context& io) -> task<> {
        Connection connection{io};
        if constexpr (std::invocable<const Law&, Connection&, io_context&>) {
            co_await law(connection, io);
        } else {
            co_await law(connection);
        }
    };
    on_each_backend_of("streams of every kind", test);
}

/// Asks a law, a callable `task<>(connection&)` that may want the `io_context&` as well, of each kind on
/// each backend.
template <class Law>
void on_every_stream(const Law& law) {
    [&]<class... Each>(kinds<Each...>) { (on_each_backend<Each>(law), ...); }(all_kinds{});
}

/// What a write is told after the end of its direction.
template <class Connection>
errc refusal_after_end(const Connection&) {
    if constexpr (requires { Connection::refusal_after_end; }) return Connection::refusal_after_end;
    else return errc::broken_pipe;
}

template <class Stream>
void finish(Stream& of) {
    CHECK(end_sending(of).ok());
}

std::string random_text(std::mt19937& random, std::size_t size) {
    std::string text(size, ' ');
    for (char& each : text) each = static_cast<char>('a' + random() % 26);
    return text;
}

/// Writes `text` in pieces of random size, and checks what each write says.
template <class Stream>
task<> write_in_pieces(Stream& to, std::mt19937& random, const std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t wanted = std::min<std::size_t>(random() % 200, text.size() - at);
        const std::string_view piece = std::string_view{text}.substr(at, wanted);
        const io_result<std::size_t> put = co_await to.write_some(bytes_of(piece));
        CHECK(put.ok());
        CHECK(put.value() <= wanted);
        CHECK((put.value() > 0 || wanted == 0));
        at += put.value();
        if (random() % 8 == 0) co_await yield();
    }
}

/// Reads to the end in pieces of random size, and checks what each read says.
template <class Stream>
task<> read_in_pieces(Stream& from, std::mt19937& random, std::string& text) {
    std::array<std::byte, 256> space;
    for (;;) {
        const std::size_t wanted = random() % space.size();
        const io_result<std::size_t> got = co_await from.read_some(std::span{space}.first(wanted));
        CHECK(got.value() <= wanted);
        if (!got.ok()) {
            CHECK(got.error() == errc::eof);
            CHECK(got.value() == 0);
            co_return;
        }
        CHECK((got.value() > 0 || wanted == 0));
        text += text_of(std::span{space}.first(got.value()));
        if (random() % 8 == 0) co_await yield();
    }
}

template <class Stream>
task<> send_text(Stream& to, const char* text) {
    const io_result<std::size_t> sent = co_await write_all(to, bytes_of(text));
    CHECK(sent.ok());
}

template <class Stream>
task<> receive_text(Stream& from, std::string& into, std::size_t size) {
    into.resize(size);
    const mutable_buffer space = std::as_writable_bytes(std::span{into});
    const io_result<std::size_t> got = co_await read_exactly(from, space);
    CHECK(got.ok());
    into.resize(got.value());
}

}  // namespace

TEST_CASE("a stream: an empty buffer transfers nothing, successfully and without waiting") {
    on_every_stream([](auto& connection) -> task<> {
        const io_result<std::size_t> read = co_await connection.near.read_some(mutable_buffer{});
        const io_result<std::size_t> written = co_await connection.near.write_some(const_buffer{});
        co_await send_text(connection.far, "x");
        const io_result<std::size_t> read_again =
            co_await connection.near.read_some(mutable_buffer{});

        CHECK(read.ok());
        CHECK(read.value() == 0);
        CHECK(written.ok());
        CHECK(written.value() == 0);
        CHECK(read_again.ok());
        CHECK(read_again.value() == 0);
    });
}

TEST_CASE("a stream: bytes arrive in order, whatever sizes are read and written") {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    on_every_stream([seed](auto& connection) -> task<> {
        std::mt19937 random{seed};
        const std::string there = random_text(random, 20'000);
        const std::string back = random_text(random, 20'000);
        std::string at_far;
        std::string at_near;
        const auto writes = [&](auto& to, const std::string& text) -> task<> {
            co_await write_in_pieces(to, random, text);
            finish(to);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(writes(connection.near, there));
            group.spawn(writes(connection.far, back));
            group.spawn(read_in_pieces(connection.far, random, at_far));
            group.spawn(read_in_pieces(connection.near, random, at_near));
            co_return;
        };

        co_await with_group(body);

        CHECK(at_far == there);
        CHECK(at_near == back);
    });
}

TEST_CASE("a stream: the end comes after the bytes, with none, and comes again") {
    on_every_stream([](auto& connection) -> task<> {
        std::array<std::byte, 16> space;
        co_await send_text(connection.near, "last");
        finish(connection.near);

        const io_result<std::size_t> bytes = co_await connection.far.read_some(space);
        CHECK(bytes.ok());
        CHECK(text_of(std::span{space}.first(bytes.value())) == "last");
        for (int time = 0; time < 3; ++time) {
            const io_result<std::size_t> end = co_await connection.far.read_some(space);
            CHECK(end.error() == errc::eof);
            CHECK(end.value() == 0);
        }
        const io_result<std::size_t> nothing = co_await connection.far.read_some(mutable_buffer{});
        CHECK(nothing.ok());
    });
}

TEST_CASE("a stream: a read that waits is ended by the end") {
    on_every_stream([](auto& connection) -> task<> {
        io_result<std::size_t> end;
        const auto reads = [&]() -> task<> {
            std::array<std::byte, 4> space;
            end = co_await connection.far.read_some(space);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(reads());
            co_await settle();
            finish(connection.near);
        };

        co_await with_group(body);

        CHECK(end.error() == errc::eof);
        CHECK(end.value() == 0);
    });
}

TEST_CASE("a stream: each direction ends by itself") {
    on_every_stream([](auto& connection) -> task<> {
        std::array<std::byte, 4> space;
        std::string answer;
        finish(connection.near);

        const io_result<std::size_t> end = co_await connection.far.read_some(space);
        co_await send_text(connection.far, "answer");
        co_await receive_text(connection.near, answer, 6);
        const io_result<std::size_t> refused =
            co_await connection.near.write_some(bytes_of("more"));

        CHECK(end.error() == errc::eof);
        CHECK(answer == "answer");
        CHECK(refused.error() == refusal_after_end(connection));
        CHECK(refused.value() == 0);
    });
}

TEST_CASE("a stream: writes after the peer has gone fail in the end, with no byte counted") {
    on_every_stream([](auto& connection) -> task<> {
        static_cast<void>(connection.far.close());
        const std::string text(1000, 'x');
        io_result<std::size_t> put;

        // TCP learns that the peer has gone only by the answer to its first bytes.
        for (int time = 0; time < 1000 && put.ok(); ++time) {
            put = co_await connection.near.write_some(bytes_of(text));
            if (put.ok()) static_cast<void>(co_await sleep_for(100us));
        }

        CHECK_FALSE(put.ok());
        CHECK(put.value() == 0);
        CHECK((put.error() == errc::broken_pipe || put.error() == errc::connection_reset));
    });
}

TEST_CASE("a stream: what is begun on a closed end, or was made before, ends with errc::closed") {
    on_every_stream([](auto& connection) -> task<> {
        std::array<std::byte, 4> space;
        co_await send_text(connection.far, "lost");
        auto read = connection.near.read_some(mutable_buffer{space});
        auto write = connection.near.write_some(bytes_of("late"));
        static_cast<void>(connection.near.close());

        const io_result<std::size_t> read_after = co_await read;
        const io_result<std::size_t> written_after = co_await write;
        const io_result<std::size_t> read_closed = co_await read_exactly(connection.near, space);
        const io_result<std::size_t> written_closed =
            co_await write_all(connection.near, bytes_of("later"));

        for (const io_result<std::size_t>& each :
             {read_after, written_after, read_closed, written_closed}) {
            CHECK(each.error() == errc::closed);
            CHECK(each.value() == 0);
        }
    });
}

TEST_CASE("a stream: what could be done at once is not begun once stopped") {
    on_every_stream([](auto& connection) -> task<> {
        io_result<std::size_t> read;
        io_result<std::size_t> written;
        std::string received;
        co_await send_text(connection.far, "kept");
        const auto tries = [&]() -> task<> {
            std::array<std::byte, 4> space;
            read = co_await connection.near.read_some(space);
            written = co_await connection.near.write_some(bytes_of("not sent"));
        };
        const auto body = [&](task_group& group) -> task<> {
            group.request_stop();
            group.spawn(tries());
            co_await group.join();
        };

        co_await with_group(body);
        co_await send_text(connection.near, "sent");
        co_await receive_text(connection.near, received, 4);
        CHECK(received == "kept");
        co_await receive_text(connection.far, received, 4);

        CHECK(received == "sent");
        CHECK(read.error() == errc::canceled);
        CHECK(read.value() == 0);
        CHECK(written.error() == errc::canceled);
        CHECK(written.value() == 0);
    });
}

TEST_CASE(
    "a stream: a read that is stopped while it waits reads nothing, and the next one gets all") {
    on_every_stream([](auto& connection) -> task<> {
        std::array<std::byte, 4> space;
        std::string received;

        const io_result<std::size_t> late =
            co_await with_timeout(1ms, connection.far.read_some(space));
        co_await send_text(connection.near, "abcd");
        co_await receive_text(connection.far, received, 4);

        CHECK(late.error() == errc::timed_out);
        CHECK(late.value() == 0);
        CHECK(received == "abcd");
    });
}

TEST_CASE("a stream: whenever reads and writes are stopped, no byte is lost or doubled") {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    on_every_stream([seed](auto& connection) -> task<> {
        std::mt19937 random{seed};
        const std::string text = random_text(random, 50'000);
        std::string received;
        const auto moment = [&] { return std::chrono::microseconds{random() % 60}; };
        const auto writes = [&]() -> task<> {
            std::size_t at = 0;
            while (at < text.size()) {
                const std::size_t size = std::min<std::size_t>(1 + random() % 90, text.size() - at);
                const std::string_view piece = std::string_view{text}.substr(at, size);
                const io_result<std::size_t> put =
                    co_await with_timeout(moment(), connection.near.write_some(bytes_of(piece)));
                CHECK((put.ok() || put.error() == errc::timed_out));
                CHECK((put.ok() || put.value() == 0));
                at += put.value();
                if (random() % 4 == 0) static_cast<void>(co_await sleep_for(moment()));
            }
            finish(connection.near);
        };
        const auto reads = [&]() -> task<> {
            std::array<std::byte, 64> space;
            for (;;) {
                const io_result<std::size_t> got =
                    co_await with_timeout(moment(), connection.far.read_some(space));
                if (got.error() == errc::eof) co_return;
                CHECK((got.ok() || got.error() == errc::timed_out));
                CHECK((got.ok() || got.value() == 0));
                received += text_of(std::span{space}.first(got.value()));
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(writes());
            group.spawn(reads());
            co_return;
        };

        co_await with_group(body);

        CHECK(received == text);
    });
}

TEST_CASE("a stream: a read that loses a race reports what it has read") {
    on_every_stream([](auto& connection) -> task<> {
        constexpr std::size_t rounds = 200;
        std::string received;
        event go;
        const auto writes = [&]() -> task<> {
            for (std::size_t round = 0; round < rounds; ++round) {
                co_await send_text(connection.near, "r");
                go.set();
                co_await yield();
            }
            finish(connection.near);
        };
        const auto reads = [&]() -> task<> {
            std::array<std::byte, 4> space;
            for (;;) {
                go.reset();
                const auto first = co_await when_any(go.wait(), connection.far.read_some(space));
                const io_result<std::size_t> got = std::get<1>(first.results);
                if (got.error() == errc::eof) co_return;
                received += text_of(std::span{space}.first(got.value()));
                if (received.size() == rounds) go.reset();
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(reads());
            group.spawn(writes());
            co_return;
        };

        co_await with_group(body);

        CHECK(received == std::string(rounds, 'r'));
    });
}

TEST_CASE("a stream: a drain ends neither reads nor writes") {
    on_every_stream([](auto& connection) -> task<> {
        std::string received;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(receive_text(connection.far, received, 5));
            co_await settle();
            group.request_drain();
            co_await send_text(connection.near, "still");
        };

        co_await with_group(body);

        CHECK(received == "still");
    });
}

namespace {

template <class Stream>
disposable read_in_frame(Stream& from, mutable_buffer into) {
    static_cast<void>(co_await from.read_some(into));
    FAIL_CHECK("resumed after its end");
}

// Writes until it is destroyed.
template <class Stream>
disposable write_in_frame(Stream& to, const std::string& text, std::size_t& sent) {
    for (;;) {
        const io_result<std::size_t> put = co_await to.write_some(bytes_of(text));
        CHECK(put.ok());
        sent += put.value();
    }
}

void begin(const disposable& it, const environment& surroundings) {
    it.frame.promise().env = &surroundings;
    gyre::resume(it.frame);
}

}  // namespace

TEST_CASE("a stream: a coroutine destroyed while it reads takes no byte with it") {
    on_every_stream([](auto& connection, io_context& io) -> task<> {
        stop_chain chain;
        const environment surroundings{io, &io, &chain};
        std::array<std::byte, 4> space{};
        std::string received;
        const disposable reader = read_in_frame(connection.far, space);
        begin(reader, surroundings);
        co_await settle();

        reader.frame.destroy();
        co_await send_text(connection.near, "abcd");
        co_await receive_text(connection.far, received, 4);

        CHECK(chain.pending() == nullptr);
        CHECK(received == "abcd");
        CHECK(space == std::array<std::byte, 4>{});
    });
}

TEST_CASE("a stream: a peer that reads nothing makes writes wait, and another may go on for them") {
    on_every_stream([](auto& connection, io_context& io) -> task<> {
        stop_chain chain;
        const environment surroundings{io, &io, &chain};
        const std::string text(256 * 1024, 'x');
        std::size_t sent = 0;
        std::size_t received = 0;
        const disposable writer = write_in_frame(connection.near, text, sent);
        begin(writer, surroundings);
        // As long as it is ready to go on, it is not pending.
        for (std::size_t before = 1; chain.pending() == nullptr || before != sent;) {
            before = sent;
            co_await settle();
        }

        writer.frame.destroy();
        CHECK(chain.pending() == nullptr);
        const auto writes = [&]() -> task<> {
            co_await send_text(connection.near, "end");
            finish(connection.near);
        };
        const auto reads = [&]() -> task<> {
            std::vector<std::byte> space(64 * 1024);
            for (;;) {
                const io_result<std::size_t> got = co_await connection.far.read_some(space);
                if (!got.ok()) break;
                received += got.value();
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(writes());
            group.spawn(reads());
            co_return;
        };
        co_await with_group(body);

        CHECK(sent > 0);
        CHECK(received == sent + 3);
    });
}

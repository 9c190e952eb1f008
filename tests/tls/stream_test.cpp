// SPDX-License-Identifier: BSL-1.0
//
// What TLS streams promise beyond the laws of streams, which tests/laws/stream_laws_test.cpp asks of them.
#include <gyre/tls/stream.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include "stream_pair.hpp"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

std::string long_text(std::size_t size) {
    std::string text(size, ' ');
    for (std::size_t at = 0; at < size; ++at) text[at] = static_cast<char>('a' + at * 7 % 26);
    return text;
}

task<> write_text(tls::stream& to, std::string text, error& outcome) {
    const io_result<std::size_t> written = co_await write_all(to, bytes_of(text));
    outcome = written.error();
}

task<> read_to_end(tls::stream& from, std::string& into, error& outcome) {
    std::vector<std::byte> space(5000);
    for (;;) {
        const io_result<std::size_t> got = co_await from.read_some(space);
        into += text_of(std::span{space}.first(got.value()));
        outcome = got.error();
        if (!got.ok()) co_return;
    }
}

task<> finish_into(tls::stream& it, error& outcome) {
    const io_result<> ended = co_await it.finish();
    outcome = ended.error();
}

/// Carries `text` from the client to the server and ends both in order.
task<> check_carries(stream_pair& pair, const std::string& text) {
    std::string received;
    error written;
    error read;
    error client_end;
    error server_end;
    const auto sends = [&]() -> task<> {
        co_await write_text(pair.client, text, written);
        co_await finish_into(pair.client, client_end);
    };
    const auto receives = [&]() -> task<> {
        co_await read_to_end(pair.server, received, read);
        co_await finish_into(pair.server, server_end);
    };
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(sends());
        group.spawn(receives());
        co_return;
    };
    co_await with_group(body);
    CHECK(received == text);
    CHECK_FALSE(written);
    CHECK(read == errc::eof);
    CHECK_FALSE(client_end);
    CHECK_FALSE(server_end);
}

}  // namespace

TEST_CASE("a TLS stream: shakes hands, carries and ends over pipes that hold as little as a byte") {
    on_every_backend([](io_context&) -> task<> {
        for (const std::size_t capacity : {1, 2, 3, 7, 64, 5000, 100'000}) {
            CAPTURE(capacity);
            memory_pipe pipe{capacity};
            stream_pair pair = co_await shake_hands(std::move(pipe.first), std::move(pipe.second));
            const std::size_t size = capacity < 64 ? 2000 : 200'000;
            co_await check_carries(pair, long_text(size));
        }
    });
}

TEST_CASE("a TLS stream: works over sockets") {
    const auto test = [](io_context& io) -> task<> {
        socket_pair sockets = connected_pair(io);
        stream_pair pair =
            co_await shake_hands(std::move(sockets.client), std::move(sockets.server));
        co_await check_carries(pair, long_text(2'000'000));
    };
    on_each_backend_of("streams of every kind", test);
}

TEST_CASE("a TLS stream: steps of a handshake run where they are told to") {
    on_every_backend([](io_context&) -> task<> {
        int steps = 0;
        tls::stream_options options;
        options.handshake_steps = [&steps](std::function<void()> work) -> task<> {
            co_await yield();
            ++steps;
            work();
        };
        memory_pipe pipe{1000};
        stream_pair pair =
            co_await shake_hands(std::move(pipe.first), std::move(pipe.second), options);
        CHECK(steps >= 4);
        co_await check_carries(pair, "text");
    });
}

TEST_CASE("a TLS stream: work that is never done ends a handshake as a stop does") {
    on_every_backend([](io_context&) -> task<> {
        tls::stream_options options;
        options.handshake_steps = [](std::function<void()>) -> task<> { co_return; };
        memory_pipe pipe{1000};
        io_result<tls::stream> client;
        co_await connect_into(std::move(pipe.first), client, options);
        CHECK(client.error() == errc::canceled);
    });
}

TEST_CASE("a TLS stream: a peer that says nothing costs a handshake its limit, and no more") {
    on_every_backend([](io_context&) -> task<> {
        tls::stream_options options;
        options.handshake_wait = 5ms;
        memory_pipe pipe{100};
        io_result<tls::stream> server;
        io_result<tls::stream> client;

        co_await accept_into(std::move(pipe.first), server, options);
        memory_pipe other{1};
        co_await connect_into(std::move(other.first), client, options);

        CHECK(server.error() == errc::timed_out);
        CHECK(client.error() == errc::timed_out);
    });
}

TEST_CASE("a TLS stream: the reason why a handshake failed reaches both sides, in words") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{100};
        io_result<tls::stream> server;
        io_result<tls::stream> client;
        const auto connects = [&]() -> task<> {
            const tls::context settings = test_settings::get().client;
            client = co_await tls::connect(std::move(pipe.first), settings, "example.org");
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(connects());
            group.spawn(accept_into(std::move(pipe.second), server));
            co_return;
        };

        co_await with_group(body);

        CHECK(client.error() == errc::certificate_wrong_host);
        CHECK(server.error() == errc::certificate_refused);
        const std::string_view words = client.value().connection().failure();
        CHECK(words.find("CN=localhost") != std::string_view::npos);
        CHECK(server.value().connection().alert().has_value());
    });
}

// RFC 8446, 6.1.
TEST_CASE(
    "a TLS stream: a peer that never answers close_notify costs the limit, one that cuts is told "
    "of") {
    on_every_backend([](io_context&) -> task<> {
        tls::stream_options options;
        options.close_wait = 5ms;
        memory_pipe silent{1000};
        stream_pair first =
            co_await shake_hands(std::move(silent.first), std::move(silent.second), options);
        const io_result<> late = co_await first.client.finish();
        const io_result<> again = co_await first.client.finish();

        memory_pipe cut{1000};
        stream_pair second =
            co_await shake_hands(std::move(cut.first), std::move(cut.second), options);
        second.server.close();
        const io_result<> truncated = co_await second.client.finish();

        CHECK(late.error() == errc::timed_out);
        CHECK(again.error() == errc::closed);
        CHECK((truncated.error() == errc::tls_truncated || truncated.error() == errc::broken_pipe));
    });
}

namespace {

// From some moment on nothing can be sent on it, though the peer is there.
class mute_stream : public memory_stream {
public:
    mute_stream(memory_stream it, bool& mute) : memory_stream{std::move(it)}, mute_{&mute} {}

    [[nodiscard]] task<io_result<std::size_t>> write_some(const_buffer from) {
        io_result<std::size_t> put = error{errc::broken_pipe, activity::write};
        if (!*mute_) put = co_await memory_stream::write_some(from);
        co_return put;
    }

private:
    bool* mute_;
};

}  // namespace

TEST_CASE("a TLS stream: a peer that close_notify cannot reach is told of an end all the same") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{1000};
        bool mute = false;
        stream_pair pair = co_await shake_hands(
            any_stream{mute_stream{std::move(pipe.first), mute}}, std::move(pipe.second));
        mute = true;
        const io_result<> said = pair.client.shutdown_send();
        std::string space(10, ' ');
        const auto heard = co_await pair.server.read_some(space);

        CHECK(said.ok());
        CHECK(heard.error() == errc::tls_truncated);
    });
}

TEST_CASE("a TLS stream: a read tells what sending an earlier write has met") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{1000};
        bool mute = false;
        stream_pair pair = co_await shake_hands(
            any_stream{mute_stream{std::move(pipe.first), mute}}, std::move(pipe.second));
        std::string space(10, ' ');
        error written;
        co_await write_text(pair.server, "before", written);
        mute = true;
        const auto put = co_await pair.client.write_some(bytes_of("lost"));
        co_await settle();
        pair.server.close();  // The client has told it of an end.
        const auto first = co_await pair.client.read_some(space);
        const auto second = co_await pair.client.read_some(space);
        const auto third = co_await pair.client.read_some(space);

        CHECK_FALSE(written);
        CHECK(put.ok());
        CHECK(first.value() == 6);
        CHECK(second.error() == errc::broken_pipe);
        CHECK(second.error().during() == activity::write);
        CHECK(third.error() == errc::broken_pipe);
    });
}

// Sockets and pipes, on which nothing is kept back, end it at once.
TEST_CASE("a TLS stream: an empty write behind the end waits until all has left") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{100};
        stream_pair pair = co_await shake_hands(std::move(pipe.first), std::move(pipe.second));
        error written;
        co_await write_text(pair.client, long_text(10'000), written);
        const auto before = co_await pair.client.write_some(const_buffer{});
        static_cast<void>(pair.client.shutdown_send());
        const auto full = co_await with_timeout(1ms, pair.client.write_some(const_buffer{}));
        io_result<std::size_t> left{errc::busy};
        std::string received;
        error outcome;
        const auto waits = [&]() -> task<> {
            left = co_await pair.client.write_some(const_buffer{});
            pair.client.close();
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(waits);
            co_await read_to_end(pair.server, received, outcome);
        };
        co_await with_group(body);

        CHECK_FALSE(written);
        CHECK(before.ok());
        CHECK(full.error() == errc::timed_out);
        CHECK(left.ok());
        CHECK(received == long_text(10'000));
        CHECK(outcome == errc::eof);
    });
}

TEST_CASE("a TLS stream: a peer that goes on to send is not heard out for ever") {
    on_every_backend([](io_context&) -> task<> {
        tls::stream_options options;
        options.discarded_bytes_max = 10'000;
        memory_pipe pipe{1000};
        stream_pair pair =
            co_await shake_hands(std::move(pipe.first), std::move(pipe.second), options);
        error ended;
        error written;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(finish_into(pair.client, ended));
            group.spawn(write_text(pair.server, long_text(1'000'000), written));
            co_return;
        };

        co_await with_group(body);

        CHECK(ended == errc::limit_exceeded);
        CHECK(written == errc::broken_pipe);
    });
}

TEST_CASE("a TLS stream: a cut is told from an end") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{1000};
        stream_pair pair = co_await shake_hands(std::move(pipe.first), std::move(pipe.second));
        std::string received;
        error outcome;
        error written;
        co_await write_text(pair.client, "last", written);
        co_await settle();
        pair.client.close();

        co_await read_to_end(pair.server, received, outcome);

        CHECK(received == "last");
        CHECK(outcome == errc::tls_truncated);
    });
}

TEST_CASE(
    "a TLS stream: bytes of a record that is not whole yet are traffic, in either direction") {
    on_every_backend([](io_context&) -> task<> {
        engine_pair engines = pair_of(test_settings::get().client, test_settings::get().server);
        engines.shake();
        memory_pipe near{1000};
        memory_pipe far{1000};
        tls::stream client{std::move(near.first), std::move(engines.client)};
        tls::stream server{std::move(far.first), std::move(engines.server)};
        std::vector<std::byte> space(600);
        const std::string text = long_text(10'000);
        std::string received;
        error read;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(read_to_end(server, received, read));
            const auto put = co_await client.write_some(bytes_of(text));
            CHECK(put.value() == 10'000);
            co_await settle();
            const std::uint64_t sent = client.traffic();
            const std::uint64_t got = server.traffic();

            const auto some = co_await read_exactly(near.second, space);
            CHECK(some.ok());
            co_await settle();
            CHECK(client.traffic() > sent);
            const auto handed = co_await write_all(far.second, const_buffer{space});
            CHECK(handed.ok());
            co_await settle();
            CHECK(server.traffic() > got);
            CHECK(received.empty());
            far.second.close();
        };

        co_await with_group(body);

        CHECK(tls::stream{}.traffic() == 0);
    });
}

TEST_CASE("a TLS stream: a second read or write at the same time is refused, and harms nothing") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{10};
        stream_pair pair = co_await shake_hands(std::move(pipe.first), std::move(pipe.second));
        std::string received;
        error outcome;
        error written;
        io_result<std::size_t> second_read;
        io_result<std::size_t> second_write;
        const auto body = [&](task_group& group) -> task<> {
            std::array<std::byte, 4> space;
            group.spawn(write_text(pair.client, long_text(100'000), written));
            co_await settle();
            second_write = co_await pair.client.write_some(bytes_of("x"));
            group.spawn(read_to_end(pair.client, received, outcome));
            co_await settle();
            second_read = co_await pair.client.read_some(space);
            pair.server.close();
        };

        co_await with_group(body);

        CHECK(second_write.error() == errc::busy);
        CHECK(second_read.error() == errc::busy);
        CHECK(outcome == errc::tls_truncated);
        CHECK(written == errc::broken_pipe);
    });
}

TEST_CASE("a TLS stream: several buffers arrive as one message") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{100'000};
        stream_pair pair = co_await shake_hands(std::move(pipe.first), std::move(pipe.second));
        const std::string body_text = long_text(100'000);
        const std::array<const_buffer, 4> buffers{bytes_of("head"), const_buffer{},
                                                  bytes_of(body_text), bytes_of("tail")};
        std::string received(body_text.size() + 8, ' ');
        io_result<std::size_t> put;
        io_result<std::size_t> got;
        const auto writes = [&]() -> task<> { put = co_await write_all(pair.client, buffers); };
        const auto reads = [&]() -> task<> { got = co_await read_exactly(pair.server, received); };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(writes());
            group.spawn(reads());
            co_return;
        };

        co_await with_group(body);

        CHECK(put.value() == received.size());
        CHECK(got.ok());
        CHECK(received == "head" + body_text + "tail");
    });
}

// RFC 8446, 5.1: a record has a header of five bytes, the last two of which are the size of the rest.
TEST_CASE("a TLS stream: small buffers are one record, however many they are") {
    on_every_backend([](io_context&) -> task<> {
        engine_pair engines = pair_of(test_settings::get().client, test_settings::get().server);
        engines.shake();
        memory_pipe pipe{100'000};
        tls::stream client{std::move(pipe.first), std::move(engines.client)};
        const std::string longer(200, 'l');
        const std::string longest(40'000, 'L');
        const std::array<const_buffer, 5> parts{bytes_of("sho"), const_buffer{}, bytes_of("rt"),
                                                bytes_of(longer), bytes_of("er")};
        const std::array<const_buffer, 2> more{bytes_of("short"), bytes_of(longest)};

        const io_result<std::size_t> few = co_await client.write_some(parts, 1);
        const io_result<std::size_t> many = co_await client.write_some(more, 0);

        CHECK(few.value() == 206);
        CHECK(many.value() == 40'005);
        std::vector<std::byte> raw(50'000);
        const io_result<std::size_t> got = co_await pipe.second.read_some(raw);
        const auto size_at = [&raw](std::size_t at) {
            return std::to_integer<std::size_t>(raw[at + 3]) << 8 |
                   std::to_integer<std::size_t>(raw[at + 4]);
        };
        std::vector<std::size_t> sizes;
        for (std::size_t at = 0; at < got.value(); at += 5 + sizes.back())
            sizes.push_back(size_at(at));
        constexpr std::size_t added = 17;  // The type and the tag.
        CHECK(sizes == std::vector<std::size_t>{206 + added, 16'384 + added, 16'384 + added,
                                                40'005 - 2 * 16'384 + added});
    });
}

TEST_CASE("a TLS stream: before its handshake, and without a transport, it says so") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{100};
        tls::stream none;
        tls::stream fresh{std::move(pipe.first),
                          tls::engine::client(test_settings::get().client, "localhost").take()};
        std::array<std::byte, 4> space;

        const io_result<std::size_t> read = co_await fresh.read_some(space);
        const io_result<std::size_t> written = co_await fresh.write_some(bytes_of("x"));
        const io_result<std::size_t> none_read = co_await none.read_some(space);
        const io_result<std::size_t> none_written = co_await none.write_some(bytes_of("x"));
        const io_result<> none_shaken = co_await none.handshake();
        const io_result<> none_finished = co_await none.finish();

        CHECK(read.error() == errc::not_connected);
        CHECK(written.error() == errc::not_connected);
        CHECK(fresh.shutdown_send().error() == errc::not_connected);
        CHECK(none_read.error() == errc::closed);
        CHECK(none_written.error() == errc::closed);
        CHECK(none_shaken.error() == errc::closed);
        CHECK(none_finished.error() == errc::closed);
        CHECK(none.shutdown_send().error() == errc::closed);
        CHECK_FALSE(none.connection().established());
    });
}

// SPDX-License-Identifier: BSL-1.0
//
// What gyre/websocket/connection.hpp promises: messages, answers, ends and limits, over pipes that bring one
// byte at a time as over those that bring all.
#include <gyre/websocket/connection.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/sync/when_any.hpp>

#include <support/harness.hpp>
#include <support/settle.hpp>
#include <websocket/bytes.hpp>
#include <websocket/ends.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;
using namespace std::chrono_literals;

namespace {

// Sends each message that comes back as it is, until the peer closes; then it closes, too.
task<> echo(connection& on) {
    io_result<message> got = co_await on.receive();
    while (got.ok()) {
        const io_result<> sent = co_await on.send(got.value().kind, got.value().bytes);
        CHECK(sent.ok());
        got = co_await on.receive();
    }
    CHECK(got.error() == errc::eof);
    const io_result<> closed = co_await on.close();
    CHECK(closed.ok());
}

task<> check_echoed(connection& by, message_kind kind, std::string text) {
    const io_result<> sent = co_await by.send(kind, bytes_of(text));
    CHECK(sent.ok());
    const io_result<message> back = co_await by.receive();
    CHECK(back.ok());
    CHECK(back.value().kind == kind);
    CHECK(back.value().text() == text);
}

task<> exchange_messages(connection& by) {
    co_await check_echoed(by, message_kind::text, "Hello");
    co_await check_echoed(by, message_kind::text, "");
    co_await check_echoed(by, message_kind::binary, std::string(126, '\xff'));
    co_await check_echoed(by, message_kind::text, std::string(1000, 'x'));
    const io_result<> closed = co_await by.close({close_code::going_away, "enough"});
    CHECK(closed.ok());
    CHECK(by.peer_close().code == close_code::going_away);
}

task<> check_exchange(std::size_t capacity, agreement agreed) {
    both_ends ends{capacity, agreed};
    co_await when_all(echo(ends.server), exchange_messages(ends.client));
    CHECK(ends.server.peer_close().code == close_code::going_away);
    CHECK(ends.server.peer_close().text == "enough");
}

// What a violation comes to: the error here, and the code that the peer reads.
task<> check_refused(one_end& end, bytes what, violation rule, close_code code) {
    INFO(describe(rule));
    const io_result<std::size_t> written = co_await write_all(end.peer, const_buffer{what});
    CHECK(written.ok());
    const io_result<message> got = co_await end.ours.receive();
    CHECK(got.error() == error_for(rule));
    CHECK(end.ours.broken_rule() == rule);
    const bytes expected = server_frame(
        frame_opcode::close, close_payload(static_cast<std::uint16_t>(code), describe(rule)));
    const bytes told = co_await read_bytes(end.peer, expected.size());
    CHECK(told == expected);
    const io_result<message> again = co_await end.ours.receive();
    CHECK(again.error() == error_for(rule));
    const io_result<> sent = co_await end.ours.send_text("too late");
    CHECK(sent.error() == errc::closed);
}

task<> note_received(connection& on, io_result<message>& outcome) {
    outcome = co_await on.receive();
}

}  // namespace

TEST_CASE("websocket: messages come back as they were sent, whatever the pipe holds") {
    on_every_backend([](io_context&) -> task<> {
        for (const std::size_t capacity : {1UL, 2UL, 7UL, 64UL, 100'000UL}) {
            co_await check_exchange(capacity, {});
            co_await check_exchange(capacity, deflated(false));
            co_await check_exchange(capacity, deflated(true));
        }
    });
}

// RFC 6455, 5.4.
TEST_CASE("websocket: fragments make one message, with other frames between them") {
    on_every_backend([](io_context&) -> task<> {
        const std::vector<agreement> kinds{agreement{}, deflated(false), deflated(true)};
        for (const agreement& agreed : kinds) {
            both_ends ends{100'000, agreed};
            io_result<message_writer> begun =
                co_await ends.client.begin_message(message_kind::text);
            CHECK(begun.ok());
            message_writer writer = begun.take();
            const io_result<> one = co_await writer.write(bytes_of("half of \xce"));
            const io_result<> ping = co_await ends.client.ping(bytes_of("now"));
            const io_result<> none = co_await writer.write({});
            const io_result<> two = co_await writer.finish(bytes_of("\xba and the rest"));
            CHECK((one.ok() && ping.ok() && none.ok() && two.ok()));

            const io_result<message> got = co_await ends.server.receive();
            CHECK(got.ok());
            CHECK(got.value().kind == message_kind::text);
            CHECK(got.value().text() == "half of \xce\xba and the rest");
        }
    });
}

TEST_CASE("websocket: a message of any size is received in memory that is fixed") {
    on_every_backend([](io_context&) -> task<> {
        const std::vector<agreement> kinds{agreement{}, deflated(false)};
        for (const agreement& agreed : kinds) {
            both_ends ends{8192, agreed};
            const std::string text(1'000'000, 'x');
            const auto read = [&]() -> task<> {
                std::size_t size = 0;
                fragment part;
                do {
                    const io_result<fragment> got = co_await ends.server.receive_some();
                    CHECK(got.ok());
                    if (!got.ok()) co_return;
                    part = got.value();
                    CHECK(part.first == (size == 0));
                    CHECK(part.bytes.size() <= 128 * 1024);
                    size += part.bytes.size();
                } while (!part.last);
                CHECK(size == text.size());
            };
            const auto write = [&]() -> task<> {
                const io_result<> sent = co_await ends.client.send_text(text);
                CHECK(sent.ok());
            };
            co_await when_all(read(), write());
        }
    });
}

// RFC 6455, 5.5.2 and 5.5.3.
TEST_CASE("websocket: a ping is answered with what it said, of several at least the newest") {
    on_every_backend([](io_context&) -> task<> {
        one_end end{role::server};
        bytes all = client_frame(frame_opcode::ping, "one");
        all += client_frame(frame_opcode::ping, "two");
        all += client_frame(frame_opcode::text, "then");
        static_cast<void>(co_await write_all(end.peer, const_buffer{all}));

        const io_result<message> got = co_await end.ours.receive();
        CHECK(got.value().text() == "then");
        bytes wanted = server_frame(frame_opcode::pong, "one");
        wanted += server_frame(frame_opcode::pong, "two");
        const bytes answers = co_await read_bytes(end.peer, wanted.size());
        CHECK(answers == wanted);
    });
}

// RFC 6455, 5.5.1.
TEST_CASE("websocket: a close is answered with its number, and then nothing is sent") {
    on_every_backend([](io_context&) -> task<> {
        one_end end{role::server};
        const bytes close = client_frame(frame_opcode::close, close_payload(4321, "words"));
        static_cast<void>(co_await write_all(end.peer, const_buffer{close}));

        const io_result<message> got = co_await end.ours.receive();
        CHECK(got.error() == errc::eof);
        CHECK(static_cast<int>(end.ours.peer_close().code) == 4321);
        CHECK(end.ours.peer_close().text == "words");
        const bytes answer = co_await read_bytes(end.peer, 4);
        CHECK(answer == server_frame(frame_opcode::close, close_payload(4321)));
        const io_result<> sent = co_await end.ours.send_text("late");
        CHECK(sent.error() == errc::closed);
    });
}

TEST_CASE("websocket: a stream that ends without a close is told apart from an orderly end") {
    on_every_backend([](io_context&) -> task<> {
        one_end end{role::server};
        end.peer.shutdown_send();
        const io_result<message> got = co_await end.ours.receive();
        CHECK(got.error() == errc::connection_aborted);
        CHECK(end.ours.peer_close().code == close_code::abnormal);
    });
}

// RFC 6455, 7.1.7, and 10.4.
TEST_CASE("websocket: what breaks a rule ends the connection, and the peer is told why") {
    on_every_backend([](io_context&) -> task<> {
        connection_options small;
        small.limits.message_bytes_max = 100;
        const std::string nul_text = std::string(4000, '\0');
        deflater by{{}};
        flat_buffer bomb{{0, 1 << 20}};
        by.add(bytes_of(nul_text), bomb, piece_end::message);
        frame_header compressed;
        compressed.compressed = true;
        compressed.key = test_key;

        one_end unmasked{role::server};
        co_await check_refused(unmasked, hex("81 00"), violation::missing_mask,
                               close_code::protocol_error);
        one_end no_text{role::server};
        co_await check_refused(no_text, client_frame(frame_opcode::text, "\xff"),
                               violation::text_not_utf8, close_code::invalid_payload);
        one_end large{role::server, {}, small};
        co_await check_refused(large, hex("82 ff 00 00 00 00 40 00 00 00"), violation::large_frame,
                               close_code::message_too_big);
        one_end bombed{role::server, deflated(false), small};
        co_await check_refused(bombed, frame(compressed, bomb.data()), violation::large_message,
                               close_code::message_too_big);
        one_end corrupt{role::server, deflated(false)};
        co_await check_refused(corrupt, frame(compressed, const_buffer{hex("07")}),
                               violation::corrupt_deflate_data, close_code::invalid_payload);
    });
}

TEST_CASE("websocket: text that is no UTF-8 is not sent") {
    on_every_backend([](io_context&) -> task<> {
        both_ends ends{1000};
        const io_result<> sent = co_await ends.client.send_text("\xff");
        CHECK(sent.error() == errc::malformed);
        const io_result<> next = co_await ends.client.send_text("fine");
        CHECK(next.ok());
        const io_result<message> got = co_await ends.server.receive();
        CHECK(got.value().text() == "fine");
    });
}

TEST_CASE("websocket: a receive that is stopped loses nothing") {
    on_every_backend([](io_context&) -> task<> {
        both_ends ends{1, deflated(false)};
        const std::string text(300, 'y');
        const auto write = [&]() -> task<> {
            for (int each = 0; each < 5; ++each) {
                const io_result<> sent = co_await ends.client.send_text(text);
                CHECK(sent.ok());
                co_await settle();
            }
        };
        const auto read = [&]() -> task<> {
            for (int whole = 0; whole < 5;) {
                const io_result<message> got = co_await with_timeout(0ns, ends.server.receive());
                if (got.error() == errc::timed_out) {
                    co_await yield();
                    continue;
                }
                CHECK(got.value().text() == text);
                if (!got.ok()) co_return;
                ++whole;
            }
        };
        co_await when_all(write(), read());
    });
}

TEST_CASE("websocket: messages of several senders do not mix") {
    on_every_backend([](io_context&) -> task<> {
        both_ends ends{3};
        const auto send = [&](char letter) -> task<> {
            const std::string text(200, letter);
            const io_result<> sent = co_await ends.server.send_text(text);
            CHECK(sent.ok());
        };
        const auto read = [&]() -> task<> {
            std::string letters;
            for (int each = 0; each < 3; ++each) {
                const io_result<message> got = co_await ends.client.receive();
                CHECK(got.ok());
                if (!got.ok()) co_return;
                const char letter = got.value().text().front();
                CHECK(got.value().text() == std::string(200, letter));
                letters += letter;
            }
            CHECK(letters == "abc");
        };
        co_await when_all(send('a'), send('b'), send('c'), read());
    });
}

TEST_CASE("websocket: one receive at a time, and what was read early comes first") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{1000};
        const bytes early = client_frame(frame_opcode::text, std::string(600, 'e'));
        connection ours{any_stream{std::move(pipe.first)}, role::server, {}, early};
        const io_result<message> first = co_await ours.receive();
        CHECK(first.value().text() == std::string(600, 'e'));

        io_result<message> pending;
        const auto second = [&]() -> task<> {
            co_await settle();
            const io_result<message> refused = co_await ours.receive();
            CHECK(refused.error() == errc::busy);
            const bytes more = client_frame(frame_opcode::text, "more");
            static_cast<void>(co_await write_all(pipe.second, const_buffer{more}));
        };
        co_await when_all(note_received(ours, pending), second());
        CHECK(pending.value().text() == "more");
    });
}

namespace {

// Notes that its direction was ended before it was closed, which TLS makes a close_notify of.
class noting_stream : public memory_stream {
public:
    noting_stream(memory_stream it, bool& ended) : memory_stream{std::move(it)}, ended_{&ended} {}

    void shutdown_send() noexcept {
        *ended_ = true;
        memory_stream::shutdown_send();
    }

private:
    bool* ended_;
};

}  // namespace

TEST_CASE("websocket: a peer whose stream ends without a close reads an end as well") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{1000};
        bool ended = false;
        connection ours{
            any_stream{noting_stream{std::move(pipe.second), ended}}, role::server, {}, {}, {}};
        pipe.first.shutdown_send();
        const io_result<message> got = co_await ours.receive();
        const io_result<> closed = co_await ours.close();

        CHECK(got.error() == errc::connection_aborted);
        CHECK(closed.error() == errc::connection_aborted);
        CHECK(ended);
    });
}

TEST_CASE("websocket: a message that was left without an end is followed by a close only") {
    on_every_backend([](io_context&) -> task<> {
        one_end end{role::server};
        {
            io_result<message_writer> begun = co_await end.ours.begin_message(message_kind::binary);
            message_writer writer = begun.take();
            static_cast<void>(co_await writer.write(bytes_of("some")));
        }
        const io_result<> sent = co_await end.ours.send_text("other");
        CHECK(sent.error() == errc::broken_pipe);
        end.peer.shutdown_send();
        const io_result<> closed = co_await end.ours.close(close_code::internal_error);
        CHECK(closed.error() == errc::connection_aborted);
        bytes wanted = server_frame(frame_opcode::binary, "some", false);
        wanted += server_frame(frame_opcode::close, close_payload(1011));
        const bytes all = co_await read_bytes(end.peer, 1000);
        CHECK(all == wanted);
    });
}

TEST_CASE("websocket in a world: silence is asked about, and ends the connection") {
    in_a_world([](test::world& world) -> task<> {
        connection_options options;
        options.ping_interval = 30s;
        options.pong_timeout = 20s;
        one_end end{role::server, {}, options};
        const time_point began = world.now();
        const io_result<message> got = co_await end.ours.receive();
        CHECK(got.error() == errc::timed_out);
        CHECK(world.now() - began == 50s);
        const bytes asked = co_await read_bytes(end.peer, 2);
        CHECK(asked == server_frame(frame_opcode::ping, ""));
    });
}

TEST_CASE("websocket in a world: a peer that answers lives as long as it does") {
    in_a_world([](test::world& world) -> task<> {
        both_ends ends{1000};
        const time_point began = world.now();
        io_result<message> one;
        const auto wait_and_close = [&]() -> task<> {
            static_cast<void>(co_await sleep_for(1h));
            const io_result<> closed = co_await ends.client.close();
            CHECK(closed.ok());
        };
        co_await when_all(note_received(ends.client, one), echo(ends.server), wait_and_close());
        CHECK(one.error() == errc::eof);
        CHECK(world.now() - began == 1h);
    });
}

TEST_CASE("websocket in a world: a close is bounded, whatever the peer does") {
    in_a_world([](test::world& world) -> task<> {
        connection_options options;
        options.close_timeout = 5s;
        one_end silent{role::server, {}, options};
        time_point began = world.now();
        io_result<> closed = co_await silent.ours.close();
        CHECK(closed.error() == errc::timed_out);
        CHECK(world.now() - began == 5s);

        // Its frame does not even get through.
        one_end full{role::server, {}, options, 1};
        began = world.now();
        closed = co_await full.ours.close();
        CHECK(closed.error() == errc::timed_out);
        CHECK(world.now() - began <= 10s);

        // Somebody else is sending.
        one_end busy{role::server, {}, options, 10};
        began = world.now();
        const std::string text(1000, 'x');
        const auto send = [&]() -> task<> {
            const io_result<> sent = co_await busy.ours.send_text(text);
            CHECK(sent.error() == errc::timed_out);
        };
        const auto close = [&]() -> task<> {
            co_await settle();
            closed = co_await busy.ours.close();
        };
        co_await when_all(send(), close());
        CHECK_FALSE(closed.ok());
        CHECK(world.now() - began <= 10s);
    });
}

TEST_CASE(
    "websocket in a world: a peer that reads slowly what stands before a ping is not silent") {
    in_a_world([](test::world&) -> task<> {
        constexpr std::size_t size = 200'000;
        one_end end{role::client, {}, {}, 2 * size};  // All of it is written at once.
        const std::string text(size, 'x');
        std::size_t taken = 0;
        error ended;
        const auto receives = [&]() -> task<> {
            const io_result<message> got = co_await end.ours.receive();
            ended = got.error();
        };
        const auto body = [&](task_group& group) -> task<> {
            const io_result<> sent = co_await end.ours.send_text(text);
            CHECK(sent.ok());
            group.spawn(receives());
            std::array<std::byte, 1000> space;
            while (taken <= size && !ended) {
                const io_result<std::size_t> got = co_await end.peer.read_some(space);
                taken += got.value();
                static_cast<void>(co_await sleep_for(1s));
            }
            const bytes pong_and_close{std::byte{0x8a}, std::byte{0}, std::byte{0x88},
                                       std::byte{0}};
            static_cast<void>(co_await write_all(end.peer, const_buffer{pong_and_close}));
        };

        co_await with_group(body);

        CHECK(taken > size);
        CHECK(ended == errc::eof);
    });
}

TEST_CASE("websocket in a world: a peer that reads nothing ends a send after write_timeout") {
    in_a_world([](test::world& world) -> task<> {
        connection_options options;
        options.write_timeout = 30s;
        one_end end{role::client, {}, options, 100};
        const time_point began = world.now();
        const std::string text(1000, 'x');
        const io_result<> sent = co_await end.ours.send_text(text);
        CHECK(sent.error() == errc::timed_out);
        CHECK(world.now() - began == 30s);
        const io_result<> next = co_await end.ours.send_text("next");
        CHECK(next.error() == errc::broken_pipe);
    });
}

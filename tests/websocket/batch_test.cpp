// SPDX-License-Identifier: BSL-1.0
//
// Batches of gyre/websocket/connection.hpp: messages that come together and leave together, and the ends
// of a batch.
#include <gyre/websocket/connection.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/sync/when_any.hpp>

#include <support/harness.hpp>
#include <support/settle.hpp>
#include <websocket/bytes.hpp>
#include <websocket/ends.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;
using namespace std::chrono_literals;

namespace {

using messages = std::vector<message>;

// Makes a text for each form of a header's length, and one that is larger than a block of the copy.
std::vector<std::string> sizes() {
    std::vector<std::string> made;
    for (const std::size_t size : {0, 1, 125, 126, 1000, 65'535, 65'536, 16'370, 3})
        made.emplace_back(size, static_cast<char>('a' + made.size()));
    return made;
}

messages as_messages(const std::vector<std::string>& texts) {
    messages made;
    for (const std::string& each : texts) {
        const bool text = made.size() % 2 == 0;
        made.push_back({text ? message_kind::text : message_kind::binary, bytes_of(each)});
    }
    return made;
}

task<> send_all(connection& by, messages batch) {
    const io_result<> sent = co_await by.send_batch(batch);
    CHECK(sent.ok());
}

// Receives `expected` in batches of at most `most`; yields how many batches that took.
task<> receive_all(connection& by, const std::vector<std::string>& expected, std::size_t most,
                   std::size_t& batches) {
    messages space(most);
    std::size_t seen = 0;
    batches = 0;
    while (seen < expected.size()) {
        const auto got = co_await by.receive_batch(space);
        CHECK(got.ok());
        if (!got.ok()) co_return;
        CHECK(!got.value().empty());
        CHECK(got.value().size() <= most);
        for (const message& each : got.value()) {
            if (seen == expected.size()) break;
            CHECK(each.text() == expected[seen]);
            CHECK(each.kind == (seen % 2 == 0 ? message_kind::text : message_kind::binary));
            ++seen;
        }
        ++batches;
    }
}

task<> check_both_ways(std::size_t capacity, const agreement& agreed) {
    const std::vector<std::string> texts = sizes();
    for (const std::size_t most : {1UL, 2UL, 100UL}) {
        both_ends ends{capacity, agreed};
        std::size_t batches = 0;
        co_await when_all(send_all(ends.client, as_messages(texts)),
                          receive_all(ends.server, texts, most, batches));
        co_await when_all(send_all(ends.server, as_messages(texts)),
                          receive_all(ends.client, texts, most, batches));
    }
}

// Counts writes of what it stands on.
class counted_writes {
public:
    counted_writes(memory_stream on, std::size_t& writes) noexcept
        : on_{std::move(on)}, writes_{&writes} {}

    [[nodiscard]] auto read_some(mutable_buffer into) noexcept { return on_.read_some(into); }
    [[nodiscard]] auto write_some(const_buffer from) noexcept {
        ++*writes_;
        return on_.write_some(from);
    }

private:
    memory_stream on_;
    std::size_t* writes_;
};

task<> note_sent(connection& by, const messages& batch, io_result<>& outcome) {
    outcome = co_await by.send_batch(batch);
}

}  // namespace

TEST_CASE("websocket batches: messages come as they were sent, whatever the pipe holds") {
    on_every_backend([](io_context&) -> task<> {
        for (const std::size_t capacity : {7UL, 64UL, 4096UL, 1'000'000UL}) {
            co_await check_both_ways(capacity, {});
            co_await check_both_ways(capacity, deflated(true));
        }
    });
}

TEST_CASE("websocket batches: what one read brings is one batch, as far as there is room") {
    on_every_backend([](io_context&) -> task<> {
        const std::vector<std::string> texts(50, "twelve bytes");
        for (const std::size_t most : {1UL, 16UL, 50UL, 64UL}) {
            both_ends ends{100'000};
            std::size_t batches = 0;
            co_await send_all(ends.client, as_messages(texts));
            co_await receive_all(ends.server, texts, most, batches);
            CHECK(batches == (texts.size() + most - 1) / most);
        }
    });
}

TEST_CASE("websocket batches: many small messages leave in one write, on both ends") {
    on_every_backend([](io_context&) -> task<> {
        for (const role we : {role::client, role::server}) {
            memory_pipe pipe{100'000};
            std::size_t writes = 0;
            connection ours{any_stream{counted_writes{std::move(pipe.first), writes}}, we, {}};
            const std::vector<std::string> texts(100, "twelve bytes");
            co_await send_all(ours, as_messages(texts));
            CHECK(writes == 1);
            co_await send_all(ours, {});
            CHECK(writes == 1);
        }
    });
}

TEST_CASE("websocket batches: other frames end a batch and are obeyed") {
    on_every_backend([](io_context&) -> task<> {
        one_end end{role::server};
        bytes what = client_frame(frame_opcode::text, "one");
        what += client_frame(frame_opcode::binary, "two");
        what += client_frame(frame_opcode::ping, "there?");
        what += client_frame(frame_opcode::text, "three");
        what += client_frame(frame_opcode::text, "fo", false);
        what += client_frame(frame_opcode::continuation, "ur");
        what += client_frame(frame_opcode::text, "five");
        const io_result<std::size_t> written = co_await write_all(end.peer, const_buffer{what});
        CHECK(written.ok());
        std::vector<std::vector<std::string>> batches;
        messages space(10);
        for (int each = 0; each < 3; ++each) {
            const auto got = co_await end.ours.receive_batch(space);
            CHECK(got.ok());
            batches.emplace_back();
            for (const message& one : got.value()) batches.back().emplace_back(one.text());
        }
        const std::vector<std::vector<std::string>> expected{
            {"one", "two"}, {"three"}, {"four", "five"}};
        CHECK(batches == expected);
        const bytes answer = co_await read_bytes(end.peer, 8);
        CHECK(answer == server_frame(frame_opcode::pong, "there?"));
    });
}

TEST_CASE("websocket batches: messages in front of a broken rule are received, then the error") {
    on_every_backend([](io_context&) -> task<> {
        one_end end{role::server};
        bytes what = client_frame(frame_opcode::text, "one");
        what += client_frame(frame_opcode::text, "two");
        what += client_frame(frame_opcode::text, "\xff");
        const io_result<std::size_t> written = co_await write_all(end.peer, const_buffer{what});
        CHECK(written.ok());
        messages space(10);
        const auto got = co_await end.ours.receive_batch(space);
        CHECK(got.value().size() == 2);
        const auto next = co_await end.ours.receive_batch(space);
        CHECK(next.error() == error_for(violation::text_not_utf8));
        CHECK(end.ours.broken_rule() == violation::text_not_utf8);
    });
}

TEST_CASE("websocket batches: with text that is no UTF-8 nothing is sent") {
    on_every_backend([](io_context&) -> task<> {
        both_ends ends{100'000};
        const messages wrong{{message_kind::text, bytes_of(std::string_view{"right"})},
                             {message_kind::text, bytes_of(std::string_view{"\xff"})}};
        const io_result<> sent = co_await ends.client.send_batch(wrong);
        CHECK(sent.error() == errc::malformed);
        const io_result<> after = co_await ends.client.send_text("after");
        CHECK(after.ok());
        const io_result<message> got = co_await ends.server.receive();
        CHECK(got.value().text() == "after");
    });
}

TEST_CASE("websocket batches: one that is stopped within is followed by nothing") {
    on_every_backend([](io_context&) -> task<> {
        for (const role we : {role::client, role::server}) {
            one_end end{we, {}, {}, 64};
            const std::vector<std::string> texts(100, "twelve bytes");
            io_result<> outcome;
            const messages batch = as_messages(texts);
            static_cast<void>(co_await when_any(note_sent(end.ours, batch, outcome), settle()));
            CHECK(outcome.error() == errc::canceled);
            const io_result<> sent = co_await end.ours.send_text("more");
            CHECK(sent.error() == errc::broken_pipe);
        }
    });
}

TEST_CASE(
    "websocket batches: one that is stopped before it began leaves the connection as it was") {
    on_every_backend([](io_context&) -> task<> {
        one_end end{role::server, {}, {}, 64};
        io_result<message_writer> begun = co_await end.ours.begin_message(message_kind::text);
        CHECK(begun.ok());
        message_writer writer = begun.take();
        io_result<> outcome;
        const messages batch{{message_kind::text, bytes_of(std::string_view{"late"})}};
        static_cast<void>(co_await when_any(note_sent(end.ours, batch, outcome), settle()));
        CHECK(outcome.error() == errc::canceled);
        const io_result<> finished = co_await writer.finish(bytes_of(std::string_view{"first"}));
        CHECK(finished.ok());
        const io_result<> sent = co_await end.ours.send_batch(batch);
        CHECK(sent.ok());
        bytes expected = server_frame(frame_opcode::text, "first");
        expected += server_frame(frame_opcode::text, "late");
        const bytes came = co_await read_bytes(end.peer, expected.size());
        CHECK(came == expected);
    });
}

TEST_CASE("websocket batches: one receive at a time, and a batch behind a close is the end") {
    on_every_backend([](io_context&) -> task<> {
        both_ends ends{100'000};
        messages space(4);
        const auto waits = [&]() -> task<> {
            const auto got = co_await ends.server.receive_batch(space);
            CHECK(got.error() == errc::eof);
        };
        const auto interferes = [&]() -> task<> {
            const io_result<message> other = co_await ends.server.receive();
            CHECK(other.error() == errc::busy);
            const io_result<> closed = co_await ends.client.close();
            CHECK(closed.ok());
            const io_result<> sent = co_await ends.client.send_batch({});
            CHECK(sent.error() == errc::closed);
        };
        co_await when_all(waits(), interferes());
    });
}

// SPDX-License-Identifier: BSL-1.0
//
// Two streams joined to one: what arrives, how it ends, and what is counted when it fails.
#include <gyre/stream/copy_bidirectional.hpp>

#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/test/world.hpp>

#include <support/harness.hpp>
#include <support/settle.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// A client and a server, and the two ends in the middle that are joined.
struct joint {
    explicit joint(std::size_t capacity) : joint{capacity, capacity} {}
    joint(std::size_t at_client, std::size_t at_server) : client{at_client}, server{at_server} {}

    task<> forward(copy_options options = copy_options{}) {
        ended = co_await copy_bidirectional(client.second, server.first, options);
        over = true;
    }

    memory_pipe client;
    memory_pipe server;
    io_result<copied_both_ways> ended;
    bool over = false;
};

task<> send(memory_stream& to, std::string text) {
    const io_result<std::size_t> put = co_await write_all(to, bytes_of(text));
    CHECK(put.ok());
    to.shutdown_send();
}

task<> receive(memory_stream& from, std::string& text) {
    std::array<std::byte, 64> space;
    for (;;) {
        const io_result<std::size_t> got = co_await from.read_some(space);
        if (!got.ok()) break;
        text += text_of(std::span{space}.first(got.value()));
    }
}

}  // namespace

TEST_CASE("both directions arrive whole through little memory, with their ends and their counts") {
    on_every_backend([](io_context&) -> task<> {
        joint it{7};
        const std::string question(1000, 'q');
        const std::string answer(3000, 'a');
        std::string at_server;
        std::string at_client;
        copy_options options;
        options.bytes_at_once = 5;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(it.forward(options));
            group.spawn(send(it.client.first, question));
            group.spawn(send(it.server.second, answer));
            group.spawn(receive(it.server.second, at_server));
            group.spawn(receive(it.client.first, at_client));
            co_return;
        };

        co_await with_group(body);

        CHECK(at_server == question);
        CHECK(at_client == answer);
        CHECK(it.ended.ok());
        CHECK(it.ended.value().first_to_second == 1000);
        CHECK(it.ended.value().second_to_first == 3000);
    });
}

TEST_CASE("the end of one side is passed on while the other still answers") {
    on_every_backend([](io_context&) -> task<> {
        joint it{64};
        std::string at_server;
        std::string at_client;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(it.forward());
            co_await send(it.client.first, "question");
            co_await receive(it.server.second, at_server);
            CHECK(at_server == "question");
            CHECK_FALSE(it.over);
            co_await send(it.server.second, "answer");
            co_await receive(it.client.first, at_client);
        };

        co_await with_group(body);

        CHECK(at_client == "answer");
        CHECK(it.ended.ok());
    });
}

TEST_CASE("a side that fails ends the copy with its error, and with what was copied") {
    on_every_backend([](io_context&) -> task<> {
        joint it{64};
        std::array<std::byte, 3> space;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(it.forward());
            const auto put = co_await write_all(it.client.first, bytes_of("abc"));
            CHECK(put.ok());
            const auto got = co_await read_exactly(it.server.second, space);
            CHECK(got.ok());
            it.server.second.close();
            const auto more = co_await write_all(it.client.first, bytes_of("lost"));
            CHECK(more.ok());
        };

        co_await with_group(body);

        CHECK(it.ended.error() == errc::broken_pipe);
        CHECK(it.ended.value().first_to_second == 3);
        CHECK(it.ended.value().second_to_first == 0);
    });
}

namespace {

// Its peer has closed both directions: what shutdown(2) says of such a socket.
class gone : public memory_stream {
public:
    explicit gone(memory_stream it) : memory_stream{std::move(it)} {}
    io_result<> shutdown_send() { return error{errc::not_connected, activity::shutdown}; }
};

}  // namespace

TEST_CASE("a side that cannot be told of an end ends the copy, and is no error of it") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe silent{64};
        memory_pipe server{64};
        gone near{std::move(silent.second)};
        server.second.shutdown_send();

        const auto ended = co_await copy_bidirectional(near, server.first);

        CHECK(ended.ok());
    });
}

TEST_CASE("a side that is gone altogether is no error of the copy when the other ends as well") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe client{64};
        memory_pipe server{64};
        gone near{std::move(client.second)};
        client.first.shutdown_send();
        server.second.shutdown_send();

        const auto ended = co_await copy_bidirectional(near, server.first);

        CHECK(ended.ok());
    });
}

TEST_CASE("the error is that of the direction that failed, not of the one it ended") {
    on_every_backend([](io_context&) -> task<> {
        const auto silent = std::make_shared<memory_channel>(8);
        const auto refusing = std::make_shared<memory_channel>(8);
        memory_stream first{silent, refusing};
        memory_pipe second{8};
        refusing->end_reading();
        const auto put = co_await second.second.write_some(bytes_of("x"));
        CHECK(put.ok());

        const auto ended = co_await copy_bidirectional(first, second.first);
        const auto swapped_put = co_await second.second.write_some(bytes_of("x"));
        CHECK(swapped_put.ok());
        const auto swapped = co_await copy_bidirectional(second.first, first);

        CHECK(ended.error() == errc::broken_pipe);
        CHECK(swapped.error() == errc::broken_pipe);
    });
}

TEST_CASE("silence of both sides ends the copy, and one that speaks keeps it") {
    on_every_backend([](io_context&) -> task<> {
        joint it{64};
        std::array<std::byte, 1> space;
        copy_options options;
        options.silence_max = 200ms;
        std::chrono::steady_clock::time_point last_word;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(it.forward(options));
            for (int word = 0; word < 5; ++word) {
                static_cast<void>(co_await sleep_for(60ms));
                const auto put = co_await write_all(it.client.first, bytes_of("x"));
                CHECK(put.ok());
                last_word = std::chrono::steady_clock::now();
                const auto got = co_await read_exactly(it.server.second, space);
                CHECK(got.ok());
            }
            co_await group.join();
        };

        co_await with_group(body);

        CHECK(it.ended.error() == errc::timed_out);
        CHECK(it.ended.value().first_to_second == 5);
        CHECK(std::chrono::steady_clock::now() - last_word >= 190ms);
    });
}

namespace {

// Takes 1 KiB each 100 ms until `size` bytes are there.
task<> take_slowly(memory_stream& from, std::size_t size, std::size_t& taken) {
    std::array<std::byte, 1024> space;
    while (taken < size) {
        static_cast<void>(co_await sleep_for(100ms));
        const io_result<std::size_t> got = co_await from.read_some(space);
        if (!got.ok()) break;
        taken += got.value();
    }
}

task<> copy_to_slow_reader(std::size_t room, std::size_t at_once) {
    constexpr std::size_t size = std::size_t{64} * 1024;
    const std::string all(size, 'x');
    joint it{size, room};
    std::size_t taken = 0;
    copy_options options;
    options.silence_max = 1s;
    options.bytes_at_once = at_once;
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(it.forward(options));
        group.spawn(send(it.client.first, all));
        co_await take_slowly(it.server.second, size, taken);
        it.server.second.shutdown_send();
    };

    co_await with_group(body);

    CHECK(taken == size);
    CHECK(it.ended.ok());
    CHECK(it.ended.value().first_to_second == size);
}

}  // namespace

TEST_CASE("in a world: a peer that takes a little at a time is not silent") {
    for (const std::size_t room : {1, 1000, 5000, 65'536}) {
        for (const std::size_t at_once : {100, 65'536}) {
            test::world world;
            test::machine& here = world.add("here");
            const auto outcome = world.run(here, copy_to_slow_reader(room, at_once));
            CHECK_MESSAGE(outcome.ok(), outcome.text());
        }
    }
}

TEST_CASE("a half that ended does not keep a silent other side for ever") {
    on_every_backend([](io_context&) -> task<> {
        joint it{64};
        copy_options options;
        options.silence_max = 1ms;
        const auto body = [&](task_group& group) -> task<> {
            it.client.first.shutdown_send();
            co_await it.forward(options);
            static_cast<void>(group);
        };

        co_await with_group(body);

        CHECK(it.ended.error() == errc::timed_out);
    });
}

TEST_CASE("a stop ends both directions, with what was copied") {
    on_every_backend([](io_context&) -> task<> {
        joint it{64};
        std::array<std::byte, 3> space;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(it.forward());
            const auto put = co_await write_all(it.client.first, bytes_of("abc"));
            CHECK(put.ok());
            const auto got = co_await read_exactly(it.server.second, space);
            CHECK(got.ok());
            co_await settle();
            group.request_stop();
            co_await group.join();
        };

        co_await with_group(body);

        CHECK(it.ended.error() == errc::canceled);
        CHECK(it.ended.value().first_to_second == 3);
    });
}

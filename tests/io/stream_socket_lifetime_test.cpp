// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/stream_socket.hpp promises to code that closes, hands on and moves sockets.
#include <gyre/io/stream_socket.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <io/connections.hpp>
#include <support/child.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/past_the_loop.hpp>
#include <support/settle.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <optional>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

/// Keeps what is posted to it.
class holding_executor {
public:
    explicit holding_executor(io_context& below) noexcept : below_{below} {}

    void post(work& item) noexcept { items_.push(item); }
    void retract(work& item) noexcept { items_.remove(item); }
    [[nodiscard]] loop& home() noexcept { return below_; }
    [[nodiscard]] bool empty() const noexcept { return items_.empty(); }

private:
    io_context& below_;
    work_queue items_;
};

}  // namespace

TEST_CASE("release and adopt carry a socket from one loop to another") {
    with_every_backend([](const io_context_options& options) {
        io_context first{options};
        io_context second{options};
        socket_pair pair = connected_pair(first);
        std::array<std::byte, 16> space{};
        io_result<std::size_t> on_first;
        io_result<std::size_t> on_second;
        launch(first, note_read(pair.client, space, on_first), or_terminate{});
        launch(second, note_read(pair.server, space, on_second), or_terminate{});
        static_cast<void>(first.poll());

        pair.client = stream_socket::adopt(second, pair.client.release());
        first.run_for(patience);
        launch(second, note_read(pair.client, space, on_first), or_terminate{});
        CHECK(::write(pair.client.native_handle(), "a", 1) == 1);
        CHECK(::write(pair.server.native_handle(), "bc", 2) == 2);
        CHECK(on_first.error() == errc::canceled);
        second.run_for(patience);

        CHECK(on_first.value() == 2);
        CHECK(on_second.value() == 1);
    });
}

TEST_CASE("destroying a loop ends the operations on it and closes the sockets its coroutines own") {
    with_every_backend([](const io_context_options& options) {
        const std::size_t before = open_descriptors();
        io_result<std::size_t> outcome;
        const auto own_and_read = [&outcome](stream_socket mine) -> task<> {
            std::array<std::byte, 16> space{};
            outcome = co_await mine.read_some(space);
        };
        {
            socket_pair pair;
            io_context io{options};
            pair = local_pair(io);
            launch(io, own_and_read(std::move(pair.client)), or_terminate{});
            static_cast<void>(io.poll());
        }

        CHECK(outcome.error() == errc::canceled);
        CHECK(open_descriptors() == before);
    });
}

TEST_CASE("a socket may outlive its loop, and then only be closed") {
    with_every_backend([](const io_context_options& options) {
        socket_pair pair;
        std::array<std::byte, 4> space{};
        io_result<std::size_t> read;
        {
            io_context io{options};
            pair = local_pair(io);
            launch(io, note_read(pair.client, space, read), or_terminate{});
            CHECK(::write(pair.server.native_handle(), "abcd", 4) == 4);
            io.run_for(patience);
        }

        CHECK(read.value() == 4);
        CHECK(pair.client.close().ok());
        CHECK(pair.server.is_open());
    });
}

TEST_CASE("using a socket on a loop that is not its own is a failed check") {
    with_every_backend([](const io_context_options& options) {
        const child_report report = in_child([&](child_process&) {
            REQUIRE(::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO) >= 0);
            std::signal(SIGABRT, SIG_DFL);
            io_context own{options};
            io_context other{options};
            socket_pair pair = local_pair(own);
            std::array<std::byte, 4> space{};
            io_result<std::size_t> read;
            launch(own, note_read(pair.client, space, read), or_terminate{});
            static_cast<void>(own.poll());
            launch(other, note_read(pair.client, space, read), or_terminate{});
            static_cast<void>(other.poll());
        });

        CHECK(report.status == 128 + SIGABRT);
    });
}

namespace {

const std::vector<conformance_row> on_each_machine{
    {"a read that is over dies with its frame before its executor resumes that",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         holding_executor place{io};
         std::array<std::byte, 8> space{};
         stop_chain chain;
         const environment given{executor_ref{place}, &io, &chain};
         callback_frame frame{[](callback_frame*) { FAIL("resumed although it is gone"); }};
         std::optional<decltype(pair.server.read_some(space))> reading;
         reading.emplace(pair.server.read_some(space));
         const bool waits = reading->await_suspend(frame.handle(), &given);
         static_cast<void>(co_await pair.client.write_some(bytes_of("x")));
         for (int turns = 0; place.empty() && turns < 1000; ++turns) co_await settle();
         const bool over = !place.empty();

         reading.reset();

         CHECK(waits);
         CHECK(over);
         CHECK(place.empty());
     }},
    {"a socket that is not open says so and does nothing",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         static_cast<void>(pair.client.close());
         stream_socket moved_from = std::move(pair.server);
         stream_socket never_open;

         for (stream_socket* each : {&pair.client, &pair.server, &never_open}) {
             CHECK_FALSE(each->is_open());
             CHECK(each->native_handle() == -1);
             CHECK(each->close().error() == errc::closed);
             CHECK(each->shutdown(shutdown_side::both).error() == errc::closed);
             CHECK(each->local_endpoint().error() == errc::closed);
             CHECK(each->remote_endpoint().error() == errc::closed);
             CHECK(each->release() == -1);
         }
         CHECK(moved_from.is_open());
         const io_result<> graceful = co_await never_open.close_gracefully(1s);
         CHECK(graceful.error() == errc::closed);
     }},
    {"closing gracefully delivers everything although the peer is still sending",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         const bytes answer = patterned(100'000);
         bytes got;
         error ended;
         io_result<> closed;
         const auto serve_one = [&]() -> task<> {
             static_cast<void>(co_await write_all(pair.server, answer));
             closed = co_await pair.server.close_gracefully(10s);
         };
         const auto body = [&](task_group& group) -> task<> {
             // Never read by the server: closing at once would answer it with a reset.
             static_cast<void>(co_await write_all(pair.client, patterned(50'000)));
             group.spawn(serve_one());
             co_await settle();
             got = co_await read_all(pair.client, ended);
             static_cast<void>(pair.client.close());
         };

         co_await with_group(body);

         CHECK(ended == errc::eof);
         CHECK(got == answer);
         CHECK(closed.ok());
         CHECK_FALSE(pair.server.is_open());
     }},
};

const std::vector<connection_row> over_connections_on_each_machine{
    {"closing a socket ends its pending read and its pending write",
     [](io_context&, socket_pair& pair) -> task<> {
         shrink(pair);
         const bytes much = patterned(8 << 20);
         std::array<std::byte, 16> space{};
         io_result<std::size_t> read;
         io_result<std::size_t> written;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_read(pair.client, space, read));
             group.spawn(note_write_all(pair.client, much, written));
             co_await settle();
             co_await settle();  // A small buffer may fill a large one in more turns than one has.
             CHECK(pair.client.close().ok());
         };

         co_await with_group(body);

         CHECK(read.error() == errc::canceled);
         CHECK(read.value() == 0);
         CHECK(written.error() == errc::canceled);
         CHECK(written.value() < much.size());
         CHECK_FALSE(pair.client.is_open());
     }},
    {"closing a socket in the turn in which its read began ends that read",
     [](io_context&, socket_pair& pair) -> task<> {
         std::array<std::byte, 16> space{};
         io_result<std::size_t> read;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_read(pair.client, space, read));
             co_await yield();
             CHECK(pair.client.close().ok());
         };

         co_await with_group(body);

         CHECK(read.error() == errc::canceled);
     }},
    {"a read that has completed keeps its bytes although the socket is closed before it resumes",
     [](io_context& io, socket_pair& pair) -> task<> {
         std::array<std::byte, 16> space{};
         io_result<std::size_t> read;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_read(pair.client, space, read));
             co_await settle();
             // Written past the loop, so that the read completes in the turn that resumes us.
             say_now(io, pair.server, "data");
             static_cast<void>(co_await sleep_until(io.now()));
             CHECK(pair.client.close().ok());
         };

         co_await with_group(body);

         const bool kept = read.ok() && read.value() == 4;
         const bool ended_first = read.error() == errc::canceled && read.value() == 0;
         CHECK((kept || ended_first));
     }},
    {"the number of a closed socket may be reused at once without mixing the two up",
     [](io_context& io, socket_pair& pair) -> task<> {
         for (int round = 0; round < 100; ++round) {
             std::array<std::byte, 16> space{};
             io_result<std::size_t> old_read;
             io_result<std::size_t> new_read;
             socket_pair fresh;
             const auto body = [&](task_group& group) -> task<> {
                 group.spawn(note_read(pair.client, space, old_read));
                 co_await yield();
                 static_cast<void>(co_await sleep_for(0ms));
                 say_now(io, pair.server, "old");
                 static_cast<void>(pair.client.close());
                 static_cast<void>(pair.server.close());
                 fresh = local_pair(io);
                 group.spawn(note_read(fresh.client, space, new_read));
                 static_cast<void>(co_await fresh.server.write_some(bytes_of("newer")));
             };

             co_await with_group(body);

             REQUIRE(new_read.ok());
             REQUIRE(new_read.value() == 5);
             REQUIRE(text_of(const_buffer{space}.first(5)) == "newer");
             pair = std::move(fresh);
         }
     }},
    {"release ends what is pending and leaves the descriptor open and usable",
     [](io_context& io, socket_pair& pair) -> task<> {
         std::array<std::byte, 16> space{};
         io_result<std::size_t> read;
         int number = -1;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_read(pair.client, space, read));
             co_await settle();
             number = pair.client.release();
         };

         co_await with_group(body);
         static_cast<void>(co_await pair.server.write_some(bytes_of("to the new owner")));
         stream_socket again = stream_socket::adopt(io, number);
         const io_result<std::size_t> got = co_await again.read_some(space);

         CHECK(read.error() == errc::canceled);
         CHECK_FALSE(pair.client.is_open());
         CHECK(number >= 0);
         CHECK(got.value() == space.size());
     }},
    {"a socket may move while another coroutine reads from it",
     [](io_context&, socket_pair& pair) -> task<> {
         std::array<std::byte, 16> space{};
         io_result<std::size_t> read;
         stream_socket elsewhere;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_read(pair.client, space, read));
             co_await settle();
             elsewhere = std::move(pair.client);
             static_cast<void>(co_await pair.server.write_some(bytes_of("found you")));
         };

         co_await with_group(body);

         CHECK(read.ok());
         CHECK(read.value() == 9);
         CHECK(elsewhere.is_open());
     }},
    {"assigning to a socket closes the connection it had",
     [](io_context& io, socket_pair& pair) -> task<> {
         std::array<std::byte, 16> space{};
         io_result<std::size_t> read;
         socket_pair other = local_pair(io);
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_read(pair.client, space, read));
             co_await settle();
             pair.client = std::move(other.client);
         };

         co_await with_group(body);
         const io_result<std::size_t> end = co_await pair.server.read_some(space);
         static_cast<void>(co_await other.server.write_some(bytes_of("new")));
         const io_result<std::size_t> got = co_await pair.client.read_some(space);

         CHECK(read.error() == errc::canceled);
         CHECK(end.error() == errc::eof);
         CHECK(got.value() == 3);
     }},
    {"closing gracefully gives up on a peer that stays, and is closed all the same",
     [](io_context&, socket_pair& pair) -> task<> {
         std::array<std::byte, 4> space{};
         const std::size_t before = open_descriptors();

         const io_result<> closed = co_await pair.server.close_gracefully(5ms);
         const io_result<std::size_t> end = co_await pair.client.read_some(space);

         CHECK(closed.error() == errc::timed_out);
         CHECK_FALSE(pair.server.is_open());
         CHECK(open_descriptors() == before - 1);
         CHECK(end.error() == errc::eof);
     }},
    {"a socket that moves while it is closed gracefully is closed where it is then",
     [](io_context&, socket_pair& pair) -> task<> {
         auto server = std::make_unique<stream_socket>(std::move(pair.server));
         io_result<> closed{errc::malformed};
         const auto close_server = [&]() -> task<> {
             closed = co_await server->close_gracefully(patience);
         };
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(close_server());
             co_await settle();
             server = std::make_unique<stream_socket>(std::move(*server));
             static_cast<void>(pair.client.close());
         };

         co_await with_group(body);

         CHECK(closed.ok());
         CHECK_FALSE(server->is_open());
     }},
    {"a socket that goes while it is closed gracefully ends that",
     [](io_context&, socket_pair& pair) -> task<> {
         auto server = std::make_unique<stream_socket>(std::move(pair.server));
         io_result<> closed{errc::malformed};
         const auto close_server = [&]() -> task<> {
             closed = co_await server->close_gracefully(patience);
         };
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(close_server());
             co_await settle();
             server.reset();
         };

         co_await with_group(body);

         CHECK(closed.error() == errc::canceled);
     }},
    {"closing gracefully goes on while everything around it stops",
     [](io_context&, socket_pair& pair) -> task<> {
         io_result<> closed{errc::malformed};
         std::array<std::byte, 4> space{};
         const auto close_server = [&]() -> task<> {
             closed = co_await pair.server.close_gracefully(patience);
         };
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(close_server());
             co_await settle();
             group.request_stop();
         };
         const auto client = [&]() -> task<> {
             const io_result<std::size_t> end = co_await pair.client.read_some(space);
             CHECK(end.error() == errc::eof);
             CHECK(closed.error() == errc::malformed);
             static_cast<void>(pair.client.close());
         };
         const auto both = [&](task_group& group) -> task<> {
             group.spawn(client());
             co_await with_group(body);
         };

         co_await with_group(both);

         CHECK(closed.ok());
     }},
};

const conformance_suite on_each_machine_suite{"streams", on_each_machine};
const conformance_suite over_connections_on_each_machine_suite{"streams",
                                                               over_connections_on_each_machine};

}  // namespace

// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/descriptor.hpp promises of whatever is open: pipes, terminals, devices, files.
#include <gyre/io/descriptor.hpp>

#include <gyre/io/pipe.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>
#include <support/world.hpp>

#include <fcntl.h>
#include <pty.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

std::string text(std::span<const std::byte> bytes) { return std::string{text_of(bytes)}; }

/// The numbers of a pipe that is made by other means.
struct raw_pipe {
    explicit raw_pipe(int flags) { REQUIRE(::pipe2(numbers.data(), O_CLOEXEC | flags) == 0); }

    std::array<int, 2> numbers{};
};

/// How a pipe came to a program: a terminal's and a parent's block, a library's do not, and old kernels
/// cannot be asked for a single try.
struct origin {
    const char* name;
    int flags;
    bool old_kernel;
};

descriptor take(io_context& io, int number, const origin& from) {
    handle open{io.host(), number};
    descriptor taken{std::move(open)};
    if (!from.old_kernel) return taken;
    handle again{io.host(), taken.release()};
    again.slot().waits_anyway = true;
    return descriptor{std::move(again)};
}

/// Asks a law, a callable `task<>(descriptor& from, descriptor& to)`, of each kind on each backend.
template <class Law>
void on_every_pipe(const Law& law) {
    constexpr std::array origins{origin{"blocks", 0, false},
                                 origin{"does not block", O_NONBLOCK, false},
                                 origin{"on an old kernel", 0, true}};
    for (const origin& each : origins) {
        INFO(each.name);
        on_each_backend_of("descriptors", [&](io_context& io) -> task<> {
            const raw_pipe made{each.flags};
            descriptor from = take(io, made.numbers[0], each);
            descriptor to = take(io, made.numbers[1], each);
            co_await law(from, to);
        });
    }
    INFO("made by the library");
    on_each_backend_of("pipes", [&](io_context& io) -> task<> {
        auto [failed, reading, writing] = make_pipe(io);
        REQUIRE_FALSE(failed);
        descriptor from{handle{io.host(), reading.release()}};
        descriptor to{handle{io.host(), writing.release()}};
        co_await law(from, to);
    });
}

/// A file that is gone when the test is over.
struct scratch_file {
    explicit scratch_file(std::string_view content) {
        REQUIRE(number >= 0);
        REQUIRE(::unlink(path.c_str()) == 0);
        REQUIRE(::write(number, content.data(), content.size()) ==
                static_cast<ssize_t>(content.size()));
        REQUIRE(::lseek(number, 0, SEEK_SET) == 0);
    }

    std::string path = "/tmp/gyre_descriptor_XXXXXX";
    int number = ::mkostemp(path.data(), O_CLOEXEC);
};

// Past the loop, on a machine of a world. The bytes, or -errno.
int write_there(const descriptor& to, std::string_view what) {
    struct slot_reader : descriptor {
        static descriptor_slot& slot_of(const descriptor& it) {
            constexpr auto ask = &slot_reader::slot;
            return std::invoke(ask, it);
        }
    };
    write_operation write{bytes_of(what)};
    write.target = &slot_reader::slot_of(to);
    return io_context::current()->host().perform_now(write);
}

// Until the next write would block.
void fill(const descriptor& to) {
    if (machine_here() != nullptr) {
        const std::string chunk(4096, 'x');
        while (write_there(to, chunk) > 0) {
        }
        return;
    }
    const int flags = ::fcntl(to.native_handle(), F_GETFL);
    ::fcntl(to.native_handle(), F_SETFL, flags | O_NONBLOCK);
    const std::vector<char> chunk(4096, 'x');
    while (::write(to.native_handle(), chunk.data(), chunk.size()) > 0) {
    }
    ::fcntl(to.native_handle(), F_SETFL, flags);
}

void put(const descriptor& to, std::string_view what) {
    if (machine_here() != nullptr) {
        REQUIRE(write_there(to, what) == static_cast<int>(what.size()));
        return;
    }
    REQUIRE(::write(to.native_handle(), what.data(), what.size()) ==
            static_cast<ssize_t>(what.size()));
}

}  // namespace

TEST_CASE("a descriptor reads what is there, waits for what is not, and ends with its writer") {
    on_every_pipe([](descriptor& from, descriptor& to) -> task<> {
        std::array<std::byte, 16> space;

        put(to, "here already");
        const auto first = co_await from.read_some(space);
        CHECK(text(std::span{space}.first(first.value())) == "here already");

        const auto later = [&]() -> task<io_result<std::size_t>> {
            co_await settle();
            const auto sent = co_await to.write_some(bytes_of("later"));
            co_return sent;
        };
        const auto both = co_await when_all(from.read_some(space), later());
        CHECK(text(std::span{space}.first(std::get<0>(both).value())) == "later");

        put(to, "last");
        CHECK(to.close().ok());
        const auto last = co_await from.read_some(space);
        CHECK(text(std::span{space}.first(last.value())) == "last");
        for (int again = 0; again < 2; ++again) {
            const auto end = co_await from.read_some(space);
            CHECK(end.error() == errc::eof);
        }
    });
}

TEST_CASE("a descriptor carries a long message through a pipe that holds little of it") {
    on_every_pipe([](descriptor& from, descriptor& to) -> task<> {
        std::vector<std::byte> message(1 << 20);
        for (std::size_t at = 0; at < message.size(); ++at) message[at] = std::byte(at * 31 >> 3);
        std::vector<std::byte> got(message.size());

        const auto both = co_await when_all(write_all(to, message), read_exactly(from, got));

        CHECK(std::get<0>(both).value() == message.size());
        CHECK(std::get<1>(both).value() == message.size());
        CHECK(got == message);
    });
}

TEST_CASE("a descriptor gathers and scatters") {
    on_every_pipe([](descriptor& from, descriptor& to) -> task<> {
        const std::array parts{bytes_of("one "), bytes_of(""), bytes_of("two "), bytes_of("three")};
        std::array<std::byte, 5> first{};
        std::array<std::byte, 8> second{};
        const std::array<mutable_buffer, 2> spaces{first, second};

        const auto sent = co_await write_all(to, const_buffers{parts});
        CHECK(sent.value() == 13);
        std::string all;
        while (all.size() < 13) {
            const auto got = co_await from.read_some(mutable_buffers{spaces});
            REQUIRE(got.ok());
            std::string both = text(first) + text(second);
            all += both.substr(0, got.value());
        }
        CHECK(all == "one two three");
    });
}

TEST_CASE("a write to a pipe without a reader is an error, and never a signal") {
    on_every_pipe([](descriptor& from, descriptor& to) -> task<> {
        using action = struct sigaction;
        action usual{};
        usual.sa_handler = SIG_DFL;
        action before{};
        REQUIRE(::sigaction(SIGPIPE, &usual, &before) == 0);
        CHECK(from.close().ok());

        const auto sent = co_await to.write_some(bytes_of("for nobody"));

        CHECK(sent.error() == errc::broken_pipe);
        sigset_t pending{};
        ::sigpending(&pending);
        CHECK(::sigismember(&pending, SIGPIPE) == 0);
        ::sigaction(SIGPIPE, &before, nullptr);
    });
}

TEST_CASE("a waiting write ends with the reader, or goes on when there is room") {
    on_every_pipe([](descriptor& from, descriptor& to) -> task<> {
        fill(to);
        const auto make_room = [&]() -> task<io_result<std::size_t>> {
            co_await settle();
            std::vector<std::byte> space(1 << 17);
            const auto got = co_await from.read_some(space);
            co_return got;
        };
        const auto both = co_await when_all(to.write_some(bytes_of("more")), make_room());
        CHECK(std::get<0>(both).value() == 4);

        fill(to);
        const auto leave = [&]() -> task<io_result<>> {
            co_await settle();
            co_return from.close();
        };
        const auto broken = co_await when_all(to.write_some(bytes_of("more")), leave());
        CHECK(std::get<0>(broken).error() == errc::broken_pipe);
    });
}

TEST_CASE("a second writer is refused while one waits") {
    on_every_pipe([](descriptor& from, descriptor& to) -> task<> {
        fill(to);
        const auto second = [&]() -> task<io_result<std::size_t>> {
            const auto sent = co_await to.write_some(bytes_of("second"));
            CHECK(sent.error() == errc::busy);
            const auto gathered = co_await write_all(to, bytes_of("third"));
            CHECK(gathered.error() == errc::busy);
            std::vector<std::byte> space(1 << 17);
            const auto got = co_await from.read_some(space);
            co_return got;
        };

        const auto both = co_await when_all(to.write_some(bytes_of("first")), second());

        CHECK(std::get<0>(both).value() == 5);
    });
}

TEST_CASE("a stopped read has read nothing, and a stopped write has written nothing") {
    on_every_pipe([](descriptor& from, descriptor& to) -> task<> {
        std::array<std::byte, 16> space;
        const auto read = co_await with_timeout(1ms, from.read_some(space));
        CHECK(read.error() == errc::timed_out);
        put(to, "kept");
        const auto again = co_await from.read_some(space);
        CHECK(text(std::span{space}.first(again.value())) == "kept");

        fill(to);
        const auto sent = co_await with_timeout(1ms, to.write_some(bytes_of("!")));
        CHECK(sent.error() == errc::timed_out);
        CHECK(to.close().ok());
        std::string rest;
        for (;;) {
            const auto got = co_await from.read_some(space);
            if (!got.ok()) break;
            rest += text(std::span{space}.first(got.value()));
        }
        CHECK(rest.find('!') == std::string::npos);
    });
}

TEST_CASE("closing ends what is pending, and what was made before is not begun") {
    on_every_pipe([](descriptor& from, descriptor& to) -> task<> {
        std::array<std::byte, 16> space;
        auto made_before = from.read_some(space);
        const auto close = [&]() -> task<io_result<>> {
            co_await settle();
            co_return from.close();
        };

        const auto both = co_await when_all(from.read_some(space), close());
        CHECK(std::get<0>(both).error() == errc::canceled);
        const auto late = co_await made_before;
        CHECK(late.error() == errc::closed);
        const auto waited = co_await from.wait(readiness::readable);
        CHECK(waited.error() == errc::closed);
        CHECK(from.close().error() == errc::closed);
        CHECK(to.is_open());
    });
}

TEST_CASE("whether a descriptor blocks is left as it was") {
    for (const int flags : {0, O_NONBLOCK}) {
        on_each_backend_of("descriptors", [&](io_context& io) -> task<> {
            const raw_pipe made{flags};
            descriptor from = descriptor::adopt(io, made.numbers[0]);
            descriptor to = descriptor::adopt(io, made.numbers[1]);
            std::array<std::byte, 16> space;
            fill(to);
            for (int round = 0; round < 2; ++round) {
                const auto sent = co_await with_timeout(1ms, to.write_some(bytes_of("x")));
                CHECK(sent.error() == errc::timed_out);
            }
            const auto got = co_await from.read_some(space);
            CHECK(got.ok());

            CHECK((::fcntl(made.numbers[0], F_GETFL) & O_NONBLOCK) == flags);
            CHECK((::fcntl(made.numbers[1], F_GETFL) & O_NONBLOCK) == flags);
        });
    }
}

TEST_CASE("standard streams are opened once more, and none takes another's number") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        for (const auto open : {standard_input, standard_output, standard_error}) {
            auto stream = open(io);
            REQUIRE(stream.ok());
            CHECK(stream.value().native_handle() > STDERR_FILENO);
        }
        CHECK(::fcntl(STDOUT_FILENO, F_GETFD) >= 0);
    });
}

namespace {

const std::vector<conformance_row> on_the_kernel{
    {"a descriptor that another process lets block keeps only its own reader waiting",
     [](io_context& io) -> task<> {
         int ends[2];
         REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
         descriptor reader = descriptor::adopt(io, ends[0]);
         descriptor writer = descriptor::adopt(io, ends[1]);
         REQUIRE(::fcntl(ends[0], F_SETFL, 0) == 0);
         std::array<std::byte, 8> space;

         const auto nothing = co_await with_timeout(1ms, reader.read_some(space));

         CHECK(nothing.error() == errc::timed_out);
         CHECK(writer.is_open());
     }},
    {"a duplicate's end is not the original's",
     [](io_context& io) -> task<> {
         const raw_pipe made{0};
         auto duplicated = descriptor::duplicate(io, made.numbers[1]);
         descriptor to = duplicated.take();
         CHECK(to.native_handle() != made.numbers[1]);
         CHECK((::fcntl(to.native_handle(), F_GETFD) & FD_CLOEXEC) != 0);
         const auto sent = co_await to.write_some(bytes_of("through both"));
         CHECK(sent.value() == 12);
         CHECK(to.close().ok());

         CHECK(::write(made.numbers[1], "!", 1) == 1);
         CHECK(descriptor::duplicate(io, 9999).error() == errc::bad_descriptor);
         ::close(made.numbers[0]);
         ::close(made.numbers[1]);
     }},
    {"a file is read and written in order, and ends where it ends",
     [](io_context& io) -> task<> {
         const scratch_file file{"the old words"};
         descriptor it = descriptor::adopt(io, file.number);
         std::array<std::byte, 4> space;
         std::string all;
         for (;;) {
             const auto got = co_await it.read_some(space);
             if (got.error() == errc::eof) break;
             REQUIRE(got.ok());
             all += text(std::span{space}.first(got.value()));
         }
         CHECK(all == "the old words");

         const auto sent = co_await write_all(it, bytes_of(", and new ones"));
         CHECK(sent.value() == 14);
         const std::array parts{bytes_of(" in"), bytes_of(" parts")};
         const auto gathered = co_await write_all(it, const_buffers{parts});
         CHECK(gathered.value() == 9);
         CHECK(::lseek(file.number, 0, SEEK_CUR) == 36);
         const auto ready = co_await it.wait(readiness::readable);
         CHECK(ready.ok());
     }},
    {"closing a file while it is read or written waits for the device, and loses no coroutine",
     [](io_context& io) -> task<> {
         const scratch_file file{std::string(1 << 20, 'x')};
         descriptor it = descriptor::adopt(io, file.number);
         std::vector<std::byte> space(1 << 20);
         const auto close = [&]() -> task<io_result<>> { co_return it.close(); };

         const auto both = co_await when_all(it.read_some(space), close());

         const auto& read = std::get<0>(both);
         CHECK((read.ok() || read.error() == errc::canceled));
         CHECK_FALSE(it.is_open());
     }},
    {"devices without poll are always ready",
     [](io_context& io) -> task<> {
         descriptor zero = descriptor::adopt(io, ::open("/dev/zero", O_RDONLY | O_CLOEXEC));
         descriptor null = descriptor::adopt(io, ::open("/dev/null", O_RDWR | O_CLOEXEC));
         std::array<std::byte, 8> space;
         space.fill(std::byte{1});

         const auto zeros = co_await read_exactly(zero, space);
         CHECK(zeros.value() == 8);
         CHECK(space == std::array<std::byte, 8>{});
         const auto dropped = co_await write_all(null, const_buffer{space});
         CHECK(dropped.value() == 8);
         const auto nothing = co_await null.read_some(space);
         CHECK(nothing.error() == errc::eof);

         descriptor full = descriptor::adopt(io, ::open("/dev/full", O_WRONLY | O_CLOEXEC));
         const auto refused = co_await write_all(full, const_buffer{space});
         CHECK(refused.error() == errc::no_space_on_device);
     }},
    {"eventfd and inotify speak in records",
     [](io_context& io) -> task<> {
         descriptor counter = descriptor::adopt(io, ::eventfd(0, EFD_CLOEXEC));
         std::uint64_t value = 0;
         const auto space = std::as_writable_bytes(std::span{&value, 1});
         const auto add = [&]() -> task<io_result<std::size_t>> {
             co_await settle();
             const std::uint64_t three = 3;
             const auto sent = co_await counter.write_some(std::as_bytes(std::span{&three, 1}));
             co_return sent;
         };
         const auto both = co_await when_all(counter.read_some(space), add());
         CHECK(std::get<0>(both).value() == sizeof value);
         CHECK(value == 3);

         descriptor watch = descriptor::adopt(io, ::inotify_init1(IN_CLOEXEC));
         std::string folder = "/tmp/gyre_watch_XXXXXX";
         REQUIRE(::mkdtemp(folder.data()) != nullptr);
         REQUIRE(::inotify_add_watch(watch.native_handle(), folder.c_str(), IN_CREATE) >= 0);
         alignas(inotify_event) std::array<std::byte, 4096> events;
         const std::string path = folder + "/new";
         const auto create = [&]() -> task<io_result<>> {
             co_await settle();
             ::close(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
             co_return io_result<>{};
         };
         const auto seen = co_await when_all(watch.read_some(events), create());
         CHECK(std::get<0>(seen).value() >= sizeof(inotify_event));
         CHECK(std::string{reinterpret_cast<const inotify_event*>(events.data())->name} == "new");
         ::unlink(path.c_str());
         ::rmdir(folder.c_str());
     }},
    {"a terminal gives its lines, and its other side hears what is written",
     [](io_context& io) -> task<> {
         int master = -1;
         int slave = -1;
         REQUIRE(::openpty(&master, &slave, nullptr, nullptr, nullptr) == 0);
         descriptor keyboard = descriptor::adopt(io, master);
         descriptor program = descriptor::adopt(io, slave);
         std::array<std::byte, 64> space;
         const auto type = [&]() -> task<io_result<std::size_t>> {
             co_await settle();
             const auto begun = co_await keyboard.write_some(bytes_of("a li"));
             CHECK(begun.value() == 4);
             co_await settle();
             const auto ended = co_await keyboard.write_some(bytes_of("ne\n"));
             co_return ended;
         };

         const auto both = co_await when_all(program.read_some(space), type());
         CHECK(text(std::span{space}.first(std::get<0>(both).value())) == "a line\n");
         const auto echo = co_await read_exactly(keyboard, std::span{space}.first(8));
         CHECK(echo.value() == 8);
         CHECK(text(std::span{space}.first(8)) == "a line\r\n");
         const auto said = co_await program.write_some(bytes_of("answer"));
         CHECK(said.value() == 6);
         const auto heard = co_await read_exactly(keyboard, std::span{space}.first(6));
         CHECK(heard.value() == 6);
         CHECK(text(std::span{space}.first(6)) == "answer");
     }},
};

const conformance_suite on_the_kernel_suite{"descriptors", on_the_kernel};

}  // namespace

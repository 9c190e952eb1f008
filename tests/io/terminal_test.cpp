// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/descriptor.hpp promises of terminals, and of whatever else keeps its writer or reader waiting.
//
// The kernel cannot be asked for a single try of these, and many that are open block. So each test lets
// another thread end the wait of a loop that is held up, and looks whether it had to.
#include <gyre/io/descriptor.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/settle.hpp>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>

using namespace gyre;
using namespace gyre::testing;

namespace {

/// Both ends of something with room for less than `unread_size`, which nothing reads from.
struct unread_end {
    int to = -1;
    int from = -1;
};

constexpr std::size_t unread_size = 300'000;

unread_end terminal(bool raw) {
    unread_end made;
    REQUIRE(::openpty(&made.from, &made.to, nullptr, nullptr, nullptr) == 0);
    termios how{};
    REQUIRE(::tcgetattr(made.to, &how) == 0);
    if (raw) ::cfmakeraw(&how);
    else how.c_oflag |= OPOST | ONLCR | XTABS;
    REQUIRE(::tcsetattr(made.to, TCSANOW, &how) == 0);
    return made;
}

unread_end fifo() {
    const scratch_directory home;
    const std::string name = home / "fifo";
    REQUIRE(::mkfifo(name.c_str(), 0600) == 0);
    unread_end made;
    made.from = ::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    made.to = ::open(name.c_str(), O_WRONLY | O_CLOEXEC);
    return made;
}

unread_end sockets() {
    std::array<int, 2> numbers{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, numbers.data()) == 0);
    return {numbers[0], numbers[1]};
}

struct kind_of_end {
    const char* name;
    unread_end (*make)();
};

constexpr std::array kinds_of_ends{kind_of_end{"a terminal", [] { return terminal(false); }},
                                   kind_of_end{"a raw terminal", [] { return terminal(true); }},
                                   kind_of_end{"the other side of a terminal",
                                               [] {
                                                   const unread_end made = terminal(true);
                                                   return unread_end{made.from, made.to};
                                               }},
                                   kind_of_end{"a FIFO", fifo}, kind_of_end{"a socket", sockets}};

// Reads what was written, beside the loop, once the loop goes on without it or does not.
class late_reader {
public:
    explicit late_reader(int from) : from_{from}, thread_{[this] { run(); }} {}
    late_reader(const late_reader&) = delete;
    late_reader& operator=(const late_reader&) = delete;
    ~late_reader() { thread_.join(); }

    std::atomic<bool> loop_goes_on = false;
    std::atomic<bool> over = false;

private:
    void run() {
        static_cast<void>(eventually([this] { return loop_goes_on.load(); }));
        std::array<char, 65'536> space;
        while (!over.load()) {
            pollfd readable{from_, POLLIN, 0};
            constexpr int milliseconds = 10;
            if (::poll(&readable, 1, milliseconds) > 0)
                static_cast<void>(::read(from_, space.data(), space.size()));
        }
    }

    int from_;
    std::thread thread_;
};

}  // namespace

TEST_CASE("what nothing reads from does not hold up the loop, whatever it is") {
    for (const kind_of_end& each : kinds_of_ends) {
        INFO(std::string{each.name});
        on_each_backend_of("descriptors", [&](io_context& io) -> task<> {
            const unread_end made = each.make();
            REQUIRE(made.to >= 0);
            std::string lines;
            while (lines.size() < unread_size) lines += "\ta line, which ends\n\n\n";
            io_result<std::size_t> put;
            bool written = false;
            {
                late_reader reads{made.from};
                descriptor to = descriptor::adopt(io, made.to);
                const auto write = [&]() -> task<> {
                    put = co_await write_all(to, bytes_of(lines));
                    written = true;
                };
                const auto body = [&](task_group& group) -> task<> {
                    group.spawn(write());
                    co_await settle();
                    CHECK_FALSE(written);
                    reads.loop_goes_on = true;
                    co_await group.join();
                };
                co_await with_group(body);
                CHECK((::fcntl(made.to, F_GETFL) & O_NONBLOCK) == 0);
                reads.over = true;
            }
            ::close(made.from);
            CHECK(put.ok());
            CHECK(put.value() == lines.size());
        });
    }
}

TEST_CASE("a pause that a serial line's reader is to wait for does not hold up the loop") {
    on_each_backend_of("descriptors", [](io_context& io) -> task<> {
        const unread_end made = terminal(true);
        termios how{};
        REQUIRE(::tcgetattr(made.to, &how) == 0);
        how.c_cc[VMIN] = 8;
        how.c_cc[VTIME] = 255;  // Tenths of a second, after each byte.
        REQUIRE(::tcsetattr(made.to, TCSANOW, &how) == 0);
        REQUIRE(::write(made.from, "abc", 3) == 3);
        std::atomic<bool> loop_goes_on = false;
        std::thread types{[&] {
            // Long before the pause is over: that would end a read of the three bytes as well.
            constexpr int rounds_max = 10'000;
            for (int round = 0; round < rounds_max && !loop_goes_on; ++round) ::poll(nullptr, 0, 1);
            if (!loop_goes_on) static_cast<void>(::write(made.from, "defgh", 5));
        }};
        std::array<std::byte, 16> space;
        descriptor line = descriptor::adopt(io, made.to);

        const auto got = co_await line.read_some(space);

        loop_goes_on = true;
        types.join();
        CHECK(text_of(std::span{space}.first(got.value())) == "abc");
        ::close(made.from);
    });
}

TEST_CASE(
    "a standard stream on a terminal is opened anew, and leaves how the program's own blocks") {
    on_each_backend_of("descriptors", [&](io_context& io) -> task<> {
        const unread_end made = terminal(true);
        const int kept = ::dup(STDERR_FILENO);
        REQUIRE(::dup2(made.to, STDERR_FILENO) >= 0);
        auto opened = standard_error(io);
        REQUIRE(::dup2(kept, STDERR_FILENO) >= 0);
        ::close(kept);
        REQUIRE(opened.ok());
        descriptor to = opened.take();
        const std::string line(4000, 'x');

        const auto put = co_await to.write_some(bytes_of(line));

        CHECK(put.value() == line.size());  // In one call, so not between those of other programs.
        CHECK(::isatty(to.native_handle()) == 1);
        CHECK((::fcntl(to.native_handle(), F_GETFD) & FD_CLOEXEC) != 0);
        CHECK((::fcntl(made.to, F_GETFL) & O_NONBLOCK) == 0);
        ::close(made.to);
        ::close(made.from);
    });
}

// The kernel says EIO there, and end of file to readers of everything else.
TEST_CASE(
    "a terminal that no process has open any more ends, for its emulator, behind what it said") {
    on_each_backend_of("descriptors", [](io_context& io) -> task<> {
        const unread_end made = terminal(true);
        const std::string name = ::ttyname(made.to);
        descriptor emulator = descriptor::adopt(io, made.from);
        REQUIRE(::write(made.to, "bye", 3) == 3);
        ::close(made.to);
        std::array<std::byte, 8> first{};

        const auto said = co_await emulator.read_some(mutable_buffer{first});
        const auto end = co_await emulator.read_some(mutable_buffer{first});

        CHECK(text_of(std::span{first}.first(said.value())) == "bye");
        CHECK(end.error() == errc::eof);
        std::array<std::byte, 8> second{};
        const std::array<mutable_buffer, 2> both{mutable_buffer{first}, mutable_buffer{second}};
        const auto scattered = co_await emulator.read_some(both);
        CHECK(scattered.error() == errc::eof);
        // Where another process opens it, it goes on.
        const int again = ::open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
        REQUIRE(again >= 0);
        REQUIRE(::write(again, "more", 4) == 4);
        const auto more = co_await emulator.read_some(mutable_buffer{first});
        CHECK(text_of(std::span{first}.first(more.value())) == "more");
        ::close(again);
    });
}

TEST_CASE("an emulator that waits for its terminal hears of the end") {
    const auto note = [](descriptor& from, io_result<std::size_t>& into) -> task<> {
        std::array<std::byte, 8> space{};
        into = co_await from.read_some(mutable_buffer{space});
    };
    on_each_backend_of("descriptors", [&](io_context& io) -> task<> {
        const unread_end made = terminal(true);
        descriptor emulator = descriptor::adopt(io, made.from);
        io_result<std::size_t> got;
        const auto both = [&](task_group& group) -> task<> {
            group.spawn(note(emulator, got));
            co_await settle();
            ::close(made.to);
        };

        co_await with_group(both);

        CHECK(got.error() == errc::eof);
        CHECK(got.value() == 0);
    });
}

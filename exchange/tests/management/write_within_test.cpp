// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/write_within.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <csignal>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace exchange;
using namespace std::chrono_literals;

namespace {

// A pipe of the smallest size there is, whose writes wait.
class small_pipe {
public:
    small_pipe() {
        REQUIRE(::pipe(ends_.data()) == 0);
        room_ = static_cast<std::size_t>(::fcntl(ends_[1], F_SETPIPE_SZ, PIPE_BUF));
    }
    small_pipe(const small_pipe&) = delete;
    small_pipe& operator=(const small_pipe&) = delete;
    ~small_pipe() {
        ::close(ends_[1]);
        close_reader();
    }
    void close_reader() {
        if (ends_[0] >= 0) ::close(ends_[0]);
        ends_[0] = -1;
    }
    [[nodiscard]] int in() const { return ends_[1]; }
    [[nodiscard]] std::size_t room() const { return room_; }
    [[nodiscard]] std::string read(std::size_t most) const {
        std::string made(most, '\0');
        const ssize_t got = ::read(ends_[0], made.data(), most);
        REQUIRE(got >= 0);
        made.resize(static_cast<std::size_t>(got));
        return made;
    }

private:
    std::array<int, 2> ends_{};
    std::size_t room_ = 0;
};

}  // namespace

TEST_CASE("write_within: what there is room for is written, and the rest is not waited for") {
    const small_pipe to;
    const std::string text(to.room() + 10, 'x');
    CHECK(write_within(0ms, to.in(), "few") == 3);
    CHECK(to.read(10) == "few");
    CHECK(write_within(0ms, to.in(), text) == to.room());
    CHECK(write_within(0ms, to.in(), "more") == 0);
    CHECK(to.read(to.room()) == text.substr(0, to.room()));
    CHECK(write_within(0ms, to.in(), "") == 0);
}

TEST_CASE("write_within: a reader that reads in time gets all of it") {
    const small_pipe to;
    std::string text;
    for (int each = 0; text.size() < 5 * to.room(); ++each) text += std::to_string(each) + ' ';
    std::string heard;
    std::thread reader{[&] {
        while (heard.size() < text.size()) heard += to.read(1000);
    }};
    CHECK(write_within(60s, to.in(), text) == text.size());
    reader.join();
    CHECK(heard == text);
}

TEST_CASE("write_within: a line is written in one piece or not at all, and a long one is cut") {
    const small_pipe to;
    CHECK(write_line(to.in(), "child: ", "says this"));
    CHECK(to.read(PIPE_BUF) == "child: says this\n");

    CHECK(write_line(to.in(), "child: ", std::string(PIPE_BUF, 'x')));
    const std::string longest = to.read(2 * PIPE_BUF);
    CHECK(longest.size() == PIPE_BUF);
    CHECK(longest.starts_with("child: xxx"));
    CHECK(longest.ends_with("xxx...\n"));

    CHECK(write_line(to.in(), "", std::string(PIPE_BUF - 1, 'y')));
    CHECK(to.read(2 * PIPE_BUF) == std::string(PIPE_BUF - 1, 'y') + '\n');

    REQUIRE(write_within(0ms, to.in(), std::string(to.room(), 'x')) == to.room());
    CHECK_FALSE(write_line(to.in(), "child: ", "says that"));
    CHECK(to.read(2 * to.room()) == std::string(to.room(), 'x'));
}

namespace {

// Writers that try at the same time, each with one line of a whole page.
class rivals {
public:
    explicit rivals(int to) {
        for (std::thread& each : threads_) each = std::thread{[this, to] { run(to); }};
    }
    rivals(const rivals&) = delete;
    rivals& operator=(const rivals&) = delete;
    ~rivals() {
        round_ = -1;
        for (std::thread& each : threads_) each.join();
    }
    void begin(int round) {
        ended_ = 0;
        taken_ = 0;
        round_ = round;
    }
    [[nodiscard]] bool ended() const { return ended_ == 2; }
    [[nodiscard]] std::size_t taken() const { return taken_; }

private:
    void run(int to) {
        const std::string page(PIPE_BUF, 'z');
        for (int done = 0;;) {
            const int round = round_;
            if (round < 0) return;
            if (round == done) {
                std::this_thread::yield();
                continue;
            }
            done = round;
            taken_ += write_within(0ms, to, page);
            ++ended_;
        }
    }

    std::atomic<int> round_ = 0;
    std::atomic<int> ended_ = 0;
    std::atomic<std::size_t> taken_ = 0;
    std::array<std::thread, 2> threads_;
};

// Before Linux 6.4 no write into a pipe can be kept from waiting.
bool pipes_refuse() {
    const small_pipe to;
    const std::string page(to.room(), 'x');
    const iovec one{const_cast<char*>(page.data()), page.size()};
    return ::pwritev2(to.in(), &one, 1, -1, RWF_NOWAIT) >= 0;
}

}  // namespace

TEST_CASE("write_within: of two that write into the last page of a pipe neither waits") {
    constexpr int rounds = 2000;
    const small_pipe to;
    if (!pipes_refuse() || to.room() != PIPE_BUF) {
        MESSAGE("skipped: this kernel writes into no pipe of one page without waiting");
        return;
    }
    rivals both{to.in()};
    for (int round = 1; round <= rounds; ++round) {
        both.begin(round);
        const auto limit = std::chrono::steady_clock::now() + 60s;
        while (!both.ended() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
        const bool neither_waits = both.ended();
        if (!neither_waits) static_cast<void>(to.read(to.room()));  // So that whoever waits ends.
        REQUIRE(neither_waits);
        REQUIRE(both.taken() == to.room());
        REQUIRE(to.read(2 * to.room()).size() == to.room());
    }
}

TEST_CASE("write_within: a note on standard error waits for no reader for long") {
    const small_pipe to;
    REQUIRE(write_within(0ms, to.in(), std::string(to.room(), 'x')) == to.room());
    const int before = ::dup(STDERR_FILENO);
    REQUIRE(::dup2(to.in(), STDERR_FILENO) >= 0);
    note_on_error_output("missed\n");
    const std::string first = to.read(to.room());
    note_on_error_output("heard\n");
    REQUIRE(::dup2(before, STDERR_FILENO) >= 0);
    ::close(before);
    CHECK(first == std::string(to.room(), 'x'));
    CHECK(to.read(10) == "heard\n");
}

TEST_CASE("write_within: a reader that is gone, and a descriptor that is none, take nothing") {
    small_pipe to;
    auto* const before = std::signal(SIGPIPE, SIG_DFL);
    ignore_broken_pipes();
    to.close_reader();
    CHECK(write_within(60s, to.in(), "text") == 0);
    CHECK(write_within(0ms, -1, "text") == 0);
    std::signal(SIGPIPE, before);
}

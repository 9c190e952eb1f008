// SPDX-License-Identifier: BSL-1.0
//
// What gyre/runtime/log_writer.hpp promises: lines that are whole and in order, none that waits, and a word
// on those that are missing.
#include <gyre/runtime/log_writer.hpp>

#include <base/ending.hpp>
#include <gyre/base/check.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/io/signals.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/test/world.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/settle.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <latch>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

log_writer opened_at(const std::string& path, const log_options& options = {}) {
    io_result<log_writer> opened = log_writer::open(path, options);
    REQUIRE(opened.ok());
    return opened.take();
}

/// A FIFO that the test reads, or does not.
class fifo {
public:
    explicit fifo(const scratch_directory& in) : path_{in / "fifo"} {
        REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
        number_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        REQUIRE(number_ >= 0);
    }
    fifo(const fifo&) = delete;
    fifo& operator=(const fifo&) = delete;
    ~fifo() { stop_reading(); }

    [[nodiscard]] const std::string& path() const { return path_; }

    void stop_reading() {
        if (number_ >= 0) ::close(number_);
        number_ = -1;
    }

    /// What is there now.
    [[nodiscard]] std::string read() const {
        std::string text;
        std::array<char, 65536> part;
        for (;;) {
            const ssize_t got = ::read(number_, part.data(), part.size());
            if (got <= 0) return text;
            text.append(part.data(), static_cast<std::size_t>(got));
        }
    }

private:
    std::string path_;
    int number_ = -1;
};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> all;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        REQUIRE(end != std::string::npos);
        all.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return all;
}

}  // namespace

TEST_CASE("lines of a coroutine are in the file when they are flushed, behind what it held") {
    on_every_backend([](io_context&) -> task<> {
        const scratch_directory home;
        home.put("log", "before\n");
        log_writer log = opened_at(home / "log");

        CHECK(log.write("one"));
        CHECK(log.write(""));
        CHECK(log.write("two"));
        const io_result<> flushed = co_await log.flush();

        CHECK(flushed.error() == error{});
        CHECK(home.get("log") == "before\none\n\ntwo\n");
        CHECK(log.counters().written == 3);
        CHECK(log.counters().dropped == 0);
        CHECK((co_await log.flush()).ok());
    });
}

TEST_CASE("a log's end writes what it holds") {
    const scratch_directory home;
    {
        log_options slow;
        slow.gather_time = 1h;  // The end does not wait for others.
        log_writer first = opened_at(home / "log", slow);
        CHECK(first.write("one"));
        log_writer second = std::move(first);
        CHECK_FALSE(first.write("lost"));
        CHECK(second.write("two"));
        second = opened_at(home / "other");
        CHECK(home.get("log") == "one\ntwo\n");
        CHECK(second.write("three"));
    }
    CHECK(home.get("other") == "three\n");
}

TEST_CASE("lines of many threads are whole, and those of each are in order") {
    const scratch_directory home;
    constexpr int threads = 4;
    constexpr int lines = 2000;
    log_writer log = opened_at(home / "log");
    std::vector<std::thread> all;
    std::latch begin{threads};
    for (int each = 0; each < threads; ++each) {
        all.emplace_back([&log, &begin, each] {
            begin.arrive_and_wait();
            for (int line = 0; line < lines; ++line) {
                const std::string text = std::to_string(each) + ' ' + std::to_string(line);
                if (!log.write(text)) FAIL_CHECK("there is room for all");
                if (line % 500 == 0) static_cast<void>(log.flush_blocking());
            }
        });
    }
    for (std::thread& each : all) each.join();
    CHECK(log.flush_blocking().ok());

    std::array<int, threads> next{};
    for (const std::string& line : lines_of(home.get("log"))) {
        const int of = line.at(0) - '0';
        CHECK(line.substr(2) == std::to_string(next.at(static_cast<std::size_t>(of))++));
    }
    for (const int each : next) CHECK(each == lines);
    CHECK(log.counters().written == threads * lines);
}

TEST_CASE("lines without room are dropped and counted, and the log says how many") {
    const scratch_directory home;
    const fifo unread{home};
    log_options small;
    small.bytes_max = 1000;
    log_writer log = opened_at(unread.path(), small);
    const std::string line(99, 'x');

    // The pipe and both halves of the memory fill; no write waits for the reader, and there is none.
    std::uint64_t taken = 0;
    const auto write_some = [&] {
        for (int each = 0; each < 100; ++each) taken += log.write(line) ? 1 : 0;
    };
    CHECK(eventually([&] {
        write_some();
        const auto soon = deadline_after(std::chrono::steady_clock::now(), 20ms);
        return log.flush_blocking(soon).error() == errc::timed_out;
    }));
    write_some();
    CHECK(log.counters().dropped > 0);
    const std::uint64_t dropped = log.counters().dropped;
    std::string read;
    CHECK(eventually([&] {
        read += unread.read();
        return log.counters().written == taken;
    }));
    CHECK(log.flush_blocking().ok());
    read += unread.read();

    std::uint64_t whole = 0;
    std::uint64_t missing = 0;
    for (const std::string& each : lines_of(read)) {
        if (each == line) {
            ++whole;
            continue;
        }
        CHECK(each.ends_with(" lines are missing here: there was no room for them"));
        missing += std::stoull(each.substr(std::string{"gyre: "}.size()));
    }
    CHECK(whole == taken);
    CHECK(missing == dropped);
    CHECK_FALSE(log.write(std::string(small.bytes_max, 'y')));
    CHECK(log.write(std::string(small.bytes_max - 1, 'y')));
}

TEST_CASE("a log whose reader takes nothing ends within its time") {
    const scratch_directory home;
    const fifo unread{home};
    log_options brief;
    brief.end_time_max = 1ms;
    {
        log_writer log = opened_at(unread.path(), brief);
        const std::string line(1000, 'x');
        for (int each = 0; each < 500; ++each) CHECK(log.write(line));
    }
    CHECK(unread.read().size() > 4096);
}

TEST_CASE(
    "lines that cannot be written are counted and said when others can, and no line is torn") {
    const ending how = ending_of([] {
        const scratch_directory home;
        log_writer log = opened_at(home / "log");
        CHECK(log.write("first"));
        CHECK(log.flush_blocking().ok());
        const rlimit small{10, RLIM_INFINITY};
        expects(::setrlimit(RLIMIT_FSIZE, &small) == 0);

        CHECK(log.write("second"));
        CHECK(log.write("third"));
        expects(log.flush_blocking().error() == errc::file_too_large, "said to who flushes");
        expects(log.counters().lost == 2 && log.counters().written == 1, "counted");
        expects(log.counters().failure == errc::file_too_large);
        const rlimit large{RLIM_INFINITY, RLIM_INFINITY};
        expects(::setrlimit(RLIMIT_FSIZE, &large) == 0);
        expects(log.write("fourth"));
        expects(log.flush_blocking().ok());
        expects(home.get("log") ==
                    "first\nseco\ngyre: 2 lines are missing here: write: File too large\nfourth\n",
                "the file tells");
    });

    CHECK(how.said == "");
    CHECK(how.signal == 0);
}

TEST_CASE(
    "where a word on missing lines has room in part only, the next one has a line of its own") {
    const ending how = ending_of([] {
        const scratch_directory home;
        log_writer log = opened_at(home / "log");
        const auto allow = [](rlim_t bytes) {
            const rlimit limit{bytes, RLIM_INFINITY};
            expects(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
        };
        allow(3);
        CHECK(log.write("first"));
        expects(log.flush_blocking().error() == errc::file_too_large);
        allow(10);
        CHECK(log.write("second"));
        expects(log.flush_blocking().error() == errc::file_too_large);
        expects(home.get("log") == "fir\ngyre: ", "a part of the word");

        allow(RLIM_INFINITY);
        expects(log.write("third"));
        expects(log.flush_blocking().ok());

        expects(home.get("log") ==
                    "fir\ngyre: \n"
                    "gyre: 2 lines are missing here: write: File too large\n"
                    "third\n",
                "the file tells");
    });

    CHECK(how.said == "");
    CHECK(how.signal == 0);
}

TEST_CASE("lines may gather until they are asked for or half of the memory is full") {
    const scratch_directory home;
    log_options patient;
    patient.gather_time = duration::max();
    patient.bytes_max = 100;
    log_writer log = opened_at(home / "log", patient);

    CHECK(log.write("one"));
    CHECK(home.get("log").empty());
    CHECK(log.flush_blocking().ok());
    CHECK(home.get("log") == "one\n");
    CHECK(log.write(std::string(50, 'x')));
    CHECK(eventually([&] { return home.get("log").size() == 55; }));
}

TEST_CASE("a flush in a world waits by the world's clock, not by the machine's") {
    test::world world;
    const auto body = []() -> task<> {
        const scratch_directory home;
        log_writer log = opened_at(home / "log");
        loop& here = co_await this_task::loop();
        CHECK(log.write("one"));
        const io_result<> flushed = co_await log.flush(deadline_after(here.read_clock(), 1h));
        CHECK(flushed.error() == error{});
        CHECK(home.get("log") == "one\n");
    };
    const auto ended = world.run(world.add("here"), body(), 24h);
    CHECK_MESSAGE(ended.ok(), ended.text());
}

TEST_CASE("a reader that has left costs lines, and neither a signal nor the log") {
    const scratch_directory home;
    fifo left{home};
    log_writer log = opened_at(left.path());
    left.stop_reading();

    CHECK(log.write("unread"));
    CHECK(log.flush_blocking().error() == errc::broken_pipe);
    CHECK(log.counters().lost == 1);
}

TEST_CASE("a log is opened again behind the lines so far, as logrotate wants it") {
    on_every_backend([](io_context&) -> task<> {
        const scratch_directory home;
        log_writer log = opened_at(home / "log");
        CHECK(log.write("one"));
        std::filesystem::rename(home / "log", home / "log.1");
        CHECK(log.write("two"));
        CHECK((co_await log.flush()).ok());

        CHECK(log.write("three"));
        log.reopen();
        CHECK((co_await log.flush()).ok());
        CHECK(log.write("four"));
        CHECK((co_await log.flush()).ok());

        CHECK(home.get("log.1") == "one\ntwo\nthree\n");
        CHECK(home.get("log") == "four\n");
    });
}

namespace {

task<> reopen_at_hangups(signal_set& hangups, log_writer& log) {
    for (;;) {
        const auto [failed, signal] = co_await idle(hangups.wait());
        if (failed) co_return;
        log.reopen();
    }
}

}  // namespace

TEST_CASE("a log is opened again at each hangup while lines come, and none of them is lost") {
    on_every_backend([](io_context& io) -> task<> {
        const scratch_directory home;
        log_writer log = opened_at(home / "log");
        signal_set hangups = signal_set::open(io, {SIGHUP}).take();
        constexpr int generations = 5;
        constexpr int lines = 100;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(reopen_at_hangups(hangups, log));
            for (int each = 0; each < generations; ++each) {
                for (int line = 0; line < lines; ++line) {
                    CHECK(log.write(std::to_string(each * lines + line)));
                }
                std::filesystem::rename(home / "log", home / ("log." + std::to_string(each)));
                ::kill(::getpid(), SIGHUP);
                while (!std::filesystem::exists(home / "log")) co_await yield();
            }
            group.request_stop();
        };
        co_await with_group(body);

        std::string all;
        for (int each = 0; each < generations; ++each) {
            all += home.get("log." + std::to_string(each));
        }
        std::string expected;
        for (int line = 0; line < generations * lines; ++line) {
            expected += std::to_string(line) + '\n';
        }
        CHECK(all == expected);
        CHECK(home.get("log").empty());
        CHECK(log.counters().failure == error{});
    });
}

TEST_CASE("where a log cannot be opened again the old file goes on and says so") {
    const scratch_directory home;
    std::filesystem::create_directory(home / "folder");
    log_writer log = opened_at(home / "folder/log");
    std::filesystem::rename(home / "folder", home / "moved");

    log.reopen();
    CHECK(log.flush_blocking().ok());
    CHECK(log.write("here"));
    CHECK(log.flush_blocking().ok());

    CHECK(log.counters().failure == errc::no_such_file);
    CHECK(home.get("moved/log") ==
          "gyre: this log goes on: open: No such file or directory\nhere\n");
}

TEST_CASE("what cannot be opened is an error, and no log takes nothing") {
    const scratch_directory home;
    const auto missing = log_writer::open(home / "missing/log");
    CHECK(missing.error().message() == "open: No such file or directory");
    const auto folder = log_writer::open(home.path());
    CHECK(folder.error() == errc::is_a_directory);
    const auto cut = log_writer::open(std::string{"a\0b", 3});
    CHECK(cut.error() == errc::invalid_argument);
    log_writer none;
    CHECK_FALSE(none.write("lost"));
    none.reopen();
    CHECK(none.flush_blocking().error() == errc::closed);
}

TEST_CASE("a failed check has the log written, with what the hook says to it") {
    const scratch_directory home;
    const std::string path = home / "log";
    static log_writer* of_hook = nullptr;
    const ending how = ending_of([&] {
        log_options slow;
        slow.gather_time = 1h;
        log_writer log = opened_at(path, slow);
        of_hook = &log;
        set_check_hook([](const check_failure& it) noexcept { of_hook->write(it.text); });
        CHECK(log.write("one"));
        expects(false, "the last line");
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("failed precondition: the last line"));
    CHECK(home.get("log") == "one\nthe last line\n");
}

TEST_CASE("standard error takes lines as well") {
    const ending how = ending_of([] {
        log_writer log = log_writer::to_standard_error().take();
        expects(log.write("a line"));
        log.reopen();
        expects(log.flush_blocking().ok());
    });

    CHECK(how.signal == 0);
    CHECK(how.said == "a line\n");
}

TEST_CASE(
    "a forked child takes no line, and neither waits for the log nor writes its lines again") {
    const scratch_directory home;
    log_options slow;
    slow.gather_time = 1h;
    log_writer log = opened_at(home / "log", slow);
    CHECK(log.write("parent"));
    const pid_t child = ::fork();
    if (child == 0) {
        bool right = !log.write("child") && log.flush_blocking().error() == errc::closed;
        log = log_writer{};
        ::_exit(right ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(log.flush_blocking().ok());

    CHECK(status == 0);
    CHECK(home.get("log") == "parent\n");
}

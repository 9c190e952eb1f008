// SPDX-License-Identifier: BSL-1.0
//
// Processes and pipes: see program.hpp.
#include <programs/program.hpp>

#include <support/harness.hpp>

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace gyre::testing {
namespace {

// Standard input of the child: a file, so that the test need not write while the child reads.
int file_with(std::string_view text) {
    std::FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    if (!text.empty()) REQUIRE(std::fwrite(text.data(), 1, text.size(), file) == text.size());
    std::rewind(file);
    const int number = ::dup(::fileno(file));
    std::fclose(file);
    return number;
}

}  // namespace

program::program(const std::string& path, std::vector<std::string> arguments,
                 const std::vector<variable>& variables, std::string_view input) {
    const int standard_input = file_with(input);
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    std::vector<char*> argv{const_cast<char*>(path.c_str())};
    for (std::string& each : arguments) argv.push_back(each.data());
    argv.push_back(nullptr);

    std::fflush(nullptr);
    id_ = ::fork();
    REQUIRE(id_ >= 0);
    if (id_ == 0) {
        ::dup2(standard_input, STDIN_FILENO);
        ::dup2(ends[1], STDOUT_FILENO);
        ::dup2(ends[1], STDERR_FILENO);
        ::close(standard_input);
        ::close(ends[0]);
        ::close(ends[1]);
        for (const variable& each : variables) ::setenv(each.name.c_str(), each.value.c_str(), 1);
        ::execv(path.c_str(), argv.data());
        ::_exit(127);
    }
    ::close(standard_input);
    ::close(ends[1]);
    output_ = ends[0];
}

program::~program() {
    if (status_ < 0) {
        ::kill(id_, SIGKILL);
        ::waitpid(id_, nullptr, 0);
    }
    ::close(output_);
}

// False at the end of the output.
bool program::read_more() {
    pollfd readable{output_, POLLIN, 0};
    const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
    const int ready = ::poll(&readable, 1, static_cast<int>(limit));
    INFO("it has printed: ", unread_);
    REQUIRE(ready == 1);

    std::array<char, 4096> space{};
    const ssize_t got = ::read(output_, space.data(), space.size());
    REQUIRE(got >= 0);
    unread_.append(space.data(), static_cast<std::size_t>(got));
    return got > 0;
}

std::string program::next_line() {
    std::size_t end = unread_.find('\n');
    while (end == std::string::npos) {
        if (!read_more()) return std::exchange(unread_, {});
        end = unread_.find('\n');
    }
    const std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    return line;
}

bool program::has_printed(std::string_view text) {
    pollfd readable{output_, POLLIN, 0};
    while (::poll(&readable, 1, 0) == 1 && read_more()) {
    }
    return unread_.find(text) != std::string::npos;
}

std::string program::rest_of_output() {
    while (read_more()) {
    }
    return std::exchange(unread_, {});
}

endpoint program::listening_on() {
    constexpr std::string_view announcement = "listening on ";
    const std::string line = next_line();
    INFO("it has printed: ", line);
    REQUIRE(line.starts_with(announcement));
    const io_result<endpoint> where = endpoint::parse(line.substr(announcement.size()));
    REQUIRE(where.ok());
    return where.value();
}

void program::send(int signal) const { REQUIRE(::kill(id_, signal) == 0); }

int program::wait() {
    if (status_ >= 0) return status_;
    static_cast<void>(rest_of_output());  // Ends when it does, or after the harness's patience.
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0) REQUIRE(errno == EINTR);
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return status_;
}

std::string text_of_file(const std::string& path) {
    const std::ifstream file{path};
    REQUIRE(file);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

int plain_connect(const endpoint& to) {
    const int number = ::socket(to.address_family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(number >= 0);
    const auto* raw = reinterpret_cast<const sockaddr*>(to.raw().data);
    REQUIRE(::connect(number, raw, to.raw().size) == 0);
    return number;
}

std::size_t raise_descriptor_limit(std::size_t wanted) {
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, std::min<rlim_t>(wanted, limit.rlim_max));
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    return limit.rlim_cur;
}

}  // namespace gyre::testing

// SPDX-License-Identifier: BSL-1.0
//
// Files, a child and /proc: see measured_process.hpp.
#include <exchange/bench/measured_process.hpp>

#include <lab/kit/fail.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace exchange::bench {
namespace {

void write_file(const std::string& path, const std::string& text) {
    std::ofstream file{path};
    file << text;
    file.close();
    if (!file) lab::fail("cannot write " + path);
    // It may hold credentials.
    using std::filesystem::perms;
    std::filesystem::permissions(path, perms::owner_read | perms::owner_write);
}

std::string read_line(int from) {
    std::string line;
    for (char each = 0; ::read(from, &each, 1) == 1 && each != '\n';) line += each;
    return line;
}

}  // namespace

measured_process::measured_process(const std::string& program,
                                   const std::vector<process_file>& files) {
    std::array<char, 32> folder{"/tmp/exchange_bench_XXXXXX"};
    if (::mkdtemp(folder.data()) == nullptr) lab::fail("cannot make a folder in /tmp");
    folder_ = folder.data();
    for (const process_file& each : files) write_file(folder_ + "/" + each.name, each.text);

    std::array<int, 2> out{};
    if (::pipe2(out.data(), O_CLOEXEC) != 0) lab::fail("cannot make a pipe");
    const std::string argument = folder_ + "/" + files.front().name;
    const std::array<const char*, 3> words{program.c_str(), argument.c_str(), nullptr};
    const auto begun = std::chrono::steady_clock::now();
    child_ = ::fork();
    if (child_ < 0) lab::fail("cannot start a process");
    if (child_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // This program may fail at any time.
        ::dup2(out[1], STDOUT_FILENO);
        ::execv(words[0], const_cast<char* const*>(words.data()));
        ::_exit(127);
    }
    ::close(out[1]);
    ready_ = read_line(out[0]);
    ::close(out[0]);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    seconds_to_ready_ = took.count();
}

measured_process::~measured_process() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    std::filesystem::remove_all(folder_);
}

std::string measured_process::word_behind(const std::string& before) const {
    const std::size_t at = ready_.find(before);
    if (at == std::string::npos) lab::fail("a program is not ready: " + ready_);
    const std::size_t begin = at + before.size();
    return ready_.substr(begin, ready_.find(',', begin) - begin);
}

gyre::endpoint measured_process::endpoint_behind(const std::string& before) const {
    return gyre::endpoint::parse(word_behind(before)).value();
}

process_use measured_process::used() const {
    process_use made;
    std::ifstream status{"/proc/" + std::to_string(child_) + "/status"};
    const auto kibibytes = [](const std::string& line) {
        return std::stoull(line.substr(line.find(':') + 1)) << 10;
    };
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) made.resident_bytes = kibibytes(line);
        if (line.starts_with("VmHWM:")) made.resident_bytes_most = kibibytes(line);
    }
    clockid_t clock{};  // Of all its threads, those that have ended included, to the nanosecond.
    timespec spent{};
    if (::clock_getcpuclockid(child_, &clock) != 0 || ::clock_gettime(clock, &spent) != 0)
        lab::fail("a program has ended");
    made.processor_seconds =
        static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) / 1e9;
    return made;
}

}  // namespace exchange::bench

// SPDX-License-Identifier: BSL-1.0
//
// Files, a child and /proc: see facility_process.hpp.
#include <exchange/bench/facility_process.hpp>

#include <exchange/management/password_hash.hpp>

#include <lab/kit/fail.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace exchange::bench {
namespace {

/// A JSON list with an entry for each user.
template <class Entry>
std::string list_of(const std::vector<bench_user>& users, const Entry& entry) {
    std::string made = "[";
    for (std::size_t each = 0; each < users.size(); ++each)
        made += (each == 0 ? "\n" : ",\n") + entry(users[each], std::to_string(each + 1));
    return made + "]";
}

std::string config_of(const facility_setting& how) {
    unsigned accounts = 0;
    for (const bench_user& each : how.users) accounts = std::max(accounts, each.account);
    std::string listed;
    for (unsigned each = 1; each <= accounts; ++each)
        listed += (each == 1 ? "" : ",\n") + ("{\"id\": " + std::to_string(each)) +
                  ", \"firm\": 1" + (each <= how.accounts_in_group ? ", \"group\": 1}" : "}");
    return "{\"backend\": \"" + how.backend +
           "\", \"pin_to_cpu\": " + std::to_string(how.processor) + R"(,
"order_entry": {"at": "127.0.0.1:0"},
"feed": {"to": "127.0.0.1:)" +
           std::to_string(how.feed_port) + R"(", "from": "127.0.0.1:0", "requests": "127.0.0.1:0"},
"limits": {"orders_max": )" +
           std::to_string(how.orders_max) +
           ", \"sessions_max\": " + std::to_string(how.users.size()) +
           ", \"accounts_max\": " + std::to_string(accounts) +
           R"(},
"credentials_file": "credentials.json",
"products": [{"id": 1, "multiplier": 1, "lot": 1}],
"instruments": [{"id": 1, "product": 1, "phase": "continuous"}],
"accounts": [)" +
           listed + "],\n\"sessions\": " +
           list_of(how.users,
                   [](const bench_user& it, const std::string& session) {
                       return "{\"id\": " + session +
                              ", \"account\": " + std::to_string(it.account) + "}";
                   }) +
           "}\n";
}

std::string credentials_of(const facility_setting& how) {
    const std::string hash = hash_password(facility_process::password());
    return "{\"participants\": " +
           list_of(how.users,
                   [&](const bench_user& it, const std::string& session) {
                       return "{\"username\": \"" + it.name + "\", \"session\": " + session +
                              ", \"hash\": \"" + hash + "\"}";
                   }) +
           "}\n";
}

void write_file(const std::string& path, const std::string& text) {
    std::ofstream file{path};
    file << text;
    file.close();
    if (!file) lab::fail("cannot write " + path);
}

std::string word_behind(const std::string& before, const std::string& ready) {
    const std::size_t at = ready.find(before);
    if (at == std::string::npos) lab::fail("the facility is not ready: " + ready);
    const std::size_t begin = at + before.size();
    return ready.substr(begin, ready.find(',', begin) - begin);
}

std::string read_line(int from) {
    std::string line;
    for (char each = 0; ::read(from, &each, 1) == 1 && each != '\n';) line += each;
    return line;
}

}  // namespace

facility_process::facility_process(const facility_setting& how) {
    std::array<char, 32> folder{"/tmp/exchange_bench_XXXXXX"};
    if (::mkdtemp(folder.data()) == nullptr) lab::fail("cannot make a folder in /tmp");
    folder_ = folder.data();
    const std::string config = folder_ + "/exchange.json";
    write_file(config, config_of(how));
    write_file(folder_ + "/credentials.json", credentials_of(how));

    std::array<int, 2> out{};
    if (::pipe2(out.data(), O_CLOEXEC) != 0) lab::fail("cannot make a pipe");
    const std::array<const char*, 3> words{how.program.c_str(), config.c_str(), nullptr};
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
    const std::string ready = read_line(out[0]);
    ::close(out[0]);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    seconds_to_ready_ = took.count();
    order_entry_ = gyre::endpoint::parse(word_behind("order entry ", ready)).value();
    requests_ = gyre::endpoint::parse(word_behind("requests ", ready)).value();
    life_ = word_behind("life ", ready);
}

facility_process::~facility_process() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    std::filesystem::remove_all(folder_);
}

process_use facility_process::used() const {
    const std::string base = "/proc/" + std::to_string(child_);
    process_use made;
    std::ifstream memory{base + "/statm"};
    std::size_t pages = 0;
    memory >> pages >> made.resident_bytes;
    made.resident_bytes *= static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::ifstream stat{base + "/stat"};
    std::stringstream all;
    all << stat.rdbuf();
    std::string text = all.str();
    text.erase(0, text.rfind(')') + 2);  // The name may hold blanks.
    std::istringstream fields{text};
    std::string skipped;
    for (int each = 3; each < 14; ++each) fields >> skipped;
    std::uint64_t user = 0;
    std::uint64_t kernel = 0;
    fields >> user >> kernel;
    made.processor_seconds =
        static_cast<double>(user + kernel) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    return made;
}

}  // namespace exchange::bench

// SPDX-License-Identifier: BSL-1.0
//
// Runs under a fuse: see fused_run.hpp.
#include <programs/fused_run.hpp>

#include <gyre/base/build.hpp>
#include <support/harness.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <random>
#include <utility>

namespace gyre::testing {
namespace {

constexpr std::size_t operations_max = 1000;
constexpr std::string_view told = "told to end\n";

// Takes what fused_program.cpp says at the end out of the output.
void read_report(fused_outcome& it) {
    const std::size_t begin = it.output.rfind("fuse: counted ");
    if (begin == std::string::npos) return;
    int blown = 0;
    int more = 0;
    int text = 0;
    std::sscanf(it.output.c_str() + begin,
                "fuse: counted %zu, blown %d, more %d, left open %ld, fault %n", &it.counted,
                &blown, &more, &it.left_open, &text);
    it.blown = blown != 0;
    it.more_errors = more != 0;
    const std::size_t fault = begin + static_cast<std::size_t>(text);
    it.fault = it.output.substr(fault, it.output.find('\n', fault) - fault);
    if (it.fault == error{}.message()) it.fault.clear();
    it.output.resize(begin);
    if (const std::size_t at = it.output.find(told); at != std::string::npos) {
        it.told_to_end = true;
        it.output.erase(at, told.size());
    }
}

fused_outcome run_once(const fused_scenario& scenario, const std::string& backend,
                       const std::string& fuse) {
    CAPTURE(fuse);
    program it{scenario.path,
               scenario.arguments(),
               {{"GYRE_BACKEND", backend}, {"GYRE_TEST_FUSE", fuse}},
               scenario.input};
    fused_outcome outcome;
    scenario.script(it, outcome);
    outcome.output += it.rest_of_output();
    outcome.status = it.wait();
    read_report(outcome);
    return outcome;
}

// What holds of every run, fault or not.
std::string wrong_anyway(const fused_scenario& scenario, const fused_outcome& it) {
    if (it.left_open < 0) return "it did not end by itself";
    if (it.left_open > scenario.left_open_max)
        return std::to_string(it.left_open) + " descriptors are left open";
    return {};
}

// What is wrong about a run that was told to end, which is no failure.
std::string wrong_end(const fused_outcome& it) {
    if (it.says(error{errc::canceled}.message()))
        return "an end that was asked for is told as an error";
    return it.status == 0 ? "" : "its end was asked for, and is told as a failure";
}

void judge(const fused_scenario& scenario, const fused_outcome& it, const std::string& fuse,
           const std::string& verdict) {
    std::string wrong = wrong_anyway(scenario, it);
    if (wrong.empty()) wrong = verdict;
    if (wrong.empty()) return;
    FAIL_CHECK(fuse, " (", it.fault, "): ", wrong, "; status ", it.status, ", it said:\n",
               it.output);
}

// A program with sanitizers takes long to start: there each operation meets one of its errors, by chance, and
// all of them in other builds. A number beyond the errors starts again at the first.
std::size_t first_error_of(std::size_t nth, std::uint32_t seed) {
    if (recycles_memory) return 0;
    constexpr std::size_t errors_max = 64;
    std::minstd_rand dice{seed + static_cast<std::uint32_t>(nth)};
    dice.discard(1);
    return errors_max + dice() % errors_max;
}

// False when the program has no operation of that number.
bool fail_operation(const fused_scenario& scenario, const std::string& backend, std::size_t nth,
                    std::uint32_t seed) {
    bool more = true;
    for (std::size_t which = first_error_of(nth, seed); more; ++which) {
        const std::string fuse = "fail " + std::to_string(nth) + " " + std::to_string(which);
        const fused_outcome it = run_once(scenario, backend, fuse);
        const bool whole = it.left_open >= 0 && !it.blown;
        judge(scenario, it, fuse, whole ? "" : scenario.verdict(it));
        if (whole) return false;
        more = it.more_errors;
    }
    return true;
}

bool end_at_operation(const fused_scenario& scenario, const std::string& backend, std::size_t nth) {
    const std::string fuse = "end " + std::to_string(nth);
    const fused_outcome it = run_once(scenario, backend, fuse);
    if (it.status == 128 + SIGTERM)
        return false;  // The script told it, too, which ends it at once.
    const bool whole = it.left_open >= 0 && !it.blown;
    judge(scenario, it, fuse, whole ? "" : wrong_end(it));
    return !whole;
}

}  // namespace

void under_every_fault(const fused_scenario& it) {
    const std::uint32_t seed = std::random_device{}();
    CAPTURE(seed);
    for (const std::string backend : {"epoll", "automatic"}) {
        CAPTURE(backend);
        const fused_outcome whole = run_once(it, backend, "fail 0 0");
        judge(it, whole, "no fault", it.verdict(whole));
        REQUIRE(whole.served);
        REQUIRE(whole.counted < operations_max);
        std::size_t nth = 1;
        while (nth < operations_max && fail_operation(it, backend, nth, seed)) ++nth;
        std::size_t ended = 1;
        while (ended < operations_max && end_at_operation(it, backend, ended)) ++ended;
        MESSAGE(backend, ": ", whole.counted, " operations in a run, ", nth - 1,
                " failed, ended at ", ended - 1);
    }
}

std::string own_loopback() {
    const auto number = static_cast<std::uint32_t>(::getpid());
    return "127." + std::to_string(1 + (number >> 16) % 254) + '.' +
           std::to_string((number >> 8) % 256) + '.' + std::to_string(number % 256);
}

void only_watch(program& it, fused_outcome& into) {
    into.output = it.rest_of_output();
    into.status = it.wait();
    into.served = into.status == 0;
}

void end_program(program& it, int signal, const fused_outcome& so_far) {
    if (!so_far.says(told) && !it.has_printed(told)) it.send(signal);
}

std::function<void(program&, fused_outcome&)> talk_to(std::function<bool(const endpoint&)> converse,
                                                      std::string ready) {
    return [converse = std::move(converse), ready = std::move(ready)](program& it,
                                                                      fused_outcome& into) {
        std::string line;
        do {
            line = it.next_line();
            into.output += line + "\n";
        } while (!line.empty() && !line.starts_with(ready));
        const io_result<endpoint> address =
            endpoint::parse(line.substr(std::min(ready.size(), line.size())));
        into.began = line.starts_with(ready) && (address.ok() || !ready.ends_with(" on "));
        if (!into.began) return end_program(it, SIGTERM, into);
        const endpoint where = address.value();
        const bool first = converse(where);
        const bool second = converse(where);
        into.served = second || (first && converse(where));
        // What serves nobody any more must be about to end by itself.
        if (into.served) end_program(it, SIGTERM, into);
    };
}

std::string goes_on_serving(const fused_outcome& it) {
    if (it.began) {
        if (it.fault_has("accept: ") && it.fault_has("canceled")) return {};
        if (!it.served) return "it does not serve any more";
        return it.status == 0 ? "" : "it failed";
    }
    if (it.status == 0 && it.fault_has("canceled"))
        return {};  // As a program that was told to end.
    if (it.status != 1) return "it could not begin, and its status does not tell";
    return it.tells_fault() ? "" : "it does not tell the fault";
}

std::string tells_or_succeeds(const fused_outcome& it) {
    if (it.status == 0) {
        const bool may_end = it.served || it.fault_has("canceled");
        return may_end ? "" : "it did not do what it is for, and its status does not tell";
    }
    if (it.status != 1) return "it ended with another status";
    return it.tells_fault() ? "" : "it does not tell the fault";
}

plain_peer::plain_peer(const endpoint& to)
    : number_{::socket(to.address_family(), SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    REQUIRE(number_ >= 0);
    // Linux drops the last segment of a handshake whose listener closes meanwhile, and says nothing: a client
    // that says nothing would wait for ever. A probe is answered by a reset.
    constexpr int on = 1;
    REQUIRE(::setsockopt(number_, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) == 0);
    for (const int option : {TCP_KEEPIDLE, TCP_KEEPINTVL}) {
        constexpr int seconds = 1;
        REQUIRE(::setsockopt(number_, IPPROTO_TCP, option, &seconds, sizeof seconds) == 0);
    }
    const auto* raw = reinterpret_cast<const sockaddr*>(to.raw().data);
    if (::connect(number_, raw, to.raw().size) == 0) return;
    ::close(number_);
    number_ = -1;
}

plain_peer::~plain_peer() {
    if (number_ >= 0) ::close(number_);
}

void plain_peer::says(std::string_view text) const {
    if (number_ >= 0) static_cast<void>(::send(number_, text.data(), text.size(), MSG_NOSIGNAL));
}

std::string plain_peer::hears() {
    std::size_t end = unread_.find('\n');
    while (end == std::string::npos && read_more()) end = unread_.find('\n');
    if (end == std::string::npos) return std::exchange(unread_, {});
    const std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    return line;
}

std::string plain_peer::hears(std::size_t count) {
    while (unread_.size() < count && read_more()) {
    }
    std::string bytes = unread_.substr(0, count);
    unread_.erase(0, bytes.size());
    return bytes;
}

std::string plain_peer::hears_the_rest() {
    if (number_ >= 0) ::shutdown(number_, SHUT_WR);
    while (read_more()) {
    }
    return std::exchange(unread_, {});
}

bool plain_peer::read_more() {
    if (number_ < 0) return false;
    pollfd readable{number_, POLLIN, 0};
    const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
    REQUIRE(::poll(&readable, 1, static_cast<int>(limit)) == 1);
    std::array<char, 4096> space{};
    const ssize_t got = ::recv(number_, space.data(), space.size(), 0);
    if (got > 0) unread_.append(space.data(), static_cast<std::size_t>(got));
    return got > 0;
}

}  // namespace gyre::testing

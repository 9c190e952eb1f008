// SPDX-License-Identifier: BSL-1.0
//
// See refusals.hpp.
#include <support/refusals.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/harness.hpp>
#include <support/skip.hpp>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace gyre::testing {

using namespace std::chrono_literals;

void forbid(std::span<const unsigned> calls, unsigned answer) {
    std::vector<sock_filter> code{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (const unsigned each : calls) {
        code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, each, 0, 1));
        code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | answer));
    }
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
    REQUIRE(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    REQUIRE(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

void forbid_setup() { forbid(std::array<unsigned, 1>{SYS_io_uring_setup}, EPERM); }
void forbid_enter() { forbid(std::array<unsigned, 1>{SYS_io_uring_enter}, EPERM); }
void forbid_register() { forbid(std::array<unsigned, 1>{SYS_io_uring_register}, EPERM); }
void forbid_everything() {
    forbid(std::array<unsigned, 3>{SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register},
           EPERM);
}

io_context_options require(backend_choice choice) {
    io_context_options options;
    options.backend = choice;
    return options;
}

std::vector<backend_choice> tiers() {
    return {backend_choice::uring, backend_choice::uring_a, backend_choice::uring_b,
            backend_choice::uring_c};
}

std::vector<backend_choice> tiers_here() {
    std::vector<backend_choice> all = tiers();
    std::erase_if(
        all, [](backend_choice each) { return io_context{require(each)}.status() != errc::ok; });
    if (all.empty()) skip("this kernel has no io_uring");
    return all;
}

bool has_uring() { return !tiers_here().empty(); }

bool is_uring(const io_context& io) {
    return io.backend().kind != backend_choice::epoll &&
           io.backend().kind != backend_choice::automatic;
}

bool says(const std::string& text, std::string_view what) {
    return text.find(what) != std::string::npos;
}

void check_in_child(const std::function<void(child_process&)>& body) {
    const child_report report = in_child([&](child_process& me) {
        ::unsetenv("GYRE_BACKEND");
        body(me);
    });
    INFO(report.text);
    CHECK(report.status == 0);
}

void run_to_end(child_process& me, io_context& io, task<> it) {
    bool ended = false;
    launch(io, std::move(it), [&ended](task_outcome<void> outcome) {
        outcome.get();
        ended = true;
    });
    io.run_for(child_patience);
    me.check(ended, "it ends instead of waiting for ever in\n" + dump_tasks(io));
}

void put(const stream_socket& into, std::string_view text) {
    const auto size = static_cast<ssize_t>(text.size());
    REQUIRE(::write(into.native_handle(), text.data(), text.size()) == size);
}

task<> use_a_little(io_context& io, child_process& me) {
    socket_pair pair = connected_pair(io);
    std::array<std::byte, 5> space{};
    static_cast<void>(co_await write_all(pair.client, bytes_of("hello")));
    const io_result<std::size_t> got = co_await read_exactly(pair.server, space);
    const io_result<std::size_t> none = co_await with_timeout(1ms, pair.server.read_some(space));
    me.check(got.ok() && text_of(space) == "hello", "data is carried");
    me.check(none.error() == errc::timed_out, "a read that has nothing to read times out");
}

}  // namespace gyre::testing

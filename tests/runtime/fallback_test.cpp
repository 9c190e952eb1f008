// SPDX-License-Identifier: BSL-1.0
//
// What becomes of a loop where the kernel refuses io_uring: at the start, later, or for lack of memory
// that may be locked.
//
// Seccomp filters, limits and user ids stick to a process, so every test here runs in a forked child.
// These are tests of `automatic` and of io_uring; on_every_backend would have nothing to vary.
#include <base/ending.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/datagram_batch.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr uid_t nobody = 65534;
constexpr duration child_patience = 20s;

// From now on the kernel answers `calls` with `answer`, as container runtimes have it do (seccomp(2)).
template <std::size_t Count>
void forbid(const std::array<unsigned, Count>& calls, unsigned answer = EPERM) {
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

void forbid_setup() { forbid(std::array<unsigned, 1>{SYS_io_uring_setup}); }
void forbid_enter() { forbid(std::array<unsigned, 1>{SYS_io_uring_enter}); }
void forbid_register() { forbid(std::array<unsigned, 1>{SYS_io_uring_register}); }
void forbid_everything() {
    forbid(std::array<unsigned, 3>{SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register});
}

io_context_options require(backend_choice choice) {
    io_context_options options;
    options.backend = choice;
    return options;
}

// Drops every privilege, io_uring's exemption from the limit included.
void become_nobody(rlim_t locked_bytes_max) {
    const rlimit limit{locked_bytes_max, locked_bytes_max};
    REQUIRE(::setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    REQUIRE(::setgid(nobody) == 0);
    REQUIRE(::setuid(nobody) == 0);
}

bool can_become_nobody() {
    if (::getuid() == 0) return true;
    MESSAGE("skipped: only root can become an unprivileged user");
    return false;
}

bool is_uring(const io_context& io) {
    return io.backend().kind != backend_choice::epoll &&
           io.backend().kind != backend_choice::automatic;
}

bool says(const std::string& text, std::string_view what) {
    return text.find(what) != std::string::npos;
}

// Runs `body` in a child in which nothing but the options chooses the backend.
void check_in_child(const std::function<void(child_process&)>& body) {
    const child_report report = in_child([&](child_process& me) {
        ::unsetenv("GYRE_BACKEND");
        body(me);
    });
    INFO(report.text);
    CHECK(report.status == 0);
}

// Runs `it` to its end, or reports what it hangs in.
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

// A round trip and a sleep: what any loop must be able to do.
task<> use_a_little(io_context& io, child_process& me) {
    socket_pair pair = connected_pair(io);
    std::array<std::byte, 5> space{};
    static_cast<void>(co_await write_all(pair.client, bytes_of("hello")));
    const io_result<std::size_t> got = co_await read_exactly(pair.server, space);
    const io_result<std::size_t> none = co_await with_timeout(1ms, pair.server.read_some(space));
    me.check(got.ok() && text_of(space) == "hello", "data is carried");
    me.check(none.error() == errc::timed_out, "a read that has nothing to read times out");
}

// Operations of every kind that are pending while the kernel changes its mind, and what comes of them.
class pending_work {
public:
    static constexpr std::size_t readers = 8;

    pending_work(io_context& io, child_process& me) : io_{io}, me_{me} {
        for (socket_pair& each : pairs_) each = connected_pair(io);
        scattered_ = local_pair(io);
        waited_for_ = local_pair(io);
        echoing_ = connected_pair(io);
        stuck_ = local_pair(io);
        acceptor_ = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
        much_.resize(2 << 20);
        for (std::size_t at = 0; at < much_.size(); ++at) {
            much_[at] = static_cast<std::byte>(at * 31 + at / 257);
        }
    }

    // Has everything pending, calls `change`, and then makes everything complete.
    task<> run(const std::function<void()>& change) {
        const auto body = [&](task_group& group) -> task<> {
            for (std::size_t each = 0; each < readers; ++each) {
                group.spawn(read_from(each));
                group.spawn(lease_from(each));
            }
            group.spawn(read_scattered());
            group.spawn(accept_one());
            group.spawn(wait_until_readable());
            group.spawn(sleep_long_enough());
            group.spawn(echo());
            group.spawn(converse());
            group.spawn(write_much());
            group.spawn(call_a_worker());
            while (round_trips_ < 100) static_cast<void>(co_await sleep_for(1ms));

            before_ = std::chrono::steady_clock::now();
            tell(0);  // Arrives before; its completion may not have been seen.
            change();
            tell(1);  // Arrives before the loop has noticed.
            const int trips = round_trips_;
            while (round_trips_ < trips + 100) static_cast<void>(co_await sleep_for(1ms));

            for (std::size_t each = 2; each < readers; ++each) tell(each);
            put(scattered_.server, "both parts");
            put(waited_for_.server, "!");
            static_cast<void>(co_await stream_socket::connect(acceptor_.local_endpoint().value()));
            co_await read_much();
            conversation_over_ = true;
        };
        co_await with_group(body);
    }

    void check_everything_came() const {
        for (std::size_t each = 0; each < readers; ++each) {
            me_.check(
                read_[each] == std::to_string(each),
                "read " + std::to_string(each) + " gets its byte, not \"" + read_[each] + '"');
            me_.check(leased_[each] == std::to_string(each), "leased read " + std::to_string(each) +
                                                                 " gets its byte, not \"" +
                                                                 leased_[each] + '"');
        }
        me_.check(scattered_text_ == "both parts", "the scattered read gets all of its text");
        me_.check(accepted_, "the accept gets its connection");
        me_.check(readable_, "the wait for input ends");
        me_.check(slept_, "the sleep ends, and not early");
        me_.check(conversation_intact_, "the conversation goes on byte for byte");
        me_.check(written_ == much_.size() && received_ == much_,
                  "the long write arrives as it is");
        me_.check(called_, "the call on a worker comes back");
    }

private:
    void tell(std::size_t which) {
        put(pairs_[which].server, std::to_string(which));
        put(pairs_[which].client, std::to_string(which));
    }
    task<> lease_from(std::size_t which) {
        io_result<buffer_lease> got = co_await pairs_[which].server.read();
        leased_[which] =
            got.ok() ? std::string{text_of(got.take().bytes())} : got.error().message();
    }
    task<> read_from(std::size_t which) {
        std::array<std::byte, 16> space{};
        const io_result<std::size_t> got = co_await pairs_[which].client.read_some(space);
        read_[which] = got.ok() ? std::string{text_of(const_buffer{space}.first(got.value()))}
                                : got.error().message();
    }
    task<> read_scattered() {
        std::array<std::byte, 4> first{};
        std::array<std::byte, 16> second{};
        const std::array<mutable_buffer, 2> into{first, second};
        const io_result<std::size_t> got =
            co_await scattered_.client.read_some(mutable_buffers{into});
        if (got.value() < first.size()) co_return;
        scattered_text_ = text_of(first);
        scattered_text_ += text_of(const_buffer{second}.first(got.value() - first.size()));
    }
    task<> accept_one() {
        const io_result<stream_socket> taken = co_await acceptor_.accept();
        accepted_ = taken.ok();
    }
    task<> wait_until_readable() {
        const io_result<> ready = co_await waited_for_.client.wait(readiness::readable);
        readable_ = ready.ok();
    }
    task<> sleep_long_enough() {
        const time_point start = io_.now();  // What a sleep is counted from.
        const io_result<> slept = co_await sleep_for(150ms);
        slept_ = slept.ok() && std::chrono::steady_clock::now() - start >= 150ms;
    }
    task<> echo() {
        std::array<std::byte, 64> space{};
        for (;;) {
            const io_result<std::size_t> got = co_await echoing_.server.read_some(space);
            if (!got.ok()) co_return;
            static_cast<void>(
                co_await write_all(echoing_.server, const_buffer{space}.first(got.value())));
        }
    }
    task<> converse() {
        std::array<std::byte, 4> answer{};
        while (!conversation_over_) {
            const int question = round_trips_;
            const const_buffer asked = std::as_bytes(std::span{&question, 1});
            const io_result<std::size_t> sent = co_await write_all(echoing_.client, asked);
            const io_result<std::size_t> got = co_await read_exactly(echoing_.client, answer);
            if (!sent.ok() || !got.ok() || !std::ranges::equal(asked, answer)) {
                conversation_intact_ = false;
                break;
            }
            ++round_trips_;
        }
        static_cast<void>(echoing_.client.close());
    }
    task<> write_much() {
        const io_result<std::size_t> sent = co_await write_all(stuck_.client, much_);
        written_ = sent.value();
        static_cast<void>(stuck_.client.close());
    }
    task<> read_much() {
        std::vector<std::byte> space(64 * 1024);
        for (;;) {
            const io_result<std::size_t> got = co_await stuck_.server.read_some(space);
            if (!got.ok()) co_return;
            const auto end = space.begin() + static_cast<std::ptrdiff_t>(got.value());
            received_.insert(received_.end(), space.begin(), end);
        }
    }
    task<> call_a_worker() {
        const auto wait_a_while = [this] {
            // On its own thread, until the loop has met the change.
            while (before_.load() == time_point{}) std::this_thread::yield();
            return 1;
        };
        const io_result<int> called = co_await blocking(wait_a_while);
        called_ = called.ok() && called.value() == 1;
    }

    io_context& io_;
    child_process& me_;
    std::array<socket_pair, readers> pairs_;
    socket_pair scattered_;
    socket_pair waited_for_;
    socket_pair echoing_;
    socket_pair stuck_;
    tcp_acceptor acceptor_;
    std::vector<std::byte> much_;

    std::array<std::string, readers> read_;
    std::array<std::string, readers> leased_;
    std::string scattered_text_;
    bool accepted_ = false;
    bool readable_ = false;
    bool slept_ = false;
    bool called_ = false;
    bool conversation_over_ = false;
    bool conversation_intact_ = true;
    int round_trips_ = 0;
    std::size_t written_ = 0;
    std::vector<std::byte> received_;
    std::atomic<time_point> before_{};
};

void check_goes_on_after(void (*change)()) {
    check_in_child([change](child_process& me) {
        io_context io;
        if (!is_uring(io)) return me.say("skipped: this kernel has no io_uring to withdraw");
        {
            pending_work work{io, me};
            run_to_end(me, io, work.run(change));
            work.check_everything_came();
        }
        me.check(io.receive_memory().blocks_lent == 0 && io.receive_memory().blocks_offered == 0,
                 "the kernel's blocks have come back");
        me.check(io.backend().kind == backend_choice::epoll, "it goes on with epoll");
        me.check(says(io.backend().reason, "withdrew io_uring") &&
                     says(io.backend().reason, "Operation not permitted"),
                 "and says why, not \"" + io.backend().reason + '"');
        me.check(!io.status(), "which is no error");
        run_to_end(me, io, use_a_little(io, me));
    });
}

// The tiers that this kernel offers.
std::vector<backend_choice> tiers() {
    return {backend_choice::uring, backend_choice::uring_a, backend_choice::uring_b,
            backend_choice::uring_c};
}

}  // namespace

TEST_CASE("where io_uring_setup is refused, automatic is epoll and says why") {
    check_in_child([](child_process& me) {
        forbid_setup();

        io_context io;

        me.check(io.backend().kind == backend_choice::epoll, "automatic is epoll");
        me.check(says(io.backend().reason, "io_uring_setup refused: Operation not permitted"),
                 "and says why, not \"" + io.backend().reason + '"');
        me.check(!io.status(), "which is no error");
        run_to_end(me, io, use_a_little(io, me));
    });
}

TEST_CASE("where io_uring_setup is refused but required, operations say so and timers go on") {
    for (const backend_choice tier : tiers()) {
        check_in_child([tier](child_process& me) {
            forbid_setup();
            io_context io{require(tier)};
            const auto use = [&]() -> task<> {
                socket_pair pair = connected_pair(io);
                put(pair.server, "there");
                std::array<std::byte, 4> space{};
                const std::array<mutable_buffer, 1> parts{space};
                const endpoint peer = pair.client.remote_endpoint().value();
                const io_result<std::size_t> read = co_await pair.client.read_some(space);
                const io_result<std::size_t> parted =
                    co_await pair.client.read_some(mutable_buffers{parts});
                const io_result<std::size_t> written =
                    co_await pair.client.write_some(bytes_of("x"));
                const io_result<> waited = co_await pair.client.wait(readiness::readable);
                const io_result<stream_socket> connected = co_await stream_socket::connect(peer);
                tcp_acceptor acceptor = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
                const io_result<stream_socket> accepted = co_await acceptor.accept();
                for (const error each : {read.error(), parted.error(), written.error(),
                                         waited.error(), connected.error(), accepted.error()}) {
                    me.check(each == errc::backend_unavailable,
                             "backend_unavailable, not \"" + each.message() + '"');
                }
                const io_result<> slept = co_await sleep_for(1ms);
                me.check(slept.ok(), "timers go on");
            };

            run_to_end(me, io, use());

            me.check(io.status() == errc::backend_unavailable, "status tells");
            me.check(says(io.backend().reason, "required by option, but io_uring_setup refused"),
                     "and the reason says why, not \"" + io.backend().reason + '"');
        });
    }
}

TEST_CASE("GYRE_BACKEND=uring requires io_uring too, and the reason names the variable") {
    check_in_child([](child_process& me) {
        ::setenv("GYRE_BACKEND", "uring", 1);
        forbid_setup();

        io_context io;
        io_context by_option{require(backend_choice::epoll)};

        me.check(io.status() == errc::backend_unavailable, "status tells");
        me.check(says(io.backend().reason, "uring required by GYRE_BACKEND"),
                 "the reason names the variable, not \"" + io.backend().reason + '"');
        me.check(!by_option.status(), "an option beats the variable");
        run_to_end(me, by_option, use_a_little(by_option, me));
    });
}

TEST_CASE("when io_uring_enter is refused in the middle of things, automatic loses nothing") {
    check_goes_on_after(&forbid_enter);
}

TEST_CASE("when all of io_uring is refused in the middle of things, automatic loses nothing") {
    check_goes_on_after(&forbid_everything);
}

TEST_CASE(
    "when io_uring is refused between set-up and the first run, automatic goes on with epoll") {
    for (void (*change)() : {&forbid_enter, &forbid_everything}) {
        check_in_child([change](child_process& me) {
            io_context io;
            change();

            run_to_end(me, io, use_a_little(io, me));

            me.check(io.backend().kind == backend_choice::epoll, "it goes on with epoll");
            me.check(!io.status(), "which is no error");
        });
    }
}

TEST_CASE("a loop that moves to another thread where io_uring is refused goes on with epoll") {
    for (void (*change)() : {&forbid_setup, &forbid_everything}) {
        check_in_child([change](child_process& me) {
            io_context io;
            if (!is_uring(io)) return me.say("skipped: this kernel has no io_uring to withdraw");
            run_to_end(me, io, use_a_little(io, me));
            change();

            std::thread elsewhere{[&] { run_to_end(me, io, use_a_little(io, me)); }};
            elsewhere.join();

            me.check(io.backend().kind == backend_choice::epoll, "it goes on with epoll");
            me.check(says(io.backend().reason, "withdrew io_uring"),
                     "and says why, not \"" + io.backend().reason + '"');
            me.check(!io.status(), "which is no error");
        });
    }
}

TEST_CASE("a loop that moves to where the io_uring it requires is refused says so and lives on") {
    for (const backend_choice tier : tiers()) {
        check_in_child([tier](child_process& me) {
            io_context io{require(tier)};
            if (io.status()) return me.say("skipped: this kernel lacks the tier");
            run_to_end(me, io, use_a_little(io, me));
            forbid_setup();
            socket_pair pair = connected_pair(io);
            const auto use = [&]() -> task<> {
                std::array<std::byte, 4> space{};
                const io_result<std::size_t> read = co_await pair.client.read_some(space);
                const io_result<> slept = co_await sleep_for(1ms);
                me.check(read.error() == errc::backend_unavailable, "operations say so");
                me.check(slept.ok(), "timers go on");
            };

            std::thread elsewhere{[&] { run_to_end(me, io, use()); }};
            elsewhere.join();

            me.check(io.status() == errc::backend_unavailable, "status tells");
        });
    }
}

TEST_CASE("counters go on where they were when a loop changes its backend") {
    for (const backend_choice tier : tiers()) {
        check_in_child([tier](child_process& me) {
            io_context io{require(tier)};
            if (io.status()) return me.say("skipped: this kernel lacks the tier");
            udp_socket socket = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
            int ended = 0;
            const auto read = [&]() -> task<> {
                datagram_batch batch{1, 16};
                static_cast<void>(co_await socket.receive(batch));
                ++ended;
            };
            launch(io, read(), or_terminate{});
            launch(io, read(), or_terminate{});
            io.poll();
            // Both readers are told of one datagram, so one of them begins once more.
            const endpoint to = socket.local_endpoint().value();
            udp_socket from = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
            const auto send = [&]() -> task<> {
                static_cast<void>(co_await from.send_to(bytes_of("x"), to));
            };
            launch(io, send(), or_terminate{});
            while (ended == 0) io.run_for(1ms);
            for (int visit = 0; visit < 100; ++visit) io.poll();
            const loop_counters before = io.counters();

            forbid_enter();
            io.run_for(child_patience);

            const loop_counters after = io.counters();
            me.check(io.status() == errc::backend_unavailable, "the backend has changed");
            me.check(before.visits >= 100 && before.rearms >= 1, "there is something to lose");
            me.check(after.visits >= before.visits, "visits are kept");
            me.check(after.rearms >= before.rearms, "beginnings anew are kept");
            me.check(ended == 2, "everybody has ended");
        });
    }
}

TEST_CASE("any thread may ask a pool for its status while a loop of it loses its backend") {
    for (const backend_choice tier : tiers()) {
        check_in_child([tier](child_process& me) {
            io_pool_options options;
            options.threads = 1;
            options.loop = require(tier);
            io_pool pool{options};
            if (pool.status()) return me.say("skipped: this kernel lacks the tier");

            pool[0].post([] { forbid_enter(); });  // It sticks to that thread.
            while (!pool.status()) {
                pool[0].post([] {});
                std::this_thread::yield();
            }

            me.check(pool.status() == errc::backend_unavailable, "status tells");
        });
    }
}

TEST_CASE("a ring that has lost completions ends the program, and nothing is begun twice") {
    const ending how = ending_of([] {
        ::unsetenv("GYRE_BACKEND");
        io_context io;
        if (!is_uring(io)) {
            std::fputs("skipped: this kernel has no io_uring\n", stderr);
            return;
        }
        socket_pair pair = connected_pair(io);
        std::array<std::byte, 4> space{};
        const auto read = [&]() -> task<> {
            static_cast<void>(co_await pair.client.read_some(space));
        };
        launch(io, read(), or_terminate{});
        io.poll();
        forbid(std::array<unsigned, 1>{SYS_io_uring_enter}, EBADR);
        io.poll();
    });

    if (how.said_that("skipped")) return;
    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("lost completions"));
}

TEST_CASE("a thread that posts while a loop changes its backend wakes it all the same") {
    check_in_child([](child_process& me) {
        io_context io;
        std::atomic<bool> over = false;
        std::atomic<int> arrived = 0;
        int sent = 0;
        std::thread poster{[&] {
            while (!over.load()) {
                io.post([&arrived]() noexcept { arrived.fetch_add(1); });
                const int now = ++sent;
                while (arrived.load() < now && !over.load()) std::this_thread::yield();
            }
        }};
        const auto change = [&]() -> task<> {
            while (arrived.load() < 1000) static_cast<void>(co_await sleep_for(1ms));
            forbid_enter();
            const int before = arrived.load();
            while (arrived.load() < before + 1000) static_cast<void>(co_await sleep_for(1ms));
        };

        run_to_end(me, io, change());
        over = true;
        poster.join();
        static_cast<void>(io.poll());

        me.check(arrived.load() == sent, "every post arrives");
        me.check(io.backend().kind == backend_choice::epoll, "the backend has changed");
    });
}

TEST_CASE("when io_uring is refused later but required, pending operations say so") {
    for (const backend_choice tier : tiers()) {
        check_in_child([tier](child_process& me) {
            io_context io{require(tier)};
            if (io.status()) return me.say("skipped: this kernel lacks the tier");
            socket_pair pair = connected_pair(io);
            std::array<std::byte, 16> space{};
            const auto use = [&]() -> task<> {
                io_result<std::size_t> pending;
                const auto read = [&]() -> task<> {
                    pending = co_await pair.client.read_some(space);
                };
                const auto body = [&](task_group& group) -> task<> {
                    group.spawn(read());
                    static_cast<void>(co_await sleep_for(1ms));
                    forbid_enter();
                };
                co_await with_group(body);
                const io_result<std::size_t> later = co_await pair.server.write_some(bytes_of("x"));
                const io_result<> slept = co_await sleep_for(1ms);

                me.check(pending.error() == errc::backend_unavailable, "the pending one says so");
                me.check(later.error() == errc::backend_unavailable, "and so does a later one");
                me.check(slept.ok(), "timers go on");
            };

            run_to_end(me, io, use());

            me.check(io.status() == errc::backend_unavailable, "status tells");
            me.check(says(io.backend().reason, "withdrew io_uring"),
                     "and the reason says why, not \"" + io.backend().reason + '"');
        });
    }
}

TEST_CASE("where the kernel takes no buffers to choose from, leased reads wait without") {
    for (const backend_choice tier : tiers()) {
        check_in_child([tier](child_process& me) {
            io_context io{require(tier)};
            if (io.status()) return me.say("skipped: this kernel lacks the tier");
            run_to_end(me, io, use_a_little(io, me));  // What set-up itself registers.
            forbid_register();
            socket_pair pair = connected_pair(io);
            std::string text;
            const auto read = [&]() -> task<> {
                io_result<buffer_lease> got = co_await pair.client.read();
                if (got.ok()) text = text_of(got.take().bytes());
            };
            const auto use = [&]() -> task<> {
                const auto body = [&](task_group& group) -> task<> {
                    group.spawn(read());
                    static_cast<void>(co_await sleep_for(1ms));
                    me.check(io.receive_memory().blocks_offered == 0, "nothing is offered");
                    put(pair.server, "all the same");
                };
                co_await with_group(body);
            };

            run_to_end(me, io, use());

            me.check(text == "all the same", "it reads \"" + text + '"');
            me.check(is_uring(io), "and stays what it was");
        });
    }
}

TEST_CASE("a leased read that was told of a refusal leaves blocks and socket alone") {
    for (void (*change)() : {&forbid_enter, &forbid_everything}) {
        for (const backend_choice tier : tiers()) {
            check_in_child([change, tier](child_process& me) {
                io_context io{require(tier)};
                if (io.status()) return me.say("skipped: this kernel lacks the tier");
                socket_pair pair = connected_pair(io);
                bool over = false;
                const auto read = [&]() -> task<> {
                    const io_result<buffer_lease> got = co_await pair.client.read();
                    over = !got.ok();
                };
                launch(io, read(), or_terminate{});
                io.run_for(1ms);
                change();
                io.run_for(child_patience);
                me.check(over, "the read is over");
                me.check(io.receive_memory().blocks_offered == 0, "the kernel has no block");

                put(pair.server, "not for that read");
                for (int tries = 0; tries < 100; ++tries) {
                    static_cast<void>(::getppid());
                    static_cast<void>(io.poll());
                }
                std::array<char, 32> rest{};
                const ssize_t left =
                    ::recv(pair.client.native_handle(), rest.data(), rest.size(), MSG_DONTWAIT);
                me.check(left == 17, "input that came later is left alone");
            });
        }
    }
}

TEST_CASE("an operation that was told of a refusal no longer touches its buffer or its socket") {
    for (const backend_choice tier : tiers()) {
        check_in_child([tier](child_process& me) {
            io_context io{require(tier)};
            if (io.status()) return me.say("skipped: this kernel lacks the tier");
            socket_pair pair = connected_pair(io);
            std::array<std::byte, 16> space{};
            bool over = false;
            const auto read = [&]() -> task<> {
                const io_result<std::size_t> got = co_await pair.client.read_some(space);
                over = !got.ok();
            };
            launch(io, read(), or_terminate{});
            io.run_for(1ms);
            forbid_enter();
            io.run_for(child_patience);
            me.check(over, "the read is over");

            put(pair.server, "not for that read");
            for (int tries = 0; tries < 100; ++tries) {
                // Each call is a chance for the kernel to finish what it still holds.
                static_cast<void>(::getppid());
                static_cast<void>(io.poll());
            }
            std::array<char, 32> rest{};
            const ssize_t left =
                ::recv(pair.client.native_handle(), rest.data(), rest.size(), MSG_DONTWAIT);

            me.check(space == std::array<std::byte, 16>{}, "its buffer is left alone");
            me.check(left == 17, "and so is the input that came later");
        });
    }
}

TEST_CASE("with 64 KiB of lockable memory an unprivileged loop works, and says what it had to do") {
    if (!can_become_nobody()) return;
    check_in_child([](child_process& me) {
        become_nobody(64 * 1024);

        io_context io;

        me.check(!io.backend().reason.empty(), "it says why");
        me.check(!io.status(), "it is no error");
        me.say(std::string{"it chose "} + describe(io.backend().kind) + ": " + io.backend().reason);
        run_to_end(me, io, use_a_little(io, me));
        {
            pending_work work{io, me};
            run_to_end(me, io, work.run([] {}));
            work.check_everything_came();
        }
    });
}

TEST_CASE("with no lockable memory at all an unprivileged loop works all the same") {
    if (!can_become_nobody()) return;
    check_in_child([](child_process& me) {
        become_nobody(0);

        io_context io;
        io_context required{require(backend_choice::uring)};

        if (io.backend().kind == backend_choice::epoll) {
            me.check(says(io.backend().reason, "Cannot allocate memory"),
                     "it says why, not \"" + io.backend().reason + '"');
            me.check(required.status() == errc::backend_unavailable, "required is refused");
        } else {
            me.check(!required.status(), "what automatic has, may be required");
        }
        run_to_end(me, io, use_a_little(io, me));
    });
}

TEST_CASE("a thousand loops made and destroyed by an unprivileged user never end on epoll") {
    if (!can_become_nobody()) return;
    check_in_child([](child_process& me) {
        {
            const io_context probe;
            if (!is_uring(probe)) return me.say("skipped: this kernel has no io_uring");
        }
        become_nobody(8 << 20);

        int on_epoll = 0;
        std::string reason;
        for (int cycle = 0; cycle < 1000; ++cycle) {
            io_context io;
            static_cast<void>(io.poll());
            if (is_uring(io)) continue;
            ++on_epoll;
            reason = io.backend().reason;
        }

        me.check(on_epoll == 0, std::to_string(on_epoll) + " of 1000 on epoll: " + reason);
    });
}

TEST_CASE("many loops at once, within the limit of an unprivileged user, are all on io_uring") {
    if (!can_become_nobody()) return;
    check_in_child([](child_process& me) {
        {
            const io_context probe;
            if (!is_uring(probe)) return me.say("skipped: this kernel has no io_uring");
        }
        become_nobody(8 << 20);

        for (int round = 0; round < 20; ++round) {
            std::vector<std::unique_ptr<io_context>> loops;
            for (int each = 0; each < 16; ++each) {
                loops.push_back(std::make_unique<io_context>());
                static_cast<void>(loops.back()->poll());
                me.check(is_uring(*loops.back()), loops.back()->backend().reason);
            }
        }
    });
}

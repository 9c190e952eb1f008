// SPDX-License-Identifier: BSL-1.0
//
// A ring whose queue of entries is full while the kernel takes none until its results are taken.
//
// Kernels do that when they are short of memory or their queue of results has overflowed. Here a seccomp
// filter does, which asks a thread of the test what to answer; it sticks to the process, so each test runs
// in a forked child. These are tests of io_uring; on_every_backend would have nothing to vary.
#include <gyre/coro/launch.hpp>
#include <gyre/io/datagram_batch.hpp>
#include <gyre/io/udp_socket.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>
#include <support/refusals.hpp>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

static_assert(std::endian::native == std::endian::little, "where the filter finds the flags");

// From its making until its end, the calling thread's attempts to hand over entries without asking for
// results fail with EBUSY the first few times.
class busy_kernel {
public:
    explicit busy_kernel(int refusals) : refusals_left_{refusals} {
        constexpr auto flags_at =
            static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 3 * sizeof(std::uint64_t));
        std::array<sock_filter, 6> code{{
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_enter, 0, 3),
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, flags_at),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        }};
        const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
        REQUIRE(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
        questions_ = static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                                SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
        REQUIRE(questions_ >= 0);
        thread_ = std::thread{[this] { answer_until_over(); }};
    }
    busy_kernel(const busy_kernel&) = delete;
    busy_kernel& operator=(const busy_kernel&) = delete;
    ~busy_kernel() {
        const std::uint64_t one = 1;
        static_cast<void>(!::write(over_, &one, sizeof one));
        thread_.join();
        ::close(questions_);
        ::close(over_);
    }

    [[nodiscard]] bool has_refused() const noexcept { return refusals_left_.load() <= 0; }

private:
    void answer_until_over() {
        for (;;) {
            std::array<pollfd, 2> both{{{questions_, POLLIN, 0}, {over_, POLLIN, 0}}};
            static_cast<void>(::poll(both.data(), both.size(), -1));
            if ((both[0].revents & POLLIN) != 0) answer();
            if ((both[1].revents & POLLIN) != 0) return;
        }
    }

    void answer() {
        seccomp_notif question{};
        if (::ioctl(questions_, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) return;
        seccomp_notif_resp reply{};
        reply.id = question.id;
        if (refusals_left_.fetch_sub(1) > 0) {
            reply.error = -EBUSY;
        } else {
            reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        }
        static_cast<void>(::ioctl(questions_, SECCOMP_IOCTL_NOTIF_SEND, &reply));
    }

    std::atomic<int> refusals_left_;
    int questions_ = -1;
    int over_ = ::eventfd(0, EFD_CLOEXEC);
    std::thread thread_;
};

// More readers of one socket than the ring has entries. Whatever comes is told to all of them, so all but
// one wait again: each needs an entry, while results are being taken.
class crowd {
public:
    static constexpr std::size_t size = 12;
    static constexpr unsigned entries = 4;

    explicit crowd(io_context& io) : io_{io} {
        socket_ = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
        for (std::size_t each = 0; each < size; ++each) launch(io, read(each), or_terminate{});
        io.poll();
        sockaddr_in to{};
        socklen_t to_size = sizeof to;
        REQUIRE(::getsockname(socket_.native_handle(), reinterpret_cast<sockaddr*>(&to),
                              &to_size) == 0);
        REQUIRE(::connect(peer_, reinterpret_cast<const sockaddr*>(&to), to_size) == 0);
    }
    crowd(const crowd&) = delete;
    crowd& operator=(const crowd&) = delete;
    ~crowd() { ::close(peer_); }

    void send(char name) const { REQUIRE(::send(peer_, &name, 1, 0) == 1); }

    // Runs until so many readers have ended.
    void run_until_ended(child_process& me, std::size_t count) {
        const time_point until = std::chrono::steady_clock::now() + 20s;
        while (ended() < count && std::chrono::steady_clock::now() < until) io_.run_for(1ms);
        me.check(ended() == count,
                 std::to_string(count) + " readers have ended, not " + std::to_string(ended()));
    }

    void check_each_ended_once(child_process& me) const {
        for (const int each : resumed_) {
            me.check(each == 1, "a reader resumes once, not " + std::to_string(each) + " times");
        }
    }

    [[nodiscard]] std::size_t ended() const {
        return static_cast<std::size_t>(
            std::count_if(resumed_.begin(), resumed_.end(), [](int it) { return it > 0; }));
    }

    [[nodiscard]] std::string received() const {
        std::string sorted = received_;
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }
    [[nodiscard]] std::size_t canceled() const noexcept { return canceled_; }
    void close() { static_cast<void>(socket_.close()); }

private:
    task<> read(std::size_t which) {
        datagram_batch batch{1, 16};
        const io_result<std::size_t> got = co_await socket_.receive(batch);
        ++resumed_[which];
        if (got.ok()) received_ += text_of(batch[0]);
        if (got.error() == errc::canceled) ++canceled_;
    }

    io_context& io_;
    udp_socket socket_;
    int peer_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    std::array<int, size> resumed_{};
    std::string received_;
    std::size_t canceled_ = 0;
};

// Calls `body(child, readers, kernel)` in a child for each tier that this kernel has; it is the body that
// makes the kernel busy.
void on_small_rings(
    const std::function<void(child_process&, crowd&, std::optional<busy_kernel>&)>& body) {
    for (const backend_choice tier : tiers_here()) {
        const child_report report = in_child([&](child_process& me) {
            io_context_options options;
            options.backend = tier;
            options.ring_submissions = crowd::entries;
            std::optional<busy_kernel> kernel;  // Until after the loop: it answers to the end.
            io_context io{options};
            crowd readers{io};
            body(me, readers, kernel);
            readers.check_each_ended_once(me);
        });
        INFO(std::string{describe(tier)}, ": ", report.text);
        CHECK(report.status == 0);
    }
}

}  // namespace

TEST_CASE("results that are taken while one of them is being delivered are delivered once") {
    on_small_rings([](child_process& me, crowd& readers, std::optional<busy_kernel>& kernel) {
        kernel.emplace(1);

        readers.send('a');
        readers.run_until_ended(me, 1);

        me.check(kernel->has_refused(), "the kernel was asked, and refused");
        std::string sent = "a";
        for (std::size_t each = 1; each < crowd::size; ++each) {
            sent += static_cast<char>('a' + each);
            readers.send(sent.back());
            readers.run_until_ended(me, each + 1);
        }
        me.check(readers.received() == sent,
                 "each datagram is received once, not \"" + readers.received() + '"');
    });
}

TEST_CASE("a socket is closed although its cancels make the ring take results in") {
    on_small_rings([](child_process& me, crowd& readers, std::optional<busy_kernel>& kernel) {
        kernel.emplace(1);

        // Where the kernel tells at once, all readers have a result each, not seen yet.
        for (std::size_t each = 0; each < crowd::size; ++each) {
            readers.send(static_cast<char>('a' + each));
        }
        readers.close();

        me.check(kernel->has_refused(), "the kernel was asked, and refused");
        readers.run_until_ended(me, crowd::size);
        me.check(readers.received().size() + readers.canceled() == crowd::size,
                 "each reader has its datagram, or was canceled");
    });
}

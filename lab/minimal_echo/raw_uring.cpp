// SPDX-License-Identifier: BSL-1.0
//
// The least an echo server on io_uring can be, with liburing: one accept that stays armed, and for each
// connection a receive or a send in the ring.
#include <lab/minimal_echo/listen.hpp>

#include <liburing.h>

#include <cstddef>

struct connection {
    int socket = -1;
    std::size_t size = 0;  // Bytes in `space` that are to go out; none while it receives.
    std::size_t sent = 0;
    char space[4096];
};

class server {
public:
    explicit server(int listener) : listener_{listener} {
        io_uring_params how{};
        how.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE;
        how.cq_entries = 4096;
        if (const int failed = ::io_uring_queue_init_params(1024, &ring_, &how); failed < 0) {
            std::fprintf(stderr, "io_uring_setup: %d\n", failed);
            std::exit(1);
        }
        accept();
    }

    [[noreturn]] void run() {
        for (;;) {
            ::io_uring_submit_and_wait(&ring_, 1);
            unsigned head = 0;
            unsigned count = 0;
            io_uring_cqe* done = nullptr;
            io_uring_for_each_cqe(&ring_, head, done) {
                ++count;
                auto* const it = static_cast<connection*>(::io_uring_cqe_get_data(done));
                it == nullptr ? accepted(*done) : advance(*it, done->res);
            }
            ::io_uring_cq_advance(&ring_, count);
        }
    }

private:
    io_uring_sqe& entry() {
        for (;;) {
            if (io_uring_sqe* const free = ::io_uring_get_sqe(&ring_)) return *free;
            ::io_uring_submit(&ring_);
        }
    }

    void accept() {
        io_uring_sqe& to = entry();
        ::io_uring_prep_multishot_accept(&to, listener_, nullptr, nullptr, SOCK_CLOEXEC);
        ::io_uring_sqe_set_data(&to, nullptr);
    }

    void accepted(const io_uring_cqe& result) {
        if ((result.flags & IORING_CQE_F_MORE) == 0) accept();
        if (result.res < 0) return;
        auto* const it = new connection;
        it->socket = result.res;
        go_on(*it);
    }

    void go_on(connection& it) {
        io_uring_sqe& to = entry();
        if (it.size == 0) {
            ::io_uring_prep_recv(&to, it.socket, it.space, sizeof(it.space), 0);
        } else {
            ::io_uring_prep_send(&to, it.socket, it.space + it.sent, it.size - it.sent, 0);
        }
        ::io_uring_sqe_set_data(&to, &it);
    }

    void advance(connection& it, int result) {
        if (result <= 0) {
            ::close(it.socket);
            delete &it;
            return;
        }
        const auto count = static_cast<std::size_t>(result);
        if (it.size == 0) {
            it.size = count;
        } else if (it.sent += count; it.sent == it.size) {
            it.size = it.sent = 0;
        }
        go_on(it);
    }

    int listener_;
    io_uring ring_{};
};

int main(int, char** arguments) { server{listen_on(arguments[1])}.run(); }

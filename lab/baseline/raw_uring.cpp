// SPDX-License-Identifier: BSL-1.0
//
// The best plain server on io_uring that we can write for small messages and many clients.
//
// One accept stays armed and yields all connections. A connection always has one receive or one send in
// the ring, and one call into the kernel submits everybody's next step and fetches everybody's last;
// at a hundred clients and a kilobyte that beats multishot receives (see lab/README.md). Where the
// connection ends with the answer, sending and closing go into the ring together, as a chain.
#include <lab/baseline/requests.hpp>
#include <lab/baseline/seam.hpp>
#include <lab/contenders/raw_ring.hpp>

#include <lab/fail.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace {

constexpr std::string_view with_polling = "io_uring_sqpoll";

enum class step : std::uint8_t { receiving, sending, closing };

struct connection {
    int number = -1;
    step now = step::receiving;
    std::string_view unsent{};
    baseline::request_scanner requests{};
    std::array<char, 4096> space;
};

class server {
public:
    server(const baseline::job& wanted, lab::descriptor listener)
        : answers_{wanted.what},
          ring_{wanted.backend == with_polling ? raw::submission::by_the_kernel
                                               : raw::submission::by_calls,
                wanted.polling_core},
          listener_{std::move(listener)} {}

    [[noreturn]] void run() {
        accept();
        for (;;) {
            ring_.turn([this](const io_uring_cqe& result) {
                if (result.user_data == accepting) {
                    accepted(result);
                } else {
                    advance(*reinterpret_cast<connection*>(result.user_data), result.res);
                }
            });
        }
    }

private:
    static constexpr std::uint64_t accepting = 0;

    void accept() {
        io_uring_sqe& to = ring_.entry();
        to.opcode = IORING_OP_ACCEPT;
        to.fd = listener_.get();
        to.ioprio = IORING_ACCEPT_MULTISHOT;
        to.accept_flags = SOCK_CLOEXEC;
        to.user_data = accepting;
    }

    void accepted(const io_uring_cqe& result) {
        lab::require(result.res >= 0, "raw_uring: accept");
        if ((result.flags & IORING_CQE_F_MORE) == 0) accept();
        connection& it = spare();
        it.number = result.res;
        receive(it);
    }

    // Connections are used again and not freed: where they come and go, that is what a pool is for.
    connection& spare() {
        if (spares_.empty()) return *new connection;
        connection& it = *spares_.back();
        spares_.pop_back();
        it.requests = {};
        return it;
    }

    void end(connection& it) { spares_.push_back(&it); }

    io_uring_sqe& prepare(connection& it, std::uint8_t opcode) {
        io_uring_sqe& to = ring_.entry();
        to.opcode = opcode;
        to.fd = it.number;
        to.user_data = reinterpret_cast<std::uint64_t>(&it);
        return to;
    }

    void receive(connection& it) {
        it.now = step::receiving;
        io_uring_sqe& to = prepare(it, IORING_OP_RECV);
        to.addr = reinterpret_cast<std::uint64_t>(it.space.data());
        to.len = static_cast<std::uint32_t>(it.space.size());
    }

    io_uring_sqe& send(connection& it) {
        it.now = step::sending;
        io_uring_sqe& to = prepare(it, IORING_OP_SEND);
        to.addr = reinterpret_cast<std::uint64_t>(it.unsent.data());
        to.len = static_cast<std::uint32_t>(it.unsent.size());
        to.msg_flags = MSG_NOSIGNAL | MSG_WAITALL;
        return to;
    }

    void close(connection& it) {
        it.now = step::closing;
        prepare(it, IORING_OP_CLOSE);
    }

    // A send that fails says so, and takes the close behind it with it; one that succeeds is silent.
    void send_and_close(connection& it) {
        ring_.reserve(2);
        send(it).flags = IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS;
        close(it);
    }

    void advance(connection& it, std::int32_t result) {
        switch (it.now) {
            case step::receiving: return received(it, result);
            case step::sending: return sent(it, result);
            case step::closing: return closed(it, result);
        }
    }

    void received(connection& it, std::int32_t result) {
        if (result <= 0) return close(it);
        const std::string_view arrived{it.space.data(), static_cast<std::size_t>(result)};
        const bool asked = answers_ == baseline::workload::http;
        it.unsent = asked ? it.requests.answer_to(arrived) : arrived;
        if (it.requests.closes()) {
            it.unsent.empty() ? close(it) : send_and_close(it);
        } else {
            it.unsent.empty() ? receive(it) : static_cast<void>(send(it));
        }
    }

    void sent(connection& it, std::int32_t result) {
        if (result <= 0) return close(it);
        it.unsent.remove_prefix(static_cast<std::size_t>(result));
        it.unsent.empty() ? receive(it) : static_cast<void>(send(it));
    }

    // A result of the send before it is not the end: that of the close itself still comes.
    void closed(connection& it, std::int32_t result) {
        if (result == 0) return end(it);
        if (result != -ECANCELED) return;
        close(it);
    }

    baseline::workload answers_;
    raw::ring ring_;
    lab::descriptor listener_;
    std::vector<connection*> spares_;
};

}  // namespace

int main(int count, char** arguments) {
    const baseline::identity about{"none", "-", {"io_uring", with_polling}};
    return baseline::run(count, arguments, about,
                         [](const baseline::job& wanted, lab::descriptor listener) {
                             server{wanted, std::move(listener)}.run();
                         });
}

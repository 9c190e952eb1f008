// SPDX-License-Identifier: BSL-1.0
//
// The best plain server on io_uring that we can write without multishot receives.
//
// A connection is always in one of two states: a receive is in the ring, or a send is. One call into
// the kernel submits everybody's next step and fetches everybody's last.
#include <lab/contenders/raw_ring.hpp>

#include <lab/contender.hpp>
#include <lab/fail.hpp>
#include <lab/load.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

struct connection {
    int number;
    std::vector<std::byte> space;
    std::size_t to_send = 0;  // 0 while it receives.
    std::size_t sent = 0;
};

class server {
public:
    server(const lab::echo_case& work, lab::descriptor listener)
        : work_{work}, listener_{std::move(listener)} {}

    void run() {
        for (std::size_t i = 0; i < work_.connections; ++i) accept();
        for (open_ = work_.connections; open_ > 0;) {
            ring_.turn([this](const io_uring_cqe& result) {
                advance(*reinterpret_cast<connection*>(result.user_data), result.res);
            });
        }
    }

private:
    void accept() {
        const int number = lab::accept_connection(listener_).release();
        receive(*new connection{number, std::vector<std::byte>(work_.buffer_bytes)});
    }

    void receive(connection& it) {
        it.to_send = it.sent = 0;
        io_uring_sqe& to = ring_.entry();
        to.opcode = IORING_OP_RECV;
        to.fd = it.number;
        to.addr = reinterpret_cast<std::uint64_t>(it.space.data());
        to.len = static_cast<std::uint32_t>(it.space.size());
        to.user_data = reinterpret_cast<std::uint64_t>(&it);
    }

    void send(connection& it) {
        io_uring_sqe& to = ring_.entry();
        to.opcode = IORING_OP_SEND;
        to.fd = it.number;
        to.addr = reinterpret_cast<std::uint64_t>(it.space.data() + it.sent);
        to.len = static_cast<std::uint32_t>(it.to_send - it.sent);
        to.msg_flags = MSG_NOSIGNAL | MSG_WAITALL;
        to.user_data = reinterpret_cast<std::uint64_t>(&it);
    }

    void advance(connection& it, std::int32_t result) {
        if (result <= 0) {
            ::close(it.number);
            delete &it;
            --open_;
        } else if (it.to_send == 0) {
            it.to_send = static_cast<std::size_t>(result);
            send(it);
        } else {
            it.sent += static_cast<std::size_t>(result);
            if (it.sent < it.to_send) {
                send(it);
            } else {
                receive(it);
            }
        }
    }

    raw::ring ring_;
    const lab::echo_case& work_;
    lab::descriptor listener_;
    std::size_t open_ = 0;
};

class raw_uring : public lab::contender {
public:
    lab::identity about() const override { return {"raw_uring", "none", "", "io_uring"}; }

    void echo(const lab::echo_case& work, lab::descriptor listener) override {
        server{work, std::move(listener)}.run();
    }
    std::string refusal_to_echo(const lab::echo_case& work) const override {
        return lab::refuse_threads(work);
    }
};

}  // namespace

std::unique_ptr<lab::contender> lab::make_contender(std::string_view backend) {
    require(backend.empty(), "raw_uring has no backends to choose from");
    return std::make_unique<raw_uring>();
}

// SPDX-License-Identifier: BSL-1.0
//
// The best plain server on io_uring that we can write for small messages and many clients.
//
// One accept stays armed and yields all connections. A connection always has one receive or one send in the
// ring, and one call into the kernel submits the next step of all connections and fetches their last; at a
// hundred clients and a kilobyte that beats multishot receives. Where the connection ends with the answer,
// sending and closing go into the ring together, as a chain.
#pragma once

#include <lab/kit/fail.hpp>
#include <lab/servers/raw_uring/ring.hpp>
#include <lab/servers/seam.hpp>

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace raw_uring {

enum class step : std::uint8_t { receiving, sending, closing };

/// @tparam Answers  One for each connection; see answers.hpp.
template <class Answers>
class server {
public:
    explicit server(const servers::job& wanted)
        : buffer_bytes_{wanted.buffer_bytes},
          ring_{wanted.backend.ends_with("_sqpoll") ? raw::submission::by_the_kernel
                                                    : raw::submission::by_calls,
                wanted.polling_core},
          listener_{servers::listen_on(wanted)} {
        servers::say_ready(wanted);
    }

    [[noreturn]] void run() {
        ring_.accept_all(listener_, accepting);
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
    struct connection {
        explicit connection(std::size_t buffer_bytes) : space(buffer_bytes) {}
        int number = -1;
        step now = step::receiving;
        std::string_view unsent{};
        Answers answers{};
        std::vector<char> space;
    };

    static constexpr std::uint64_t accepting = 0;

    void accepted(const io_uring_cqe& result) {
        lab::require(result.res >= 0, "raw_uring: accept");
        if ((result.flags & IORING_CQE_F_MORE) == 0) ring_.accept_all(listener_, accepting);
        connection& it = spare();
        it.number = result.res;
        receive(it);
    }

    // Connections are used again and not freed: where they come and go, that is what a pool is for.
    connection& spare() {
        if (spares_.empty()) return *new connection{buffer_bytes_};
        connection& it = *spares_.back();
        spares_.pop_back();
        it.answers = {};
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
        it.unsent = it.answers.answer_to(arrived);
        if (it.answers.closes()) {
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

    std::size_t buffer_bytes_;
    raw::ring ring_;
    int listener_;
    std::vector<connection*> spares_;
};

}  // namespace raw_uring

// SPDX-License-Identifier: BSL-1.0
//
// See past_the_loop.hpp.
#include <support/past_the_loop.hpp>

#include <gyre/runtime/operation.hpp>
#include <support/harness.hpp>
#include <support/world.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <functional>

namespace gyre::testing {
namespace {

// Sockets keep it to themselves.
struct slot_reader : basic_socket {
    static descriptor_slot& slot_of(const basic_socket& it) {
        constexpr auto ask = &slot_reader::slot;
        return std::invoke(ask, it);
    }
};

}  // namespace

stream_socket connect_now(io_context& io, const endpoint& where) {
    const socket_address raw = where.raw();
    if (machine_here() == nullptr) {
        const int number = ::socket(where.address_family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
        REQUIRE(::connect(number, reinterpret_cast<const sockaddr*>(raw.data), raw.size) == 0);
        return stream_socket::adopt(io, number);
    }
    open_socket_operation open{where.address_family(), SOCK_STREAM};
    stream_socket made = stream_socket::adopt(io, io.host().perform_now(open));
    connect_operation connect;
    connect.target = &slot_reader::slot_of(made);
    connect.peer = &raw;
    REQUIRE(io.host().perform_now(connect) == 0);
    return made;
}

void say_now(io_context& io, const stream_socket& on, std::string_view text) {
    send_operation send{bytes_of(text)};
    send.target = &slot_reader::slot_of(on);
    REQUIRE(io.host().perform_now(send) == static_cast<int>(text.size()));
}

bool has_room_now(io_context& io, const stream_socket& on) {
    wait_ready_operation ask{POLLOUT};
    ask.target = &slot_reader::slot_of(on);
    return io.host().perform_now(ask) > 0;
}

int option_now(io_context& io, const basic_socket& of, int level, int name) {
    int value = -1;
    option_operation ask{opcode::get_option, slot_reader::slot_of(of), level, name, &value,
                         sizeof value};
    REQUIRE(io.host().perform_now(ask) >= 0);
    return value;
}

}  // namespace gyre::testing

// SPDX-License-Identifier: BSL-1.0
//
// The steps from a new socket to one that can be used; the first that fails ends them.
#pragma once

#include <gyre/io/basic_socket.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/io/socket_options.hpp>
#include <gyre/runtime/host.hpp>
#include <gyre/runtime/submit.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace gyre {

/// Sets options, binds, listens; remembers the first failure and does nothing after it.
class socket_steps {
public:
    socket_steps(host& on, descriptor_slot& socket) noexcept : host_{on}, socket_{socket} {}

    template <socket_option Option>
    socket_steps& set(Option option) noexcept {
        auto raw = option.to_raw();
        option_operation op{opcode::set_option, socket_, Option::level(),
                            Option::name(),     &raw,    sizeof raw};
        return step(op);
    }

    /// Sends and receives through the network interface of this name only; empty: through any.
    socket_steps& use_device(const std::string& device, basic_socket& socket) noexcept {
        if (!failure_ && !device.empty()) failure_ = socket.bind_to_device(device).error();
        return *this;
    }

    /// Lets the program do what it likes to the socket.
    socket_steps& call(const socket_setup& setup, basic_socket& socket) {
        if (failure_ || !setup) return *this;
        failure_ = setup(socket).error();
        return *this;
    }

    socket_steps& bind(const endpoint& local) noexcept {
        socket_address address = local.raw();
        address_operation op{opcode::bind, socket_, address};
        return step(op);
    }

    /// Once more if the path was in use, and by nothing that still listens.
    socket_steps& bind_over_stale_path(const endpoint& local) noexcept {
        bind(local);
        if (failure_ != error{errc::address_in_use} || local.kind() != endpoint::family::local)
            return *this;
        failure_ = {};
        socket_address address = local.raw();
        address_operation op{opcode::remove_stale_path, socket_, address};
        return step(op).bind(local);
    }
    socket_steps& listen(int backlog) noexcept {
        number_operation op{opcode::listen, socket_, backlog};
        return step(op);
    }
    [[nodiscard]] error failure() const noexcept { return failure_; }

private:
    socket_steps& step(operation& op) noexcept {
        if (failure_) return *this;
        op.result = host_.perform_now(op);
        failure_ = error_of(op);
        return *this;
    }

    host& host_;
    descriptor_slot& socket_;
    error failure_;
};

/// Opens what `op` connects to `peer`, a socket of SOCK_* `type`. 0 or -errno. In stream_socket.cpp.
[[nodiscard]] std::int32_t open_for_connect(connect_operation& op, const endpoint& peer, int type,
                                            io_context& on, handle& into) noexcept;

}  // namespace gyre

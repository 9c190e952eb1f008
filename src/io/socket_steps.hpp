// SPDX-License-Identifier: BSL-1.0
//
// The steps from a new socket to one that can be used; the first that fails ends them.
#pragma once

#include <gyre/io/endpoint.hpp>
#include <gyre/runtime/host.hpp>
#include <gyre/runtime/submit.hpp>

namespace gyre {

/// Sets options, binds, listens; remembers the first failure and does nothing after it.
class socket_steps {
public:
    socket_steps(host& on, descriptor_slot& socket) noexcept : host_{on}, socket_{socket} {}

    socket_steps& set(int level, int name, int value) noexcept {
        option_operation op{opcode::set_option, socket_, level, name, &value, sizeof value};
        return step(op);
    }
    socket_steps& bind(const endpoint& local) noexcept {
        socket_address address = local.raw();
        address_operation op{opcode::bind, socket_, address};
        return step(op);
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

}  // namespace gyre

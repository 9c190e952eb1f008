// SPDX-License-Identifier: BSL-1.0
//
// The floor: what the kernel alone costs.
//
// Bare system calls in a loop that knows by construction which socket is ready, so that nothing is
// queued, waited for or dispatched. No library can be faster without asking the kernel for less.
#pragma once

#include <lab/kit/session.hpp>

#include <cstddef>
#include <span>

namespace raw {

lab::preparation prepare(const lab::throughput_case& work);
lab::preparation prepare(const lab::latency_case& work);
lab::preparation prepare(const lab::http_case& work);
lab::preparation prepare(const lab::churn_case& work);

/// Without waiting. 0 if the call would have blocked; fails on any error.
[[nodiscard]] std::size_t send_some(int socket, std::span<const std::byte> bytes);
[[nodiscard]] std::size_t receive_some(int socket, std::span<std::byte> space);

void send_all(int socket, std::span<const std::byte> bytes);
void receive_all(int socket, std::span<std::byte> space);

}  // namespace raw

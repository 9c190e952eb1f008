// SPDX-License-Identifier: BSL-1.0
//
// Threads of a test in networks of their own, between which a test may put what it likes.
#pragma once

#include <string>

namespace gyre::testing {

/// Moves the calling thread into the network namespace at `path`, such as /run/netns/NAME. Sockets belong
/// to the namespace in which they are opened, and stay usable from everywhere. False if that is not allowed.
[[nodiscard]] bool enter_network(const std::string& path) noexcept;

/// Moves the calling thread into a network of its own, in which nothing is but a loopback interface that is
/// down. For children (child.hpp): there is no way back. False if that is not allowed.
[[nodiscard]] bool enter_new_network() noexcept;

}  // namespace gyre::testing

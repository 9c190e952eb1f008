// SPDX-License-Identifier: BSL-1.0
//
// Boost.Asio as its fastest users write it: completion handlers, no coroutine.
//
// Every handler captures little enough for Asio's recycling allocator, which it gives to handlers
// without one of their own, and reads and writes are resumed by hand instead of through the composed
// operations. ../asio/library.hpp has the rest of the configuration. See
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/core/allocation.html
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/reference/recycling_allocator.html
#include <lab/in_process/asio/contender.hpp>

std::unique_ptr<lab::contender> lab::make_contender(std::string_view backend) {
    return asio_lab::make("asio_callback", backend);
}

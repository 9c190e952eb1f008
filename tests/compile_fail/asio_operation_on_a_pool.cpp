// SPDX-License-Identifier: BSL-1.0
//
// The handlers of a thread pool run at once, and a cancellation among them: it takes a strand.
//
// needs Boost.Asio
// must not compile: make_strand of the thread pool
#include <gyre/interop/asio.hpp>

#include <boost/asio/post.hpp>

auto wait_there(boost::asio::thread_pool& pool) {
    return boost::asio::post(pool, gyre::use_io_result);
}

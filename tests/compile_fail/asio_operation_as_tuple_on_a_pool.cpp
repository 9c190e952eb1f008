// SPDX-License-Identifier: BSL-1.0
//
// A token around ours hides nothing: the executor is a thread pool's all the same, and it takes a strand.
//
// needs Boost.Asio
// must not compile: make_strand of the thread pool
#include <gyre/interop/asio.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>

auto wait_there(boost::asio::thread_pool& pool) {
    return boost::asio::post(pool, boost::asio::as_tuple(gyre::use_io_result));
}

// SPDX-License-Identifier: BSL-1.0
//
// What bind_executor names is where an operation's own handlers run: of a thread pool it takes a strand.
//
// needs Boost.Asio
// must not compile: make_strand of the thread pool
#include <gyre/interop/asio.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>

auto wait_there(boost::asio::io_context& context, boost::asio::thread_pool& pool) {
    return boost::asio::post(context,
                             boost::asio::bind_executor(pool.get_executor(), gyre::use_io_result));
}

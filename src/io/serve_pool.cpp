// SPDX-License-Identifier: BSL-1.0
//
// Listening once per loop: see include/gyre/io/serve_pool.hpp.
#include <gyre/io/serve_pool.hpp>

namespace gyre {

io_result<std::vector<stream_acceptor>> listen_on_each(io_pool& pool, const endpoint& local,
                                                       const listen_options& options) {
    listen_options shared = options;
    shared.port_shared = true;
    endpoint address = local;
    std::vector<stream_acceptor> made;
    for (std::size_t index = 0; index < pool.size(); ++index) {
        io_result<stream_acceptor> next = stream_acceptor::listen(pool[index], address, shared);
        if (!next.ok()) return next.error();
        made.push_back(next.take());

        const io_result<endpoint> chosen = made.back().local_endpoint();
        if (!chosen.ok()) return chosen.error();
        address = chosen.value();
    }
    return io_result<std::vector<stream_acceptor>>{std::move(made)};
}

}  // namespace gyre

// SPDX-License-Identifier: BSL-1.0
//
// Listening once per loop: see include/gyre/io/serve_pool.hpp.
#include <gyre/io/serve_pool.hpp>

#include <algorithm>
#include <cstdint>

namespace gyre {

serve_options share_of(serve_options whole, std::size_t servers) noexcept {
    const std::size_t all = whole.connections_max;
    whole.connections_max = std::max<std::size_t>(1, all / servers + (all % servers != 0 ? 1 : 0));
    if (whole.accepts) {
        rate_limit& rate = *whole.accepts;
        const auto times = static_cast<duration::rep>(servers);
        // Three centuries are as good as never, and no bucket of one token can count more.
        rate.per = rate.per > duration::max() / times ? duration::max() : rate.per * times;
        rate.burst = std::max<std::uint64_t>(1, rate.burst / servers);
    }
    return whole;
}

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

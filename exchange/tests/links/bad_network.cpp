// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/tests/links/bad_network.hpp>

#include <gyre/coro/launch.hpp>

namespace exchange::testing {

bad_network::bad_network(std::uint64_t seed, const stream_faults& clients,
                         std::span<const datagram_faults> listeners)
    : clients_{on_, seed, clients} {
    for (const datagram_faults& each : listeners) listeners_.emplace_back(on_, seed += 3, each);
}

gyre::io_result<> bad_network::open_feed(const gyre::endpoint& at, std::string_view interface) {
    gyre::udp_options shared;
    shared.address_reused = !interface.empty();
    auto [refused, feed] = gyre::udp_socket::bind(on_, at, shared);
    if (refused) return refused;
    if (!interface.empty()) {
        const auto [missing, through] = feed.find_interface(interface);
        if (missing) return missing;
        if (const auto [joining] = feed.join(at, through); joining) return joining;
    }
    auto [nameless, feed_at] = feed.local_endpoint();
    if (nameless) return nameless;
    feed_ = std::move(feed);
    feed_at_ = feed_at;
    return {};
}

gyre::io_result<> bad_network::open(const gyre::ipv4& host, const gyre::endpoint& group,
                                    std::string_view interface) {
    const gyre::endpoint any{host, 0};
    if (const auto [deaf] = open_feed(interface.empty() ? any : group, interface); deaf)
        return deaf;
    auto [refused, order_entry] = clients_.listen(any);
    if (refused) return refused;
    order_entry_ = order_entry;
    for (bad_datagram_link& each : listeners_) {
        auto [closed, requests] = each.open(any);
        if (closed) return closed;
        requests_.push_back(requests);
    }
    return {};
}

void bad_network::begin(const exchange_endpoints& exchange,
                        std::span<const gyre::endpoint> listeners) {
    clients_.begin(exchange.order_entry);
    for (std::size_t each = 0; each < listeners_.size(); ++each)
        listeners_[each].begin(listeners[each], exchange.feed_requests);
    gyre::launch(on_, hear_feed(), gyre::or_terminate{});
    thread_ = std::thread{[this] { on_.run(); }};
}

gyre::task<> bad_network::hear_feed() {
    while (feed_.is_open()) {
        const auto [error, received] = co_await feed_.receive(datagram_);
        if (error == gyre::errc::canceled) co_return;
        if (error || received.truncated) continue;
        for (bad_datagram_link& each : listeners_)
            each.take(std::span{datagram_}.first(received.size));
    }
}

void bad_network::calm() {
    on_.post([this] {
        clients_.calm();
        for (bad_datagram_link& each : listeners_) each.calm();
    });
}

void bad_network::stop() {
    if (!thread_.joinable()) return;
    on_.post([this] {
        clients_.stop();
        for (bad_datagram_link& each : listeners_) each.stop();
        static_cast<void>(feed_.close());
    });
    thread_.join();
}

datagram_fault_counts bad_network::listeners() const noexcept {
    datagram_fault_counts all;
    for (const bad_datagram_link& each : listeners_) all += each.counts();
    return all;
}

}  // namespace exchange::testing

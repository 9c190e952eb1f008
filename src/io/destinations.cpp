// SPDX-License-Identifier: BSL-1.0
//
// RFC 6724 and what RFC 8305 makes of it: see include/gyre/io/destinations.hpp.
#include <gyre/io/destinations.hpp>

#include <gyre/io/ip_network.hpp>
#include <gyre/io/udp_socket.hpp>

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace gyre {
namespace {

struct policy {
    ip_network network;
    int precedence;
    int label;
};

constexpr ip_network network(std::string_view text) { return ip_network::parse(text).value(); }

// RFC 6724 2.1, the longest prefix first.
constexpr policy policies[] = {
    {network("::1/128"), 50, 0},   {network("::ffff:0:0/96"), 35, 4}, {network("::/96"), 1, 3},
    {network("2001::/32"), 5, 5},  {network("2002::/16"), 30, 2},     {network("3ffe::/16"), 1, 12},
    {network("fec0::/10"), 1, 11}, {network("fc00::/7"), 3, 13},      {network("::/0"), 40, 1},
};

// Both families as one.
ipv6 as_v6(const ip_address& it) noexcept { return it.is_v6() ? it.v6() : ipv6::mapped(it.v4()); }

const policy& policy_of(const ip_address& it) noexcept {
    const ip_address asked = as_v6(it);
    return *std::ranges::find_if(
        policies, [&asked](const policy& each) { return each.network.contains(asked); });
}

// RFC 6724 3.1 and 3.2; the numbers are those of RFC 4291 2.7.
int scope_of(const ip_address& it) noexcept {
    constexpr int link_local = 2;
    constexpr int site_local = 5;
    constexpr int global = 14;
    if (it.is_v6() && !it.is_v4_mapped()) {
        if (it.is_multicast()) return it.v6().bytes[1] & 0xf;
        if (it.v6().bytes[0] == 0xfe && (it.v6().bytes[1] & 0xc0) == 0xc0) return site_local;
    }
    return it.is_loopback() || it.is_link_local() ? link_local : global;
}

// Of the halves that are no interface's own.
int common_prefix(const ip_address& left, const ip_address& right) noexcept {
    constexpr std::size_t prefix_bytes = 8;
    if (left.is_v4() || right.is_v4()) return 0;
    int length = 0;
    for (std::size_t each = 0; each < prefix_bytes; ++each) {
        const unsigned differing = left.v6().bytes[each] ^ right.v6().bytes[each];
        if (differing != 0) return length + std::countl_zero(static_cast<std::uint8_t>(differing));
        length += 8;
    }
    return length;
}

// What compares less goes first: rules 1, 2, 5, 6, 8 and 9.
auto rank_of(const destination& it) noexcept {
    const ip_address to = it.peer.address();
    const policy& rule = policy_of(to);
    const bool has_source = it.source.has_value();
    const ip_address from = it.source.value_or(to);
    return std::tuple{!has_source,
                      !has_source || scope_of(to) != scope_of(from),
                      !has_source || policy_of(from).label != rule.label,
                      -rule.precedence,
                      scope_of(to),
                      has_source ? -common_prefix(to, from) : 0};
}

std::optional<ip_address> source_of(io_context& on, const endpoint& peer) noexcept {
    const endpoint any =
        peer.kind() == endpoint::family::v6 ? endpoint{ipv6::any(), 0} : endpoint{ipv4::any(), 0};
    io_result<udp_socket> opened = udp_socket::bind(on, any);
    if (!opened.ok()) return std::nullopt;
    udp_socket asking = opened.take();
    // The port means nothing here, but 0 would not do everywhere.
    if (!asking.connect(endpoint{peer.address(), 9}).ok()) return std::nullopt;
    const io_result<endpoint> local = asking.local_endpoint();
    if (!local.ok()) return std::nullopt;
    return local.value().address();
}

}  // namespace

void order_destinations(std::vector<destination>& all) {
    std::vector<std::pair<decltype(rank_of(all.front())), std::size_t>> ranks;
    ranks.reserve(all.size());
    for (const destination& each : all) ranks.emplace_back(rank_of(each), ranks.size());
    std::ranges::sort(ranks);
    std::vector<destination> ordered;
    ordered.reserve(all.size());
    for (const auto& [rank, place] : ranks) ordered.push_back(all[place]);
    all = std::move(ordered);
}

std::vector<destination> find_sources(io_context& on, std::span<const endpoint> peers) {
    std::vector<destination> all;
    all.reserve(peers.size());
    for (const endpoint& each : peers) all.push_back({each, source_of(on, each)});
    return all;
}

std::vector<endpoint> in_order_of_preference(io_context& on, const std::vector<endpoint>& peers) {
    std::vector<endpoint> ordered;
    ordered.reserve(peers.size());
    for (const endpoint& each : peers) {
        if (std::ranges::find(ordered, each) == ordered.end()) ordered.push_back(each);
    }
    if (ordered.size() < 2) return ordered;
    std::vector<destination> all = find_sources(on, ordered);
    order_destinations(all);
    std::ranges::transform(all, ordered.begin(), &destination::peer);
    return ordered;
}

std::vector<endpoint> in_alternation(std::span<const endpoint> peers, endpoint::family before) {
    std::vector<endpoint> made;
    std::vector<endpoint> others;
    if (peers.empty()) return made;
    const auto is_other = [&](const endpoint& each) { return each.kind() != peers.front().kind(); };
    std::ranges::copy_if(peers, std::back_inserter(others), is_other);
    auto other = others.begin();
    const bool others_first = before == peers.front().kind();
    for (const endpoint& each : peers) {
        if (is_other(each)) continue;
        if (others_first && other != others.end()) made.push_back(*other++);
        made.push_back(each);
        if (!others_first && other != others.end()) made.push_back(*other++);
    }
    made.insert(made.end(), other, others.end());
    return made;
}

}  // namespace gyre

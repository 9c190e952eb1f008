// SPDX-License-Identifier: BSL-1.0
//
// Ways between machines: see virtual_network.hpp.
#include <test/virtual_network.hpp>

#include <test/virtual_host.hpp>
#include <test/virtual_socket.hpp>

#include <algorithm>

namespace gyre::test {
namespace {

constexpr duration repeated_after = std::chrono::milliseconds{200};  // TCP_RTO_MIN of Linux.

// `duration::max()` where it would overflow.
duration sum_of(duration one, duration other) noexcept {
    return deadline_after(time_point{one}, other).time_since_epoch();
}

}  // namespace

// Two ends that were closed apart from each other keep each other.
virtual_network::~virtual_network() {
    for (const auto& each : closed_) each->forget_peer();
}

virtual_host* virtual_network::find(virtual_host& from, const ip_address& address) noexcept {
    if (from.has(address)) return &from;
    for (virtual_host* const each : hosts_) {
        if (each != &from && !address.is_loopback() && each->has(address)) return each;
    }
    return nullptr;
}

std::string virtual_network::hosts_file() const {
    std::string text = "127.0.0.1 localhost\n::1 localhost\n";
    for (const virtual_host* const each : hosts_) {
        text += std::string{each->v4().to_text().view()} + ' ' + each->name() + '\n';
        text += std::string{each->v6().to_text().view()} + ' ' + each->name() + '\n';
    }
    return text;
}

void virtual_network::set_all(const link_options& options) {
    all_ = options;
    for (auto& [ends, each] : links_) {
        if (!each.own) each.options = options;
    }
}

void virtual_network::set(const virtual_host& from, const virtual_host& to,
                          const link_options& options) {
    link& on = between(from, to);
    on.options = options;
    on.own = true;
}

void virtual_network::cut(const virtual_host& from, const virtual_host& to, bool is_cut) {
    between(from, to).cut = is_cut;
    if (is_cut) return;
    std::vector<std::function<void()>> waiting;
    waiting.swap(stalled_);
    for (const auto& each : waiting) each();
}

bool virtual_network::is_cut(const virtual_host& from, const virtual_host& to) noexcept {
    return &from != &to && between(from, to).cut;
}

virtual_network::link& virtual_network::between(const virtual_host& from, const virtual_host& to) {
    return links_.try_emplace({&from, &to}, link{all_}).first->second;
}

duration virtual_network::time_of(link& on, std::size_t size) {
    const time_point now = time_.now();
    time_point arrives = now;
    if (on.options.bytes_per_second > 0) {
        const auto line = std::chrono::nanoseconds{static_cast<std::int64_t>(
            static_cast<double>(size) * 1e9 / static_cast<double>(on.options.bytes_per_second))};
        on.busy_until = deadline_after(std::max(on.busy_until, now), line);
        arrives = on.busy_until;
    }
    arrives = deadline_after(arrives, on.options.latency);
    if (on.options.jitter > duration::zero()) {
        const auto most = static_cast<std::uint64_t>(on.options.jitter.count()) + 1;
        arrives = deadline_after(
            arrives, duration{static_cast<duration::rep>(time_.chance().draw() % most)});
    }
    return arrives - now;
}

duration virtual_network::time_of_stream(const virtual_host& from, const virtual_host& to,
                                         std::size_t size) {
    if (&from == &to) return {};
    link& on = between(from, to);
    duration late{};
    constexpr int losses_max = 16;
    for (int losses = 0; losses < losses_max && time_.chance().chance(on.options.loss); ++losses)
        late += repeated_after;
    return sum_of(time_of(on, size), late);
}

void virtual_network::send_packet(const virtual_host& from, const virtual_host& to,
                                  std::size_t size, const std::function<void()>& arrive) {
    if (&from == &to) return arrive();
    link& on = between(from, to);
    if (on.cut || size > on.options.mtu) return;
    const int copies = time_.chance().chance(on.options.duplication) ? 2 : 1;
    for (int copy = 0; copy < copies; ++copy) {
        duration takes = time_of(on, size);
        if (time_.chance().chance(on.options.loss)) continue;
        if (time_.chance().chance(on.options.reordering))
            takes = sum_of(takes, on.options.reordering_delay);
        time_.after(takes, [this, &from, &to, arrive] {
            if (!is_cut(from, to)) arrive();
        });
    }
}

void virtual_network::forget(const virtual_socket& it) noexcept {
    std::erase_if(closed_, [&it](const auto& each) { return each.get() == &it; });
}

void virtual_network::break_closed_of(const virtual_host& one) {
    const auto all = closed_;
    for (const auto& each : all) {
        if (&each->host() == &one) each->break_off();
    }
}

}  // namespace gyre::test

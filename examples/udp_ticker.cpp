// SPDX-License-Identifier: BSL-1.0
//
// Numbered ticks to a group of receivers, and a listener that knows which ones it has missed.
//
//     udp_ticker listen 239.255.0.1:7000 eth0 [SOURCE_ADDRESS]
//     udp_ticker publish 239.255.0.1:7000 eth0 [COUNT [SOURCE_ADDRESS]]
//
// The publisher sends one every millisecond, COUNT of them or until SIGTERM. The listener joins the group on
// the interface, for one source or for all; it prints each gap, and what it has seen when there was
// no tick for a second or at SIGTERM. Several publishers of one group are told apart by their source.
#include <gyre/gyre.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;

using tick = std::array<std::byte, 8>;  // Its number, the most significant byte first (RFC 1700).

tick make_tick(std::uint64_t number) {
    tick made;
    for (std::byte& each : made) {
        each = static_cast<std::byte>(number >> 56);
        number <<= 8;
    }
    return made;
}

std::uint64_t number_of(const tick& it) {
    std::uint64_t number = 0;
    for (const std::byte each : it) number = number << 8 | std::to_integer<std::uint64_t>(each);
    return number;
}

// What the numbers of a feed say about what did not come.
class gap_watch {
public:
    void note(std::uint64_t number) {
        ++received_;
        if (received_ == 1) first_ = number;
        if (received_ > 1 && number <= last_) {
            ++repeated_;  // Or overtaken: then it was counted as missing when the gap was seen.
            return;
        }
        if (received_ > 1 && number > last_ + 1) note_gap(last_ + 1, number - 1);
        last_ = number;
    }

    // Of the kernel's time of arrival, which only a clock that is set lets go back.
    void note_arrival(gyre::datagram_facts::system_time at) {
        if (at < arrival_) ++back_in_time_;
        arrival_ = at;
    }

    void print() const {
        std::printf(
            "ticks %llu to %llu: %llu received, %llu missing, %llu repeated, %llu back in time\n",
            first_, last_, received_, missing_, repeated_, back_in_time_);
    }

private:
    using count = unsigned long long;

    void note_gap(count from, count to) {
        missing_ += to - from + 1;
        std::printf("missing %llu to %llu\n", from, to);
    }

    count first_ = 0;
    count last_ = 0;
    count received_ = 0;
    count missing_ = 0;
    count repeated_ = 0;
    count back_in_time_ = 0;
    gyre::datagram_facts::system_time arrival_{};
};

struct feed {
    gyre::endpoint group;
    std::string interface_name;
    std::optional<gyre::ip_address> source;
    std::uint64_t count = UINT64_MAX;
};

gyre::endpoint any_address(const gyre::endpoint& like, std::uint16_t port) {
    if (like.kind() == gyre::endpoint::family::v6) return {gyre::ipv6::any(), port};
    return {gyre::ipv4::any(), port};
}

// snippet: join
// A socket that hears the group, on one interface, of one source or of all.
gyre::io_result<gyre::udp_socket> join(gyre::io_context& loop, const feed& from) {
    gyre::udp_options options;
    options.address_reused = true;  // Other listeners of this host have the port, too.
    auto bound = gyre::udp_socket::bind(loop, any_address(from.group, from.group.port()), options);
    if (!bound.ok()) return bound.error();
    gyre::udp_socket socket = bound.take();
    const auto through = socket.find_interface(from.interface_name);
    if (!through.ok()) return through.error();
    auto joined = from.source ? socket.join_source(from.group, *from.source, through.value())
                              : socket.join(from.group, through.value());
    if (joined.ok()) joined = socket.set_option(gyre::all_groups{false});
    gyre::datagram_reports reports;
    reports.arrival = true;
    if (joined.ok()) joined = socket.report(reports);
    if (!joined.ok()) return joined.error();
    return socket;
}
// end of snippet

// snippet: listen
gyre::task<gyre::io_result<>> listen(gyre::udp_socket& socket, gap_watch& seen) {
    tick space{};
    auto got = co_await gyre::idle(socket.receive_detailed(space));
    while (got.ok()) {
        if (got.value().size == space.size() && !got.value().truncated) {
            seen.note(number_of(space));
            if (got.value().arrival) seen.note_arrival(*got.value().arrival);
        }
        got = co_await gyre::with_timeout(1s, gyre::idle(socket.receive_detailed(space)));
    }
    if (got.error() == gyre::errc::timed_out) co_return gyre::io_result<>{};
    co_return got.error();
}
// end of snippet

gyre::task<gyre::io_result<>> listener(feed from) {
    const auto opening = [&from](gyre::io_context& loop) noexcept { return join(loop, from); };
    auto joined = co_await gyre::immediate{opening};
    if (!joined.ok()) co_return joined.error();
    auto socket = joined.take();
    std::printf("listening on %s\n", from.group.to_string().c_str());
    std::fflush(stdout);

    gap_watch seen;
    const auto ended = co_await listen(socket, seen);
    seen.print();
    co_return ended;
}

// snippet: publish
gyre::task<gyre::io_result<>> publisher(feed to) {
    auto bound = co_await gyre::udp_socket::bind(any_address(to.group, 0));
    if (!bound.ok()) co_return bound.error();
    auto socket = bound.take();
    const auto through = socket.find_interface(to.interface_name);
    if (!through.ok()) co_return through.error();

    gyre::datagram_choices choices;
    choices.through = through.value();
    choices.source = to.source;
    gyre::interval pace{1ms, gyre::missed_ticks::skip};
    for (std::uint64_t number = 1; number <= to.count; ++number) {
        const tick bytes = make_tick(number);
        const auto sent = co_await socket.send_to(bytes, to.group, choices);
        if (!sent.ok()) co_return sent.error();
        const auto paced = co_await pace.tick();
        if (!paced.ok()) co_return paced.error();
    }
    co_return gyre::io_result<>{};
}
// end of snippet

int usage() {
    std::fprintf(stderr,
                 "usage: udp_ticker listen GROUP:PORT INTERFACE [SOURCE_ADDRESS]\n"
                 "       udp_ticker publish GROUP:PORT INTERFACE [COUNT [SOURCE_ADDRESS]]\n");
    return 2;
}

int main(int count, char** arguments) {
    if (count < 4) return usage();
    const std::string_view verb = arguments[1];
    const bool publishes = verb == "publish";
    if (!publishes && verb != "listen") return usage();

    feed of;
    const auto group = gyre::endpoint::parse(arguments[2]);
    if (!group.ok() || group.value().kind() == gyre::endpoint::family::local) return usage();
    of.group = group.value();
    of.interface_name = arguments[3];
    if (publishes && count > 4) of.count = std::strtoull(arguments[4], nullptr, 10);
    const int source_at = publishes ? 5 : 4;
    if (count > source_at) {
        const auto source = gyre::ip_address::parse(arguments[source_at]);
        if (!source.ok()) return usage();
        of.source = source.value();
    }
    if (publishes) return gyre::run_until_signal(publisher(std::move(of)));
    return gyre::run_until_signal(listener(std::move(of)));
}

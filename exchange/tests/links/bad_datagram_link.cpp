// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/tests/links/bad_datagram_link.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/sync/sleep.hpp>

namespace exchange::testing {

using namespace std::chrono_literals;

gyre::io_result<gyre::endpoint> bad_datagram_link::open(const gyre::endpoint& at) {
    auto [refused, near] = gyre::udp_socket::bind(on_, at);
    if (refused) return refused;
    auto [refused_too, far] = gyre::udp_socket::bind(on_, at);
    if (refused_too) return refused_too;
    near_ = std::move(near);
    far_ = std::move(far);
    return near_.local_endpoint();
}

void bad_datagram_link::begin(const gyre::endpoint& listener, const gyre::endpoint& requests) {
    listener_ = listener;
    exchange_ = requests;
    gyre::launch(on_, hear(near_, requests_, asker_), gyre::or_terminate{});
    gyre::launch(on_, hear(far_, answers_, answerer_), gyre::or_terminate{});
    gyre::launch(on_, send_what_is_due(), gyre::or_terminate{});
}

void bad_datagram_link::calm() noexcept {
    feed_.calm();
    requests_.calm();
    answers_.calm();
}

void bad_datagram_link::stop() noexcept {
    static_cast<void>(near_.close());
    static_cast<void>(far_.close());
}

datagram_fault_counts bad_datagram_link::counts() const noexcept {
    datagram_fault_counts all = feed_.counts();
    all += requests_.counts();
    all += answers_.counts();
    return all;
}

gyre::task<> bad_datagram_link::hear(gyre::udp_socket& from, bad_datagram_path& path,
                                     gyre::endpoint& sender) {
    const std::span<std::byte> space = &from == &near_ ? request_ : answer_;
    while (from.is_open()) {
        const auto [error, received, peer] = co_await from.receive_from(space);
        if (error == gyre::errc::canceled) co_return;
        if (error || received.truncated) continue;  // Of something that we sent to a closed port.
        sender = peer;
        path.take(space.first(received.size), on_.now());
    }
}

gyre::task<> bad_datagram_link::send_what_is_due() {
    while (near_.is_open()) {
        co_await send(feed_, near_, listener_);
        co_await send(requests_, far_, exchange_);
        co_await send(answers_, near_, asker_);
        static_cast<void>(co_await gyre::sleep_for(1ms));
    }
}

gyre::task<> bad_datagram_link::send(bad_datagram_path& path, gyre::udp_socket& through,
                                     const gyre::endpoint& to) {
    while (through.is_open()) {
        const std::optional<std::vector<std::byte>> datagram = path.next(on_.now());
        if (!datagram) co_return;
        const gyre::const_buffer bytes{*datagram};
        static_cast<void>(co_await through.send_to({&bytes, 1}, to));  // Lost: it is a bad link.
    }
}

}  // namespace exchange::testing

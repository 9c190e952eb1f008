// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/bench/feed_client.hpp>

#include <lab/kit/fail.hpp>

#include <cerrno>
#include <cstring>
#include <utility>

namespace exchange::bench {
namespace {

// Administratively scoped: no router carries it on. The port tells runs apart.
constexpr std::uint32_t group = 0xEFC0'0701;  // 239.192.7.1

// What is under way fits many times over: datagrams are lost only where that is tested.
constexpr int receive_buffer_bytes = 64 << 20;

in_addr group_of(feed_transport by) {
    return {by == feed_transport::multicast ? htonl(group) : htonl(INADDR_ANY)};
}

}  // namespace

feed_client::feed_client(feed_transport by)
    : group_{datagrams_at_loopback(group_of(by))},
      answers_{datagrams_at_loopback({htonl(INADDR_ANY)})},
      address_{address_of(group_)},
      space_(batch_max) {
    reserve_receive_buffer(group_, receive_buffer_bytes);
    reserve_receive_buffer(answers_, receive_buffer_bytes);
    for (std::size_t at = 0; at < batch_max; ++at) {
        pieces_[at] = {space_[at].data(), space_[at].size()};
        batch_[at].msg_hdr.msg_iov = &pieces_[at];
        batch_[at].msg_hdr.msg_iovlen = 1;
    }
}

void feed_client::follow(std::uint64_t first_sequence, const sockaddr_in& requests,
                         gyre::time_point now) {
    requests_ = requests;
    receiver_.emplace(
        mold_receiver_options{.first_sequence = first_sequence, .datagrams_held_max = 1024}, now);
}

std::size_t feed_client::read_batch(const descriptor& socket) {
    const int count = ::recvmmsg(socket.get(), batch_.data(), batch_.size(), MSG_DONTWAIT, nullptr);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EAGAIN && errno != EINTR)
        complain(std::string{"the feed cannot be received: "} + std::strerror(errno));
    return 0;
}

void feed_client::take_datagram(std::size_t at, gyre::time_point now) {
    ++datagrams_;
    const auto fault = receiver_->on_packet(std::span{space_[at]}.first(batch_[at].msg_len), now);
    if (fault != mold_fault::none) complain("the feed is wrong: " + std::string{describe(fault)});
}

void feed_client::ask_for_missing(gyre::time_point now) {
    while (const auto request = receiver_->request(now)) {
        const auto* const to = reinterpret_cast<const sockaddr*>(&requests_);
        static_cast<void>(::sendto(answers_.get(), request->data(), request->size(), MSG_DONTWAIT,
                                   to, sizeof(requests_)));  // If it is lost, it is made again.
    }
    if (receiver_->stuck()) complain("a gap in the feed was not filled, however often we asked");
    if (receiver_->silent(now)) complain("the feed has been silent for too long");
}

void feed_client::complain(std::string what) {
    if (fault_.empty()) fault_ = std::move(what);
}

}  // namespace exchange::bench

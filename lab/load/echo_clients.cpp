// SPDX-License-Identifier: BSL-1.0
//
// The clients of the suite in which a server is measured alone: one thread, one epoll.
#include <lab/load/echo_clients.hpp>

#include <lab/kit/fail.hpp>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lab {
namespace {

constexpr auto silence_max =
    std::chrono::seconds{10};  // A server that is silent for longer has failed.

timespec timespec_of(std::chrono::nanoseconds span) noexcept {
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(span);
    return {whole.count(), (span - whole).count()};
}

}  // namespace

void echo_client::begin_round(const stream_content& from, clock::time_point began) {
    ++round_;
    sent_ = received_ = 0;
    idle_ = false;
    began_ = began;
    send(from);
}

void echo_client::send(const stream_content& from) {
    while (sent_ < size_) {
        const auto left = message(from).subspan(sent_);
        const ssize_t count =
            ::send(number(), left.data(), left.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count < 0 && errno == EAGAIN) return;
        require(count > 0, "echo: the server hung up");
        sent_ += static_cast<std::size_t>(count);
    }
}

bool echo_client::receive(const stream_content& from, std::span<std::byte> space) {
    const std::size_t wanted = std::min(space.size(), size_ - received_);
    const ssize_t count = ::recv(number(), space.data(), wanted, MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) return false;
    require(count > 0, "echo: the server hung up");
    const auto got = static_cast<std::size_t>(count);
    require(std::memcmp(space.data(), message(from).data() + received_, got) == 0,
            "echo: the answer differs from the message");
    received_ += got;
    idle_ = received_ == size_;
    return idle_;
}

std::span<const std::byte> echo_client::message(const stream_content& from) const noexcept {
    return from.at(message_position(index_, round_), size_);
}

echo_clients::echo_clients(const echo_case& work, const sockaddr_in& server)
    : message_bytes_{work.message_bytes},
      content_{work.message_bytes},
      space_(std::max<std::size_t>(work.message_bytes, 64 * 1024)),
      poller_{::epoll_create1(EPOLL_CLOEXEC)},
      interval_{work.messages_per_second == 0 ? 0 : 1'000'000'000 / work.messages_per_second},
      next_of_(work.connections) {
    // The kernel would otherwise let an open loop oversleep by 50 us.
    if (open()) ::prctl(PR_SET_TIMERSLACK, 1UL);
    clients_.reserve(work.connections);
    for (std::size_t i = 0; i < work.connections; ++i) connect(server);
}

void echo_clients::play(clock::duration length, histogram& latency) {
    latency_ = &latency;
    began_ = clock::now();
    end_ = began_ + length;
    if (open()) {
        next_ = 0;
        for (std::size_t i = 0; i < next_of_.size(); ++i) next_of_[i] = i;
        do {
            begin_what_is_due();
            step();
        } while (under_way_ > 0 || due(next_) < end_);
        return;
    }
    for (std::size_t i = 0; i < clients_.size(); ++i) begin_round(i, clock::now());
    while (under_way_ > 0) step();
}

std::vector<std::uint16_t> echo_clients::ports() const {
    std::vector<std::uint16_t> all;
    for (const echo_client& each : clients_) {
        sockaddr_in local{};
        socklen_t size = sizeof(local);
        require(::getsockname(each.number(), reinterpret_cast<sockaddr*>(&local), &size) == 0,
                "echo: getsockname");
        all.push_back(ntohs(local.sin_port));
    }
    return all;
}

void echo_clients::connect(const sockaddr_in& server) {
    clients_.emplace_back(connect_to(server), clients_.size(), message_bytes_);
    watch(clients_.size() - 1, EPOLL_CTL_ADD, EPOLLIN);
}

void echo_clients::watch(std::size_t index, int how, std::uint32_t events) {
    epoll_event event{events, {.u64 = index}};
    require(::epoll_ctl(poller_.get(), how, clients_[index].number(), &event) == 0,
            "echo: epoll_ctl");
}

void echo_clients::begin_round(std::size_t index, clock::time_point began) {
    ++under_way_;
    clients_[index].begin_round(content_, began);
    if (clients_[index].waiting_to_send()) watch(index, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
}

echo_clients::clock::time_point echo_clients::due(std::uint64_t message) const noexcept {
    return began_ + message * interval_;
}

// A connection that is busy sends its message when it has got the last one back; see finish_round.
void echo_clients::begin_what_is_due() {
    const auto now = std::min(clock::now(), end_ - clock::duration{1});
    for (; due(next_) <= now; ++next_) {
        const std::size_t index = next_ % clients_.size();
        if (!clients_[index].idle() || next_of_[index] != next_) continue;
        next_of_[index] += clients_.size();
        begin_round(index, due(next_));
    }
}

echo_clients::clock::duration echo_clients::patience() const {
    if (!open() || due(next_) >= end_) return silence_max;
    return std::max(due(next_) - clock::now(), clock::duration::zero());
}

void echo_clients::step() {
    const auto wait = patience();
    const timespec time_out = timespec_of(wait);
    const int count = ::epoll_pwait2(poller_.get(), events_.data(),
                                     static_cast<int>(events_.size()), &time_out, nullptr);
    require(count > 0 || (count < 0 && errno == EINTR) || wait < silence_max,
            "echo: the server is silent");
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = events_[static_cast<std::size_t>(i)];
        const std::size_t index = event.data.u64;
        echo_client& each = clients_[index];
        if ((event.events & EPOLLOUT) != 0) {
            each.send(content_);
            if (!each.waiting_to_send()) watch(index, EPOLL_CTL_MOD, EPOLLIN);
        }
        if ((event.events & ~std::uint32_t{EPOLLOUT}) == 0) continue;
        if (each.receive(content_, space_)) finish_round(index);
    }
}

void echo_clients::finish_round(std::size_t index) {
    const auto now = clock::now();
    const std::chrono::nanoseconds taken = now - clients_[index].began();
    latency_->record(static_cast<std::uint64_t>(taken.count()));
    --under_way_;
    if (!open()) {
        if (now < end_) begin_round(index, now);
        return;
    }
    const auto next = due(next_of_[index]);
    if (next > now || next >= end_) return;
    next_of_[index] += clients_.size();
    begin_round(index, next);
}

}  // namespace lab

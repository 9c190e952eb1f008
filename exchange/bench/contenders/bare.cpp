// SPDX-License-Identifier: BSL-1.0
//
// The floor: the facility with nothing between its host and the kernel.
//
// One thread asks every socket again and again and never sleeps, which no program that shares its machine
// would do. It shows how much of a figure is the host, the kernel and the load, and how much a library.
#include <exchange/bench/facility_under_test.hpp>
#include <exchange/bench/loopback.hpp>
#include <exchange/bench/span_recorder.hpp>
#include <exchange/codec/soup_framer.hpp>
#include <exchange/net/session/order_entry_session.hpp>

#include <lab/kit/fail.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace exchange::bench {
namespace {

using gyre::time_point;
using lab::require;

time_point clock_now() { return std::chrono::steady_clock::now(); }

/// Does `send` until the kernel has taken everything: nothing else is read meanwhile.
template <class Send>
ssize_t insist(const std::atomic<bool>& stopping, Send&& send) {
    for (;;) {
        const ssize_t done = send();
        if (done >= 0 || (errno != EAGAIN && errno != EINTR) || stopping) return done;
    }
}

class connection final : session_link {
public:
    connection(order_entry_host& host, descriptor socket)
        : session_{host, *this, {}, clock_now()}, socket_{std::move(socket)} {}

    /// Reads what is there, at most once, and carries it out.
    ///
    /// @return Whether anything was there.
    bool read(facility_counts& counts, span_observer& observer, time_point now) {
        const std::span<std::byte> space = framer_.space();
        const ssize_t size = ::recv(socket_.get(), space.data(), space.size(), MSG_DONTWAIT);
        ++*counts.reads;
        if (size < 0) return false;
        observer.received();
        if (size == 0) gone_ = true;
        framer_.received(static_cast<std::size_t>(size));
        span_watch spans{&observer};
        while (session_.take_packets(framer_, 64, now, spans) > 0) {
        }
        has_output_ = true;
        return true;
    }

    void write(const std::atomic<bool>& stopping, facility_counts& counts, time_point now) {
        while (has_output_ && !gone_) {
            const soup_output output = session_.output();
            if (output.size() == 0) break;
            std::array<iovec, std::tuple_size_v<decltype(output.parts)>> pieces{};
            for (std::size_t at = 0; at < output.count; ++at)
                pieces[at] = {const_cast<std::byte*>(output.parts[at].data()),
                              output.parts[at].size()};
            msghdr message{};
            message.msg_iov = pieces.data();
            message.msg_iovlen = output.count;
            const ssize_t size = insist(stopping, [&] {
                ++*counts.writes;
                return ::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
            });
            if (size < 0) gone_ = true;
            else session_.sent(static_cast<std::size_t>(size), now);
        }
        has_output_ = false;
        if (session_.over()) gone_ = true;
    }

    void on_timer(time_point now) {
        if (now < session_.deadline()) return;
        session_.on_timer(now);
        has_output_ = true;
    }

    [[nodiscard]] bool gone() const { return gone_; }

private:
    void has_output() noexcept override { has_output_ = true; }
    void cut() noexcept override { gone_ = true; }

    order_entry_session session_;
    soup_framer framer_;
    descriptor socket_;
    bool has_output_ = false;
    bool gone_ = false;
};

/// What the facility's thread does.
class loop {
public:
    loop(const facility_plan& plan, descriptor listener, descriptor requests)
        : plan_{plan},
          listener_{std::move(listener)},
          requests_{std::move(requests)},
          feed_{datagrams_to(plan.feed)},
          observer_{plan.host, plan.spans} {}

    void run(const std::atomic<bool>& stopping) {
        stay_on_processor(plan_.processor);
        for (std::uint32_t turn = 0; !stopping; ++turn) {
            if (turn % turns_between_others == 0) look_after_others();
            // For protocols a clock that is read once per turn is exact enough, as in the libraries.
            const time_point now = clock_now();
            for (const auto& each : connections_)
                if (!each->gone() && each->read(counts_, observer_, now)) flush(stopping, now);
        }
    }

    [[nodiscard]] const facility_counts& counts() const { return counts_; }

private:
    static constexpr std::uint32_t turns_between_others = 1024;

    void flush(const std::atomic<bool>& stopping, time_point now) {
        plan_.host.announce();
        for (const auto& each : connections_) each->write(stopping, counts_, now);
        send_feed(stopping, now);
        observer_.written();
    }

    void send_feed(const std::atomic<bool>& stopping, time_point now) {
        std::size_t count = batch_max;
        while (count == batch_max && !stopping) {
            for (count = 0; count < batch_max; ++count) {
                const std::optional<mold_datagram> next = plan_.host.feed().next(now);
                if (!next) break;
                prepare(count, *next);
            }
            send_batch(stopping, count);
        }
    }

    void prepare(std::size_t at, const mold_datagram& datagram) {
        headers_[at] = datagram.header;
        pieces_[at] = {
            iovec{headers_[at].data(), headers_[at].size()},
            iovec{const_cast<std::byte*>(datagram.messages.data()), datagram.messages.size()}};
        batch_[at].msg_hdr.msg_iov = pieces_[at].data();
        batch_[at].msg_hdr.msg_iovlen = pieces_[at].size();
    }

    void send_batch(const std::atomic<bool>& stopping, std::size_t count) {
        for (std::size_t sent = 0; sent < count && !stopping;) {
            const ssize_t more = insist(stopping, [&] {
                return ::sendmmsg(feed_.get(), batch_.data() + sent,
                                  static_cast<unsigned>(count - sent), MSG_DONTWAIT);
            });
            if (more <= 0) return;  // Lost, like any other datagram: it will be asked for.
            sent += static_cast<std::size_t>(more);
            *counts_.datagrams += static_cast<std::uint64_t>(more);
        }
    }

    // Whatever is not in a hurry.
    void look_after_others() {
        pollfd waiting{listener_.get(), POLLIN, 0};
        if (::poll(&waiting, 1, 0) > 0)
            connections_.push_back(
                std::make_unique<connection>(plan_.host, accept_orders(listener_)));
        answer_requests();
        const time_point now = clock_now();
        for (const auto& each : connections_) each->on_timer(now);
        if (const auto heartbeat = plan_.host.feed().on_timer(now)) {
            prepare(0, *heartbeat);
            static_cast<void>(::sendmmsg(feed_.get(), batch_.data(), 1, MSG_DONTWAIT));
        }
    }

    void answer_requests() {
        std::array<std::byte, 64> request{};
        sockaddr_in from{};
        socklen_t from_size = sizeof(from);
        auto* const whom = reinterpret_cast<sockaddr*>(&from);
        const ssize_t size = ::recvfrom(requests_.get(), request.data(), request.size(),
                                        MSG_DONTWAIT, whom, &from_size);
        if (size < 0) return;
        const mold_answer answer =
            plan_.host.feed().answer(std::span{request}.first(static_cast<std::size_t>(size)));
        if (answer.fault != mold_fault::none) return;
        prepare(0, answer.datagram);
        msghdr message = batch_[0].msg_hdr;
        message.msg_name = &from;
        message.msg_namelen = from_size;
        static_cast<void>(::sendmsg(requests_.get(), &message, MSG_DONTWAIT));
    }

    static constexpr std::size_t batch_max = 64;

    facility_plan plan_;
    descriptor listener_;
    descriptor requests_;
    descriptor feed_;
    span_recorder observer_;
    std::vector<std::unique_ptr<connection>> connections_;
    std::array<std::array<std::byte, mold_header_bytes>, batch_max> headers_{};
    std::array<std::array<iovec, 2>, batch_max> pieces_{};
    std::array<mmsghdr, batch_max> batch_{};
    facility_counts counts_{.reads = 0, .writes = 0, .datagrams = 0};
};

class bare final : public facility_under_test {
public:
    ~bare() override { stop(); }

    [[nodiscard]] facility_identity about() const override {
        return {"bare", "none", "", "busy polling"};
    }

    [[nodiscard]] facility_endpoints start(const facility_plan& plan) override {
        descriptor listener = listen_for_orders();
        descriptor requests = datagrams_at_loopback({htonl(INADDR_ANY)});
        const facility_endpoints endpoints{address_of(listener), address_of(requests)};
        thread_ = std::thread{
            [this, plan, listener = std::move(listener), requests = std::move(requests)]() mutable {
                loop all{plan, std::move(listener), std::move(requests)};
                all.run(stopping_);
                counts_ = all.counts();
            }};
        return endpoints;
    }

    void stop() override {
        stopping_ = true;
        if (thread_.joinable()) thread_.join();
    }

    [[nodiscard]] facility_counts counts() const override { return counts_; }

private:
    std::atomic<bool> stopping_ = false;
    facility_counts counts_;
    std::thread thread_;
};

}  // namespace

std::unique_ptr<facility_under_test> make_facility(const facility_tuning& how) {
    require(how.backend.empty() && !how.through_gateway && !how.turns_context(),
            "exchange: bare has no backends to choose from, no gateway and no context");
    return std::make_unique<bare>();
}

}  // namespace exchange::bench

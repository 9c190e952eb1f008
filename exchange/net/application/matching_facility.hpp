// SPDX-License-Identifier: BSL-1.0
//
// The matching facility on one side of the seam: everything that waits, put together.
//
// It accepts clients, publishes the feed, answers who missed a part of it, and keeps time. What a message
// means is matching_service.hpp's; the loop of one client is session/order_entry_connection.hpp's.
#pragma once

#include <exchange/net/session/order_entry_connection.hpp>

#include <deque>
#include <utility>

namespace exchange {

/// @tparam  X  A side of the seam.
///
/// Threads:  that of its context.
/// Cost:     Memory is taken at construction, and for each client that connects.
template <executor_traits X>
class matching_facility {
public:
    using task = typename X::template task<void>;

    /// @param  context   Borrowed; outlives this.
    /// @param  service   Borrowed; outlives this.
    /// @param  observer  Borrowed, or null.
    matching_facility(typename X::context& context, matching_service& service,
                      const facility_options& options, span_observer* observer = nullptr)
        : context_{context},
          service_{service},
          options_{options},
          feed_{context, service.feed(), options.feed, options.datagrams_per_send,
                options.datagram_bytes_max},
          desk_{context, service, feed_, options_, observer},
          tick_{context},
          rest_{context} {
        gyre::expects(options.connections_max > service.participants().size(),
                      "a place for each participant, and one to ask for it");
        for (std::size_t each = 0; each < options.connections_max; ++each)
            connections_.emplace_back(desk_);
    }
    matching_facility(const matching_facility&) = delete;
    matching_facility& operator=(const matching_facility&) = delete;

    /// Opens all sockets and begins. After an error nothing has begun.
    ///
    /// Errors:  those of listening and binding, of joining `feed_interface`: what the kernel says.
    [[nodiscard]] gyre::io_result<> start() {
        auto [listening, acceptor] = X::listen(context_, options_.order_entry, {});
        if (listening) return listening;
        auto [requesting, requests] = X::bind(context_, options_.feed_requests, {});
        if (requesting) return requesting;
        auto [binding, outgoing] = X::bind(context_, options_.feed_from, {});
        if (binding) return binding;
        if (const auto [routing] = route(outgoing); routing) return routing;
        auto [naming, order_entry] = acceptor.local_endpoint();
        if (naming) return naming;
        auto [naming_too, requests_at] = requests.local_endpoint();
        if (naming_too) return naming_too;
        order_entry_at_ = order_entry;
        requests_at_ = requests_at;
        acceptor_ = std::move(acceptor);
        feed_.open(std::move(outgoing), std::move(requests));
        running_ = true;
        begin(accept_clients());
        begin(answer_requests());
        begin(keep_time());
        return {};
    }

    /// Where clients connect, once started.
    [[nodiscard]] const gyre::endpoint& order_entry() const noexcept { return order_entry_at_; }
    /// Where requests for retransmission go, once started.
    [[nodiscard]] const gyre::endpoint& feed_requests() const noexcept { return requests_at_; }

    /// Ends the day in order: no new clients; everybody is told what there is to tell, then that nothing
    /// follows; the feed ends. `stop` comes next.
    void drain() noexcept {
        static_cast<void>(acceptor_.close());
        service_.end(X::now(context_));
    }

    /// Is nobody connected any more?
    [[nodiscard]] bool idle() const noexcept { return serving_ == 0; }

    /// Ends everything. The context runs out of work, and then this may be destroyed.
    void stop() noexcept {
        running_ = false;
        static_cast<void>(acceptor_.close());
        feed_.close();
        tick_.cancel();
        rest_.cancel();
        free_.set();
        for (order_entry_connection<X>& each : connections_)
            if (each.serving()) each.hang_up();
    }

    [[nodiscard]] const feed_counts& feed() const noexcept { return feed_.counts(); }

private:
    void begin(task what) { X::launch(context_, std::move(what)); }

    [[nodiscard]] gyre::io_result<> route(typename X::udp_socket& outgoing) {
        if (options_.feed_interface.empty()) return {};
        const auto [missing, through] = outgoing.find_interface(options_.feed_interface);
        if (missing) return missing;
        return outgoing.set_multicast_interface(through);
    }

    task accept_clients() {
        while (running_ && acceptor_.is_open()) {
            auto [error, socket] = co_await acceptor_.accept();
            if (error == gyre::errc::canceled) break;
            if (error) {  // Out of descriptors, or a client that is gone again.
                static_cast<void>(
                    co_await rest_.wait_until(X::now(context_) + options_.timer_tick));
                continue;
            }
            order_entry_connection<X>* place = find_place();
            while (running_ && place == nullptr) {
                free_.reset();
                static_cast<void>(co_await free_.wait());
                place = find_place();
            }
            if (!running_) break;
            place->open(std::move(socket));
            begin(serve(*place));
        }
    }

    task serve(order_entry_connection<X>& by) {
        ++serving_;
        co_await by.serve();
        --serving_;
        free_.set();
    }

    task answer_requests() { co_await feed_.answer_requests(); }

    task keep_time() {
        while (running_) {
            static_cast<void>(co_await tick_.wait_until(X::now(context_) + options_.timer_tick));
            if (!running_) break;
            const gyre::time_point now = X::now(context_);
            for (order_entry_connection<X>& each : connections_)
                if (each.serving()) each.on_timer(now);
            service_.announce();  // Orders of who was too silent may have been cancelled.
            co_await feed_.flush();
            co_await feed_.on_timer(now);
        }
    }

    /// A place for a client. If all are taken, whoever has been there longest without logging in has to
    /// leave, so that strangers cannot keep participants out.
    [[nodiscard]] order_entry_connection<X>* find_place() noexcept {
        order_entry_connection<X>* oldest = nullptr;
        for (order_entry_connection<X>& each : connections_) {
            if (!each.serving()) return &each;
            if (each.logged_in()) continue;
            if (oldest == nullptr || each.accepted_at() < oldest->accepted_at()) oldest = &each;
        }
        if (oldest != nullptr) oldest->hang_up();
        return nullptr;
    }

    typename X::context& context_;
    matching_service& service_;
    facility_options options_;
    feed_publisher<X> feed_;
    order_entry_desk<X> desk_;
    typename X::acceptor acceptor_;
    typename X::timer tick_;
    typename X::timer rest_;
    typename X::event free_;  // Set whenever a place becomes free.
    std::deque<order_entry_connection<X>> connections_;
    gyre::endpoint order_entry_at_;
    gyre::endpoint requests_at_;
    std::size_t serving_ = 0;
    bool running_ = false;
};

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// The coroutines of a gateway: see order_entry_gateway.hpp.
#include <exchange/server/order_entry_gateway.hpp>

#include <gyre/coro/this_task.hpp>
#include <gyre/io/backoff.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>

#include <algorithm>
#include <utility>

namespace exchange {

namespace {

[[nodiscard]] gyre::backoff doubling(gyre::duration first, gyre::duration most) noexcept {
    gyre::backoff_options how;
    how.first = first;
    how.most = most;
    how.how = gyre::jitter::none;
    return gyre::backoff{how};
}

}  // namespace

order_entry_gateway::order_entry_gateway(gateway_host& host, const gateway_options& options)
    : host_{host}, options_{options}, clients_{host, options.clients} {}

gyre::io_result<> order_entry_gateway::listen(gyre::io_context& on) {
    on_ = &on;
    return clients_.listen(on);
}

gyre::task<gyre::io_result<>> order_entry_gateway::serve() {
    host_.write_with(this);
    if (!options_.opens_with_link) opened_.set();
    gyre::io_result<> served;
    const auto body = [this, &served](gyre::task_group& all) -> gyre::task<> {
        all.spawn(keep_link());
        all.spawn(keep_time());
        all.spawn(heed_drain());
        served = co_await serve_clients();
        all.request_stop();
    };
    co_await gyre::with_group(body);
    host_.write_with(nullptr);
    co_return served;
}

gyre::task<gyre::io_result<>> order_entry_gateway::serve_clients() {
    const auto [ended] = co_await gyre::idle(opened_.wait());
    if (ended) {
        clients_.leave();
        co_return gyre::io_result<>{};
    }
    const gyre::io_result<> served = co_await clients_.serve();
    co_return served;
}

gyre::task<> order_entry_gateway::heed_drain() {
    const gyre::stop_level asked = co_await gyre::this_task::stop_requested();
    if (asked == gyre::stop_level::stop) co_return;
    host_.drain(on_->now());
    if (!host_.link_up()) cut_link();
}

gyre::task<> order_entry_gateway::keep_time() {
    gyre::time_point tick = on_->now() + options_.clients.timer_tick;
    for (;;) {
        const gyre::time_point soon = on_->now() + std::chrono::milliseconds{1};
        const auto [ended] =
            co_await gyre::sleep_until(std::min(tick, std::max(soon, host_.deadline())));
        if (ended) co_return;
        const gyre::time_point now = on_->now();
        tick = clients_.on_tick(now);
        host_.on_timer(now);
        end_link_in_time(now);
    }
}

// ---------------------------------------------------------------------------------------------
// The link
// ---------------------------------------------------------------------------------------------

gyre::task<> order_entry_gateway::keep_link() {
    gyre::backoff retry = doubling(options_.reconnect_after, options_.reconnect_after_max);
    gyre::backoff take_back = doubling(options_.take_back_after, options_.take_back_after_max);
    while (!host_.draining()) {
        auto connected = co_await gyre::idle(gyre::with_timeout(
            options_.connect_within, gyre::stream_socket::connect(options_.facility)));
        if (connected.error() == gyre::errc::canceled) co_return;
        if (connected.ok()) {
            const std::uint64_t welcomed = host_.counts().links;
            co_await serve_link(connected.take());
            if (host_.counts().links != welcomed) retry.reset();
        } else {
            ++host_.counts().unreached;
        }
        const bool replaced = host_.link_replaced();
        if (!replaced) take_back.reset();
        gyre::backoff& rest = replaced ? take_back : retry;
        const auto [ended] = co_await gyre::idle(rest.pause());
        if (ended) co_return;
    }
}

gyre::task<> order_entry_gateway::serve_link(gyre::stream_socket link) {
    link_frames_.reset();
    host_.connect(on_->now());
    const auto body = [this, &link](gyre::task_group& group) -> gyre::task<> {
        link_group_ = &group;
        group.spawn(receive_frames(link));
        co_await send_frames(link);
        group.request_stop();
    };
    co_await gyre::with_group(body);
    link_group_ = nullptr;
    link_over_since_ = gyre::never;
    const gyre::stop_level asked = co_await gyre::this_task::stop_state();
    host_.link_lost(on_->now(), asked != gyre::stop_level::stop && !sent_away_);
}

gyre::task<> order_entry_gateway::receive_frames(gyre::stream_socket& link) {
    while (!host_.link_over()) {
        const auto [error, size] = co_await link.read_some(link_frames_.space());
        if (error) {
            cut_link();
            co_return;
        }
        link_frames_.received(size);
        host_.take_frames(link_frames_, on_->now());
        if (host_.link_up()) opened_.set();
    }
    link_output_.set();  // The facility receives the reason.
}

gyre::task<> order_entry_gateway::send_frames(gyre::stream_socket& link) {
    for (;;) {
        while (host_.link_wants_to_write()) {
            const gyre::const_buffer bytes = host_.link_output(on_->now());
            if (bytes.empty()) break;
            const auto [error, size] = co_await link.write_some(bytes);
            if (error) co_return;
            host_.link_sent(size, on_->now());
        }
        if (host_.link_over()) co_return;
        const auto [ended] = co_await link_output_.wait();
        if (ended) co_return;
        link_output_.reset();
    }
}

// A link that is over has a while to say why.
void order_entry_gateway::end_link_in_time(gyre::time_point now) noexcept {
    if (link_group_ == nullptr || !host_.link_over()) return;
    link_over_since_ = std::min(link_over_since_, now);
    link_output_.set();
    if (now >= gyre::deadline_after(link_over_since_, options_.clients.linger)) cut_link();
}

}  // namespace exchange

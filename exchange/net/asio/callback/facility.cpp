// SPDX-License-Identifier: BSL-1.0
//
// Sockets, connections and timers: see facility.hpp.
#include <exchange/net/asio/callback/facility.hpp>

#include <exchange/net/application/facility_sockets.hpp>
#include <exchange/net/asio/traits.hpp>

#include <gyre/base/check.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace exchange {

using boost::system::error_code;

callback_facility::callback_facility(asio_loop& loop, order_entry_host& host,
                                     const facility_options& options, span_observer* observer,
                                     callback_style style)
    : loop_{loop},
      host_{host},
      options_{options},
      feed_{loop, host.feed(), options.publishing(), style},
      shared_{.host = host,
              .feed = feed_,
              .options = options_,
              .owner = *this,
              .style = style,
              .spans = span_watch{observer}},
      arriving_{loop.executor()},
      tick_{loop.executor()},
      rest_{loop.executor()},
      connections_{shared_, options.connections_max} {
    gyre::expects(options.connections_max > host.logins_max(),
                  "a connection for each participant and operator, and one to ask for it");
    feed_.be_watched(shared_.spans);
}

gyre::io_result<> callback_facility::start() {
    const auto named = [](const gyre::endpoint& place) {
        return place.kind() != gyre::endpoint::family::none;
    };
    if (named(options_.websocket) || named(options_.gateways.at))
        return gyre::error{gyre::errc::not_supported, gyre::activity::listen};
    auto [failed, sockets] = facility_sockets<asio_traits>::open(loop_, options_);
    if (failed) return failed;
    order_entry_at_ = sockets.order_entry.at;
    requests_at_ = sockets.feed_requests;
    acceptor_ = std::move(sockets.order_entry.acceptor);
    feed_.open(std::move(sockets.feed), std::move(sockets.requests));
    running_ = true;
    host_.run_with(this);
    next_tick_ = std::chrono::steady_clock::now() + options_.timer_tick;
    accept();
    await_tick();
    return {};
}

void callback_facility::drain() noexcept {
    host_.end(std::chrono::steady_clock::now());
    shared_.write_announced();
}

void callback_facility::stop() noexcept {
    running_ = false;
    host_.run_with(nullptr);
    host_.finish_command();
    static_cast<void>(acceptor_.close());
    error_code ignored;
    arriving_.close(ignored);
    feed_.close();
    tick_.cancel();
    rest_.cancel();
    connections_.hang_up();
    shared_.write_announced();
    let_others_go_on();
}

void callback_facility::accept() {
    if (!running_ || !acceptor_.is_open()) return;
    acceptor_.open().async_accept(
        arriving_,
        accept_memory_.lend_to([this](const error_code& failure) { on_accept(failure); }));
}

void callback_facility::on_accept(const error_code& failure) {
    if (!running_ || failure == boost::asio::error::operation_aborted) return;
    if (failure) return accept_later();  // Out of descriptors, or a client that is gone again.
    serve_arrived();
}

void callback_facility::accept_later() {
    rest_.expires_after(options_.timer_tick);
    rest_.async_wait(accept_memory_.lend_to([this](const error_code&) { accept(); }));
}

/// Serves a client that has arrived, or lets it wait until another has left.
void callback_facility::serve_arrived() {
    callback_connection* const connection = connections_.find();
    arrived_ = connection == nullptr;
    if (arrived_) return;
    ++serving_;
    connection->open(asio_stream_socket{std::move(arriving_)});
    accept();
}

void callback_facility::left() {
    --serving_;
    if (running_ && arrived_) serve_arrived();
}

void callback_facility::host_is_busy() noexcept { go_on_later(); }

/// Another step of the command that is under way, behind all other handlers that are ready.
void callback_facility::go_on_later() {
    if (std::exchange(going_on_, true)) return;
    boost::asio::post(loop_.executor(), step_memory_.lend_to([this] { go_on(); }));
}

void callback_facility::go_on() {
    if (host_.busy()) host_.resume();
    host_.announce();
    const bool sent = feed_.flush(this);
    shared_.write_announced();
    if (sent) feed_sent();  // Else the feed will call it.
}

void callback_facility::feed_sent() {
    going_on_ = false;
    if (host_.busy()) return go_on_later();
    shared_.note_written();
    let_others_go_on();
}

/// In order; one of them may begin the next command that takes its time.
void callback_facility::let_others_go_on() {
    while (!host_.busy() && !shared_.waiting.empty()) shared_.waiting.pop_front().host_is_idle();
}

void callback_facility::await_tick() {
    const gyre::time_point now = std::chrono::steady_clock::now();
    tick_.expires_at(std::min(next_tick_, std::max(now, host_.deadline())));
    tick_.async_wait(tick_memory_.lend_to([this](const error_code&) { on_tick(); }));
}

void callback_facility::on_tick() {
    if (!running_) return;
    const gyre::time_point now = std::chrono::steady_clock::now();
    next_tick_ = connections_.on_tick(next_tick_, now, options_.timer_tick);
    host_.on_timer(now);
    host_.announce();
    static_cast<void>(feed_.flush(nullptr));  // Orders of who was silent may be cancelled.
    feed_.on_timer(now);
    shared_.write_announced();
    await_tick();
}

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// Doors, places and time: see callback_facility.hpp.
#include <exchange/net/application/callback_facility.hpp>

#include <utility>

namespace exchange {

using boost::system::error_code;

callback_facility::callback_facility(asio_loop& loop, matching_service& service,
                                     const facility_options& options, span_observer* observer,
                                     callback_style style)
    : loop_{loop},
      service_{service},
      options_{options},
      feed_{service.feed(), options.feed, options.datagram_bytes_max, style},
      desk_{.service = service,
            .feed = feed_,
            .options = options_,
            .host = *this,
            .style = style,
            .observer = observer},
      arriving_{loop.executor()},
      tick_{loop.executor()},
      rest_{loop.executor()} {
    gyre::expects(options.connections_max > service.participants().size(),
                  "a place for each participant, and one to ask for it");
    for (std::size_t each = 0; each < options.connections_max; ++each)
        connections_.emplace_back(desk_);
}

gyre::io_result<> callback_facility::start() {
    auto [listening, acceptor] = asio_acceptor::listen(loop_, options_.order_entry, {});
    if (listening) return listening;
    auto [requesting, requests] = asio_udp_socket::bind(loop_, options_.feed_requests, {});
    if (requesting) return requesting;
    auto [binding, outgoing] = asio_udp_socket::bind(loop_, options_.feed_from, {});
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
    accept();
    await_tick();
    return {};
}

gyre::io_result<> callback_facility::route(asio_udp_socket& outgoing) const {
    if (options_.feed_interface.empty()) return {};
    const auto [missing, through] = outgoing.find_interface(options_.feed_interface);
    if (missing) return missing;
    return outgoing.set_multicast_interface(through);
}

void callback_facility::drain() noexcept {
    static_cast<void>(acceptor_.close());
    service_.end(std::chrono::steady_clock::now());
    desk_.write_announced();
}

void callback_facility::stop() noexcept {
    running_ = false;
    static_cast<void>(acceptor_.close());
    error_code ignored;
    arriving_.close(ignored);
    feed_.close();
    tick_.cancel();
    rest_.cancel();
    for (callback_connection& each : connections_)
        if (each.serving()) each.hang_up();
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
    seat();
}

void callback_facility::accept_later() {
    rest_.expires_after(options_.timer_tick);
    rest_.async_wait(accept_memory_.lend_to([this](const error_code&) { accept(); }));
}

/// Serves who has arrived, or lets it wait until somebody has left.
void callback_facility::seat() {
    callback_connection* const place = find_place();
    arrived_ = place == nullptr;
    if (arrived_) return;
    ++serving_;
    place->open(asio_stream_socket{std::move(arriving_)});
    accept();
}

void callback_facility::left() {
    --serving_;
    if (running_ && arrived_) seat();
}

void callback_facility::await_tick() {
    tick_.expires_after(options_.timer_tick);
    tick_.async_wait(tick_memory_.lend_to([this](const error_code&) { on_tick(); }));
}

void callback_facility::on_tick() {
    if (!running_) return;
    const gyre::time_point now = std::chrono::steady_clock::now();
    for (callback_connection& each : connections_)
        if (each.serving()) each.on_timer(now);
    service_.announce();
    static_cast<void>(feed_.flush(nullptr));  // Orders of who was silent may be cancelled.
    feed_.on_timer(now);
    desk_.write_announced();
    await_tick();
}

/// A place for a client. If all are taken, whoever has been there longest without logging in has to
/// leave, so that strangers cannot keep participants out.
callback_connection* callback_facility::find_place() noexcept {
    callback_connection* oldest = nullptr;
    for (callback_connection& each : connections_) {
        if (!each.serving()) return &each;
        if (each.logged_in()) continue;
        if (oldest == nullptr || each.accepted_at() < oldest->accepted_at()) oldest = &each;
    }
    if (oldest != nullptr) oldest->hang_up();
    return nullptr;
}

}  // namespace exchange

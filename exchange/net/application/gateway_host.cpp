// SPDX-License-Identifier: BSL-1.0
//
// Channels that come and go with the link: see gateway_host.hpp.
#include <exchange/net/application/gateway_host.hpp>

#include <exchange/net/session/gateway_client.hpp>

#include <utility>

namespace exchange {

gateway_host::gateway_host(const gateway_host_options& options, gyre::time_point now)
    : options_{options},
      users_{options.users},
      logins_{bound_for(options.logins, users_), now},
      link_{link_role::gateway, options.link, now},
      now_{now} {}

void gateway_host::connect(gyre::time_point now) noexcept {
    now_ = now;
    replaced_ = false;
    link_.connect(options_.name, options_.password, now);
    wake_writer();
}

void gateway_host::take_frames(link_framer& from, gyre::time_point now) noexcept {
    now_ = now;
    while (!link_.over()) {
        const link_framed framed = from.next();
        if (framed.ending != link_ending::none) on_step(link_.on_framing_error(framed.ending));
        else if (framed.complete) on_step(link_.on_frame(framed.frame, now));
        else break;
    }
    open_channels();  // Numbers may have become free.
    if (link_.wants_to_write()) wake_writer();
}

void gateway_host::on_step(const link_step& step) noexcept {
    using enum link_step::kind;
    auto* const client = static_cast<gateway_client*>(step.channel);
    switch (step.what) {
        case welcome:
            ++counts_.links;
            welcomed_ = true;
            refusal_told_ = false;
            if (watcher_ != nullptr) watcher_->link_up(link_.welcomed().life);
            return welcome_clients();
        case packets:
            if (!client->deliver(step.payload, now_))
                on_step(link_.on_framing_error(link_ending::malformed_frame));
            return;
        case closed: return client->channel_closed(step.why);
        case ended: return lose_channels();
        case nothing:
        case hello:
        case open: return;  // Facilities only.
    }
}

void gateway_host::welcome_clients() noexcept {
    const soup_session life = link_.welcomed().life;
    waiting_.for_each_shrinking([&life](gateway_client& it) { it.leave_unless_of(life); });
    open_channels();
}

void gateway_host::open_channels() noexcept {
    while (!waiting_.empty()) {
        gateway_client& it = waiting_.front();
        if (!link_.open(it, it.request())) return;
        static_cast<gyre::list_link<gateway_client>&>(it).unlink();
    }
}

std::span<const std::byte> gateway_host::link_output(gyre::time_point now) noexcept {
    now_ = now;
    return link_.output();
}

void gateway_host::link_lost(gyre::time_point now, bool reported) noexcept {
    now_ = now;
    link_.disconnected();
    lose_channels();
    const bool was_up = std::exchange(welcomed_, false);
    if (watcher_ == nullptr || !reported) return;
    if (!was_up) return tell_refusal(link_.ending());
    if (replaced_) watcher_->link_replaced();
    else watcher_->link_lost();
}

void gateway_host::tell_refusal(link_ending why) noexcept {
    const bool is_final = why == link_ending::refused || why == link_ending::other_version ||
                          why == link_ending::small_window;
    if (is_final && !std::exchange(refusal_told_, true)) watcher_->link_refused(why);
}

void gateway_host::drain(gyre::time_point now) noexcept {
    now_ = now;
    draining_ = true;
    if (is_left()) waiting_.for_each_shrinking([](gateway_client& it) { it.send_away(); });
}

void gateway_host::note_refused(const refused_login& it) noexcept {
    ++counts_.refused;
    if (watcher_ != nullptr) watcher_->login_refused(it);
}

void gateway_host::note_shed(const gateway_client& it) noexcept {
    ++counts_.shed;
    if (watcher_ != nullptr) watcher_->client_shed(it);
}

void gateway_host::lose_channels() noexcept {
    replaced_ = link_.ending() == link_ending::replaced;
    link_.lose_channels([](link_channel& it, std::uint32_t in_flight) {
        static_cast<gateway_client&>(it).channel_lost(in_flight);
    });
}

void gateway_host::on_timer(gyre::time_point now) noexcept {
    now_ = now;
    logins_.on_timer(now);
    on_step(link_.on_timer(now));
    if (link_.wants_to_write()) wake_writer();
}

void gateway_host::want_channel(gateway_client& it) noexcept {
    if (link_.up()) it.leave_unless_of(link_.welcomed().life);
    if (it.over()) return;
    if (is_left()) return it.send_away();
    waiting_.push_back(it);
    open_channels();
    wake_writer();
}

void gateway_host::close_channel(gateway_client& it, soup_ending why) noexcept {
    link_.close(it, why);
    wake_writer();
}

void gateway_host::announce(gateway_client& it) noexcept {
    link_.announce(it);
    wake_writer();
}

void gateway_host::take(gateway_client& it, std::size_t bytes) noexcept {
    link_.take(it, static_cast<std::uint32_t>(bytes));
    if (link_.wants_to_write()) wake_writer();
}

void gateway_host::give_back(gateway_client& it) noexcept {
    link_.give_back(it);
    wake_writer();
}

void gateway_host::wake_writer() noexcept {
    if (writer_ != nullptr) writer_->link_has_output();
}

}  // namespace exchange

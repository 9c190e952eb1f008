// SPDX-License-Identifier: BSL-1.0
//
// Which frame may come when, and who writes next: see link_connection.hpp.
#include <exchange/codec/link_connection.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>
#include <utility>

namespace exchange {

using kind = link_step::kind;

namespace {

[[nodiscard]] soup_options liveness_of(const link_options& it) noexcept {
    soup_options made;
    made.heartbeat_after = it.heartbeat_after;
    made.dead_after = it.dead_after;
    return made;
}

}  // namespace

link_connection::link_connection(link_role role, const link_options& options, gyre::time_point now)
    : role_{role},
      options_{options},
      liveness_{liveness_of(options), now},
      hello_deadline_{gyre::deadline_after(now, options.hello_within)},
      numbers_max_{role == link_role::facility ? options.channels_max : 0},
      slots_{std::make_unique<slot[]>(options.channels_max)},
      buffer_{new std::byte[options.output_bytes_max]} {
    gyre::expects(options.output_bytes_max >= 2 * (link_header_bytes + link_payload_bytes_max),
                  "room for the longest frame, and some that are short");
    gyre::expects(options.window_bytes >= link_window_bytes_min, "room for the largest packet");
    for (std::uint32_t each = 0; each < options.channels_max; ++each)
        slots_[each].number = each + 1;
    if (role == link_role::gateway) free_.reserve(options.channels_max);
}

link_connection::~link_connection() {
    while (!ready_.empty()) ready_.pop_front();  // Channels may be gone already.
}

// ---------------------------------------------------------------------------------------------
// What comes
// ---------------------------------------------------------------------------------------------

link_step link_connection::on_frame(const link_frame& frame, gyre::time_point now) noexcept {
    if (over()) return {};
    liveness_.heard(now);
    switch (frame.kind) {
        case link_kind::hello: return on_hello(frame);
        case link_kind::welcome: return on_welcome(frame);
        case link_kind::goodbye: return on_goodbye(frame);
        case link_kind::open:
        case link_kind::packets:
        case link_kind::credit:
        case link_kind::close:
            if (!up()) return fail(link_ending::out_of_order);
            return frame.kind == link_kind::open ? on_open(frame) : on_channel(frame);
        case link_kind::heartbeat:
            if (!up()) return fail(link_ending::out_of_order);
            if (frame.channel != 0 || !frame.payload.empty())
                return fail(link_ending::malformed_frame);
            return {};
    }
    return fail(link_ending::unknown_kind);
}

link_step link_connection::on_hello(const link_frame& frame) noexcept {
    if (role_ != link_role::facility || phase_ != phase::silent)
        return fail(link_ending::out_of_order);
    const auto read = parse_link_hello(frame.payload);
    if (!read || frame.channel != 0) return fail(link_ending::malformed_frame);
    if (read->version != link_version) return fail(link_ending::other_version);
    if (read->window_bytes < link_window_bytes_min) return fail(link_ending::small_window);
    hello_ = *read;
    peer_window_ = read->window_bytes;
    phase_ = phase::asking;
    return {.what = kind::hello};
}

link_step link_connection::on_welcome(const link_frame& frame) noexcept {
    if (role_ != link_role::gateway || phase_ != phase::asking)
        return fail(link_ending::out_of_order);
    const auto read = parse_link_welcome(frame.payload);
    if (!read || frame.channel != 0) return fail(link_ending::malformed_frame);
    if (read->window_bytes < link_window_bytes_min) return fail(link_ending::small_window);
    welcome_ = *read;
    peer_window_ = read->window_bytes;
    numbers_max_ = std::min(options_.channels_max, read->channels_max);
    phase_ = phase::up;
    return {.what = kind::welcome};
}

link_step link_connection::on_goodbye(const link_frame& frame) noexcept {
    if (frame.channel != 0 || frame.payload.size() != link_reason_bytes)
        return fail(link_ending::malformed_frame);
    const auto why = static_cast<link_ending>(frame.payload[0]);
    const bool known = why > link_ending::none && why <= link_ending::beyond_window;
    ending_ = known ? why : link_ending::closed;
    phase_ = phase::over;
    return {.what = kind::ended};
}

link_step link_connection::on_open(const link_frame& frame) noexcept {
    if (role_ != link_role::facility) return fail(link_ending::out_of_order);
    if (frame.channel == 0 || frame.channel > numbers_max_)
        return fail(link_ending::unknown_channel);
    const auto read = parse_link_open(frame.payload);
    if (!read) return fail(link_ending::malformed_frame);
    slot& at = slots_[frame.channel - 1];
    if (at.used) return fail(link_ending::channel_in_use);
    begin(at, nullptr);
    return {.what = kind::open, .number = frame.channel, .open = *read};
}

link_step link_connection::on_channel(const link_frame& frame) noexcept {
    if (frame.channel == 0 || frame.channel > numbers_max_)
        return fail(link_ending::unknown_channel);
    slot& at = slots_[frame.channel - 1];
    // What is behind its own end, or was never opened, cannot come; what crosses our close can.
    if (!at.used || at.open_due || at.close_heard) return fail(link_ending::unknown_channel);
    switch (frame.kind) {
        case link_kind::packets: return on_packets(at, frame);
        case link_kind::credit: return on_credit(at, frame);
        default: return on_close(at, frame);
    }
}

link_step link_connection::on_packets(slot& at, const link_frame& frame) noexcept {
    if (frame.payload.empty()) return fail(link_ending::malformed_frame);
    if (at.it == nullptr) return {};
    if (frame.payload.size() > at.may_come) return fail(link_ending::beyond_window);
    at.may_come -= static_cast<std::uint32_t>(frame.payload.size());
    return {.what = kind::packets, .channel = at.it, .payload = frame.payload};
}

link_step link_connection::on_credit(slot& at, const link_frame& frame) noexcept {
    const auto bytes = parse_link_credit(frame.payload);
    if (!bytes || *bytes == 0) return fail(link_ending::malformed_frame);
    if (at.it == nullptr) return {};
    if (*bytes > peer_window_ - at.may_send) return fail(link_ending::beyond_window);
    at.may_send += *bytes;
    enqueue(at);
    return {};
}

link_step link_connection::on_close(slot& at, const link_frame& frame) noexcept {
    const auto why = parse_link_close(frame.payload);
    if (!why) return fail(link_ending::malformed_frame);
    at.close_heard = true;
    link_channel* const it = at.it;
    if (it != nullptr) {
        close(at, soup_ending::none);
        return {.what = kind::closed, .channel = it, .why = *why};
    }
    if (at.close_sent) release(at);
    return {};
}

// ---------------------------------------------------------------------------------------------
// Time, and the end
// ---------------------------------------------------------------------------------------------

link_step link_connection::on_timer(gyre::time_point now) noexcept {
    if (over()) return {};
    const bool waits_for_greeting =
        phase_ == (role_ == link_role::gateway ? phase::asking : phase::silent);
    if (waits_for_greeting && now >= hello_deadline_) return fail(link_ending::no_hello);
    if (up() && liveness_.peer_is_dead(now)) return fail(link_ending::peer_silent);
    if (liveness_.heartbeat_due(now)) {
        liveness_.sent(now);
        // What waits to be written speaks for itself.
        heartbeat_due_ = up() && !wants_to_write();
    }
    return {};
}

gyre::time_point link_connection::deadline() const noexcept {
    switch (phase_) {
        case phase::up: return liveness_.deadline();
        case phase::over: return gyre::never;
        default: return hello_deadline_;
    }
}

link_step link_connection::fail(link_ending ending) noexcept {
    if (over()) return {};
    goodbye_due_ = phase_ != phase::silent || role_ == link_role::facility;
    ending_ = ending;
    phase_ = phase::over;
    return {.what = kind::ended};
}

void link_connection::disconnected() noexcept {
    if (over()) return;
    ending_ = link_ending::closed;
    phase_ = phase::over;
}

void link_connection::connect(const soup_username& name, const link_password& password,
                              gyre::time_point now) noexcept {
    gyre::expects(role_ == link_role::gateway, "a gateway connects");
    while (!ready_.empty()) ready_.pop_front();
    for (std::uint32_t number = 1; number <= fresh_; ++number) {
        slot& at = slots_[number - 1];
        gyre::expects(at.it == nullptr, "channels are lost with their link");
        at.used = false;
    }
    free_.clear();
    fresh_ = 0;
    filled_ = sent_ = 0;
    heartbeat_due_ = goodbye_due_ = false;
    liveness_ = {liveness_of(options_), now};
    hello_deadline_ = gyre::deadline_after(now, options_.hello_within);
    hello_ = {.window_bytes = options_.window_bytes, .name = name, .password = password};
    ending_ = link_ending::none;
    phase_ = phase::asking;
    greeting_due_ = true;
}

void link_connection::welcome(const soup_session& life) noexcept {
    gyre::expects(phase_ == phase::asking, "only a gateway that asks is welcome");
    welcome_ = {
        .window_bytes = options_.window_bytes, .channels_max = options_.channels_max, .life = life};
    phase_ = phase::up;
    greeting_due_ = true;
}

// ---------------------------------------------------------------------------------------------
// Channels
// ---------------------------------------------------------------------------------------------

link_connection::slot& link_connection::slot_of(const link_channel& it) noexcept {
    gyre::expects(it.number_ != 0, "a channel that is open");
    return slots_[it.number_ - 1];
}

void link_connection::begin(slot& at, link_channel* it) noexcept {
    at.it = it;
    at.may_send = peer_window_;
    at.may_come = options_.window_bytes;
    at.owed = 0;
    at.why = soup_ending::none;
    at.used = true;
    at.open_due = at.credit_due = at.close_due = at.close_sent = at.close_heard = false;
    if (it != nullptr) it->number_ = at.number;
}

bool link_connection::open(link_channel& it, const link_open& how) noexcept {
    gyre::expects(it.number_ == 0, "one channel each");
    if (!up() || (free_.empty() && fresh_ >= numbers_max_)) return false;
    std::uint32_t number = 0;
    if (free_.empty()) {
        number = ++fresh_;
    } else {
        number = free_.back();
        free_.pop_back();
    }
    slot& at = slots_[number - 1];
    begin(at, &it);
    at.opening = format_link_open(how);
    at.open_due = true;
    enqueue(at);
    return true;
}

void link_connection::admit(std::uint32_t number, link_channel& it) noexcept {
    slot& at = slots_[number - 1];
    gyre::expects(at.used && at.it == nullptr && !at.close_due && it.number_ == 0,
                  "what was opened just now");
    at.it = &it;
    it.number_ = number;
}

void link_connection::refuse(std::uint32_t number, soup_ending why) noexcept {
    slot& at = slots_[number - 1];
    gyre::expects(at.used && at.it == nullptr && !at.close_due, "what was opened just now");
    close(at, why);
}

void link_connection::detach(slot& at) noexcept {
    if (at.it == nullptr) return;
    at.it->number_ = 0;
    at.it = nullptr;
}

void link_connection::close(link_channel& it, soup_ending why) noexcept {
    slot& at = slot_of(it);
    if (!at.open_due) return close(at, why);
    detach(at);  // The peer has not heard of it.
    at.unlink();
    release(at);
}

void link_connection::close(slot& at, soup_ending why) noexcept {
    detach(at);
    at.credit_due = false;
    at.close_due = true;
    at.why = why;
    enqueue(at);
}

void link_connection::release(slot& at) noexcept {
    at.used = at.open_due = false;
    if (role_ == link_role::gateway) free_.push_back(at.number);
}

void link_connection::enqueue(slot& at) noexcept {
    if (!at.linked()) ready_.push_back(at);
}

void link_connection::announce(link_channel& it) noexcept { enqueue(slot_of(it)); }

void link_connection::take(link_channel& it, std::uint32_t bytes) noexcept {
    slot& at = slot_of(it);
    at.owed += bytes;
    if (at.owed >= options_.window_bytes / 4) give_back(it);
}

void link_connection::give_back(link_channel& it) noexcept {
    slot& at = slot_of(it);
    if (at.owed == 0) return;
    at.credit_due = true;
    enqueue(at);
}

// ---------------------------------------------------------------------------------------------
// What is written
// ---------------------------------------------------------------------------------------------

bool link_connection::wants_to_write() const noexcept {
    if (sent_ < filled_ || greeting_due_ || goodbye_due_) return true;
    return up() && (heartbeat_due_ || !ready_.empty());
}

std::span<const std::byte> link_connection::output() noexcept {
    if (sent_ == filled_) fill();
    return {buffer_.get() + sent_, filled_ - sent_};
}

void link_connection::sent(std::size_t size, gyre::time_point now) noexcept {
    gyre::expects(size <= filled_ - sent_, "no more than there was");
    sent_ += size;
    liveness_.sent(now);
}

bool link_connection::put(link_kind what, std::uint32_t channel,
                          std::span<const std::byte> payload) noexcept {
    if (room() < link_header_bytes + payload.size()) return false;
    const std::span<std::byte> out{buffer_.get() + filled_, link_header_bytes + payload.size()};
    write_link_header(out.first<link_header_bytes>(),
                      {static_cast<std::uint32_t>(payload.size()), channel, what});
    std::ranges::copy(payload, out.begin() + link_header_bytes);
    filled_ += out.size();
    return true;
}

void link_connection::fill() noexcept {
    filled_ = sent_ = 0;
    if (std::exchange(greeting_due_, false)) {
        const bool done = role_ == link_role::gateway
                              ? put(link_kind::hello, 0, format_link_hello(hello_))
                              : put(link_kind::welcome, 0, format_link_welcome(welcome_));
        gyre::expects(done, "the buffer was empty");
    }
    while (up() && !ready_.empty()) {
        slot& at = ready_.front();
        const filled result = fill(at);
        if (result == filled::full) return;
        at.unlink();
        if (result == filled::again) ready_.push_back(at);
    }
    if (std::exchange(heartbeat_due_, false) && up() && filled_ == 0)
        static_cast<void>(put(link_kind::heartbeat, 0, {}));
    if (!goodbye_due_) return;
    const std::byte why{static_cast<unsigned char>(ending_)};
    goodbye_due_ = !put(link_kind::goodbye, 0, {&why, 1});
}

/// Whether it is to be asked again in this write, or has to wait for the next one.
link_connection::filled link_connection::fill(slot& at) noexcept {
    if (at.open_due) {
        if (!put(link_kind::open, at.number, at.opening)) return filled::full;
        at.open_due = false;
    }
    filled result = filled::done;
    if (at.it != nullptr) result = fill_packets(at);
    if (result == filled::full) return result;
    if (at.credit_due) {  // Behind the packets: an answer comes before what it answers is done with.
        std::array<std::byte, link_credit_bytes> bytes;
        put_big_endian(std::span<std::byte, link_credit_bytes>{bytes}, at.owed);
        if (!put(link_kind::credit, at.number, bytes)) return filled::full;
        at.may_come += std::exchange(at.owed, 0);
        at.credit_due = false;
    }
    if (!at.close_due) return result;
    const std::byte why{static_cast<unsigned char>(at.why)};
    if (!put(link_kind::close, at.number, {&why, 1})) return filled::full;
    at.close_due = false;
    at.close_sent = true;
    if (at.close_heard) release(at);
    return filled::done;
}

link_connection::filled link_connection::fill_packets(slot& at) noexcept {
    const std::size_t there = room();
    if (there <= link_header_bytes) return filled::full;
    const std::size_t space = there - link_header_bytes;
    const std::size_t limit = std::min({std::size_t{at.may_send}, space, link_payload_bytes_max});
    std::byte* const out = buffer_.get() + filled_;
    const link_pull got = at.it->pull({out + link_header_bytes, limit});
    if (got.bytes > 0) {
        write_link_header(std::span<std::byte, link_header_bytes>{out, link_header_bytes},
                          {static_cast<std::uint32_t>(got.bytes), at.number, link_kind::packets});
        filled_ += link_header_bytes + got.bytes;
        at.may_send -= static_cast<std::uint32_t>(got.bytes);
    }
    if (got.over) {
        detach(at);
        at.credit_due = false;
        at.close_due = true;
        at.why = got.why;
        return filled::done;
    }
    if (!got.more) return filled::done;
    if (got.bytes > 0) return filled::again;
    // Without room in the window there is nothing to do before there is credit.
    return limit == at.may_send ? filled::done : filled::full;
}

}  // namespace exchange

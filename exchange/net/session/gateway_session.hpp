// SPDX-License-Identifier: BSL-1.0
//
// A gateway as the facility sees it: a link, with a session on each channel, as a function of what comes in.
//
// codec/link_connection.hpp knows the protocol, order_entry_session.hpp what a client's packets mean; this
// stands between them. What a client is told is copied once, from its stream into the link's buffer, in whole
// packets: a write that is under way never reads from a stream, so a client that is cut off tears nothing
// of what others are told. session/gateway_link.hpp drives it; the other end is application/gateway_host.hpp.
#pragma once

#include <exchange/codec/link_connection.hpp>
#include <exchange/net/session/order_entry_session.hpp>

#include <deque>
#include <optional>
#include <string_view>

namespace exchange {

class gateway_session;

/// What a gateway's session asks of the connection that it stands on.
class gateway_session_link {
public:
    /// There is something to write, or a login was decided.
    virtual void has_output() noexcept = 0;
    /// Where the gateway is; nowhere if that is not known.
    [[nodiscard]] virtual gyre::endpoint peer() const noexcept { return {}; }

protected:
    ~gateway_session_link() = default;
};

/// One client of a gateway. Its session has no timers: the gateway looks after its connection.
class gateway_channel final : public link_channel, public session_link {
public:
    explicit gateway_channel(gateway_session& of) noexcept : of_{of} {}

    /// A client comes.
    ///
    /// @param  whose  Null: it is refused.
    void open(const link_open& how, participant* whose);
    void carry_out(const soup_packet& packet, std::size_t bytes) noexcept;
    /// The client has gone, or was told why it has to: the place is free.
    void finish() noexcept;

    [[nodiscard]] bool is_free() const noexcept { return !session_.has_value(); }
    /// Is it out of the link, and not finished?
    [[nodiscard]] bool is_left() const noexcept { return session_.has_value() && !is_open(); }

private:
    link_pull pull(std::span<std::byte> room) noexcept override;
    [[nodiscard]] bool copy_output(std::span<std::byte> room, std::size_t& filled) noexcept;
    void has_output() noexcept override;
    void cut() noexcept override;
    [[nodiscard]] gyre::endpoint peer() const noexcept override;
    [[nodiscard]] std::string_view transport() const noexcept override { return "link"; }

    gateway_session& of_;
    std::optional<order_entry_session> session_;
    std::uint32_t taken_ = 0;  // Bytes that were carried out, whose answers are not all written.
    bool cut_ = false;
};

/// Threads:  One at a time, its host included.
/// Cost:     Memory is taken at construction, and for each client that comes when more are here than ever.
class gateway_session final : public gyre::list_link<gateway_session>, private waiting_login {
public:
    /// All of a facility, so that one that comes again takes the place of its own link.
    using list = gyre::list<gateway_session, gateway_session>;

    /// @param  host  Borrowed; outlives this.
    /// @param  to    Borrowed; outlives this.
    /// @param  all   Borrowed; outlives this. It stands in there from here on.
    gateway_session(order_entry_host& host, gateway_session_link& to, const link_options& options,
                    list& all, gyre::time_point now);
    gateway_session(const gateway_session&) = delete;
    gateway_session& operator=(const gateway_session&) = delete;
    ~gateway_session();

    /// Takes what is here, up to `packets_max` packets and frames. Fewer, but one at least, while the feed
    /// waits to be sent, or if one takes the host more than a step; none while the login is pending.
    /// The host is not busy.
    ///
    /// @return How many.
    std::size_t take_frames(link_framer& from, std::size_t packets_max, gyre::time_point now,
                            span_watch& spans) noexcept;

    /// Waits its password to be checked, or to be told that it was wrong? Until then no frames are taken.
    [[nodiscard]] bool login_pending() const noexcept { return pending_; }
    [[nodiscard]] bool logged_in() const noexcept { return who_ != nullptr && !link_.over(); }
    [[nodiscard]] const soup_username& name() const noexcept { return link_.hello().name; }
    /// How many clients are here.
    [[nodiscard]] std::size_t clients() const noexcept { return clients_; }

    void on_timer(gyre::time_point now) noexcept;
    /// The gateway waits for us, so its silence says nothing.
    void keep_waiting(gyre::time_point now) noexcept { link_.keep_waiting(now); }

    [[nodiscard]] bool wants_to_write() const noexcept { return link_.wants_to_write(); }
    /// What is to be written. Stays valid until it is `sent`.
    [[nodiscard]] std::span<const std::byte> output(gyre::time_point now) noexcept {
        now_ = now;
        return link_.output();
    }
    void sent(std::size_t size, gyre::time_point now) noexcept { link_.sent(size, now); }
    /// Finishes those who were told that they have to go. To be called behind `output`; true if there were
    /// any, and then others may have been told something: `order_entry_host::announce`.
    bool sweep() noexcept;

    /// Ends it: what is still to be written tells the gateway why. Its clients are gone at once.
    void end(link_ending why) noexcept;
    /// The connection is gone.
    void disconnected() noexcept;

    [[nodiscard]] bool over() const noexcept { return link_.over(); }
    [[nodiscard]] link_ending ending() const noexcept { return link_.ending(); }

private:
    friend class gateway_channel;

    void check_login(gyre::time_point now) noexcept override;
    void take_place_of_link_before() noexcept;
    void on_step(const link_step& step) noexcept;
    void open(std::uint32_t number, const link_open& how) noexcept;
    void take_one() noexcept;
    void lose_channels() noexcept;
    [[nodiscard]] gateway_channel& find_free() noexcept;

    order_entry_host& host_;
    gateway_session_link& to_;
    list& all_;
    link_connection link_;
    soup_options sessions_;
    std::deque<gateway_channel> channels_;  // They stay where they are; free ones are taken again.
    const known_gateway* who_ = nullptr;
    gateway_channel* at_ = nullptr;      // Whose packets
    std::span<const std::byte> rest_{};  // are left of the frame that is being taken.
    std::size_t clients_ = 0;
    std::size_t left_ = 0;  // Channels that are closed, whose sessions are not finished.
    gyre::time_point now_;
    gyre::time_point refuse_at_ = gyre::never;
    bool pending_ = false;
};

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// One end of the link between a gateway and the facility, as a function of what it is told.
//
// Either end has channels, each with a window: so many bytes of packets may be under way that the peer
// has not taken, so a client that reads slowly fills its own window and never the link. What waits to be
// written is not queued here: channels that have something stand in a list, and are asked for it in turns
// when a write begins. So nothing that a peer does makes this grow. It does no I/O and reads no clock; what a
// channel is on either end stands in net/session/gateway_session.hpp and net/application/gateway_host.hpp.
#pragma once

#include <exchange/codec/link_frame.hpp>
#include <exchange/codec/soup_connection.hpp>

#include <gyre/base/intrusive.hpp>

#include <memory>
#include <vector>

namespace exchange {

enum class link_role : std::uint8_t {
    gateway,   ///< Connects, says hello, opens channels.
    facility,  ///< Welcomes it.
};

struct link_options {
    gyre::duration heartbeat_after = std::chrono::seconds{1};  ///< Of sending nothing.
    gyre::duration dead_after = std::chrono::seconds{5};       ///< Of hearing nothing.
    gyre::duration hello_within = std::chrono::seconds{5};     ///< Of connecting.
    std::uint32_t channels_max = 1024;
    /// Of each channel: what the peer may have sent that was not taken. At least `link_window_bytes_min`.
    std::uint32_t window_bytes = 64 * 1024;
    std::size_t output_bytes_max = std::size_t{256} << 10;  ///< Of one write.
};

/// Room for the largest packet that either end sends.
inline constexpr std::uint32_t link_window_bytes_min = 32 * 1024;

/// What a channel has written when it was asked.
struct link_pull {
    std::size_t bytes = 0;  ///< Whole packets.
    bool more = false;      ///< Another packet is there, for which there was no room.
    bool over = false;      ///< Nothing follows: the channel is closed, with `why`.
    soup_ending why = soup_ending::none;
};

/// What stands behind a channel at one end.
class link_channel {
public:
    /// Is it in a link: opened, and not closed from either side?
    [[nodiscard]] bool is_open() const noexcept { return number_ != 0; }
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

protected:
    /// Writes packets, as many whole ones as fit. Must not close its channel in here.
    virtual link_pull pull(std::span<std::byte> room) noexcept = 0;
    ~link_channel() = default;

private:
    friend class link_connection;
    std::uint32_t number_ = 0;
};

/// What a frame or a timer has brought about.
struct link_step {
    enum class kind : std::uint8_t {
        nothing,
        hello,    ///< Facility: a gateway says who it is; answer with `welcome` or `end`.
        welcome,  ///< Gateway: channels may be opened.
        open,     ///< Facility: a client comes; answer with `admit` or `refuse`.
        packets,  ///< `payload` has packets of `channel`; `take` is to follow.
        closed,   ///< The peer has closed `channel`, which is out of the link now.
        ended,    ///< The link is over; `lose_channels` is to follow.
    };

    kind what = kind::nothing;
    std::uint32_t number = 0;         ///< Of the channel, with `open`.
    link_channel* channel = nullptr;  ///< With `packets` and `closed`.
    std::span<const std::byte> payload{};
    link_open open{};
    soup_ending why = soup_ending::none;  ///< With `closed`.
};

/// After each call that can change something, `wants_to_write` says whether `output` has something.
///
/// Threads:  One at a time, all channels included.
/// Cost:     Memory is taken at construction: a buffer for a write, some 100 bytes for each channel.
class link_connection {
public:
    link_connection(link_role role, const link_options& options, gyre::time_point now);
    link_connection(const link_connection&) = delete;
    link_connection& operator=(const link_connection&) = delete;
    ~link_connection();

    // The driver's side.

    /// Takes a frame of the peer. Violations end the link, and the peer is told which.
    [[nodiscard]] link_step on_frame(const link_frame& frame, gyre::time_point now) noexcept;
    /// Ends the link because of what the framer found, or since the packets of a frame are none.
    [[nodiscard]] link_step on_framing_error(link_ending ending) noexcept { return fail(ending); }

    /// Sends a heartbeat or gives up, if it is time.
    [[nodiscard]] link_step on_timer(gyre::time_point now) noexcept;
    [[nodiscard]] gyre::time_point deadline() const noexcept;
    /// This end does not read just now, so the peer's silence says nothing.
    void keep_waiting(gyre::time_point now) noexcept { liveness_.heard(now); }

    [[nodiscard]] bool wants_to_write() const noexcept;
    /// What is to be written next. Valid until it was `sent` entirely; what comes meanwhile waits.
    [[nodiscard]] std::span<const std::byte> output() noexcept;
    /// @param  size  How much of it was written.
    void sent(std::size_t size, gyre::time_point now) noexcept;

    [[nodiscard]] bool up() const noexcept { return phase_ == phase::up; }
    [[nodiscard]] bool over() const noexcept { return phase_ == phase::over; }
    [[nodiscard]] link_ending ending() const noexcept { return ending_; }

    // The application's side.

    /// Gateway: begins anew on a new connection. No channel is left of the one before.
    void connect(const soup_username& name, const link_password& password,
                 gyre::time_point now) noexcept;
    /// Gateway: what the facility has said, once it is up.
    [[nodiscard]] const link_welcome& welcomed() const noexcept { return welcome_; }
    /// Gateway: opens a channel for `it`. False if the link is not up, or all numbers are taken.
    ///
    /// @param  it  Borrowed until it is closed.
    [[nodiscard]] bool open(link_channel& it, const link_open& how) noexcept;

    /// Facility: whom the gateway says that it is.
    [[nodiscard]] const link_hello& hello() const noexcept { return hello_; }
    /// Facility: lets the gateway in.
    void welcome(const soup_session& life) noexcept;
    /// Facility: `it` stands behind the channel that the last step has opened.
    ///
    /// @param  it  Borrowed until it is closed.
    void admit(std::uint32_t number, link_channel& it) noexcept;
    /// Facility: nothing does.
    void refuse(std::uint32_t number, soup_ending why) noexcept;

    /// Closes a channel; what it has not written is dropped.
    void close(link_channel& it, soup_ending why) noexcept;
    /// It has something to write, or may have.
    void announce(link_channel& it) noexcept;
    /// So many bytes of its packets are done with. The peer is told when they are a quarter of the window,
    /// or when `give_back` says so.
    void take(link_channel& it, std::uint32_t bytes) noexcept;
    void give_back(link_channel& it) noexcept;

    /// Ends the link from this side: the peer is told why behind what is being written.
    void end(link_ending why) noexcept { static_cast<void>(fail(why)); }
    /// The connection is gone.
    void disconnected() noexcept;

    /// Takes all channels out of a link that is over: calls `each(channel, in_flight)`, with the bytes
    /// that the peer had not said it has taken.
    template <class Each>
    void lose_channels(const Each& each) noexcept {
        for (std::uint32_t number = 1; number <= options_.channels_max; ++number) {
            link_channel* const it = slots_[number - 1].it;
            if (it == nullptr) continue;
            const std::uint32_t in_flight = peer_window_ - slots_[number - 1].may_send;
            detach(slots_[number - 1]);
            each(*it, in_flight);
        }
    }

private:
    enum class phase : std::uint8_t { silent, asking, up, over };
    enum class filled : std::uint8_t { done, again, full };

    /// One number. It is in use from its open to the later one of both ends' closes.
    struct slot : gyre::list_link<> {
        link_channel* it = nullptr;  // Until it is closed, from either side.
        std::uint32_t number = 0;
        std::uint32_t may_send = 0;  // Bytes of the peer's window.
        std::uint32_t may_come = 0;  // Bytes of ours.
        std::uint32_t owed = 0;      // Taken, and not told.
        std::array<std::byte, link_open_bytes> opening{};
        soup_ending why = soup_ending::none;
        bool used = false;
        bool open_due = false;
        bool credit_due = false;
        bool close_due = false;
        bool close_sent = false;
        bool close_heard = false;
    };

    [[nodiscard]] link_step fail(link_ending ending) noexcept;
    [[nodiscard]] link_step on_hello(const link_frame& frame) noexcept;
    [[nodiscard]] link_step on_welcome(const link_frame& frame) noexcept;
    [[nodiscard]] link_step on_open(const link_frame& frame) noexcept;
    [[nodiscard]] link_step on_goodbye(const link_frame& frame) noexcept;
    [[nodiscard]] link_step on_channel(const link_frame& frame) noexcept;
    [[nodiscard]] link_step on_packets(slot& at, const link_frame& frame) noexcept;
    [[nodiscard]] link_step on_credit(slot& at, const link_frame& frame) noexcept;
    [[nodiscard]] link_step on_close(slot& at, const link_frame& frame) noexcept;

    [[nodiscard]] slot& slot_of(const link_channel& it) noexcept;
    void begin(slot& at, link_channel* it) noexcept;
    void detach(slot& at) noexcept;
    void close(slot& at, soup_ending why) noexcept;
    void release(slot& at) noexcept;
    void enqueue(slot& at) noexcept;

    void fill() noexcept;
    [[nodiscard]] filled fill(slot& at) noexcept;
    [[nodiscard]] filled fill_packets(slot& at) noexcept;
    [[nodiscard]] std::size_t room() const noexcept { return options_.output_bytes_max - filled_; }
    [[nodiscard]] bool put(link_kind kind, std::uint32_t channel,
                           std::span<const std::byte> payload) noexcept;

    link_role role_;
    link_options options_;
    soup_liveness liveness_;
    gyre::time_point hello_deadline_;
    link_hello hello_;
    link_welcome welcome_;
    std::uint32_t peer_window_ = 0;
    std::uint32_t numbers_max_ = 0;  // That may be opened.

    std::unique_ptr<slot[]> slots_;
    gyre::list<slot> ready_;           // That have something to write.
    std::vector<std::uint32_t> free_;  // Gateway: numbers that were used and are free again.
    std::uint32_t fresh_ = 0;          // Gateway: numbers up to this one have been used.

    std::unique_ptr<std::byte[]> buffer_;
    std::size_t filled_ = 0;
    std::size_t sent_ = 0;  // Invariant: sent_ <= filled_ <= output_bytes_max.

    phase phase_ = phase::silent;
    link_ending ending_ = link_ending::none;
    bool greeting_due_ = false;  // Hello or welcome.
    bool heartbeat_due_ = false;
    bool goodbye_due_ = false;
};

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// HTTP/2 without I/O: bytes in, events and bytes out.
//
// It wraps nghttp2, which knows frames, HPACK, windows and the states of streams, and adds what that leaves
// to its users: bounds on what a peer may do, deadlines (the time is handed in), one reason for each end.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/time.hpp>
#include <gyre/http2/breach.hpp>
#include <gyre/http2/error_code.hpp>
#include <gyre/http2/limits.hpp>
#include <http2/engine_memory.hpp>
#include <http2/flood_guard.hpp>
#include <http2/frame_scanner.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct nghttp2_session;

namespace gyre::http2 {

enum class role : std::uint8_t { client, server };

/// One stream as its user knows it; the engine refers to it until `forget`, or its end.
struct engine_stream {
    std::int32_t id = 0;
    std::size_t head_bytes = 0;   ///< Of the field block that comes, as RFC 9113, 6.5.2 counts.
    std::size_t field_count = 0;  ///< Of the same.
    bool head_too_large = false;  ///< It has exceeded its bound, and the rest was dropped.
    bool known = false;           ///< The engine has it.
    bool head_sent = false;       ///< Ours has left.
    bool reset_sent = false;      ///< It was reset by us.
};

/// How much of a body was handed out.
struct pulled {
    enum class state : std::uint8_t { more, end, end_with_trailers, later };

    std::size_t bytes = 0;
    state then = state::later;  ///< `later` only without bytes.
};

/// Who hears of what comes. Called within `receive` and `produce`; may call back what submits.
class engine_events {
public:
    /// A peer's stream begins; null refuses it.
    [[nodiscard]] virtual engine_stream* opens(std::int32_t id) noexcept = 0;
    virtual void field(engine_stream& of, std::string_view name,
                       std::string_view value) noexcept = 0;
    /// A field block has ended; `last` if nothing follows on its stream.
    virtual void head_ends(engine_stream& of, bool last) noexcept = 0;
    virtual void data(engine_stream& of, const_buffer bytes) noexcept = 0;
    /// Behind the last data.
    virtual void body_ends(engine_stream& of) noexcept = 0;
    /// The engine knows it no longer.
    virtual void closes(engine_stream& of, error_code code) noexcept = 0;
    /// A stream was closed that its user had, or had not, forgotten.
    virtual void stream_gone() noexcept = 0;
    /// Fills `into` with what is to be sent.
    [[nodiscard]] virtual pulled pull(engine_stream& of, mutable_buffer into) noexcept = 0;
    virtual void settings_came() noexcept = 0;
    virtual void goaway_came(error_code code, std::int32_t last_stream) noexcept = 0;
    virtual void pong_came() noexcept = 0;

protected:
    engine_events() noexcept = default;
    engine_events(const engine_events&) = delete;
    engine_events& operator=(const engine_events&) = delete;
    ~engine_events() = default;
};

struct engine_options {
    role we = role::server;
    flood_limits floods;
    window_limits windows;
    time_limits times;
    std::uint32_t streams_max = 100;
    std::size_t head_bytes_max = 64 * 1024;
    std::size_t fields_max = 100;
    std::size_t memory_max = 1024 * 1024;
};

/// One connection. Does not move.
class engine {
public:
    /// Its SETTINGS, and a client's preface, are ready to be produced.
    ///
    /// @param  to  Borrowed.
    engine(const engine_options& options, engine_events& to) noexcept;
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;
    ~engine();

    /// The peer is waited for from now on.
    void begin(time_point now) noexcept;

    /// Takes all of `bytes`. After a breach nothing is taken, and what is produced ends with GOAWAY.
    void receive(const_buffer bytes, time_point now) noexcept;

    /// Appends frames to `to`, until it has `bytes_max` or a little more. False if there were none.
    bool produce(std::string& to, std::size_t bytes_max, time_point now) noexcept;

    /// When `expire` is due; `never` while nothing is waited for.
    [[nodiscard]] time_point deadline() const noexcept;
    void expire(time_point now) noexcept;

    /// Why the peer was given up.
    [[nodiscard]] breach why() const noexcept { return why_; }
    void give_up(breach why) noexcept;

    [[nodiscard]] bool wants_write() const noexcept;
    /// Streams that are open, or half closed.
    [[nodiscard]] std::size_t streams() const noexcept { return streams_; }
    /// How many streams of ours the peer allows at one time.
    [[nodiscard]] std::uint32_t peers_streams_max() const noexcept;
    [[nodiscard]] bool settings_came() const noexcept { return settings_came_; }

    // Messages: the fields of one are added, in order, and then sent. All that is added must live until then.

    void add(std::string_view name, std::string_view value) noexcept;
    /// @param  last  No body follows, which otherwise is asked for with `pull`.
    void send_response(engine_stream& on, bool last) noexcept;
    void send_interim(engine_stream& on) noexcept;
    /// Only within `pull`, before it returns `end_with_trailers`.
    void send_trailers(engine_stream& on) noexcept;
    /// Opens a stream; false if the connection has no more of them.
    [[nodiscard]] bool send_request(engine_stream& on, bool last) noexcept;

    /// True if the peer's windows have no room for what the stream might send.
    [[nodiscard]] bool is_held_by_peer(const engine_stream& it) const noexcept;

    /// There is something to pull again.
    void resume(engine_stream& on) noexcept;
    void reset(engine_stream& on, error_code code) noexcept;
    /// What was received of the stream has been read: the peer may send as much.
    void consume(std::int32_t id, std::size_t bytes) noexcept;
    /// The same for the connection alone: the stream's window stays as it is.
    void consume_for_connection(std::size_t bytes) noexcept;
    /// No event of it follows.
    void forget(engine_stream& on) noexcept;

    void ping() noexcept;
    /// The first step of a graceful end: the peer opens no other stream, but one may be on its way.
    void announce_goaway() noexcept;
    /// The second: what has not come by now is not answered.
    void goaway(error_code code) noexcept;

    /// A request was answered to its end.
    void request_done() noexcept { guard_.request_done(); }

    [[nodiscard]] const engine_memory& memory() const noexcept { return memory_; }

private:
    struct callbacks;

    [[nodiscard]] bool note(breach why) noexcept;
    void check(long result) noexcept;
    void scan(const_buffer bytes) noexcept;
    void await_acknowledgement() noexcept;

    engine_options options_;
    engine_events& events_;
    engine_memory memory_;
    flood_guard guard_;
    frame_scanner scanner_;
    nghttp2_session* session_ = nullptr;
    struct field_list;
    std::unique_ptr<field_list> fields_;
    time_point now_{};                       // Of the call that is under way.
    time_point preface_until_ = never;       // For the peer's first SETTINGS.
    time_point block_until_ = never;         // For the field block that has begun.
    time_point settings_until_ = never;      // For the acknowledgement of ours.
    std::array<std::int32_t, 128> begun_{};  // Streams of the peer's, the last ones: a ring.
    std::size_t begun_count_ = 0;
    std::int32_t begun_last_ = 0;
    std::size_t streams_ = 0;
    breach why_ = breach::none;
    std::size_t data_bytes_ = 0;  // Of the DATA frame that comes.
    bool settings_sent_ = false;
    bool settings_came_ = false;
    bool in_head_ = false;  // The frame that comes is of a field block.
    bool gave_up_ = false;
};

}  // namespace gyre::http2

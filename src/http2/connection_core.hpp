// SPDX-License-Identifier: BSL-1.0
//
// What both sides of a connection of HTTP/2 share: one coroutine that reads, one that writes, one that
// watches the time, and the connection's end.
//
// The engine says what bytes mean; here is when they are read and written, how long a peer is waited for, and
// in which order things end: intake first, then streams, then the connection.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/coro/environment.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/fields.hpp>
#include <gyre/stream/any_stream.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/task_group.hpp>
#include <http2/engine.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gyre::http2 {

/// Bounds of the coroutines; those of the peer are the engine's.
struct core_options {
    engine_options engine;
    std::size_t read_bytes_max = 16 * 1024;
    std::size_t write_bytes_max = 64 * 1024;
};

/// Those of the options that a server's and a client's connections have in common.
template <class Options>
[[nodiscard]] core_options core_options_of(role we, const Options& from) {
    core_options made;
    made.engine.we = we;
    made.engine.floods = from.floods;
    made.engine.windows = from.windows;
    made.engine.times = from.times;
    made.engine.streams_max = from.streams_max;
    made.engine.head_bytes_max = from.head_bytes_max;
    made.engine.fields_max = from.fields_max;
    made.engine.memory_max = from.engine_bytes_max;
    made.read_bytes_max = from.read_bytes_max;
    made.write_bytes_max = from.write_bytes_max;
    return made;
}

/// One connection. Does not move.
class connection_core : public engine_events {
public:
    connection_core(any_stream stream, const core_options& options);
    connection_core(const connection_core&) = delete;
    connection_core& operator=(const connection_core&) = delete;

    /// Reads and writes until the connection ends, and ends everything on it.
    [[nodiscard]] task<io_result<>> run();

    /// There is something to write, or to look at.
    void wake() noexcept { output_.set(); }

    /// Only while `run` runs, or when it has not begun.
    [[nodiscard]] engine& wire() noexcept { return *engine_; }
    [[nodiscard]] const engine& wire() const noexcept { return *engine_; }

    [[nodiscard]] const time_limits& times() const noexcept { return options_.engine.times; }

    /// Bytes that have moved below what the engine has got: another number when some have since.
    [[nodiscard]] std::uint64_t traffic() const noexcept { return stream_.traffic(); }
    [[nodiscard]] time_point heard_at() const noexcept { return heard_at_; }
    [[nodiscard]] time_point now() const noexcept { return env_->loop->now(); }

    /// What was received has been read.
    void consumed(std::int32_t id, std::size_t bytes) noexcept;
    void send_trailers(engine_stream& on, const http::fields& trailers) noexcept;

    /// No stream is begun from now on; the connection ends with the last one.
    void begin_drain() noexcept;

    [[nodiscard]] bool going() const noexcept { return draining_ || peer_going_ || over_; }
    [[nodiscard]] bool over() const noexcept { return over_; }

protected:
    ~connection_core() = default;

    /// Messages that are under way.
    [[nodiscard]] virtual std::size_t live() const noexcept = 0;
    /// `run` has begun: children may be spawned.
    virtual void begins() noexcept = 0;
    /// The connection ends, or its drain has lasted too long: nothing else comes or goes on streams.
    virtual void fail_streams(error why) noexcept = 0;
    /// Neither side begins other streams.
    virtual void closes_intake() noexcept = 0;

    /// What operations on a stream end with that was closed with `code`, by either side.
    [[nodiscard]] static error error_of_close(const engine_stream& of, error_code code) noexcept;

    void goaway_came(error_code code, std::int32_t last_stream) noexcept override;
    void pong_came() noexcept override;

    task_group* group_ = nullptr;  // While `run` runs.
    error_code peers_code_ = error_code::none;

private:
    [[nodiscard]] task<> run_in(task_group& group);
    [[nodiscard]] task<> read_all();
    [[nodiscard]] task<> write_all();
    [[nodiscard]] task<> watch();
    void receive(std::size_t size) noexcept;
    void stop_reader() noexcept;
    void stop_reader_if_broken() noexcept;
    void shrink_output() noexcept;

    void look_again() noexcept;
    void note_use() noexcept;
    [[nodiscard]] time_point deadline() const noexcept;
    [[nodiscard]] time_point own_deadline() const noexcept;
    void expire() noexcept;
    void expire_own(time_point at) noexcept;
    [[nodiscard]] duration until_look(duration limit) const noexcept;
    [[nodiscard]] bool has_rested(time_point& since, time_point at) noexcept;
    /// Nothing else of the peer's is listened to.
    [[nodiscard]] bool given_up() const noexcept {
        return finished_ || wire().why() != breach::none;
    }

    void say_goaway() noexcept;
    [[nodiscard]] task<> say_goaway_when_stopped();
    [[nodiscard]] bool finish_if_done() noexcept;
    void end_reading(error why) noexcept;

    core_options options_;
    any_stream stream_;
    std::optional<engine> engine_;
    event output_;
    event look_;  // `watch` has something to look at.
    event read_ended_;
    std::vector<std::byte> in_;
    std::string out_;
    const environment* env_ = nullptr;
    stop_chain* reader_ = nullptr;
    stop_chain* writer_ = nullptr;
    error ended_;
    error write_failed_;
    time_point heard_at_;
    time_point pinged_at_;                  // When the PING had left; `never` before.
    std::optional<std::uint64_t> traffic_;  // Of the stream, at the last look.
    time_point idle_since_;
    time_point busy_since_;
    time_point watched_until_ =
        time_point::min();             // What `watch` waits for; before it does, nothing.
    time_point goaway_until_ = never;  // Of a drain: for the second step.
    time_point drain_until_ = never;
    std::size_t live_before_ = 0;
    bool pinged_ = false;
    bool draining_ = false;     // No stream is to be begun by the peer.
    bool goaway_said_ = false;  // The second step.
    bool peer_going_ = false;
    bool finished_ = false;  // All has been said, and written.
    bool last_ = false;      // The writer ends when there is nothing left.
    bool lingers_ = false;   // The peer may still be reading what was said last.
    bool over_ = false;
};

}  // namespace gyre::http2

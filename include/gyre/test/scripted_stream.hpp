// SPDX-License-Identifier: BSL-1.0
//
// A stream whose peer is a list of steps: what each read gives and what each write must bring.
//
// A protocol meets on it what no real peer can be made to do at the right moment: answers in odd pieces,
// writes that are taken in part, errors in mid-message, silence. Whatever the program does otherwise is told
// in words: which step, what was expected, what came.
//
//     gyre::test::script peer;
//     peer.gives("220 re").gives("ady\r\n").expects("QUIT\r\n").waits(2s).gives("221 bye\r\n").ends();
//     gyre::test::world world;
//     auto outcome = world.run(world.add("client"), say_quit(gyre::test::scripted_stream{peer}));
//     CHECK_MESSAGE(peer.ok(), peer.text());
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/error.hpp>
#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/timer.hpp>
#include <gyre/stream/concepts.hpp>
#include <gyre/sync/waiters.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::test {

/// The steps, in their order, and how far a program has come. A read or write whose turn has not come
/// waits for the steps before its own. Written before the stream is used; outlives it and the loop that it is
/// used on.
class script {
public:
    script() noexcept = default;
    script(const script&) = delete;
    script& operator=(const script&) = delete;

    // What reads give.

    /// Reads give these bytes, none of them together with those of another step. Of a smaller buffer the rest
    /// is for the next read. Not empty.
    script& gives(std::string_view text);

    /// One read ends with `failure`.
    script& fails_read(error failure);

    /// Reads end with `errc::eof` from now on, however many there are. Only steps of writes may follow.
    script& ends();

    // What writes bring.

    /// Writes bring exactly these bytes, in as many pieces as they like.
    /// @param  text        Not empty.
    /// @param  at_most     Each write is taken so many bytes of, and the rest of it is not: at least 1.
    script& expects(std::string_view text, std::size_t at_most = SIZE_MAX);

    /// Writes bring `count` bytes, whatever they are.
    script& takes(std::size_t count, std::size_t at_most = SIZE_MAX);

    /// One write ends with `failure`; nothing of it is taken.
    script& fails_write(error failure);

    /// The sending direction ends, by `shutdown_send` or `close`.
    script& expects_end();

    // Neither.

    /// So much time passes after the steps before, by the loop's clock.
    script& waits(duration time);

    /// Nothing happens any more: who reads or writes waits until it is stopped. The last step.
    script& stays_silent();

    // What came of it.

    /// Whether the program did what was written, and all of it.
    [[nodiscard]] bool ok() const { return text().empty(); }

    /// Where it deviated, and the steps that remain, a line each. Empty if nothing is wrong.
    [[nodiscard]] std::string text() const;

private:
    friend class scripted_stream;

    enum class kind : std::uint8_t {
        gives,
        fails_read,
        ends,
        expects,
        takes,
        fails_write,
        expects_end,
        waits,
        stays_silent
    };

    struct step {
        kind what;
        std::string bytes;        // Of gives and expects.
        std::size_t count = 0;    // Of these, and of takes.
        std::size_t at_most = 0;  // Of expects and takes.
        error failure;
        duration time{};
    };

    /// A read or a write: one try when it is awaited, others when its turn comes.
    class transfer : public waiter, public timer {
    public:
        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept;
        [[nodiscard]] io_result<std::size_t> await_resume() const noexcept;
        void request(stop_level level) noexcept override;

    protected:
        transfer(script* by, mutable_buffer into) noexcept;
        transfer(script* by, const_buffer from) noexcept;
        transfer(transfer&&) noexcept = default;
        ~transfer();

    private:
        friend class script;

        void disarm() noexcept;
        [[nodiscard]] waiters& queue() noexcept;

        script* by_;  // Null of a closed stream.
        mutable_buffer into_;
        const_buffer from_;
        bool reads_;
        std::size_t count_ = 0;
        error failure_;
        const environment* given_ = nullptr;
    };

    script& add(step it);
    [[nodiscard]] bool try_to_end(transfer& it) noexcept;
    [[nodiscard]] bool read(transfer& it) noexcept;
    [[nodiscard]] bool write(transfer& it) noexcept;
    void end_sending() noexcept;
    void close() noexcept;

    static void on_time(timer& it) noexcept;
    void complete_step(time_point now) noexcept;
    void reach_step(time_point now) noexcept;
    void serve_waiting() noexcept;
    void arm_waiting() noexcept;
    [[nodiscard]] bool over() const noexcept { return next_ == steps_.size(); }
    void deviate(const std::string& what);
    [[nodiscard]] std::string describe(std::size_t index) const;

    std::vector<step> steps_;
    std::size_t next_ = 0;
    std::size_t done_ = 0;    // Bytes of the step that is next.
    time_point due_ = never;  // Of a step that waits: its end, once it has begun.
    time_point last_seen_{};
    std::string deviation_;
    waiters readers_;
    waiters writers_;
    bool taken_ = false;  // By a stream.
    bool begun_ = false;
    bool receiving_ended_ = false;
    bool sending_ended_ = false;
    bool closed_ = false;
};

/// One end of a connection with a script. Moves; destroying it closes it. On one loop.
class scripted_stream {
public:
    scripted_stream() noexcept = default;
    /// @param  by  Borrowed; of one stream.
    explicit scripted_stream(script& by) noexcept;
    scripted_stream(scripted_stream&& other) noexcept : by_{std::exchange(other.by_, nullptr)} {}
    scripted_stream& operator=(scripted_stream&& other) noexcept;
    ~scripted_stream() { close(); }

    class read_awaiter final : public script::transfer {
    public:
        read_awaiter(script* by, mutable_buffer into) noexcept : transfer{by, into} {}
    };
    class write_awaiter final : public script::transfer {
    public:
        write_awaiter(script* by, const_buffer from) noexcept : transfer{by, from} {}
    };

    /// As any stream: see stream/concepts.hpp.
    ///
    /// Errors:        what the script says; `errc::eof`; of writes `errc::broken_pipe` after the end of
    ///                sending; `errc::closed` if it was closed before it was awaited; and
    ///                `errc::connection_aborted` once the program has deviated from the script.
    /// Cancellation:  `errc::canceled`; nothing was transferred then.
    /// Threads:       the caller's loop. Several reads are served in their order, and so are writes.
    /// Cost:          no matter: it is for tests.
    [[nodiscard]] read_awaiter read_some(read_space into) noexcept { return {by_, into}; }
    [[nodiscard]] write_awaiter write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        return {by_, from};
    }

    /// Ends the sending direction.
    void shutdown_send() noexcept {
        if (by_ != nullptr) by_->end_sending();
    }

    /// Ends both. What is pending ends with `errc::canceled`.
    void close() noexcept {
        if (by_ != nullptr) std::exchange(by_, nullptr)->close();
    }

private:
    script* by_ = nullptr;
};

static_assert(duplex_stream<scripted_stream> && half_closing_stream<scripted_stream>);

}  // namespace gyre::test

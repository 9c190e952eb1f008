// SPDX-License-Identifier: BSL-1.0
//
// gyre as a guest in Asio's loop: tasks, timers and stops on the thread that runs an asio::io_context.
//
// A program that is ported one function at a time has one loop already. The guest polls a gyre loop
// from there: when something is posted to it, when its descriptor becomes readable, and when its next
// deadline has come. Both kinds of code then share one thread, and need no lock between them.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/exception.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/runtime/io_context.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace gyre {

/// Lets the thread that runs `host` run `loop`, too. Anything that starts coroutines on `loop` works from
/// then on, from any thread: `launch`, springboards, futures, posts.
///
/// The host's `run` goes on while the loop has work, as the loop's own would. Does not move. Must die
/// before both. Roots that are left then are stopped, those that have not begun included, and the host is run
/// until they have ended: other handlers of the host may run meanwhile. An exception of such a handler is
/// posted to the host, whose next `run` throws it.
///
/// Threads:  made, used and destroyed on the thread that runs `host`, and only one thread may run it: a
///           gyre loop belongs to one thread. Posting to the loop is safe from any. Destroyed by code of
///           the host's, never by what the loop runs, which is checked: post that to the host.
/// Fairness: one poll is at most `io_context::turns_per_poll` turns of 256 items; what is ready after that
///           waits in Asio's queue, behind the host's other handlers.
/// Cost:     a turn per burst of posts: an Asio post and a poll of the loop, which visits the kernel only
///           if it has operations in flight there. What waits for an operation of Asio's goes on within
///           the operation's handler, without either.
class asio_guest final : private wake_hook {
public:
    asio_guest(boost::asio::io_context& host, io_context& loop);
    asio_guest(const asio_guest&) = delete;
    asio_guest& operator=(const asio_guest&) = delete;
    ~asio_guest();

    [[nodiscard]] boost::asio::io_context& host() noexcept { return host_; }
    [[nodiscard]] io_context& loop() noexcept { return loop_; }

    /// For handlers of Asio's that end with this: runs `item` on `where`, an executor of `home`, at once
    /// if this thread runs a host with a guest of that loop, and nothing of gyre's besides. False, and
    /// nothing done, elsewhere: then it has to be posted. Any thread.
    [[nodiscard]] static bool run_at_once(const io_context& home, executor_ref where, work& item);

private:
    using executor = boost::asio::io_context::executor_type;
    using descriptor = boost::asio::posix::basic_stream_descriptor<executor>;
    using steady_timer = boost::asio::basic_waitable_timer<
        std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, executor>;

    void request_turn() noexcept;
    void turn();
    void arrange();
    void watch_descriptor();
    void watch_deadline();
    void rest();
    std::size_t run_left();
    void run_host();
    void stop_roots();
    void leave_thread() noexcept;

    // Invariant: the guests that were made on this thread and live. Found without asking the loop, whose
    // hook another thread may only call.
    static inline constinit thread_local asio_guest* newest_here = nullptr;

    // Handlers may be called after the guest is gone: each asks this first.
    template <class Function>
    [[nodiscard]] auto while_alive(Function function) {
        return [alive = std::weak_ptr<bool>{alive_}, function](auto failure) {
            if (!failure && !alive.expired()) function();
        };
    }

    boost::asio::io_context& host_;
    io_context& loop_;
    asio_guest* next_here_ = std::exchange(newest_here, this);
    descriptor readable_;
    steady_timer due_;
    std::optional<boost::asio::executor_work_guard<executor>> busy_;  // While the loop has work.
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    time_point armed_for_ = never;                        // What `due_` waits for.
    backend_choice watched_ = backend_choice::automatic;  // Whose descriptor; `automatic`: none.
    std::uint64_t watches_ = 0;
    bool waiting_ = false;                // For the descriptor.
    std::vector<exception_slot> thrown_;  // By the host's handlers, while this is destroyed.
};

// Implementation

inline asio_guest::asio_guest(boost::asio::io_context& host, io_context& loop)
    : wake_hook{[](wake_hook& self) noexcept { static_cast<asio_guest&>(self).request_turn(); }},
      host_{host},
      loop_{loop},
      readable_{host},
      due_{host} {
    loop_.set_wake_hook(this);
    request_turn();  // The loop may have been told already, by way of a guest before this one.
}

inline asio_guest::~asio_guest() {
    expects(!loop_.running_on_this_thread(), "a guest is destroyed by its host, not by its loop");
    // All of its roots: also those that have not begun, that a handler launches, or that stop the loop.
    if (loop_.has_work() || !loop_.roots().empty()) {
        const io_context::work_guard busy{
            loop_};  // The host waits for those in the background, too.
        for (loop_.restart(); run_left() > 0 || !loop_.roots().empty(); loop_.restart()) {
            stop_roots();
            if (!loop_.roots().empty()) run_host();
        }
    }
    rest();
    loop_.set_wake_hook(nullptr);  // Waits for a poster that has not left the hook yet.
    leave_thread();
    for (exception_slot& each : thrown_)
        boost::asio::post(host_, [it = std::move(each)]() mutable { it.rethrow_if_any(); });
}

inline std::size_t asio_guest::run_left() {
    const std::size_t ran = loop_.poll();
    arrange();
    return ran;
}

// A destructor must not throw: the host's next `run` does.
inline void asio_guest::run_host() {
    if (host_.stopped()) host_.restart();
    exception_slot failure;
    if (!run_catching(failure, [this] { host_.run_one(); })) thrown_.push_back(std::move(failure));
}

inline void asio_guest::leave_thread() noexcept {
    asio_guest** it = &newest_here;
    while (*it != nullptr && *it != this) it = &(*it)->next_here_;
    expects(*it == this, "a guest is destroyed on the thread that made it");
    *it = next_here_;
}

inline bool asio_guest::run_at_once(const io_context& home, executor_ref where, work& item) {
    if (io_context::current() != nullptr) return false;
    for (asio_guest* it = newest_here; it != nullptr; it = it->next_here_) {
        if (&it->loop_ != &home) continue;
        if (!it->host_.get_executor().running_in_this_thread()) return false;
        it->loop_.run_with(where, item);
        it->arrange();
        return true;
    }
    return false;
}

// Asked again and again: a root that ends may have launched the next one.
inline void asio_guest::stop_roots() {
    bool all_asked = true;
    loop_.roots().for_each([&](root& each) { all_asked = all_asked && each.chain.stopping(); });
    if (all_asked) return;
    loop_.post([&loop = loop_] {
        loop.roots().for_each([](root& each) { each.chain.request(stop_level::stop); });
    });
}

inline void asio_guest::request_turn() noexcept {
    boost::asio::post(host_, [alive = std::weak_ptr<bool>{alive_}, this] {
        if (!alive.expired()) turn();
    });
}

inline void asio_guest::turn() {
    loop_.poll();
    arrange();
}

inline void asio_guest::arrange() {
    if (!loop_.has_work() || loop_.stopped()) return rest();
    if (!busy_) busy_.emplace(host_.get_executor());
    watch_descriptor();
    if (!loop_.has_work()) return rest();  // A guard was released while the loop was looked at.
    watch_deadline();
}

// Asio may watch the descriptor, but it stays gyre's: release() instead of close().
inline void asio_guest::watch_descriptor() {
    if (watched_ != loop_.backend().kind) {
        if (readable_.is_open()) readable_.release();
        readable_.assign(loop_.native_wait_handle());
        watched_ = loop_.backend().kind;
        waiting_ = false;
    }
    if (waiting_) return;
    waiting_ = true;
    const auto readable = [this, watch = ++watches_] {
        if (watch != watches_) return;  // Of a watch that was given up since.
        waiting_ = false;
        turn();
    };
    readable_.async_wait(descriptor::wait_read, while_alive(readable));
}

inline void asio_guest::watch_deadline() {
    const time_point deadline = loop_.next_deadline();
    if (deadline <= loop_.now()) return request_turn();
    if (deadline >= armed_for_) return;  // It fires early, looks, and is armed anew.
    armed_for_ = deadline;
    due_.expires_at(deadline);  // Ends the wait for the deadline before.
    due_.async_wait(while_alive([this] {
        armed_for_ = never;
        turn();
    }));
}

inline void asio_guest::rest() {
    if (readable_.is_open()) readable_.release();
    watched_ = backend_choice::automatic;
    waiting_ = false;
    due_.cancel();
    armed_for_ = never;
    busy_.reset();
}

}  // namespace gyre

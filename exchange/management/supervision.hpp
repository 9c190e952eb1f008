// SPDX-License-Identifier: BSL-1.0
//
// When each child of a supervisor is started, asked to end and killed: a function of what happens to them and
// of time. No process is in here; bin/supervisor.hpp drives it.
//
// A child is started when those that it stands behind (`after`) are ready, and started again whenever it
// ends by itself, later after each failure in a row; those behind it are left alone, since every part of an
// exchange finds its way back to the others. To end, children are asked (SIGTERM) from the last to the
// first: each when all that stand behind it have ended. One that takes too long, to become ready or to end,
// is killed.
//
// A child that may be replaced has two processes for a while: the next one is started beside the one that
// works, takes its place by becoming ready, and only then is the one before asked to end. So processes are
// told apart by their generation, which counts the starts of the child.
#pragma once

#include <exchange/management/supervisor_config.hpp>

#include <gyre/base/time.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace exchange {

enum class child_state : std::uint8_t {
    waiting,      // For those that it stands behind.
    starting,     // Not ready yet.
    ready,        //
    backing_off,  // Ended by itself; is started again.
    draining,     // Asked to end.
    ended,        // For good.
};

/// "waiting", "starting", ...; static storage.
[[nodiscard]] std::string_view describe(child_state state) noexcept;

/// What is to be done with a child's process.
enum class child_action : std::uint8_t { start, ask_to_end, kill };

/// Threads:  One at a time.
class supervision {
public:
    struct order {
        std::size_t child;
        unsigned generation;
        child_action what;
    };
    /// A process beside the one that a child is: none, if its generation is 0.
    struct second {
        unsigned generation = 0;
        bool killed = false;  ///< It is told to end at once, and has not yet.
        gyre::time_point due = gyre::never;
    };
    struct child {
        child_state state = child_state::waiting;
        bool killed = false;       ///< Its process is told to end at once, and has not yet.
        unsigned failures = 0;     ///< In a row.
        unsigned starts = 0;       ///< Of all generations.
        unsigned generation = 0;   ///< Of the process that it is, or was last.
        gyre::time_point since{};  ///< It is in this state.
        gyre::time_point due = gyre::never;  ///< Something happens to it if nothing else does.
        second next{};                       ///< Is to take its place when it is ready.
        second before{};                     ///< Has been replaced, and was asked to end.
    };
    /// What the end of a process was.
    enum class end_of : std::uint8_t {
        child,        ///< The child's.
        replacement,  ///< One that never took the child's place, which the child keeps.
        replaced,     ///< The one before.
    };

    /// @param  children  Borrowed; outlives this.
    explicit supervision(const std::vector<supervised_child>& children);

    // What happens. Of a child: behind an order to start it.

    void begin(gyre::time_point now);
    void on_ready(std::size_t which, unsigned generation, gyre::time_point now);
    /// That process has ended, or could not be started.
    end_of on_ended(std::size_t which, unsigned generation, gyre::time_point now);
    void on_timer(gyre::time_point now);
    /// Ends everything in order.
    void drain(gyre::time_point now);
    /// Ends everything at once.
    void kill(gyre::time_point now);
    /// Ends one child in order, and starts it again. False if it is not running.
    [[nodiscard]] bool restart(std::size_t which, gyre::time_point now);
    /// Starts another generation of a child beside the one that works, to take its place. False if the child
    /// is not ready, or has two processes already.
    [[nodiscard]] bool replace(std::size_t which, gyre::time_point now);

    /// What is to be done now, in this order; each is told once.
    [[nodiscard]] std::vector<order> take_orders();

    /// When `on_timer` is wanted.
    [[nodiscard]] gyre::time_point deadline() const noexcept;
    [[nodiscard]] const std::vector<child>& children() const noexcept { return children_; }
    /// Are all that are to run ready?
    [[nodiscard]] bool ready() const noexcept;
    [[nodiscard]] bool draining() const noexcept { return draining_; }
    /// Has everything ended?
    [[nodiscard]] bool over() const noexcept;
    /// The child that has failed too often, if it is that by which everything ends; else there is none.
    [[nodiscard]] bool gave_up() const noexcept { return gave_up_ != nobody; }
    [[nodiscard]] std::size_t given_up() const noexcept { return gave_up_; }

private:
    static constexpr std::size_t nobody = ~std::size_t{0};

    [[nodiscard]] static bool is_running(child_state it) noexcept {
        return it == child_state::starting || it == child_state::ready ||
               it == child_state::draining;
    }
    /// Has any of its processes not ended?
    [[nodiscard]] static bool lives(const child& it) noexcept {
        return it.state != child_state::ended || it.next.generation != 0 ||
               it.before.generation != 0;
    }
    void enter(std::size_t which, child_state state, gyre::time_point now, gyre::time_point due);
    void start(std::size_t which, gyre::time_point now);
    void start_those_that_can(gyre::time_point now);
    void ask_to_end(std::size_t which, gyre::time_point now);
    void ask_those_that_can(gyre::time_point now);
    void kill(std::size_t which);
    void kill(std::size_t which, second& beside);
    void kill_late(std::size_t which, second& beside, gyre::time_point now);
    void take_place(std::size_t which, gyre::time_point now);
    void on_failure(std::size_t which, gyre::time_point now);

    const std::vector<supervised_child>& how_;
    std::vector<child> children_;
    std::vector<order> orders_;
    std::size_t gave_up_ = nobody;
    bool draining_ = false;
};

}  // namespace exchange

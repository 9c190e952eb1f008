// SPDX-License-Identifier: BSL-1.0
//
// A world in one thread: a clock that never waits, machines with a loop each, a network between them.
//
// Programs run in it as they are: every socket, timer and name goes through the loop's backend and host,
// and here these are models. Nothing happens twice in different ways: the seed decides what is left
// to chance. backend_laws.hpp says what holds here as it does on the kernel's own backends.
//
//     gyre::test::world world;
//     auto& server = world.add("server");
//     auto& client = world.add("client");
//     world.start(server, echo_server(server.at(7000)));
//     auto outcome = world.run(client, ask(server.at(7000)));
//     CHECK_MESSAGE(outcome.ok(), outcome.text());
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/test/network.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::test {

class fuse;
class virtual_host;
class virtual_time;
class world;

/// What is left to chance in a world, and the bounds of its runs.
struct world_options {
    world_options() noexcept = default;

    /// What is left to chance is drawn from it. 0: what GYRE_TEST_SEED says, else 1, so that a test
    /// is the same each time unless its developer asks for another order.
    std::uint64_t seed = 0;

    /// Whatever is ready at the same moment comes in a random order, and some of it a turn later. Else it
    /// comes in the order in which it became ready.
    bool shuffled = false;

    /// What `blocking` takes. The function runs on the world's thread, when it ends.
    duration call_length{};

    /// How often loops are polled at one moment before that counts as never ending.
    std::size_t polls_at_a_moment_max = 10'000;

    /// How many steps (`world::step`) a run may take before that counts as never ending.
    std::size_t steps_of_a_run_max = 10'000'000;

    /// How long, by the real clock, to wait for a post of another thread where nothing else can go on,
    /// before that counts as hanging. For programs with threads; whose turn it is then is not up to us.
    /// Where a timer is set, time jumps to it whatever they do.
    duration patience_for_threads{};
};

/// Why a run has ended.
enum class ending : std::uint8_t {
    ended,  ///< What was waited for has ended.
    hung,  ///< It waits for something that can never happen: nothing is ready, and no timer is set.
    spun,  ///< It went on and on without time passing.
    endless,    ///< It went on and on as time passed.
    time_is_up  ///< The limit was reached first.
};

/// How a run has ended, and for a reader of the test's output, why.
class [[nodiscard]] run_outcome {
public:
    run_outcome() noexcept = default;
    run_outcome(ending how, std::string text) : how_{how}, text_{std::move(text)} {}

    [[nodiscard]] bool ok() const noexcept { return how_ == ending::ended; }
    [[nodiscard]] ending how() const noexcept { return how_; }

    /// Empty if it has ended; else what went wrong, the seed, and each coroutine that is pending.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    ending how_ = ending::ended;
    std::string text_;
};

/// The same of a task with a result.
template <class Result>
class [[nodiscard]] task_run : public run_outcome {
public:
    task_run(run_outcome outcome, kept_outcome<Result> kept)
        : run_outcome{std::move(outcome)}, kept_{std::move(kept)} {}

    /// What the task has yielded. Once.
    /// @pre  ok(). If not, the failed check prints `text`.
    [[nodiscard]] Result take() {
        if (!ok()) fail_check("run of a world", text().c_str());
        return kept_.take();
    }

private:
    kept_outcome<Result> kept_;
};

/// One of the machines of a world: addresses, a table of descriptors, one loop. Its files are not modelled:
/// they, programs and signals are refused with `errc::not_supported`.
class machine {
public:
    machine(const machine&) = delete;
    machine& operator=(const machine&) = delete;
    ~machine();

    [[nodiscard]] const std::string& name() const noexcept;

    /// The loop that its programs run on. `run` of the loop itself works too, and takes the whole world
    /// with it.
    [[nodiscard]] io_context& io() noexcept;

    /// Its addresses: 10.0.0.N and fd00::N, by the order in which machines were added.
    [[nodiscard]] ipv4 v4() const noexcept;
    [[nodiscard]] ipv6 v6() const noexcept;
    [[nodiscard]] endpoint at(std::uint16_t port) const noexcept { return {v4(), port}; }

    /// What is open on it.
    [[nodiscard]] std::size_t open_descriptors() const noexcept;

    /// The text of a settings file, such as /etc/resolv.conf. /etc/hosts is there: it has the names of
    /// all machines.
    void set_settings(std::string path, std::string text);

    /// Breaks each of its connections, as a machine does that was switched off and on: the peers are told by
    /// a reset when what they send arrives.
    void break_connections() noexcept;

    /// Has its operations fail as `it` says. Null: none. Borrowed until replaced.
    void set_fuse(fuse* it) noexcept;

    /// Two ends of a connection within the machine, over TCP. For tests of what needs no more.
    [[nodiscard]] std::pair<stream_socket, stream_socket> connected_pair() noexcept;

private:
    friend class world;
    machine(virtual_time& in, std::string name, unsigned number, const machine_options& options);

    std::unique_ptr<virtual_host> host_;
    std::unique_ptr<io_context> loop_;
};

/// Everything that a test needs of the outside. Does not move. One thread.
class world {
public:
    explicit world(const world_options& options = {});
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    /// Ends what is still running, machine by machine, as the destructors of loops do. Whatever was opened
    /// on a machine is closed by then, or ends with what runs.
    ~world();

    /// Adds a machine. Its name can be looked up by all.
    /// @return  Lives as long as the world.
    machine& add(std::string name, const machine_options& options = {});

    [[nodiscard]] machine& at(std::size_t index) noexcept;
    [[nodiscard]] std::size_t machines() const noexcept;

    // The network.

    /// Sets both directions of one link, or of all that have none of their own.
    void set_link(const machine& one, const machine& other, const link_options& options);
    void set_links(const link_options& options);

    /// The direction from one to the other alone.
    void set_one_way(const machine& from, const machine& to, const link_options& options);

    /// Nothing gets through any more in either direction, nor does what is under way. Streams go on
    /// where they were when it is healed, unless their patience ends first.
    void partition(const machine& one, const machine& other);
    /// Ends that.
    void heal(const machine& one, const machine& other);

    // Running.

    /// Starts `work` on `on`, where it goes on in every run until it ends. A user's exception ends the
    /// process.
    stop_handle start(machine& on, task<> work);
    /// The same of what tells an error at its end, which is for other callers.
    stop_handle start(machine& on, task<io_result<>> work);

    /// Runs until every coroutine of every machine has ended, or `limit` has passed in the world.
    run_outcome run(duration limit = duration::max());

    /// Runs for so long in the world, whatever there is to do. Never hangs.
    run_outcome run_for(duration length);

    /// Runs until `happened()`, which is asked between steps.
    run_outcome run_until(const std::function<bool()>& happened, duration limit = duration::max());

    /// Runs `work` on `on` to its end, and rethrows the exception that it may have ended with. Others go on
    /// meanwhile, and then stay where they are.
    template <class Result>
    [[nodiscard]] task_run<Result> run(machine& on, task<Result> work,
                                       duration limit = duration::max());

    /// One step: runs what is ready, or lets time pass up to the next moment at which something is.
    /// False if neither is possible.
    bool step();

    // Questions.

    [[nodiscard]] time_point now() const noexcept;
    [[nodiscard]] std::uint64_t seed() const noexcept;

    /// Every pending coroutine of every machine.
    [[nodiscard]] std::string dump();

    /// Of all machines together: what is open, and the bytes in their sockets and on the way.
    [[nodiscard]] std::size_t open_descriptors() const noexcept;
    [[nodiscard]] std::size_t bytes_held() const noexcept;

    /// A loop that was run by itself (`machine::io`) had nothing to wait for: `run` returned. Its text.
    [[nodiscard]] const std::string& hang() const noexcept;

private:
    [[nodiscard]] run_outcome report(ending how);
    [[nodiscard]] virtual_host& own(const machine& it) const noexcept;
    [[nodiscard]] io_context& loop_of(machine& it) const noexcept;

    std::unique_ptr<virtual_time> time_;
    std::vector<std::unique_ptr<machine>> machines_;
};

// Implementation

template <class Result>
task_run<Result> world::run(machine& on, task<Result> work, duration limit) {
    kept_outcome<Result> kept;
    bool over = false;
    const auto keep = [&](task_outcome<Result> outcome) noexcept {
        kept(std::move(outcome));
        over = true;
    };
    const stop_handle stop = launch(loop_of(on), std::move(work), keep);
    run_outcome outcome = run_until([&over] { return over; }, limit);
    if (!over) {
        // It points to what ends here.
        stop.request_stop();
        const run_outcome stopped = run_until([&over] { return over; }, std::chrono::hours{24});
        if (!over) {
            const std::string text = "a task does not end when it is stopped; " + stopped.text();
            fail_check("run of a world", text.c_str());
        }
    }
    if (outcome.ok()) kept.failure().share().rethrow_if_any();
    return {std::move(outcome), std::move(kept)};
}

}  // namespace gyre::test

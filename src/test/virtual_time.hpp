// SPDX-License-Identifier: BSL-1.0
//
// The clock of a world, what will happen at which moment, and the dice.
//
// Time stands still while anything is ready on any loop, and then jumps to the next moment at which
// something is: an event of the network, or a loop's nearest timer. Events of one moment come in the order
// in which they were planned, or in a random one.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/test/world.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gyre::test {

class virtual_backend;
class virtual_network;

/// For a reader; static storage.
[[nodiscard]] const char* describe(ending how) noexcept;

/// Numbers that follow from a seed (SplitMix64).
class dice {
public:
    explicit dice(std::uint64_t seed) noexcept : state_{seed} {}

    [[nodiscard]] std::uint64_t draw() noexcept;
    [[nodiscard]] std::size_t below(std::size_t bound) noexcept { return draw() % bound; }
    [[nodiscard]] bool chance(double share) noexcept;

    template <class Item>
    void shuffle(std::vector<Item>& items) noexcept {
        for (std::size_t left = items.size(); left > 1; --left)
            std::swap(items[left - 1], items[below(left)]);
    }

private:
    std::uint64_t state_;
};

class virtual_time {
public:
    explicit virtual_time(const world_options& options);
    virtual_time(const virtual_time&) = delete;
    virtual_time& operator=(const virtual_time&) = delete;
    ~virtual_time();

    [[nodiscard]] time_point now() const noexcept { return now_; }
    [[nodiscard]] dice& chance() noexcept { return dice_; }
    [[nodiscard]] const world_options& options() const noexcept { return options_; }
    [[nodiscard]] virtual_network& network() noexcept { return *network_; }

    /// `happen()` is called when `wait` has passed; at once if there is nothing to wait for.
    void after(duration wait, std::function<void()> happen);
    /// The same, but never at once.
    void at(time_point moment, std::function<void()> happen);

    /// Carries out what is planned for up to now.
    void run_events();

    /// Loops are polled by `step` from here on.
    void add(virtual_backend& loop);
    void remove(virtual_backend& loop) noexcept;
    [[nodiscard]] const std::vector<virtual_backend*>& loops() const noexcept { return loops_; }

    /// Runs each loop that has something to do and is not being run. Whether there was one.
    bool run_ready();

    /// The next moment at which something can happen on its own; `never` if there is none.
    [[nodiscard]] time_point next_moment() noexcept;

    /// Lets time pass. Not backwards.
    void advance_to(time_point moment) noexcept;

    /// Whether loops have been run for so often at one moment that they will never stop.
    [[nodiscard]] bool spins() const noexcept {
        return polls_at_moment_ > options_.polls_at_a_moment_max;
    }
    void forgive_spinning() noexcept { polls_at_moment_ = 0; }

    /// A thread has posted to one of the loops. Any thread.
    void note_post() noexcept;

    /// Blocks until one has, for as long as the options say. False if none has.
    [[nodiscard]] bool hear_from_threads() noexcept;

    /// Where each pending coroutine stands.
    [[nodiscard]] std::string dump();

    std::string hang;  ///< Of a loop that ran by itself, the last one.

private:
    struct moment {
        time_point when;
        std::uint64_t tie;
        std::uint64_t sequence;
        auto operator<=>(const moment&) const = default;
    };

    world_options options_;
    dice dice_;
    time_point now_{std::chrono::hours{1}};
    std::map<moment, std::function<void()>> events_;
    std::uint64_t planned_ = 0;
    std::vector<virtual_backend*> loops_;
    std::size_t polls_at_moment_ = 0;
    std::mutex mutex_;  // Of the two below.
    std::condition_variable posts_;
    bool posted_ = false;
    std::unique_ptr<virtual_network> network_;
};

}  // namespace gyre::test

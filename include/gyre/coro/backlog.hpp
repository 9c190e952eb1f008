// SPDX-License-Identifier: BSL-1.0
//
// What a loop still has to begin or to go on with, the deepest first.
//
// A tree of forks must not be worked breadth-first, or it needs memory for all of its tasks; nor may it
// run to its end in one go, or it starves everything else. So what a fork cannot do at once, because its
// share of the turn is used up, waits in a *backlog*: a stack whose top alone stands in the executor's
// queue. Each item of a loop that leaves something to do has a backlog of its own, and these take turns.
// docs/decisions/0056-depth-first.md has the reasons.
#pragma once

#include <gyre/coro/executor.hpp>
#include <gyre/coro/work.hpp>

#include <cstdint>
#include <limits>

namespace gyre {

struct environment;
class backlog_item;
class loop;

/// What one loop knows of the backlog of the item that it runs. On the loop's thread.
class backlog {
public:
    /// How deep branches begin within each other on the native stack; a branch below is begun from the queue.
    static constexpr int nesting_max = 64;

    backlog() noexcept = default;
    backlog(const backlog&) = delete;
    backlog& operator=(const backlog&) = delete;

    /// An item of the loop, or of an executor on it, is about to run.
    void begin_item() noexcept {
        end_ = nullptr;
        row_ = nullptr;
        begin_step();
    }

    /// The running item goes on with something that might have been an item by itself.
    void begin_step() noexcept { room_ = nesting_max; }

    /// Whether a branch may begin on the native stack: there is room, and nothing before it was put off.
    [[nodiscard]] bool has_room() const noexcept { return room_ > 0; }

    /// From here on the item begins no branch: what it would have begun is put off as well.
    void close() noexcept { room_ = std::numeric_limits<int>::min() / 2; }

    void descend() noexcept { --room_; }
    void ascend() noexcept { ++room_; }

private:
    friend class backlog_item;

    int room_ = nesting_max;
    // Where the next is linked: behind what the running item has put off so far. Null while that is nothing
    // and the next is therefore to be posted.
    backlog_item** end_ = nullptr;
    executor_ref executor_;        // Of what is linked there.
    backlog_item* row_ = nullptr;  // What was put off last, if more may stand beside it.
};

/// Something that can be put off: `act` is called once for each time.
///
/// Belongs to the loop's thread. A copy belongs to no backlog.
class backlog_item : private work {
public:
    using function = void (*)(backlog_item&) noexcept;

    explicit backlog_item(function act) noexcept : work{&run}, act_{act} {}
    backlog_item(const backlog_item& other) noexcept : backlog_item{other.act_} {}
    backlog_item& operator=(const backlog_item&) = delete;
    ~backlog_item() {
        if (queued_ || place_ != nullptr) withdraw();
    }

    /// The coroutine's surroundings, which outlive it.
    void attach(const environment& given) noexcept { env_ = &given; }

    /// @pre  attached.
    [[nodiscard]] const environment& env() const noexcept { return *env_; }

protected:
    /// In a later item of its executor `act` is called, before whatever the running item puts off after
    /// this, and before what an earlier item had put off when it put off the running one.
    ///
    /// @pre  attached, and not put off.
    void put_off() noexcept;

    /// The same, for what is put off in numbers and is not destroyed before it runs. It shares the place of
    /// what was put off just before it in this way, and mostly the item, too.
    ///
    /// @pre  attached, and not put off.
    void put_off_in_row() noexcept;

private:
    /// How long a backlog has been worked.
    struct age {
        std::uint16_t in_a_row = 0;   // Items since others had their turn.
        std::uint16_t rounds = 0;     // Turns of others since it was made, or parted.
        std::uint16_t patience = 64;  // Rounds until it parts.
    };

    static void run(work& item) noexcept;
    [[nodiscard]] backlog_item* act_in(loop& home, executor_ref executor) noexcept;
    [[nodiscard]] static backlog_item& take_first(backlog_item*& last) noexcept;
    void link(backlog_item** place) noexcept;
    void queue_first(age so_far) noexcept;
    void queue_last(age so_far) noexcept;
    void take_turns(age so_far, executor_ref executor, loop& home) noexcept;
    [[nodiscard]] backlog_item* part() noexcept;
    void withdraw() noexcept;

    function act_;
    const environment* env_ = nullptr;
    backlog_item* below_ = nullptr;  // Runs after this.
    backlog_item* last_ =
        nullptr;  // Of those beside this, a ring by `next`; run before what is below.
    backlog_item** place_ = nullptr;  // What points to this: null at the top, and in no backlog.
    age age_;                         // Of the backlog, while this is its top.
    bool queued_ = false;             // It is the top, and stands in its executor's queue.
};

}  // namespace gyre

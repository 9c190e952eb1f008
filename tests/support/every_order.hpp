// SPDX-License-Identifier: BSL-1.0
//
// Takes a small program of several threads through every order of their atomic steps.
//
// The threads are no real ones. Each is a list of actions, functions that touch what is shared by way of
// `stepped_atomic` alone. To make one more step of a thread its action is run again from its beginning:
// what it has seen so far is repeated to it from a log, then one access takes place, and at the next one
// it is left by longjmp. So a state is a few numbers, two equal ones are visited once, and no order that
// sequential consistency allows is left out.
#pragma once

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gyre::testing {

/// What the thread whose turn it is has seen since its action began.
struct step_log {
    std::array<std::uint64_t, 48> seen;
    std::size_t size = 0;
};

enum class stride : bool { one_step, whole_action };

/// All that is shared, and the thread that makes a step on it. There is one such memory at a time.
class stepped_memory {
public:
    using cells = std::array<std::uint64_t, 40>;

    stepped_memory() noexcept { current = this; }
    stepped_memory(const stepped_memory&) = delete;
    stepped_memory& operator=(const stepped_memory&) = delete;
    ~stepped_memory() { current = nullptr; }

    [[nodiscard]] std::size_t add(std::uint64_t value) {
        check(used_ < values.size(), "too many atomics");
        values[used_] = value;
        return used_++;
    }

    /// Changes a value and returns what it was. If it `is_step`, other threads may come in before.
    template <class Change>
    std::uint64_t access(std::size_t cell, bool is_step, Change change) {
        if (log_ == nullptr) return std::exchange(values[cell], change(values[cell]));
        if (replayed_ < log_->size) return log_->seen[replayed_++];
        if (is_step && steps_++ == steps_max_) std::longjmp(before_next_, 1);
        const std::uint64_t before = std::exchange(values[cell], change(values[cell]));
        if (steps_max_ == 1) {
            check(log_->size < log_->seen.size(), "an action has too many steps");
            log_->seen[log_->size++] = before;
            ++replayed_;
        }
        return before;
    }

    /// Goes on with `action()`. True if it has ended.
    template <class Action>
    bool advance(step_log& log, stride by, const Action& action) {
        log_ = &log;
        replayed_ = 0;
        steps_ = 0;
        steps_max_ = by == stride::one_step ? 1 : alone_max;
        const bool ended = runs_to_end(action);
        check(ended || by == stride::one_step, "an action has no end");
        if (ended) log.size = 0;
        log_ = nullptr;
        return ended;
    }

    [[nodiscard]] std::size_t size() const { return used_; }

    cells values{};

    static inline stepped_memory* current = nullptr;

private:
    static void check(bool holds, const char* otherwise) {
        if (holds) return;
        std::fprintf(stderr, "every_order: %s\n", otherwise);
        std::abort();
    }

    static constexpr std::size_t alone_max = 10'000;

    // A function of its own, so that no variable lives across the jump.
    template <class Action>
    bool runs_to_end(const Action& action) {
        if (setjmp(before_next_) != 0) return false;
        action();
        return true;
    }

    std::size_t used_ = 0;
    step_log* log_ = nullptr;
    std::size_t replayed_ = 0;
    std::size_t steps_ = 0;
    std::size_t steps_max_ = 0;
    std::jmp_buf before_next_{};
};

/// An atomic whose every access is a step. It takes no memory orders, so it proves as well that the code
/// which it is put into asks for none but the strongest.
template <class Value>
class stepped_atomic {
public:
    stepped_atomic(Value value = {}) : cell_{memory().add(static_cast<std::uint64_t>(value))} {}
    stepped_atomic(const stepped_atomic&) = delete;
    stepped_atomic& operator=(const stepped_atomic&) = delete;

    [[nodiscard]] Value load() const {
        return change([](Value it) { return it; });
    }
    void store(Value next) {
        change([next](Value) { return next; });
    }
    Value exchange(Value next) {
        return change([next](Value) { return next; });
    }
    Value fetch_add(Value by) {
        return change([by](Value it) { return it + by; });
    }
    Value fetch_sub(Value by) {
        return change([by](Value it) { return it - by; });
    }
    Value fetch_or(Value bits) {
        return change([bits](Value it) { return it | bits; });
    }
    Value fetch_and(Value bits) {
        return change([bits](Value it) { return it & bits; });
    }
    bool compare_exchange_strong(Value& expected, Value next) {
        const Value wanted = expected;
        expected = change([=](Value it) { return it == wanted ? next : it; });
        return expected == wanted;
    }

    /// Any change in one step. Returns what it was before.
    template <class Change>
    Value change(Change how) const {
        return access(true, how);
    }

    /// The same where no other thread looks: no step.
    template <class Change>
    Value change_unseen(Change how) const {
        return access(false, how);
    }

    /// For a look from outside of all threads.
    [[nodiscard]] Value now() const { return static_cast<Value>(memory().values[cell_]); }

private:
    static stepped_memory& memory() { return *stepped_memory::current; }

    template <class Change>
    Value access(bool is_step, Change how) const {
        return static_cast<Value>(memory().access(cell_, is_step, [&how](std::uint64_t it) {
            return static_cast<std::uint64_t>(how(static_cast<Value>(it)));
        }));
    }

    std::size_t cell_;
};

/// What came of an exploration.
struct orders_explored {
    std::size_t states = 0;  // Between which there was something to choose.
    std::size_t runs = 0;    // From one of these to another.
    std::size_t ends = 0;    // States in which no thread can go on.
    std::string wrong;       // What was found, and how it came about; empty if all is well.
};

/// Explores a program, which has
///
/// - `memory`, a stepped_memory, and `own`, what its `threads_size` threads keep between their actions;
/// - `can_act(thread)`, asked between two actions only, and `act(thread)`, the next action;
/// - `is_patient(thread)`, whether what it can do is to end a wait that others may outlast;
/// - `forget()`, which makes states equal that differ in nothing that is still asked for;
/// - `wrong_now(between)`, what is wrong in a state or null; `between` if no thread is within an action;
/// - `wrong_at_end()`, the same where no thread can go on;
/// - `name(thread)`, what the thread is about to do.
///
/// From every state an end that is right must be within reach. All orders are tried in which a thread is
/// left in favour of another one at most so often while it could go on by itself.
template <class Program>
class explorer {
public:
    explorer(Program& program, unsigned preemptions_max)
        : program_{program}, preemptions_max_{preemptions_max} {}

    orders_explored explore() {
        visit({none, none, preemptions_max_});
        while (!open_.empty() && found_.wrong.empty()) {
            place& here = open_.back();
            if (here.next == threads_size) {
                open_.pop_back();
                continue;
            }
            const std::size_t thread = here.next++;
            restore(here.then);
            if (!can_step(thread)) continue;
            const bool preempts = here.by.thread != thread && goes_on(here.by.thread);
            if (preempts && here.by.left == 0) continue;
            const way next{here.id, thread, here.by.left - (preempts ? 1 : 0)};
            go(next);
            ++found_.runs;
            visit(next);
        }
        if (found_.wrong.empty()) look_for_traps();
        found_.states = ways_here_.size();
        return found_;
    }

private:
    using own_parts = decltype(Program::own);
    static_assert(std::is_trivially_copyable_v<own_parts>);
    static constexpr std::size_t threads_size = Program::threads_size;
    static constexpr std::size_t none = SIZE_MAX;
    static constexpr unsigned actions_alone_max = 1000;

    struct state {
        stepped_memory::cells cells;
        own_parts own;
        std::array<step_log, threads_size> logs;
    };
    struct way {
        std::size_t from;
        std::size_t thread;
        unsigned left;  // Preemptions that may still follow.
    };
    struct place {
        state then;
        std::size_t id;
        way by;
        std::size_t next = 0;  // Thread to be tried.
    };

    [[nodiscard]] state now() const { return {program_.memory.values, program_.own, logs_}; }
    void restore(const state& it) {
        program_.memory.values = it.cells;
        program_.own = it.own;
        logs_ = it.logs;
    }

    [[nodiscard]] bool can_step(std::size_t thread) const {
        return logs_[thread].size > 0 || program_.can_act(static_cast<unsigned>(thread));
    }
    [[nodiscard]] bool goes_on(std::size_t thread) const {
        return thread != none && can_step(thread) &&
               (logs_[thread].size > 0 || !program_.is_patient(static_cast<unsigned>(thread)));
    }

    // One step; or, where it may not be interrupted any more, all until it has to wait.
    void go(const way& along) {
        step(along.thread, along.left > 0 ? stride::one_step : stride::whole_action);
        if (along.left > 0) return;
        for (unsigned each = 0; goes_on(along.thread) && wrong_now() == nullptr; ++each) {
            if (each == actions_alone_max) break;
            step(along.thread, stride::whole_action);
        }
    }

    void step(std::size_t thread, stride by) {
        const own_parts before = program_.own;
        const auto action = [&] { program_.act(static_cast<unsigned>(thread)); };
        if (!program_.memory.advance(logs_[thread], by, action)) program_.own = before;
        program_.forget();
    }

    void visit(const way& by) {
        const auto [known, is_new] = ids_.try_emplace(hash(by), ways_here_.size());
        if (by.from != none) edges_.push_back({known->second, by.from});
        if (!is_new) return;
        ways_here_.push_back(by);
        const char* wrong = wrong_now();
        bool ended = true;
        for (std::size_t each = 0; each < threads_size; ++each) ended = ended && !can_step(each);
        if (wrong == nullptr && ended) {
            wrong = program_.wrong_at_end();
            ends_.push_back(known->second);
            ++found_.ends;
        }
        if (wrong != nullptr) return tell(wrong, known->second);
        open_.push_back({now(), known->second, by});
    }

    [[nodiscard]] const char* wrong_now() const {
        const auto is_between = [](const step_log& each) { return each.size == 0; };
        return program_.wrong_now(std::ranges::all_of(logs_, is_between));
    }

    // Two states of one hash would be taken for one; with 64 bits that is not to be expected.
    [[nodiscard]] std::uint64_t hash(const way& by) const {
        std::uint64_t mixed = mix(mix(0, by.thread), by.left);
        for (std::size_t each = 0; each < program_.memory.size(); ++each) {
            mixed = mix(mixed, program_.memory.values[each]);
        }
        std::array<std::uint64_t, sizeof(own_parts) / sizeof(std::uint64_t)> words;
        static_assert(sizeof words == sizeof(own_parts));
        std::memcpy(words.data(), &program_.own, sizeof words);
        for (const std::uint64_t word : words) mixed = mix(mixed, word);
        for (const step_log& log : logs_) {
            mixed = mix(mixed, log.size);
            for (std::size_t each = 0; each < log.size; ++each) mixed = mix(mixed, log.seen[each]);
        }
        return mixed;
    }
    static std::uint64_t mix(std::uint64_t mixed, std::uint64_t word) {
        mixed = (mixed ^ word) * 0x9e3779b97f4a7c15U;
        return mixed ^ mixed >> 32;
    }

    // Backwards from the ends: what is not met goes on for ever and never comes to one.
    void look_for_traps() {
        std::vector<std::vector<std::size_t>> sources(ways_here_.size());
        for (const auto& [to, from] : edges_) sources[to].push_back(from);
        std::vector<bool> met(ways_here_.size());
        std::vector<std::size_t> left = ends_;
        while (!left.empty()) {
            const std::size_t here = left.back();
            left.pop_back();
            if (met[here]) continue;
            met[here] = true;
            left.insert(left.end(), sources[here].begin(), sources[here].end());
        }
        const auto trap = std::ranges::find(met, false);
        if (trap != met.end())
            tell("it goes on for ever", static_cast<std::size_t>(trap - met.begin()));
    }

    // The way there once more, with names: of each thread that begins an action, or comes back to it.
    void tell(const char* what, std::size_t where) {
        std::vector<way> path;
        for (; ways_here_[where].from != none; where = ways_here_[where].from) {
            path.push_back(ways_here_[where]);
        }
        restore(first_);
        found_.wrong = what;
        found_.wrong += ", after";
        std::size_t last = none;
        for (; !path.empty(); path.pop_back()) {
            const std::size_t thread = path.back().thread;
            if (thread != last || logs_[thread].size == 0) {
                found_.wrong += "\n  " + program_.name(static_cast<unsigned>(thread));
                if (path.back().left == 0) found_.wrong += " and goes on";
            }
            go(path.back());
            last = thread;
        }
    }

    Program& program_;
    unsigned preemptions_max_;
    std::array<step_log, threads_size> logs_{};
    const state first_ = now();
    std::vector<place> open_;
    std::unordered_map<std::uint64_t, std::size_t> ids_;
    std::vector<way> ways_here_;                              // The first one to each state.
    std::vector<std::pair<std::size_t, std::size_t>> edges_;  // To, from.
    std::vector<std::size_t> ends_;
    orders_explored found_;
};

}  // namespace gyre::testing

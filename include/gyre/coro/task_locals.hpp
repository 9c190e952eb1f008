// SPDX-License-Identifier: BSL-1.0
//
// Values that travel with the work and not with the thread: a request's trace id, a task's name.
//
// A binding lies in the frame of the coroutine that made it and is reached through the environment, so
// whatever is awaited below inherits it: children of a group, tasks on strands and on other loops. All
// of them end before that frame does, hence no counts and no copies. Where work leaves the tree of awaits (a
// callback, a springboard, a launch) `task_locals` carries copies. docs/decisions/0028-task-locals.md.
#pragma once

#include <gyre/coro/environment.hpp>
#include <gyre/coro/task.hpp>

#include <coroutine>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gyre {

/// One value that is bound to one key, and what was bound around it. What is bound does not change, so any
/// loop may read it.
class local_frame {
public:
    local_frame(const local_frame&) = delete;
    local_frame& operator=(const local_frame&) = delete;
    virtual ~local_frame() = default;

    [[nodiscard]] virtual std::unique_ptr<local_frame> copy() const = 0;

    /// The innermost binding of `key` from `top` outward, or null. Linear.
    [[nodiscard]] static const local_frame* find(const local_frame* top, const void* key) noexcept {
        while (top != nullptr && top->key_ != key) top = top->outer_;
        return top;
    }

    [[nodiscard]] const void* key() const noexcept { return key_; }
    [[nodiscard]] const local_frame* outer() const noexcept { return outer_; }
    void stand_in(const local_frame* outer) noexcept { outer_ = outer; }

protected:
    explicit local_frame(const void* key) noexcept : key_{key} {}

private:
    const void* key_;
    const local_frame* outer_ = nullptr;
};

/// A key: one object, which lives as long as the program. Copied where bindings are, its values must be
/// safe to read on any thread.
///
///     inline constinit gyre::task_local<trace_id> trace;
template <class Value>
class task_local {
public:
    static_assert(std::is_copy_constructible_v<Value>,
                  "what is bound to a task is copied when work leaves the tree of awaits: bind a "
                  "shared_ptr of what cannot be");

    constexpr task_local() noexcept = default;
    task_local(const task_local&) = delete;
    task_local& operator=(const task_local&) = delete;

    /// What is bound to it, from `top` outward; null if nothing is.
    [[nodiscard]] const Value* find(const local_frame* top) const noexcept {
        const local_frame* found = local_frame::find(top, this);
        return found == nullptr ? nullptr : &static_cast<const binding*>(found)->value;
    }

    struct binding final : local_frame {
        binding(const task_local& key, Value of) : local_frame{&key}, value{std::move(of)} {}

        [[nodiscard]] std::unique_ptr<local_frame> copy() const override {
            return std::make_unique<binding>(*static_cast<const task_local*>(key()), value);
        }

        const Value value;
    };
};

/// What a task is called, in dumps and by `this_task::name`.
[[gnu::visibility("default")]] extern constinit task_local<std::string> task_name;

/// Copies of all that was bound at one moment; copies of this share them. For work that leaves the tree of
/// awaits: capture it with a callback, pass it to a springboard. `this_task::locals` makes one.
///
/// Threads:  any. Cost: a block for each binding when it is made, and a count when it is copied.
class task_locals {
public:
    /// Nothing.
    task_locals() noexcept = default;
    explicit task_locals(const local_frame* top);

    [[nodiscard]] const local_frame* top() const noexcept {
        return frames_ == nullptr ? nullptr : frames_->front().get();
    }

private:
    std::shared_ptr<const std::vector<std::unique_ptr<local_frame>>> frames_;  // Innermost first.
};

/// Changes what the coroutine that awaits it, once, finds bound: from there on and as long as this object
/// lives, in the frame of that coroutine. Not in generators, which get their surroundings with each value.
class locals_scope {
public:
    locals_scope(const locals_scope&) = delete;
    locals_scope& operator=(const locals_scope&) = delete;

    /// Called by `co_await`.
    void open(task_node& in) noexcept;

protected:
    locals_scope() noexcept = default;
    ~locals_scope();

    [[nodiscard]] virtual const local_frame* bound(const local_frame* outer) noexcept = 0;

private:
    task_node* in_ = nullptr;
    const environment* around_ = nullptr;
    environment env_;
};

/// Binds a value:
///
///     task<> serve_request(request asked) {
///         local_scope traced{trace, asked.trace()};
///         co_await traced;
///         ...
///
/// Cost: a copy of the environment, and nothing for what is awaited below.
template <class Value>
class [[nodiscard]] local_scope final : public locals_scope {
public:
    local_scope(const task_local<Value>& key, std::type_identity_t<Value> value)
        : here_{key, std::move(value)} {}

private:
    [[nodiscard]] const local_frame* bound(const local_frame* outer) noexcept override {
        here_.stand_in(outer);
        return &here_;
    }

    typename task_local<Value>::binding here_;
};

/// Binds what was bound elsewhere, in place of what is bound here.
class [[nodiscard]] carried_scope final : public locals_scope {
public:
    explicit carried_scope(task_locals carried) noexcept : carried_{std::move(carried)} {}

private:
    [[nodiscard]] const local_frame* bound(const local_frame*) noexcept override {
        return carried_.top();
    }

    task_locals carried_;
};

/// Runs `it` with `value` bound to `key`; where a task is wanted that has it, as by `spawn` and `launch`.
///
/// Errors, Cancellation, Threads: those of `it`. Cost: one frame.
template <class Value, class Result>
[[nodiscard]] task<Result> with_local(const task_local<Value>& key,
                                      std::type_identity_t<Value> value, task<Result> it) {
    local_scope<Value> here{key, std::move(value)};
    co_await here;
    co_return co_await std::move(it);
}

/// Runs `it` with what `carried` holds, and nothing else, bound.
template <class Result>
[[nodiscard]] task<Result> with_locals(task_locals carried, task<Result> it) {
    carried_scope here{std::move(carried)};
    co_await here;
    co_return co_await std::move(it);
}

/// Runs `it` as a task of that name.
template <class Result>
[[nodiscard]] task<Result> with_name(std::string name, task<Result> it) {
    return with_local(task_name, std::move(name), std::move(it));
}

}  // namespace gyre

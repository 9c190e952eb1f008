// SPDX-License-Identifier: BSL-1.0
//
// The assumption below gyre::callback_frame: a coroutine frame begins with a pointer to the function
// that resumes it and one to the function that destroys it, in this order, called with the frame.
#include <gyre/coro/resume.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>

using namespace gyre;

namespace {

struct bare {
    struct promise_type {
        bare get_return_object() noexcept {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept {}
    };
    std::coroutine_handle<promise_type> handle;
};

struct witness {
    explicit witness(int& count) noexcept : count_{count} {}
    witness(const witness& other) noexcept : count_{other.count_} {}
    ~witness() { ++count_; }

private:
    int& count_;
};

struct transfer_to {
    std::coroutine_handle<> next;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept {
        return next;  // By the language alone, not by gyre::transfer.
    }
    void await_resume() const noexcept {}
};

bare count_up(int& resumed, int& died) {
    const witness local{died};
    ++resumed;
    co_await std::suspend_always{};
    ++resumed;
}

bare go_to(std::coroutine_handle<> next) {
    const transfer_to step{next};
    co_await step;
}

// The two functions that a real coroutine's frame begins with.
struct frame_head {
    void (*resume)(void*);
    void (*destroy)(void*);
};

frame_head head_of(std::coroutine_handle<> handle) {
    frame_head head{};
    std::memcpy(&head, handle.address(), sizeof head);
    return head;
}

struct counting_frame : callback_frame {
    counting_frame() noexcept
        : callback_frame{
              [](callback_frame* frame) { ++static_cast<counting_frame*>(frame)->resumed; }} {
        destroy = [](callback_frame* frame) { ++static_cast<counting_frame*>(frame)->destroyed; };
    }
    int resumed = 0;
    int destroyed = 0;
};

static_assert(offsetof(callback_frame, resume) == 0);
static_assert(offsetof(callback_frame, destroy) == sizeof(void*));

}  // namespace

TEST_CASE("the first word of a coroutine's frame is the function that resumes it") {
    int resumed = 0;
    int died = 0;
    const bare it = count_up(resumed, died);

    head_of(it.handle).resume(it.handle.address());
    CHECK(resumed == 1);
    head_of(it.handle).resume(it.handle.address());

    CHECK(resumed == 2);
    CHECK(died == 1);
    CHECK(it.handle.done());
    it.handle.destroy();
}

TEST_CASE("the second word of a coroutine's frame is the function that destroys it") {
    int resumed = 0;
    int died = 0;
    const bare it = count_up(resumed, died);
    it.handle.resume();

    head_of(it.handle).destroy(it.handle.address());

    CHECK(died == 1);
    CHECK(resumed == 1);
}

TEST_CASE("the language resumes and destroys a hand-made frame like any other") {
    counting_frame frame;
    const std::coroutine_handle<> handle = frame.handle();

    handle.resume();
    handle();
    handle.destroy();

    CHECK(frame.resumed == 2);
    CHECK(frame.destroyed == 1);
    CHECK(handle.address() == static_cast<void*>(&frame));
}

TEST_CASE("a coroutine transfers control to a hand-made frame, and it returns to the resumer") {
    counting_frame frame;
    const bare it = go_to(frame.handle());

    it.handle.resume();

    CHECK(frame.resumed == 1);
    CHECK_FALSE(it.handle.done());
    it.handle.resume();
    CHECK(it.handle.done());
    it.handle.destroy();
}

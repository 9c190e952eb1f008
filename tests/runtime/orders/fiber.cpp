// SPDX-License-Identifier: BSL-1.0
//
// How a stack is left and come back to: see fiber.hpp.
#include <runtime/orders/fiber.hpp>

namespace gyre::testing {
namespace {

constexpr std::size_t stack_size = 256 * 1024;
constexpr unsigned without_synchronization =
    1;  // To ThreadSanitizer: passing control orders nothing.

fiber* arriving = nullptr;
fiber* left = nullptr;

}  // namespace

fiber::~fiber() {
    if (stack_ != nullptr && known_as_ != nullptr) __tsan_destroy_fiber(known_as_);
}

void fiber::begin(void (*body)(void*), void* of) {
    body_ = body;
    of_ = of;
    if (stack_ == nullptr) stack_ = std::make_unique_for_overwrite<std::byte[]>(stack_size);
    if (__tsan_create_fiber != nullptr && known_as_ == nullptr) known_as_ = __tsan_create_fiber(0);
    bottom_ = stack_.get();
    size_ = stack_size;
    ::getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.get();
    context_.uc_stack.ss_size = stack_size;
    context_.uc_link = nullptr;
    ::makecontext(&context_, &fiber::enter, 0);
}

// A thread that ends passes control on while it is observed.
[[gnu::no_sanitize_thread]] void fiber::pass(fiber& from, fiber& to) noexcept {
    arriving = &to;
    left = &from;
    if (__tsan_switch_to_fiber != nullptr) {
        if (from.known_as_ == nullptr) from.known_as_ = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(to.known_as_, without_synchronization);
    }
    if (__sanitizer_start_switch_fiber != nullptr) {
        __sanitizer_start_switch_fiber(&from.fake_stack_, to.bottom_, to.size_);
    }
    ::swapcontext(&from.context_, &to.context_);
    arrived(from);
}

// The stack that was left has told its place for the way back, if it is the thread's own.
[[gnu::no_sanitize_thread]] void fiber::arrived(fiber& at) noexcept {
    if (__sanitizer_finish_switch_fiber == nullptr) return;
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(at.fake_stack_, &bottom, &size);
    if (left->bottom_ == nullptr) {
        left->bottom_ = bottom;
        left->size_ = size;
    }
}

[[gnu::no_sanitize_thread]] void fiber::enter() noexcept {
    fiber& self = *arriving;
    arrived(self);
    self.body_(self.of_);
}

}  // namespace gyre::testing

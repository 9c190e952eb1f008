// SPDX-License-Identifier: BSL-1.0
//
// A stack of its own for each explored thread: one runs at a time, and passes control to another one by name.
//
// Sanitizers are told of it where they are there; that is a question to the linker, hence the weak names.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <memory>

extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom,
                                                  std::size_t size);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom,
                                                   std::size_t* size);
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
[[gnu::weak]] void AnnotateIgnoreReadsBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreReadsEnd(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreWritesBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace gyre::testing {

class fiber {
public:
    /// The thread's own stack, which the others come back to.
    fiber() noexcept = default;
    fiber(const fiber&) = delete;
    fiber& operator=(const fiber&) = delete;
    ~fiber();

    /// Gives it a stack, on which `body(of)` is called when control is passed to it. `body` does not return.
    void begin(void (*body)(void*), void* of);

    /// Passes control from the one that runs to another one.
    static void pass(fiber& from, fiber& to) noexcept;

private:
    static void enter() noexcept;
    static void arrived(fiber& at) noexcept;

    ucontext_t context_{};
    std::unique_ptr<std::byte[]> stack_;
    const void* bottom_ = nullptr;  // Of the stack, as AddressSanitizer knows it.
    std::size_t size_ = 0;
    void* fake_stack_ = nullptr;
    void* known_as_ = nullptr;  // By ThreadSanitizer.
    void (*body_)(void*) = nullptr;
    void* of_ = nullptr;
};

/// While it lives ThreadSanitizer does not look at what its thread does: it explores, and is not explored.
class unobserved {
public:
    unobserved() noexcept {
        if (AnnotateIgnoreReadsBegin == nullptr) return;
        AnnotateIgnoreReadsBegin(nullptr, 0);
        AnnotateIgnoreWritesBegin(nullptr, 0);
    }
    unobserved(const unobserved&) = delete;
    unobserved& operator=(const unobserved&) = delete;
    ~unobserved() {
        if (AnnotateIgnoreReadsBegin == nullptr) return;
        AnnotateIgnoreWritesEnd(nullptr, 0);
        AnnotateIgnoreReadsEnd(nullptr, 0);
    }
};

/// What happened before a change, to ThreadSanitizer: by the writer, and by a reader that acquires it.
inline void tell_release(void* token) noexcept {
    if (__tsan_release != nullptr) __tsan_release(token);
}
inline void tell_acquire(void* token) noexcept {
    if (__tsan_acquire != nullptr) __tsan_acquire(token);
}

}  // namespace gyre::testing

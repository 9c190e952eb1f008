// SPDX-License-Identifier: BSL-1.0
//
// What is still to be done when a check has failed: what waits to be written is written.
//
// The hook of check.hpp is the program's, and there is one. Objects that hold something back have one of
// these each.
#pragma once

namespace gyre {

/// Something that is done behind the hook, before the process aborts. While it lives.
///
/// Threads:  any. Of several that fail a check at once, the first one does all of it.
class last_words {
public:
    /// @param  speak  Called as `speak(argument)`. Must not assume a consistent program, nor begin or end
    ///                another of these.
    last_words(void (*speak)(void*) noexcept, void* argument) noexcept;
    last_words(const last_words&) = delete;
    last_words& operator=(const last_words&) = delete;
    ~last_words();

    /// Does all of them, once in the life of the process. For `fail_check`.
    static void say() noexcept;

    /// For handlers of fork(2): no other thread is at the list in between, and the child finds it whole. Last
    /// words may fork themselves.
    static void lock_all() noexcept;
    static void unlock_all() noexcept;

    /// True within `speak`. Handlers of fork(2) wait for no lock then: whoever holds one may wait for this.
    [[nodiscard]] static bool speaks_here() noexcept;

private:
    void (*speak_)(void*) noexcept;
    void* argument_;
    last_words* next_;
    last_words** before_;  // What points here.
};

}  // namespace gyre

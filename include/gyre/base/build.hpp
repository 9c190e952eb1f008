// SPDX-License-Identifier: BSL-1.0
//
// The build's configuration as constants, and a guard against linking two configurations together.
//
// With and without exceptions, promises have different layouts, and an exception that crosses a
// frame compiled without them skips its destructors. Layouts also change with a minor version, and with
// libstdc++'s checked containers (-D_GLIBCXX_DEBUG). So every object file that sees a coroutine header
// asks the linker for a symbol that only the library of its own kind defines.
// docs/decisions/0002-link-guard.md tells why this is no inline namespace.
#pragma once

#include <concepts>
#include <type_traits>

namespace gyre {

// The version is CMakeLists.txt's, which looks for it here.
#if defined(_GLIBCXX_DEBUG)
inline namespace v0_1_with_checked_containers {
#else
inline namespace v0_1 {
#endif

#if defined(__cpp_exceptions)
inline constexpr bool exceptions_enabled = true;
extern const char built_with_exceptions;
[[gnu::used, gnu::retain]] static const char* const exceptions_guard = &built_with_exceptions;
#else
inline constexpr bool exceptions_enabled = false;
extern const char built_without_exceptions;
[[gnu::used, gnu::retain]] static const char* const exceptions_guard = &built_without_exceptions;
#endif

}  // inline namespace

/// Whether handing control from coroutine to coroutine is a tail call. clang makes it one at every
/// level; g++ 12 only from -O2 on and never under ASan, and no macro tells -O1 from -O2.
#if defined(__clang__)
inline constexpr bool symmetric_transfer_is_tail_call = true;
#else
inline constexpr bool symmetric_transfer_is_tail_call = false;
#endif

/// Whether a lambda that is a temporary of an awaiting expression is destroyed twice; see
/// docs/guide/compilers.md.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
inline constexpr bool destroys_lambdas_twice = true;
#else
inline constexpr bool destroys_lambdas_twice = false;
#endif

/// What may be such a lambda, as deduced for a parameter `Function&&`: an overload for these warns. It looks
/// for what a lambda with captures has and other function objects rarely have. Named ones that are moved,
/// and temporaries elsewhere, look the same and are right, hence only a warning; and those that do not copy
/// can be passed in no other way, so nothing is said of them.
template <class Function>
concept maybe_destroyed_twice =
    destroys_lambdas_twice && std::is_class_v<Function> && std::copy_constructible<Function> &&
    !std::is_trivially_destructible_v<Function> && !std::default_initializable<Function>;

/// Whether this object file is built without the sanitizers that watch memory, so that the frame cache
/// may recycle what is freed; whether it does is asked of the whole program (frame_allocator.cpp).
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool recycles_memory = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool recycles_memory = false;
#else
inline constexpr bool recycles_memory = true;
#endif
#else
inline constexpr bool recycles_memory = true;
#endif

/// Whether a signal's handler may run late: ThreadSanitizer holds signals back until the thread
/// makes a call that it intercepts, and the system calls in which loops sleep are none.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool signals_come_late = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool signals_come_late = true;
#else
inline constexpr bool signals_come_late = false;
#endif
#else
inline constexpr bool signals_come_late = false;
#endif

}  // namespace gyre

/// Behind a parameter, or a member function: what it returns borrows from that, and must not be kept longer.
/// clang then warns where it is; g++ has nothing like it.
#if defined(__clang__)
#define GYRE_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define GYRE_LIFETIMEBOUND
#endif

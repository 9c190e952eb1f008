// SPDX-License-Identifier: BSL-1.0
//
// How a test makes the start of a thread fail.
//
// Limits on the number of threads do not bind root, nor can they be lifted again. A stack that does not fit
// into the address space fails for root, too, and only as long as the test wants it.
#pragma once

#include <doctest/doctest.h>

#include <pthread.h>

#include <cstddef>

namespace gyre::testing {

/// While it lives, threads that are started without a wish of their own get stacks of this size.
class thread_stacks {
public:
    static constexpr std::size_t impossible = std::size_t{1} << 47;

    explicit thread_stacks(std::size_t bytes) {
        REQUIRE(::pthread_getattr_default_np(&before_) == 0);
        pthread_attr_t wanted;
        REQUIRE(::pthread_attr_init(&wanted) == 0);
        REQUIRE(::pthread_attr_setstacksize(&wanted, bytes) == 0);
        REQUIRE(::pthread_setattr_default_np(&wanted) == 0);
        ::pthread_attr_destroy(&wanted);
    }
    thread_stacks(const thread_stacks&) = delete;
    thread_stacks& operator=(const thread_stacks&) = delete;
    ~thread_stacks() {
        ::pthread_setattr_default_np(&before_);
        ::pthread_attr_destroy(&before_);
    }

private:
    pthread_attr_t before_{};
};

}  // namespace gyre::testing

// SPDX-License-Identifier: BSL-1.0
//
// Included before anything else in sources that are explored: from here on they say std::atomic, and get
// modelled_atomic.hpp. So it is the library's own code whose every step is chosen, and no copy of it.
#pragma once

// What of the standard library is made of atomics keeps its own.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <runtime/orders/modelled_atomic.hpp>

namespace std {
using gyre::testing::modelled_atomic;
}

#define atomic \
    modelled_atomic  // NOLINT: a name in no header of the language would need a second library.

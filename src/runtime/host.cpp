// SPDX-License-Identifier: BSL-1.0
//
// How the openings of a descriptor number begin and end, on whichever host: see
// include/gyre/runtime/host.hpp.
#include <gyre/runtime/host.hpp>

#include <gyre/base/check.hpp>

namespace gyre {

void descriptor_slot::begin_opening(int value) noexcept {
    expects(!open(), "a descriptor number has one owner");
    expects(home == nullptr && pending.empty(), "no loop uses what is not open");
    number = value;
    forks = 0;
    maybe_readable = maybe_writable = true;
    hung_up = registered = registered_for_writing = repeated = nonblocking = false;
    filled = sends_large = answering = false;
    stored = pipe = uncached = limited = waits_anyway = false;
    terminal = terminal_side::none;
    cache_misses = untried_reads = 0;
    duplex = prompt = datagrams = listens = crowded = uncut = false;
    listener = nullptr;
    vain_first_reads.store(0, std::memory_order_relaxed);
    lone_accepts = large = 0;
    family = 0;
    writer = nullptr;
    portion_max = INT32_MAX;
    generation.fetch_add(1, std::memory_order_relaxed);
}

void descriptor_slot::end_opening() noexcept {
    expects(open() && pending.empty() && home == nullptr, "idle and detached");
    // A late event for this number must not match its next owner.
    generation.fetch_add(1, std::memory_order_release);
}

}  // namespace gyre

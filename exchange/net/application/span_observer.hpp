// SPDX-License-Identifier: BSL-1.0
//
// The points of a facility at which its latency is measured.
//
// Every pipeline calls these at the same events, so that their spans can be compared. A facility
// without an observer pays one comparison of a pointer for each.
#pragma once

namespace exchange {

/// Threads:  called on that of the facility's context.
class span_observer {
public:
    /// Bytes of a client are in our memory.
    virtual void received() noexcept = 0;

    /// One packet has been carried out, and everything derived from it encoded.
    virtual void carried_out() noexcept = 0;

    /// The kernel has taken the last byte of everything that was derived so far, for all clients.
    virtual void written() noexcept = 0;

protected:
    ~span_observer() = default;
};

}  // namespace exchange

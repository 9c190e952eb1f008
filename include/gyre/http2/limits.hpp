// SPDX-License-Identifier: BSL-1.0
//
// What one peer of HTTP/2 may have and do, on either side of a connection.
#pragma once

#include <gyre/base/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace gyre::http2 {

/// How often a peer may do something: so many times at once, and so many more each second.
struct rate_limit {
    std::uint32_t burst;
    std::uint32_t per_second;
};

/// Bounds for what costs us without carrying content. Useful work earns more: of resets, each request that
/// was answered one; of WINDOW_UPDATE, each DATA frame of ours four; of PING, each DATA frame of the
/// peer's one; of PRIORITY, each request two. More is a breach.
struct flood_limits {
    flood_limits() noexcept = default;

    rate_limit resets{100, 10};
    rate_limit refused_streams{200, 20};
    rate_limit stream_errors{50, 5};
    rate_limit pings{50, 5};
    rate_limit settings{20, 1};
    rate_limit priorities{300, 20};
    rate_limit window_updates{500, 100};
    rate_limit empty_frames{50, 5};
    rate_limit unknown_frames{100, 10};
    std::size_t continuations_max = 8;      ///< Of one field block.
    std::size_t queued_frames_max = 1'000;  ///< Of ours that the peer has not read, without DATA.
    std::size_t settings_per_frame_max = 32;
};

/// What one connection may take of memory.
struct window_limits {
    window_limits() noexcept = default;

    /// Of one stream: what comes before its reader reads. From 65,535 to 2^31-1.
    std::uint32_t stream_bytes = 256 * 1024;
    /// Of all streams together; given back as their readers read. From 65,535 to 2^31-1.
    std::uint32_t connection_bytes = 1024 * 1024;
};

/// What both sides agree on how long to wait.
struct time_limits {
    time_limits() noexcept = default;

    duration head_max = std::chrono::seconds{15};  ///< For a field block, or the preface, to end.
    duration idle_max = std::chrono::seconds{60};  ///< Without a stream; then an orderly end.
    duration settings_max = std::chrono::seconds{10};  ///< For SETTINGS to be acknowledged.
    duration write_max = std::chrono::seconds{30};     ///< For the peer to take anything.
    duration ping_after = std::chrono::seconds{30};    ///< Of silence while there are streams.
    duration ping_max = std::chrono::seconds{15};      ///< For the answer to that PING.
    duration drain_max = std::chrono::seconds{30};     ///< For streams to end after GOAWAY.
    duration linger_max = std::chrono::seconds{2};  ///< For the peer to end as well, after GOAWAY.
};

}  // namespace gyre::http2

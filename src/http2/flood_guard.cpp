// SPDX-License-Identifier: BSL-1.0
#include <http2/flood_guard.hpp>

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <chrono>

namespace gyre::http2 {
namespace {

breach unless(bool allowed, breach otherwise) noexcept {
    return allowed ? breach::none : otherwise;
}

}  // namespace

void flood_balance::fill(time_point now) noexcept {
    if (filled_at_ == time_point::min()) {
        filled_at_ = now;
        return;
    }
    const auto passed =
        std::chrono::duration_cast<std::chrono::milliseconds>(time_left(now, filled_at_));
    if (passed.count() == 0) return;
    // Capped before it is multiplied: a clock may jump.
    const std::int64_t counted = std::min<std::int64_t>(passed.count(), std::int64_t{1} << 20);
    left_ += counted * limit_.per_second * unit / 1000;
    filled_at_ += passed;  // The rest of a millisecond counts the next time.
    cap();
}

flood_guard::flood_guard(const flood_limits& limits, std::size_t head_bytes_max) noexcept
    : continuations_max_{limits.continuations_max},
      // HPACK seldom makes a head longer, but may; far more than is allowed is not decoded.
      block_bytes_max_{2 * head_bytes_max},
      resets_{limits.resets},
      refused_{limits.refused_streams},
      errors_{limits.stream_errors},
      pings_{limits.pings},
      settings_{limits.settings},
      priorities_{limits.priorities},
      window_updates_{limits.window_updates},
      empty_{limits.empty_frames},
      unknown_{limits.unknown_frames} {}

// RFC 9113, 10.5.
breach flood_guard::frame(std::uint8_t type, std::uint8_t flags, std::size_t length,
                          time_point now) noexcept {
    const bool acknowledges = (flags & NGHTTP2_FLAG_ACK) != 0;
    switch (type) {
        case NGHTTP2_DATA:
            if (length == 0 && (flags & NGHTTP2_FLAG_END_STREAM) == 0) return hollow_frame(now);
            pings_.earn(1);
            return breach::none;
        case NGHTTP2_HEADERS: return block_frame(true, flags, length, now);
        case NGHTTP2_CONTINUATION: return block_frame(false, flags, length, now);
        case NGHTTP2_PRIORITY: return unless(priorities_.draw(now), breach::priority_flood);
        case NGHTTP2_RST_STREAM: return unless(resets_.draw(now), breach::rapid_reset);
        case NGHTTP2_SETTINGS:
            return unless(acknowledges || settings_.draw(now), breach::settings_flood);
        case NGHTTP2_PING: return unless(acknowledges || pings_.draw(now), breach::ping_flood);
        case NGHTTP2_WINDOW_UPDATE: return unless(window_updates_.draw(now), breach::window_flood);
        default: return unless(unknown_.draw(now), breach::unknown_frames);
    }
}

breach flood_guard::block_frame(bool begins, std::uint8_t flags, std::size_t length,
                                time_point now) noexcept {
    if (begins) {
        continuations_ = 0;
        block_bytes_ = 0;
    } else if (++continuations_ > continuations_max_) {
        return breach::continuations;
    }
    in_block_ = (flags & NGHTTP2_FLAG_END_HEADERS) == 0;
    block_bytes_ += length;
    if (block_bytes_ > block_bytes_max_) return breach::head_size;
    if (length == 0 && in_block_) return hollow_frame(now);
    return breach::none;
}

breach flood_guard::hollow_frame(time_point now) noexcept {
    return unless(empty_.draw(now), breach::empty_frames);
}

breach flood_guard::refused_stream(time_point now) noexcept {
    return unless(refused_.draw(now), breach::refused_streams);
}

breach flood_guard::stream_error(time_point now) noexcept {
    return unless(errors_.draw(now), breach::stream_errors);
}

}  // namespace gyre::http2

// SPDX-License-Identifier: BSL-1.0
//
// The Gregorian calendar as one counts it on one's fingers: the model knows by it which day is over.
#pragma once

#include <exchange/core/types.hpp>

#include <cstdint>

namespace exchange::testing {

/// Years 1970 to 2200, as number yyyymmdd.
[[nodiscard]] bool is_date(std::uint32_t yyyymmdd);

/// When the day after begins, in UTC, since 1970. For a date.
[[nodiscard]] timestamp_ns end_of_day(std::uint32_t yyyymmdd);

}  // namespace exchange::testing

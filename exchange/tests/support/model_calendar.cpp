// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/tests/support/model_calendar.hpp>

namespace exchange::testing {
namespace {

constexpr std::uint32_t first_year = 1970;
constexpr std::uint32_t last_year = 2200;

bool is_leap(std::uint32_t year) {
    if (year % 400 == 0) return true;
    return year % 4 == 0 && year % 100 != 0;
}

std::uint32_t days_in(std::uint32_t year, std::uint32_t month) {
    if (month == 2) return is_leap(year) ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

}  // namespace

bool is_date(std::uint32_t yyyymmdd) {
    const std::uint32_t year = yyyymmdd / 10'000;
    const std::uint32_t month = yyyymmdd / 100 % 100;
    const std::uint32_t day = yyyymmdd % 100;
    if (year < first_year || year > last_year || month < 1 || month > 12) return false;
    return day >= 1 && day <= days_in(year, month);
}

timestamp_ns end_of_day(std::uint32_t yyyymmdd) {
    const std::uint32_t year = yyyymmdd / 10'000;
    const std::uint32_t month = yyyymmdd / 100 % 100;
    std::uint64_t days = yyyymmdd % 100;
    for (std::uint32_t each = first_year; each < year; ++each) days += is_leap(each) ? 366 : 365;
    for (std::uint32_t each = 1; each < month; ++each) days += days_in(year, each);
    return days * 86'400'000'000'000;
}

}  // namespace exchange::testing

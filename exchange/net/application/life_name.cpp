// SPDX-License-Identifier: BSL-1.0
//
// Dates and digits: see life_name.hpp.
#include <exchange/net/application/life_name.hpp>

#include <array>
#include <chrono>
#include <string_view>

namespace exchange {
namespace {

using name_text = std::array<char, 10>;

constexpr std::size_t date_digits = 6;
constexpr timestamp_ns day_ns = 86'400'000'000'000;
constexpr timestamp_ns slots_of_a_day = 36 * 36 * 36 * 36;

// A moment of the day times the slots of a day does not fit 64 bits, so both are divided by what they share.
constexpr timestamp_ns shared = 6912;
static_assert(day_ns % shared == 0 && slots_of_a_day % shared == 0);

/// Writes the last digits of `value` into [first, last).
void put(name_text& into, std::size_t first, std::size_t last, std::uint64_t value,
         std::uint64_t base) noexcept {
    constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (std::size_t at = last; at > first; value /= base) into[--at] = digits[value % base];
}

}  // namespace

padded_text<10> life_name(timestamp_ns begun) noexcept {
    const std::chrono::sys_days epoch;
    const std::chrono::year_month_day date{
        epoch + std::chrono::days{static_cast<std::int64_t>(begun / day_ns)}};
    const auto year = static_cast<std::uint64_t>(static_cast<int>(date.year()));
    const std::uint64_t month = static_cast<unsigned>(date.month());
    const std::uint64_t day = static_cast<unsigned>(date.day());
    const timestamp_ns slot = begun % day_ns * (slots_of_a_day / shared) / (day_ns / shared);

    name_text name;
    put(name, 0, date_digits, (year % 100 * 100 + month) * 100 + day, 10);
    put(name, date_digits, name.size(), slot, 36);
    return std::string_view{name.data(), name.size()};
}

}  // namespace exchange

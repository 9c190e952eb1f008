// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/http_date.hpp>

#include <algorithm>
#include <cstddef>

namespace gyre::http {
namespace {

constexpr std::string_view day_names = "SunMonTueWedThuFriSat";
constexpr std::string_view month_names = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr std::string_view pattern = "www, dd mmm yyyy hh:mm:ss GMT";

void put_number(char* into, unsigned value, int digits) noexcept {
    for (int at = digits - 1; at >= 0; --at) {
        into[at] = static_cast<char>('0' + value % 10);
        value /= 10;
    }
}

int number_at(std::string_view text, std::size_t at, std::size_t digits) noexcept {
    int value = 0;
    for (const char c : text.substr(at, digits)) {
        if (c < '0' || c > '9') return -1;
        value = value * 10 + (c - '0');
    }
    return value;
}

}  // namespace

http_date_text format_http_date(std::chrono::sys_seconds when) noexcept {
    const auto day = std::chrono::floor<std::chrono::days>(when);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss time{when - day};
    const auto month = static_cast<unsigned>(date.month());
    http_date_text text;
    std::copy(pattern.begin(), pattern.end(), text.begin());
    const std::size_t weekday = std::chrono::weekday{day}.c_encoding();
    std::copy_n(day_names.data() + weekday * 3, 3, text.data());
    put_number(text.data() + 5, static_cast<unsigned>(date.day()), 2);
    std::copy_n(month_names.data() + std::size_t{month - 1} * 3, 3, text.data() + 8);
    put_number(text.data() + 12, static_cast<unsigned>(static_cast<int>(date.year())), 4);
    put_number(text.data() + 17, static_cast<unsigned>(time.hours().count()), 2);
    put_number(text.data() + 20, static_cast<unsigned>(time.minutes().count()), 2);
    put_number(text.data() + 23, static_cast<unsigned>(time.seconds().count()), 2);
    return text;
}

std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text) noexcept {
    if (text.size() != pattern.size()) return std::nullopt;
    const std::size_t month = month_names.find(text.substr(8, 3));
    if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
    const std::chrono::year_month_day date{
        std::chrono::year{number_at(text, 12, 4)},
        std::chrono::month{static_cast<unsigned>(month / 3 + 1)},
        std::chrono::day{static_cast<unsigned>(std::max(0, number_at(text, 5, 2)))}};
    const int hour = number_at(text, 17, 2);
    const int minute = number_at(text, 20, 2);
    const int second = number_at(text, 23, 2);
    if (!date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0) {
        return std::nullopt;
    }
    const std::chrono::sys_seconds when = std::chrono::sys_days{date} + std::chrono::hours{hour} +
                                          std::chrono::minutes{minute} +
                                          std::chrono::seconds{std::min(second, 59)};
    // What is wrong with separators, the weekday or the zone shows here; a leap second is the one before it.
    const http_date_text again = format_http_date(when);
    const std::string_view expected{again.data(), again.size()};
    if (second <= 60 && expected.substr(0, 23) == text.substr(0, 23) && text.substr(25) == " GMT") {
        return when;
    }
    return std::nullopt;
}

std::string_view date_cache::line(time_point now) noexcept {
    if (now >= good_until_) {
        const auto clock = clock_ ? clock_() : std::chrono::system_clock::now();
        const auto second = std::chrono::floor<std::chrono::seconds>(clock);
        const http_date_text text = format_http_date(second);
        char* const after_name = std::copy(name.begin(), name.end(), line_.data());
        char* const end = std::copy(text.begin(), text.end(), after_name);
        end[0] = '\r';
        end[1] = '\n';
        good_until_ = deadline_after(
            now, std::chrono::duration_cast<duration>(second + std::chrono::seconds{1} - clock));
    }
    return {line_.data(), line_.size()};
}

}  // namespace gyre::http

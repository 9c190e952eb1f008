// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/http_date.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace gyre::http {
namespace {

constexpr std::string_view day_names = "SunMonTueWedThuFriSat";
constexpr std::string_view month_names = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr std::array<std::string_view, 7> long_day_names{
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
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

// One moment as its text has it; the numbers are -1 where there were no digits.
struct date_parts {
    std::string_view weekday;  // Three letters.
    std::string_view month;
    int year;
    int day;
    std::string_view time;  // hh:mm:ss
};

std::optional<std::chrono::sys_seconds> moment_of(const date_parts& of) noexcept {
    const std::size_t month = month_names.find(of.month);
    if (month == std::string_view::npos || month % 3 != 0 || of.year < 0 || of.day < 0) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{std::chrono::year{of.year},
                                           std::chrono::month{static_cast<unsigned>(month / 3 + 1)},
                                           std::chrono::day{static_cast<unsigned>(of.day)}};
    const int hour = number_at(of.time, 0, 2);
    const int minute = number_at(of.time, 3, 2);
    const int second = number_at(of.time, 6, 2);
    const bool in_range =
        hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 60;
    if (!date.ok() || !in_range || of.time[2] != ':' || of.time[5] != ':') return std::nullopt;
    // A leap second is the one before it.
    return std::chrono::sys_days{date} + std::chrono::hours{hour} + std::chrono::minutes{minute} +
           std::chrono::seconds{std::min(second, 59)};
}

// The same; nothing if it was another day of the week.
std::optional<std::chrono::sys_seconds> on_its_weekday(const date_parts& of) noexcept {
    const std::optional<std::chrono::sys_seconds> when = moment_of(of);
    if (!when) return std::nullopt;
    const auto day = std::chrono::floor<std::chrono::days>(*when);
    const std::size_t weekday = std::chrono::weekday{day}.c_encoding();
    if (day_names.substr(weekday * 3, 3) != of.weekday) return std::nullopt;
    return when;
}

// Sun, 06 Nov 1994 08:49:37 GMT
std::optional<std::chrono::sys_seconds> read_fixed(std::string_view text) noexcept {
    const bool shaped = text.size() == pattern.size() && text.substr(3, 2) == ", " &&
                        text[7] == ' ' && text[11] == ' ' && text[16] == ' ';
    if (!shaped) return std::nullopt;
    return on_its_weekday({text.substr(0, 3), text.substr(8, 3), number_at(text, 12, 4),
                           number_at(text, 5, 2), text.substr(17, 8)});
}

// Sunday, 06-Nov-94 08:49:37 GMT. RFC 9110, 5.6.7: a year that appears to be more than fifty years ahead is
// the last one in the past with the same digits.
std::optional<std::chrono::sys_seconds> read_rfc850(
    std::string_view text, std::chrono::system_clock::time_point present) noexcept {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view name = text.substr(0, comma);
    const std::string_view rest = text.substr(comma);
    const bool shaped = rest.size() == 24 && rest.substr(0, 2) == ", " && rest[4] == '-' &&
                        rest[8] == '-' && rest[11] == ' ';
    if (!shaped ||
        std::find(long_day_names.begin(), long_day_names.end(), name) == long_day_names.end()) {
        return std::nullopt;
    }
    const int digits = number_at(rest, 9, 2);
    if (digits < 0) return std::nullopt;
    date_parts parts{name.substr(0, 3), rest.substr(5, 3), 0, number_at(rest, 2, 2),
                     rest.substr(12, 8)};
    const auto day = std::chrono::floor<std::chrono::days>(present);
    const std::chrono::year_month_day today{day};
    const std::chrono::year in_fifty{today.year() + std::chrono::years{50}};
    const auto horizon =
        std::chrono::sys_days{in_fifty / today.month() / today.day()} + (present - day);
    const int latest = static_cast<int>(in_fifty);
    parts.year = latest - (latest - digits) % 100;
    const std::optional<std::chrono::sys_seconds> when = moment_of(parts);
    if (when && *when > horizon) parts.year -= 100;
    return on_its_weekday(parts);
}

// Sun Nov  6 08:49:37 1994
std::optional<std::chrono::sys_seconds> read_asctime(std::string_view text) noexcept {
    const bool shaped =
        text.size() == 24 && text[3] == ' ' && text[7] == ' ' && text[10] == ' ' && text[19] == ' ';
    if (!shaped) return std::nullopt;
    const int day = text[8] == ' ' ? number_at(text, 9, 1) : number_at(text, 8, 2);
    return on_its_weekday(
        {text.substr(0, 3), text.substr(4, 3), number_at(text, 20, 4), day, text.substr(11, 8)});
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

std::optional<std::chrono::sys_seconds> parse_http_date(
    std::string_view text, std::chrono::system_clock::time_point present) noexcept {
    if (text.ends_with(" GMT")) {
        return text.find('-') == std::string_view::npos ? read_fixed(text)
                                                        : read_rfc850(text, present);
    }
    return read_asctime(text);
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

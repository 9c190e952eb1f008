// SPDX-License-Identifier: BSL-1.0
//
// A line in memory, and one write: see event_log.hpp.
#include <exchange/management/event_log.hpp>

#include <exchange/codec/json_text.hpp>
#include <exchange/management/write_within.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <span>

#include <time.h>

namespace exchange {
namespace {

constexpr std::array<std::string_view, 4> level_names{"debug", "info", "warning", "error"};
constexpr std::size_t line_bytes_max =
    4096;  // As much a pipe takes in one piece (pipe(7), PIPE_BUF).

// "2026-11-27T13:45:01.123456Z": the time of day of now, in UTC.
class stamp {
public:
    stamp() noexcept {
        timespec now{};
        ::clock_gettime(CLOCK_REALTIME, &now);
        std::tm parts{};
        ::gmtime_r(&now.tv_sec, &parts);
        std::snprintf(text_.data(), text_.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ",
                      parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                      parts.tm_min, parts.tm_sec, now.tv_nsec / 1000);
    }
    [[nodiscard]] std::string_view text() const noexcept { return text_.data(); }

private:
    std::array<char, 64> text_{};
};

void add(json_writer& to, std::string_view text) noexcept {
    constexpr std::size_t most = event_log::text_bytes_max;
    if (text.size() <= most) return to.text(text);
    std::array<char, most + 3> cut{};
    std::copy_n(text.data(), most, cut.data());
    std::fill(cut.begin() + most, cut.end(), '.');
    to.text({cut.data(), cut.size()});
}
void add(json_writer& to, std::int64_t number) noexcept { to.integer(number); }
void add(json_writer& to, std::uint64_t number) noexcept { to.natural(number); }
void add(json_writer& to, bool truth) noexcept { to.truth(truth); }

struct head {
    std::string_view time;
    log_level level;
    std::string_view process;
    std::string_view event;
};

void begin(json_writer& to, const head& of) noexcept {
    to.begin_object();
    to.key("time");
    to.text(of.time);
    to.key("level");
    to.text(describe(of.level));
    to.key("process");
    to.text(of.process);
    to.key("event");
    add(to, of.event);
}

}  // namespace

std::string_view describe(log_level level) noexcept {
    return level_names[static_cast<std::size_t>(level)];
}

std::optional<log_level> find_log_level(std::string_view name) noexcept {
    const auto* const found = std::ranges::find(level_names, name);
    if (found == level_names.end()) return std::nullopt;
    return static_cast<log_level>(found - level_names.begin());
}

std::string all_log_levels() {
    std::string made;
    for (const std::string_view each : level_names)
        made.append(made.empty() ? "" : ", ").append(each);
    return made;
}

void event_log::write(log_level level, std::string_view event,
                      std::initializer_list<log_field> fields) noexcept {
    if (!tells(level)) return;
    const stamp now;
    const head of{now.text(), level, process_, event};
    std::array<std::byte, line_bytes_max> line;
    const std::span<std::byte> room{line.data(), line.size() - 1};
    json_writer to{room};
    begin(to, of);
    for (const log_field& each : fields) {
        to.key(each.name);
        std::visit([&to](const auto& value) { add(to, value); }, each.value.what());
    }
    to.end_object();
    if (to.full()) {
        to = json_writer{room};
        begin(to, of);
        to.key("cut");
        to.truth(true);
        to.end_object();
    }
    line[to.size()] = std::byte{'\n'};
    const std::span<const std::byte> whole = std::span{line}.first(to.size() + 1);
    if (write_within(std::chrono::milliseconds{0}, descriptor_, whole) < whole.size())
        lost_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace exchange

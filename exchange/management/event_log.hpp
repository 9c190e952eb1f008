// SPDX-License-Identifier: BSL-1.0
//
// What a process tells of itself while it runs: one line of JSON for each event, with a time and a level.
//
//     {"time":"2026-11-27T13:45:01.123456Z","level":"info","process":"order_entry_gateway",
//      "event":"link_lost","facility":"127.0.0.1:7005"}         (in one line)
//
// A line is one write, of no more than a pipe takes in one piece, so lines of several processes stay whole.
// It is for what happens seldom: an event for each message would be a count in admin_report.hpp.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace exchange {

enum class log_level : std::uint8_t { debug, info, warning, error };

/// "debug", "info", "warning", "error"; static storage.
[[nodiscard]] std::string_view describe(log_level level) noexcept;
[[nodiscard]] std::optional<log_level> find_log_level(std::string_view name) noexcept;
/// All names, with commas between them.
[[nodiscard]] std::string all_log_levels();

/// What one field of an event says. Borrows text.
class log_value {
public:
    log_value(std::string_view text) noexcept : what_{text} {}
    log_value(const std::string& text) noexcept : what_{std::string_view{text}} {}
    log_value(const char* text) noexcept : what_{std::string_view{text}} {}
    log_value(bool truth) noexcept : what_{truth} {}
    template <std::integral Number>
        requires(!std::same_as<Number, bool>)
    log_value(Number number) noexcept {
        if constexpr (std::is_signed_v<Number>) what_ = std::int64_t{number};
        else what_ = std::uint64_t{number};
    }

    using variant = std::variant<std::string_view, std::int64_t, std::uint64_t, bool>;
    [[nodiscard]] const variant& what() const noexcept { return what_; }

private:
    variant what_;
};

struct log_field {
    std::string_view name;  ///< Needs no escapes.
    log_value value;
};

/// Writes lines to a descriptor.
///
/// Threads:  any, if the descriptor's writes are whole: files that are appended to, pipes, terminals.
/// Cost:     a read of the clock and two system calls for a line; no allocation. No reader is waited for: a
///           line for which a pipe has no room is lost, and counted; see write_within.hpp for kernels that
///           cannot promise that to several writers. Below the level, a comparison.
class event_log {
public:
    /// The longest text of a field; of more only the beginning is told, with "..." behind it.
    static constexpr std::size_t text_bytes_max = 512;

    /// @param  descriptor  Borrowed; where lines go. Negative: nowhere.
    /// @param  process     Who tells. Needs no escapes.
    event_log(int descriptor, std::string process, log_level least = log_level::info)
        : descriptor_{descriptor}, process_{std::move(process)}, least_{least} {}
    event_log(const event_log&) = delete;
    event_log& operator=(const event_log&) = delete;

    /// Tells an event, if its level is told.
    ///
    /// Errors:  a line that cannot be written is counted: see `lost`. One that has no room for all of its
    ///          fields has none of them, but "cut":true.
    void write(log_level level, std::string_view event,
               std::initializer_list<log_field> fields = {}) noexcept;

    void debug(std::string_view event, std::initializer_list<log_field> fields = {}) noexcept {
        write(log_level::debug, event, fields);
    }
    void info(std::string_view event, std::initializer_list<log_field> fields = {}) noexcept {
        write(log_level::info, event, fields);
    }
    void warning(std::string_view event, std::initializer_list<log_field> fields = {}) noexcept {
        write(log_level::warning, event, fields);
    }
    void error(std::string_view event, std::initializer_list<log_field> fields = {}) noexcept {
        write(log_level::error, event, fields);
    }

    [[nodiscard]] bool tells(log_level level) const noexcept {
        return level >= least_ && descriptor_ >= 0;
    }
    /// Lines that could not be written.
    [[nodiscard]] std::uint64_t lost() const noexcept {
        return lost_.load(std::memory_order_relaxed);
    }

private:
    int descriptor_;
    std::string process_;
    log_level least_;
    std::atomic<std::uint64_t> lost_ = 0;
};

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// JSON as text: written into room that is given, read strictly and once from front to back.
//
// A library's reader would make a tree, or a string for each key, of what a stranger sent. Here nothing is
// allocated and nothing is stepped over: whoever reads says what comes next, so that a message cannot nest
// deeper than its schema does. json_message.hpp is what reads and writes by schemas.
#pragma once

#include <exchange/codec/padded_text.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace exchange {

/// Appends values to an object; commas come by themselves.
///
/// Threads:  One at a time.
/// Cost:     No allocation.
class json_writer {
public:
    /// @param  into  Borrowed. Behind its end nothing is written, and `full` from then on.
    explicit json_writer(std::span<std::byte> into) noexcept : into_{into} {}

    void begin_object() noexcept { open('{'); }
    void end_object() noexcept { close('}'); }
    void begin_list() noexcept { open('['); }
    void end_list() noexcept { close(']'); }

    /// What follows is the value of this key, which needs no escapes.
    void key(std::string_view name) noexcept;
    /// What follows is the next value of a list.
    void item() noexcept;

    void text(std::string_view value) noexcept;  ///< What is not printable ASCII is escaped.
    void natural(std::uint64_t value) noexcept;
    void integer(std::int64_t value) noexcept;
    void quoted_natural(std::uint64_t value) noexcept;
    void quoted_integer(std::int64_t value) noexcept;
    void truth(bool value) noexcept { put(value ? "true" : "false"); }

    /// Was there more to write than room?
    [[nodiscard]] bool full() const noexcept { return full_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    void put(std::string_view text) noexcept;
    void open(char bracket) noexcept;
    void close(char bracket) noexcept;

    std::span<std::byte> into_;
    std::size_t size_ = 0;
    bool first_ = true;  // Of the object or list that is open.
    bool full_ = false;
};

/// Why a text is not what it should be.
enum class json_fault : std::uint8_t {
    none,
    not_json,           ///< The grammar is broken.
    too_long,           ///< A string that is longer than any that is understood.
    not_printable,      ///< A string has something else than printable ASCII in it.
    message_not_first,  ///< An object that does not begin with "message".
    unknown_message,
    unknown_field,
    duplicate_field,
    missing_field,
    wrong_type,
    out_of_range,
    unknown_name,  ///< None of those that the field may have.
    too_many_entries,
    wrong_sequence,  ///< Another number than that of the message that is due.
};

/// A clause for people; static storage.
[[nodiscard]] std::string_view describe(json_fault fault) noexcept;

/// Reads values, one after the other. Whatever it was asked for and has not found is a fault, which stays.
///
/// Threads:  One at a time.
/// Cost:     One look at each byte; no allocation.
class json_cursor {
public:
    static constexpr std::size_t text_bytes_max = 128;

    /// @param  text  Borrowed; UTF-8.
    explicit json_cursor(std::string_view text) noexcept : text_{text} {}

    /// Steps over this character, if it comes next.
    [[nodiscard]] bool take(char wanted) noexcept;
    /// The same of a character that must come. False if it does not.
    [[nodiscard]] bool need(char wanted) noexcept;
    /// Steps over this literal, such as "null", if it comes next.
    [[nodiscard]] bool take_literal(std::string_view wanted) noexcept;
    /// What comes next, or 0 at the end.
    [[nodiscard]] char peek() noexcept;

    /// The name of a member, with its colon. As `text`.
    [[nodiscard]] std::optional<std::string_view> key() noexcept;
    /// A string of at most `text_bytes_max` printable characters. Valid until the next one.
    [[nodiscard]] std::optional<std::string_view> text() noexcept;
    /// An integer, as JSON writes numbers: without fraction, exponent or leading zeros. Of one beyond 64 bits
    /// `out_of_range`.
    [[nodiscard]] std::optional<std::uint64_t> natural() noexcept;
    [[nodiscard]] std::optional<std::int64_t> integer() noexcept;

    /// Is nothing left but white space?
    [[nodiscard]] bool at_end() noexcept { return peek() == 0 && at_ >= text_.size(); }

    /// Notes a fault, unless there is one.
    void fail(json_fault why) noexcept {
        if (fault_ == json_fault::none) fault_ = why;
    }
    [[nodiscard]] json_fault fault() const noexcept { return fault_; }
    /// Where it has come to.
    [[nodiscard]] std::size_t position() const noexcept { return at_; }

private:
    [[nodiscard]] std::string_view number() noexcept;
    [[nodiscard]] std::optional<char> escaped() noexcept;

    std::string_view text_;
    std::size_t at_ = 0;
    json_fault fault_ = json_fault::none;
    std::array<char, text_bytes_max> string_;  // The last one, without escapes.
};

/// An integer in decimal, all of `text`, without leading zeros; nothing if it is none or does not fit.
[[nodiscard]] std::optional<std::uint64_t> parse_natural(std::string_view text) noexcept;
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// Questions about books and their answers as SBE messages, there and back.
//
// They stand in administration.xml, as what only the operator may say does; but any session may
// ask. book_page.hpp says what they mean, command_codec.hpp and event_codec.hpp carry everything
// else.
#pragma once

#include <exchange/codec/book_page.hpp>
#include <exchange/codec/event_codec.hpp>

namespace exchange {

/// The longest answer.
inline constexpr std::size_t book_answer_bytes_max =
    sbe::wire<book_page>::writer::message_bytes(book_page_levels_max);

constexpr void encode(const book_request& it,
                      std::span<std::byte, message_bytes_of<book_request>> out) noexcept {
    administration::book_request_writer{out}.copy_from(it);
}

constexpr void encode(const book_refused& it,
                      std::span<std::byte, message_bytes_of<book_refused>> out) noexcept {
    administration::book_refused_writer{out}.copy_from(it);
}

/// @param  out  Room for the longest answer.
/// @return The bytes written.
constexpr std::size_t encode(const book_page& it,
                             std::span<std::byte, book_answer_bytes_max> out) noexcept {
    administration::book_page_writer message{out, it.count};
    message.copy_from(it);
    for (std::uint16_t each = 0; each < it.count; ++each)
        message.levels(each).copy_from(it.levels[each]);
    return administration::book_page_writer::message_bytes(it.count);
}

// Implementation

/// Turns a reader into one of `Records` for `visitor`.
template <class Visitor, class... Records>
struct book_reading {
    Visitor& visitor;

    template <class Reader>
    constexpr decode_fault operator()(const Reader& reader) const {
        using record = typename Reader::record;
        if constexpr ((std::same_as<record, Records> || ...)) {
            record it{};
            reader.copy_to(it);
            if constexpr (requires { reader.levels_count(); }) {
                if (reader.levels_count() > book_page_levels_max)
                    return {decode_error::group_too_long, book_levels_field};
                it.count = static_cast<std::uint16_t>(reader.levels_count());
                for (std::uint16_t each = 0; each < it.count; ++each)
                    reader.levels(each).copy_to(it.levels[each]);
            }
            visitor(it);
            return {};
        } else {
            return {decode_error::unexpected_message, 0};
        }
    }

    static constexpr std::uint16_t book_levels_field = 7;  // In administration.xml.
};

// End of implementation

/// Reads a question: calls `visitor` with a `book_request`, or not at all.
///
/// Errors: any `decode_error`; `unexpected_message` for the operator's commands.
template <class Visitor>
constexpr decode_fault decode_book_request(std::span<const std::byte> bytes, Visitor&& visitor) {
    return administration::read_message(bytes, book_reading<Visitor, book_request>{visitor});
}

/// Reads an answer: calls `visitor` with a `book_page` or a `book_refused`, or not at all.
///
/// Errors: any `decode_error`; `unexpected_message` for whatever else an operator hears.
template <class Visitor>
constexpr decode_fault decode_book_answer(std::span<const std::byte> bytes, Visitor&& visitor) {
    return administration::read_message(bytes,
                                        book_reading<Visitor, book_page, book_refused>{visitor});
}

}  // namespace exchange

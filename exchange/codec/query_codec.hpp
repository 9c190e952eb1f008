// SPDX-License-Identifier: BSL-1.0
//
// Questions and their answers as SBE messages, there and back.
//
// query.hpp says what they mean. Questions about books are book_codec.hpp's; here they are read along with
// the others, since a host and a client take them from the same connection.
#pragma once

#include <exchange/codec/book_codec.hpp>
#include <exchange/codec/query.hpp>
#include <exchange/codec/soup_framer.hpp>

#include <algorithm>

namespace exchange {

/// A page's size, header included, by the number of its rows.
template <class Row>
[[nodiscard]] constexpr std::size_t page_bytes(std::uint16_t rows) noexcept {
    return sbe::wire<query_page<Row>>::writer::message_bytes(rows);
}

// Implementation

template <class... Rows>
inline constexpr std::size_t longest_page = std::max({page_bytes<Rows>(query_rows_max<Rows>)...});

// End of implementation

/// The longest answer, books included.
inline constexpr std::size_t query_answer_bytes_max =
    std::max(book_answer_bytes_max, longest_page<order_row, position_row, account_row, session_row,
                                                 instrument_row, product_row, report_row>);

static_assert(query_answer_bytes_max <= soup_framer_options{}.payload_bytes_max,
              "clients take no longer packet");

constexpr void encode(const query& it, std::span<std::byte, message_bytes_of<query>> out) noexcept {
    administration::query_writer{out}.copy_from(it);
}

constexpr void encode(const query_refused& it,
                      std::span<std::byte, message_bytes_of<query_refused>> out) noexcept {
    administration::query_refused_writer{out}.copy_from(it);
}

/// @param  out  At least `page_bytes<Row>(it.count)`.
/// @return The bytes written.
template <class Row>
constexpr std::size_t encode(const query_page<Row>& it, std::span<std::byte> out) noexcept {
    typename sbe::wire<query_page<Row>>::writer message{out, it.count};
    message.copy_from(it);
    for (std::uint16_t each = 0; each < it.count; ++each)
        message.rows(each).copy_from(it.rows[each]);
    return page_bytes<Row>(it.count);
}

// Implementation

inline constexpr std::uint16_t query_rows_field = 7;   // In administration.xml, of each page.
inline constexpr std::uint16_t query_bands_field = 4;  // Of a product's row.

template <class Row, class Reader>
constexpr decode_fault read_rows(const Reader& reader, query_page<Row>& into) {
    if (reader.rows_count() > into.rows.size())
        return {decode_error::group_too_long, query_rows_field};
    into.count = static_cast<std::uint16_t>(reader.rows_count());
    for (std::uint16_t each = 0; each < into.count; ++each) {
        reader.rows(each).copy_to(into.rows[each]);
        if constexpr (std::same_as<Row, product_row>)
            if (into.rows[each].bands > tick_bands_max)
                return {decode_error::field_out_of_range, query_bands_field};
    }
    return {};
}

/// Turns a reader into one of `Records` for `visitor`.
template <class Visitor, class... Records>
struct query_reading {
    Visitor& visitor;

    template <class Reader>
    constexpr decode_fault operator()(const Reader& reader) const {
        using record = typename Reader::record;
        if constexpr ((std::same_as<record, Records> || ...)) {
            record it{};
            reader.copy_to(it);
            if constexpr (requires { reader.rows_count(); })
                if (const decode_fault fault = read_rows(reader, it)) return fault;
            visitor(it);
            return {};
        } else {
            return {decode_error::unexpected_message, 0};
        }
    }
};

// End of implementation

/// Reads a question: calls `visitor` with a `query` or a `book_request`, or not at all.
///
/// Errors: any `decode_error`; `unexpected_message` for the operator's commands.
template <class Visitor>
constexpr decode_fault decode_question(std::span<const std::byte> bytes, Visitor&& visitor) {
    return administration::read_message(bytes,
                                        query_reading<Visitor, query, book_request>{visitor});
}

/// Is it of the schema that has questions?
[[nodiscard]] constexpr bool may_be_question(std::span<const std::byte> message) noexcept {
    return message.size() >= sbe::header_bytes &&
           sbe::load_header(message.first<sbe::header_bytes>()).schema_id ==
               administration::schema_id;
}

/// Reads an answer to a `query`: calls `visitor` with a page or a `query_refused`, or not at all.
///
/// Errors: any `decode_error`; `unexpected_message` for whatever else is heard, answers about books included.
template <class Visitor>
constexpr decode_fault decode_query_answer(std::span<const std::byte> bytes, Visitor&& visitor) {
    return administration::read_message(
        bytes, query_reading<Visitor, query_refused, orders_page, positions_page, accounts_page,
                             sessions_page, instruments_page, products_page, report_page>{visitor});
}

}  // namespace exchange

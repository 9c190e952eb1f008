// SPDX-License-Identifier: BSL-1.0
//
// Mass quotes as SBE messages, there and back: mass_quote.hpp says what they mean.
#pragma once

#include <exchange/codec/command_codec.hpp>
#include <exchange/codec/mass_quote.hpp>

#include <cstddef>
#include <span>

namespace exchange {

/// The size of a mass quote's message, header included.
[[nodiscard]] constexpr std::size_t mass_quote_bytes(std::uint16_t entries) noexcept {
    return order_entry::enter_quotes_writer::message_bytes(entries);
}

/// @param  out  At least `mass_quote_bytes(it.count)`.
/// @return The bytes written.
constexpr std::size_t encode(const enter_quotes& it, std::span<std::byte> out) noexcept {
    gyre::expects(it.count <= mass_quote_entries_max);
    order_entry::enter_quotes_writer message{out, it.count};
    message.copy_from(it);
    for (std::uint16_t each = 0; each < it.count; ++each)
        message.entries(each).copy_from(it.entries[each]);
    return mass_quote_bytes(it.count);
}

// Implementation

template <class Visitor>
struct mass_quote_reading {
    Visitor& visitor;

    template <class Reader>
    constexpr decode_fault operator()(const Reader& reader) const {
        if constexpr (std::same_as<typename Reader::record, enter_quotes>) {
            if (reader.entries_count() == 0) return {decode_error::field_missing, entries_field};
            if (reader.entries_count() > mass_quote_entries_max)
                return {decode_error::group_too_long, entries_field};
            enter_quotes it{};
            reader.copy_to(it);
            it.count = static_cast<std::uint16_t>(reader.entries_count());
            for (std::uint16_t each = 0; each < it.count; ++each)
                reader.entries(each).copy_to(it.entries[each]);
            visitor(it);
            return {};
        } else {
            return {decode_error::unexpected_message, 0};
        }
    }

    static constexpr std::uint16_t entries_field = 3;  // In order_entry.xml.
};

// End of implementation

/// Reads a mass quote: calls `visitor` with an `enter_quotes`, or not at all.
///
/// Errors: any `decode_error`; `unexpected_message` for everything else that a client may say.
/// Cost:   no allocation; one pass over the fields.
template <class Visitor>
constexpr decode_fault decode_mass_quote(std::span<const std::byte> bytes, Visitor&& visitor) {
    return order_entry::read_message(bytes, mass_quote_reading<Visitor>{visitor});
}

}  // namespace exchange

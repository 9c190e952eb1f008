// SPDX-License-Identifier: BSL-1.0
//
// Changes of participants and their answers as SBE messages, there and back: see participant_change.hpp.
#pragma once

#include <exchange/codec/command_codec.hpp>
#include <exchange/codec/padded_text.hpp>
#include <exchange/codec/participant_change.hpp>

#include <algorithm>
#include <concepts>
#include <optional>
#include <span>
#include <string_view>

namespace exchange {

/// Text in a field of characters. What is longer is cut.
template <std::size_t Size>
[[nodiscard]] constexpr std::array<char, Size> to_field(std::string_view text) noexcept {
    std::array<char, Size> made{};
    made.fill(' ');
    std::ranges::copy(text.substr(0, Size), made.begin());
    return made;
}

/// The text of a field; nothing if it is none.
template <std::size_t Size>
[[nodiscard]] std::optional<std::string_view> text_of(
    const std::array<char, Size>& field) noexcept {
    return trimmed(std::as_bytes(std::span{field}));
}

/// A record of participant_change.hpp.
template <class Record>
concept participant_record =
    std::same_as<Record, define_participant> || std::same_as<Record, remove_participant> ||
    std::same_as<Record, participant_changed>;

template <participant_record Record>
constexpr void encode(const Record& it,
                      std::span<std::byte, message_bytes_of<Record>> out) noexcept {
    typename sbe::wire<Record>::writer{out}.copy_from(it);
}

// Implementation

template <class Visitor, class... Records>
struct participant_reading {
    Visitor& visitor;

    template <class Reader>
    constexpr decode_fault operator()(const Reader& reader) const {
        using record = typename Reader::record;
        if constexpr ((std::same_as<record, Records> || ...)) {
            record it{};
            reader.copy_to(it);
            visitor(it);
            return {};
        } else {
            return {decode_error::unexpected_message, 0};
        }
    }
};

// End of implementation

/// Reads a change that an operator wants.
///
/// Errors: any `decode_error`; then the visitor was not called.
template <class Visitor>
constexpr decode_fault decode_participant_change(std::span<const std::byte> bytes,
                                                 Visitor&& visitor) {
    return administration::read_message(
        bytes, participant_reading<Visitor, define_participant, remove_participant>{visitor});
}

/// Reads the answer; as above.
template <class Visitor>
constexpr decode_fault decode_participant_answer(std::span<const std::byte> bytes,
                                                 Visitor&& visitor) {
    return administration::read_message(bytes,
                                        participant_reading<Visitor, participant_changed>{visitor});
}

}  // namespace exchange

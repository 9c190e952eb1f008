// SPDX-License-Identifier: BSL-1.0
//
// The words of the trade as people write and read them: in a configuration, on a command line, in a log.
//
// They are those of the schema (exchange/schema/types.xml), number for number, which words_test.cpp reads
// and compares. Code that is not for people needs none of this.
#pragma once

#include <exchange/codec/participant_change.hpp>
#include <exchange/codec/query.hpp>
#include <exchange/core/commands.hpp>
#include <exchange/core/events.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace exchange {

template <class Enum>
struct word {
    std::string_view text;
    Enum value;
};

/// All words of an enumeration, in the order of their numbers; static storage.
template <class Enum>
[[nodiscard]] std::span<const word<Enum>> words_of() noexcept;

template <>
std::span<const word<order_side>> words_of() noexcept;
template <>
std::span<const word<order_type>> words_of() noexcept;
template <>
std::span<const word<time_in_force>> words_of() noexcept;
template <>
std::span<const word<self_trade_action>> words_of() noexcept;
template <>
std::span<const word<instrument_kind>> words_of() noexcept;
template <>
std::span<const word<lone_order_policy>> words_of() noexcept;
template <>
std::span<const word<disconnect_policy>> words_of() noexcept;
template <>
std::span<const word<market_phase>> words_of() noexcept;
template <>
std::span<const word<account_state>> words_of() noexcept;
template <>
std::span<const word<definition_kind>> words_of() noexcept;
template <>
std::span<const word<cancel_reason>> words_of() noexcept;
template <>
std::span<const word<reject_reason>> words_of() noexcept;
template <>
std::span<const word<command_kind>> words_of() noexcept;
template <>
std::span<const word<query_subject>> words_of() noexcept;
template <>
std::span<const word<participant_outcome>> words_of() noexcept;

/// Those of them that may be said: no command ends a market or makes an account retired but `retire` and
/// `expire_instruments`, which say neither, and none interrupts a market but what trades.
template <class Enum>
[[nodiscard]] std::span<const word<Enum>> words_to_say() noexcept {
    return words_of<Enum>();
}
template <>
std::span<const word<market_phase>> words_to_say() noexcept;
template <>
std::span<const word<account_state>> words_to_say() noexcept;

/// The word for a value; its number if there is none.
template <class Enum>
[[nodiscard]] std::string word_for(Enum value) {
    for (const word<Enum>& each : words_of<Enum>())
        if (each.value == value) return std::string{each.text};
    return std::to_string(+number(value));
}

/// What a word means, if it is one that may be said.
template <class Enum>
[[nodiscard]] std::optional<Enum> meaning_of(std::string_view text) noexcept {
    for (const word<Enum>& each : words_to_say<Enum>())
        if (each.text == text) return each.value;
    return std::nullopt;
}

/// "buy, sell": what could have been said instead.
template <class Enum>
[[nodiscard]] std::string all_words() {
    std::string made;
    for (const word<Enum>& each : words_to_say<Enum>()) {
        if (!made.empty()) made += ", ";
        made += each.text;
    }
    return made;
}

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// What generated flyweights stand on: numbers in bytes, the header of a message, and what can be wrong.
//
// Simple Binary Encoding lays a message out as a header, a block of fields at fixed offsets, and groups
// of such blocks. exchange/schema/flyweights.py turns a schema into readers and writers that use these
// few functions. Readers check a message once, at its edge; behind that, a field is one load.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace exchange {

/// Why bytes are not the message they should be. The numbers are wire format.
enum class decode_error : std::uint8_t {
    none = 0,
    header_truncated = 1,   ///< Fewer bytes than a header has.
    unknown_schema = 2,     ///< The header names another schema.
    unknown_template = 3,   ///< The schema has no such message.
    block_too_short = 4,    ///< The header announces fewer bytes than the message's version has.
    message_truncated = 5,  ///< Fewer bytes than the header announces.
    group_truncated = 6,    ///< Fewer bytes than a group announces.
    entry_too_short = 7,    ///< A group's entries have fewer bytes than the message's version has.
    trailing_bytes = 8,     ///< More bytes than the message has.
    field_missing = 9,      ///< A required field holds its null value.
    field_out_of_range = 10,  ///< A field holds a value that the schema does not allow.
    unexpected_message = 11,  ///< A message that exists, but does not come from this side.
    group_too_long = 12,      ///< More entries than the receiver has room for.
    block_too_long = 13,      ///< The header announces more bytes than the message's version has.
    entry_too_long = 14,      ///< A group's entries have more bytes than the message's version has.
    // Of a gateway, to messages that it has not read any further:
    too_many_messages = 15,     ///< More than the session, or its account, may send in a time.
    exchange_unreachable = 16,  ///< The exchange cannot be reached just now.
};

/// What is wrong with a message, and if it is a field, which.
struct decode_fault {
    decode_error error = decode_error::none;
    std::uint16_t field = 0;  ///< The id of the field or group in the schema, or 0.

    [[nodiscard]] constexpr explicit operator bool() const noexcept {
        return error != decode_error::none;
    }
    friend constexpr bool operator==(const decode_fault&, const decode_fault&) noexcept = default;
};

}  // namespace exchange

namespace exchange::sbe {

using exchange::decode_error;
using exchange::decode_fault;

/// A number in little-endian order, at any alignment. `Number` is an integer or `char`.
template <std::integral Number>
[[nodiscard]] constexpr Number load(const std::byte* at) noexcept {
    using bits = std::make_unsigned_t<Number>;
    bits value = 0;
    if (std::is_constant_evaluated() || std::endian::native != std::endian::little) {
        for (std::size_t each = 0; each < sizeof(bits); ++each) {
            const auto byte = std::to_integer<std::uint64_t>(at[each]);
            value = static_cast<bits>(value | byte << (8 * each));
        }
    } else {
        std::memcpy(&value, at, sizeof value);
    }
    return static_cast<Number>(value);
}

template <std::integral Number>
constexpr void store(std::byte* at, Number number) noexcept {
    const auto value = static_cast<std::make_unsigned_t<Number>>(number);
    if (std::is_constant_evaluated() || std::endian::native != std::endian::little) {
        for (std::size_t each = 0; each < sizeof value; ++each)
            at[each] = static_cast<std::byte>(std::uint64_t{value} >> (8 * each) & 0xFF);
    } else {
        std::memcpy(at, &value, sizeof value);
    }
}

/// Writes all of `from`, as a compiler copies a struct.
template <std::size_t Size>
constexpr void copy(const std::array<std::byte, Size>& from, std::byte* to) noexcept {
    if (std::is_constant_evaluated()) {
        for (std::size_t each = 0; each < Size; ++each) to[each] = from[each];
    } else {
        std::memcpy(to, from.data(), Size);
    }
}

template <class Number, std::size_t Length>
[[nodiscard]] constexpr std::array<Number, Length> load_array(const std::byte* at) noexcept {
    std::array<Number, Length> values{};
    for (std::size_t each = 0; each < Length; ++each)
        values[each] = load<Number>(at + each * sizeof(Number));
    return values;
}

template <class Number, std::size_t Length>
constexpr void store_array(std::byte* at, const std::array<Number, Length>& values) noexcept {
    for (std::size_t each = 0; each < Length; ++each)
        store(at + each * sizeof(Number), values[each]);
}

template <class Type>
struct encoded_as : std::type_identity<Type> {};
template <class Type>
    requires std::is_enum_v<Type>
struct encoded_as<Type> : std::underlying_type<Type> {};

/// A type of the program that a schema encodes as `Number`: that number itself, or an enumeration of it.
template <class Type, class Number>
concept bound_to = std::same_as<typename encoded_as<Type>::type, Number>;

/// What stands in front of every message.
struct message_header {
    std::uint16_t block_length = 0;
    std::uint16_t template_id = 0;
    std::uint16_t schema_id = 0;
    std::uint16_t version = 0;
};

inline constexpr std::size_t header_bytes = 8;
inline constexpr std::size_t dimension_bytes = 4;  ///< What stands in front of a group.

[[nodiscard]] constexpr message_header load_header(
    std::span<const std::byte, header_bytes> bytes) noexcept {
    return {load<std::uint16_t>(bytes.data()), load<std::uint16_t>(bytes.data() + 2),
            load<std::uint16_t>(bytes.data() + 4), load<std::uint16_t>(bytes.data() + 6)};
}

constexpr void store_header(std::byte* at, const message_header& header) noexcept {
    store(at, header.block_length);
    store(at + 2, header.template_id);
    store(at + 4, header.schema_id);
    store(at + 6, header.version);
}

/// The flyweights of a record: `wire<Record>::reader` and `wire<Record>::writer`. Generated.
template <class Record>
struct wire;

/// The entries of a group: how many, how far apart, and where. Borrowed from the message.
struct group_entries {
    const std::byte* first = nullptr;
    std::uint16_t entry_bytes = 0;
    std::uint16_t count = 0;

    /// What the group occupies, its dimension included; 0 if the message has none.
    [[nodiscard]] constexpr std::size_t bytes() const noexcept {
        return first == nullptr ? 0 : dimension_bytes + std::size_t{entry_bytes} * count;
    }

    /// Finds the group at the beginning of `bytes`.
    ///
    /// @param  entry_bytes_min  What an entry of the message's version has,
    /// @param  entry_bytes_max  and this, too, unless the sender may know more than we do.
    /// Errors: `group_truncated`, `entry_too_short`, `entry_too_long`.
    [[nodiscard]] constexpr decode_error wrap(std::span<const std::byte> bytes,
                                              std::size_t entry_bytes_min,
                                              std::size_t entry_bytes_max) noexcept {
        if (bytes.size() < dimension_bytes) return decode_error::group_truncated;
        entry_bytes = load<std::uint16_t>(bytes.data());
        count = load<std::uint16_t>(bytes.data() + 2);
        if (count > 0 && entry_bytes < entry_bytes_min) return decode_error::entry_too_short;
        if (count > 0 && entry_bytes > entry_bytes_max) return decode_error::entry_too_long;
        if (bytes.size() - dimension_bytes < std::size_t{entry_bytes} * count)
            return decode_error::group_truncated;
        first = bytes.data() + dimension_bytes;
        return decode_error::none;
    }

    [[nodiscard]] constexpr const std::byte* at(std::size_t index) const noexcept {
        return first + index * entry_bytes;
    }
};

}  // namespace exchange::sbe

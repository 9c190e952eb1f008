// SPDX-License-Identifier: BSL-1.0
//
// What a schema says of its messages, as constants that a program can walk over.
//
// JSON is read and written by one pair of functions for all messages (json_message.hpp), which follow these
// tables; exchange/schema/json_tables.py makes them of the schema that the flyweights are made of. So a field
// that is added to a schema is in its JSON, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace exchange::schema_tables {

/// How a field stands in JSON.
enum class form : std::uint8_t {
    natural,  ///< A number that is never negative.
    integer,  ///< Any other number.
    text,     ///< A string; on the wire filled up with blanks.
    name,     ///< A string, one of `field::names`.
    truth,    ///< `true` or `false`.
    object    ///< Of `field::members`.
};

struct value_name {
    std::string_view name;
    std::uint64_t value = 0;
};

/// A field in a block, which begins at `offset`. Numbers stand here as 64 bits, negative ones as two's
/// complement.
struct field {
    std::string_view name;
    std::uint16_t offset = 0;
    std::uint16_t bytes = 0;
    form as = form::natural;
    bool quoted =
        false;  ///< A number that may be beyond 2^53, from where on JavaScript rounds: a string.
    bool optional = false;  ///< Not there: `null` on the wire, of a text blanks.
    std::uint64_t null = 0;
    std::uint64_t minimum = 0;
    std::uint64_t maximum = 0;
    std::span<const value_name> names{};
    std::span<const field> members{};
};

inline constexpr std::size_t fields_max = 32;  ///< Of a block.

/// A list of blocks behind a message's own.
struct group {
    std::string_view name;
    std::uint16_t entry_bytes = 0;
    std::span<const field> fields{};
};

struct message {
    std::string_view name;
    std::uint16_t number = 0;  ///< Its template.
    std::uint16_t block_bytes = 0;
    std::span<const field> fields{};
    const group* list = nullptr;  ///< None, or the only one.
};

struct schema {
    std::uint16_t number = 0;
    std::uint16_t version = 0;
    std::span<const message> messages{};
};

}  // namespace exchange::schema_tables

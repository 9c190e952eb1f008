// SPDX-License-Identifier: BSL-1.0
//
// SBE messages as JSON, there and back: one pair of functions that follow the tables of the schemas.
//
// A message is an object that begins with its name, `{"message":"cancel_order","client_seq":"7", ...}`,
// and has the fields and the names of values of the schema. Numbers that can be beyond 2^53 are strings,
// since
// JavaScript would round them: ids, sequences, times, totals. What is not there on the wire is left out.
// What comes in is held to all of that, so that a client is told what is wrong by the name of a field, and
// not by the decoder behind, which knows numbers only. json_packet.hpp has the packets around messages.
#pragma once

#include <exchange/codec/json_schema.hpp>
#include <exchange/codec/json_text.hpp>
#include <exchange/codec/padded_text.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace exchange {

/// What is wrong with a text, and where.
struct json_problem {
    json_fault fault = json_fault::none;
    padded_text<48> message{};  ///< Its name, as far as it was read; cut if it is long.
    padded_text<48> field{};    ///< As "target.id"; empty if it is none.
    std::size_t position = 0;   ///< In the text.

    [[nodiscard]] explicit operator bool() const noexcept { return fault != json_fault::none; }
};

/// A message of one of the exchange's schemas.
struct json_message_type {
    const schema_tables::schema* schema = nullptr;  ///< Null: there is none.
    const schema_tables::message* message = nullptr;
};

[[nodiscard]] json_message_type find_json_message(std::string_view name) noexcept;

/// Reads the members of an object into a block, and what a list holds behind it.
class json_fields_reader {
public:
    /// @param  from  Borrowed. Stands behind the bracket of the object, or behind some of its members.
    /// @param  into  Borrowed: room for the block, and for a list behind it.
    json_fields_reader(json_cursor& from, std::span<std::byte> into) noexcept
        : from_{from}, into_{into} {}

    /// Members up to the bracket at the end.
    ///
    /// @param  block_at  Where in `into` the block begins.
    /// @param  any_yet   Whether members stand before these, so that a comma comes first.
    /// @return False if there is a problem.
    [[nodiscard]] bool read(const schema_tables::message& what, std::size_t block_at,
                            bool any_yet) noexcept;

    /// What has been filled, from the beginning of `into`.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] const padded_text<48>& field() const noexcept { return field_; }

private:
    struct block {
        std::span<const schema_tables::field> fields;
        const schema_tables::group* list;
        std::size_t at;
    };

    [[nodiscard]] bool members(const block& of, bool any_yet) noexcept;
    [[nodiscard]] bool member(const block& of, std::uint32_t& seen, bool& list_seen) noexcept;
    [[nodiscard]] bool fill_in(const block& of, std::uint32_t seen) noexcept;
    [[nodiscard]] bool value(const schema_tables::field& it, std::byte* to) noexcept;
    [[nodiscard]] bool text(const schema_tables::field& it, std::byte* to) noexcept;
    [[nodiscard]] bool name(const schema_tables::field& it, std::byte* to) noexcept;
    [[nodiscard]] bool truth(const schema_tables::field& it, std::byte* to) noexcept;
    [[nodiscard]] bool number(const schema_tables::field& it, std::byte* to) noexcept;
    [[nodiscard]] bool list(const schema_tables::group& it) noexcept;
    [[nodiscard]] bool fail(json_fault why) noexcept;
    void note_field(std::string_view name) noexcept;

    json_cursor& from_;
    std::span<std::byte> into_;
    std::size_t size_ = 0;
    padded_text<48> field_;
};

/// Writes the members of an object from a block.
///
/// @param  block  Borrowed. What stands behind its end is left out.
void write_json_fields(json_writer& to, std::span<const schema_tables::field> fields,
                       std::span<const std::byte> block) noexcept;

/// Writes a message.
///
/// @param  message   One whole message of one of the exchange's schemas, as an encoder has made it.
/// @param  sequence  Its number in a session's stream; 0 if it has none.
/// @return False if it is no such message. Whether it fitted, `to` tells.
[[nodiscard]] bool write_json_message(json_writer& to, std::span<const std::byte> message,
                                      std::uint64_t sequence) noexcept;

}  // namespace exchange

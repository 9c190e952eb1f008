// SPDX-License-Identifier: BSL-1.0
//
// Commands as SBE messages, there and back.
//
// A client writes what it wants with `encode`; the exchange reads it with `decode_client_command` or
// `decode_operator_command`, and nothing that does not follow its schema to the last bit comes through:
// each kind of fault has its own `decode_error`, and `refusal_of` says it to the sender. Two schemas, so
// that a client's session cannot even name what only the operator may do. event_codec.hpp is the way back.
#pragma once

#include <exchange/codec/message_rejected.hpp>
#include <exchange/codec/sbe.hpp>
#include <exchange/core/commands.hpp>
#include <exchange/schema/administration.hpp>
#include <exchange/schema/order_entry.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

namespace exchange {

/// A record of commands.hpp.
template <class Record>
concept command_record = std::same_as<std::remove_cvref_t<decltype(Record::kind)>, command_kind>;

/// A record whose message has no groups, and so has one size.
template <class Record>
concept fixed_size_record = requires {
    { sbe::wire<Record>::writer::message_bytes + 0 } -> std::convertible_to<std::size_t>;
};

static_assert(command_record<enter_order> && fixed_size_record<enter_order>);
static_assert(command_record<define_product> && !fixed_size_record<define_product>);

/// The size of a record's message, header included.
template <fixed_size_record Record>
inline constexpr std::size_t message_bytes_of = sbe::wire<Record>::writer::message_bytes;

/// The size of a command's message, header included.
template <command_record Command>
[[nodiscard]] constexpr std::size_t message_bytes(const Command& command) noexcept {
    if constexpr (fixed_size_record<Command>) return message_bytes_of<Command>;
    else
        return sbe::wire<Command>::writer::message_bytes(static_cast<std::uint16_t>(command.bands));
}

/// Writes a command; its `session` is not written, as the connection says it.
///
/// @param  out  At least `message_bytes(command)`.
/// @return The bytes written.
template <command_record Command>
constexpr std::size_t encode(const Command& command, std::span<std::byte> out) noexcept {
    gyre::expects(out.size() >= message_bytes(command), "room for the message");
    using writer = typename sbe::wire<Command>::writer;
    if constexpr (fixed_size_record<Command>) {
        writer{out.first<message_bytes_of<Command>>()}.copy_from(command);
    } else {
        gyre::expects(command.bands <= tick_bands_max);
        writer message{out, static_cast<std::uint16_t>(command.bands)};
        message.copy_from(command);
        for (std::uint32_t band = 0; band < command.bands; ++band)
            message.ticks(band).copy_from(command.ticks[band]);
    }
    return message_bytes(command);
}

// Implementation

/// Turns any reader of a schema into a command for `visitor`, if it is one.
template <class Visitor>
struct command_reading {
    session_id session;
    Visitor& visitor;

    template <class Reader>
    constexpr decode_fault operator()(const Reader& reader) const {
        using record = typename Reader::record;
        if constexpr (!requires { requires command_record<record>; }) {
            return {decode_error::unexpected_message, 0};
        } else {
            record command{};
            reader.copy_to(command);
            if constexpr (requires { reader.client_seq(); }) command.session = session;
            if constexpr (requires { reader.ticks_count(); }) {
                if (reader.ticks_count() > tick_bands_max) return {decode_error::group_too_long, 4};
                command.bands = static_cast<std::uint32_t>(reader.ticks_count());
                for (std::uint32_t band = 0; band < command.bands; ++band)
                    reader.ticks(band).copy_to(command.ticks[band]);
            }
            visitor(command);
            return {};
        }
    }
};

// End of implementation

/// Reads one command of a client.
///
/// @param  bytes    One whole message, header included, and nothing else. Borrowed.
/// @param  session  Whose connection it came from: what the command will say.
/// @param  visitor  Called once with a command of order_entry.xml, or not at all.
///
/// Errors: any `decode_error`; then the visitor was not called.
/// Cost:   No allocation; one pass over the fields.
template <class Visitor>
constexpr decode_fault decode_client_command(std::span<const std::byte> bytes, session_id session,
                                             Visitor&& visitor) {
    return order_entry::read_message(bytes, command_reading<Visitor>{session, visitor});
}

/// Reads one command of the operator, of administration.xml; as above.
template <class Visitor>
constexpr decode_fault decode_operator_command(std::span<const std::byte> bytes,
                                               Visitor&& visitor) {
    return administration::read_message(bytes, command_reading<Visitor>{session_id::none, visitor});
}

/// Takes a client's command something away and adds nothing: a cancel of any kind, a quote or all of
/// many without quantities? What cannot be read is none.
///
/// Cost:  Of most commands, a look at the header.
[[nodiscard]] bool is_cancel(std::span<const std::byte> bytes) noexcept;

/// What to answer to bytes that were refused: as much as can still be told from them.
[[nodiscard]] message_rejected refusal_of(std::span<const std::byte> bytes,
                                          const decode_fault& fault) noexcept;

}  // namespace exchange

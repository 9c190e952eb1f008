// SPDX-License-Identifier: BSL-1.0
//
// Derived messages as SBE messages, there and back.
//
// The core hands over batches of records; `encode_batch` writes each of them straight into the memory
// it is sent from. Who receives what: a message that names a session goes to that session's sequenced
// stream, and if another session of the account asked for it, to that one's as well, and nowhere else;
// one that names none goes to the public feed; what answers the operator goes to the operator. Every
// message carries its `out_seq`, so a receiver of several of these can merge those of a partition.
// command_codec.hpp is the other direction.
#pragma once

#include <exchange/codec/command_codec.hpp>
#include <exchange/core/events.hpp>
#include <exchange/schema/market_data.hpp>

namespace exchange {

/// A record of events.hpp.
template <class Record>
concept event_record = std::same_as<std::remove_cvref_t<decltype(Record::kind)>, event_kind>;

static_assert(event_record<order_executed> && fixed_size_record<order_executed>);

/// Memory that messages are written into: a session's stream, a feed. `prepare(size)` lends exactly so
/// much, and `commit(size)` makes it the next message.
template <class Sink>
concept message_sink = requires(Sink& sink, std::size_t size) {
    { sink.prepare(size) } -> std::same_as<std::span<std::byte>>;
    sink.commit(size);
};

/// Finds the sink of a message. A null pointer means that there is no listener, and nothing is
/// written.
template <class Routes>
concept event_routes = requires(Routes& routes, session_id session) {
    requires message_sink<std::remove_pointer_t<decltype(routes.session(session))>>;
    requires message_sink<std::remove_pointer_t<decltype(routes.feed())>>;
    requires message_sink<std::remove_pointer_t<decltype(routes.administrator())>>;
};

/// Writes one derived message of exactly the size that its schema gives it.
template <event_record Event>
constexpr void encode(const Event& event, const event_stamp& stamp,
                      std::span<std::byte, message_bytes_of<Event>> out) noexcept {
    typename sbe::wire<Event>::writer{out}.stamp(stamp).copy_from(event);
}

/// Writes the answer to a message that was refused.
constexpr void encode(const message_rejected& refusal,
                      std::span<std::byte, message_bytes_of<message_rejected>> out) noexcept {
    order_entry::message_rejected_writer{out}.copy_from(refusal);
}

// Implementation

template <message_sink Sink, event_record Event>
constexpr void append(Sink* sink, const Event& event, const event_stamp& stamp) noexcept {
    if (sink == nullptr) return;
    constexpr std::size_t size = message_bytes_of<Event>;
    encode(event, stamp, sink->prepare(size).template first<size>());
    sink->commit(size);
}

/// To the session whose order it is, and to the one that asked, if that is another.
template <event_routes Routes, event_record Event>
constexpr void append_private(Routes& routes, const Event& event,
                              const event_stamp& stamp) noexcept {
    append(routes.session(event.session), event, stamp);
    if constexpr (requires { event.request_session; }) {
        const session_id asked = event.request_session;
        if (asked != event.session && asked != session_id::none)
            append(routes.session(asked), event, stamp);
    }
}

// End of implementation

/// Writes every message of a batch into the sink of whom it is for.
///
/// Cost:  No allocation. A message is written once for each who receives it; nothing is looked up but
///        the session's sink.
template <event_routes Routes>
constexpr void encode_batch(const event_batch& batch, Routes&& routes) noexcept {
    for (std::size_t at = 0; at < batch.events.size(); ++at) {
        visit(batch.events[at], [&]<class Event>(const Event& event) {
            const event_stamp stamp = batch.stamp(at);
            constexpr event_audience audience = audience_of(Event::kind);
            if constexpr (audience == event_audience::session) append_private(routes, event, stamp);
            else if constexpr (audience == event_audience::public_feed)
                append(routes.feed(), event, stamp);
            else append(routes.administrator(), event, stamp);
        });
    }
}

// Implementation

/// Turns any reader of a schema into a record for `visitor`, if it is no command.
template <class Visitor>
struct event_reading {
    Visitor& visitor;

    template <class Reader>
    constexpr decode_fault operator()(const Reader& reader) const {
        using record_type = typename Reader::record;
        if constexpr (requires { requires event_record<record_type>; }) {
            record_type event{};
            reader.copy_to(event);
            visitor(reader.stamp(), event);
            return {};
        } else if constexpr (std::same_as<record_type, message_rejected>) {
            message_rejected refusal{};
            reader.copy_to(refusal);
            visitor(refusal);
            return {};
        } else {
            return {decode_error::unexpected_message, 0};
        }
    }
};

// End of implementation

/// Reads one message that a client's session receives.
///
/// @param  bytes    One whole message, header included, and nothing else. Borrowed.
/// @param  visitor  Called once, with a stamp and an event or with a `message_rejected`, or not at all.
///
/// Errors: any `decode_error`; then the visitor was not called.
template <class Visitor>
constexpr decode_fault decode_private_event(std::span<const std::byte> bytes, Visitor&& visitor) {
    return order_entry::read_message(bytes, event_reading<Visitor>{visitor});
}

/// Reads one message of the public feed; as above, and there are no refusals.
template <class Visitor>
constexpr decode_fault decode_public_event(std::span<const std::byte> bytes, Visitor&& visitor) {
    return market_data::read_message(bytes, event_reading<Visitor>{visitor});
}

/// Reads one message that the operator receives; as the first.
template <class Visitor>
constexpr decode_fault decode_operator_event(std::span<const std::byte> bytes, Visitor&& visitor) {
    const auto fault = administration::read_message(bytes, event_reading<Visitor>{visitor});
    // Refusals are order_entry.xml's, whatever schema the refused message has.
    if (fault.error != decode_error::unknown_schema) return fault;
    return order_entry::read_message(bytes, event_reading<Visitor>{visitor});
}

}  // namespace exchange

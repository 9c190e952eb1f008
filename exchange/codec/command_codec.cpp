// SPDX-License-Identifier: BSL-1.0
//
// What can be told from bytes that are not carried out, or not yet: see command_codec.hpp.
#include <exchange/codec/command_codec.hpp>

#include <exchange/codec/mass_quote_codec.hpp>

#include <algorithm>

namespace exchange {

bool is_cancel(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() < sbe::header_bytes) return false;
    const sbe::message_header header = sbe::load_header(bytes.first<sbe::header_bytes>());
    if (header.schema_id != order_entry::schema_id) return false;
    if (header.template_id == order_entry::cancel_order_reader::template_id ||
        header.template_id == order_entry::cancel_orders_reader::template_id)
        return true;
    bool cancels = false;
    const auto quotes_nothing = [](const auto& it) {
        return it.bid_quantity == 0 && it.ask_quantity == 0;
    };
    const auto look = [&](const auto& it) {
        if constexpr (requires { it.bid_quantity; }) cancels = quotes_nothing(it);
    };
    const auto look_at_all = [&](const enter_quotes& it) {
        cancels = std::all_of(it.entries.begin(), it.entries.begin() + it.count, quotes_nothing);
    };
    if (header.template_id == order_entry::enter_quote_reader::template_id)
        static_cast<void>(decode_client_command(bytes, session_id::none, look));
    if (header.template_id == order_entry::enter_quotes_reader::template_id)
        static_cast<void>(decode_mass_quote(bytes, look_at_all));
    return cancels;
}

message_rejected refusal_of(std::span<const std::byte> bytes, const decode_fault& fault) noexcept {
    message_rejected answer{client_sequence::none, 0, fault.field, fault.error};
    if (bytes.size() < sbe::header_bytes) return answer;
    const sbe::message_header header = sbe::load_header(bytes.first<sbe::header_bytes>());
    answer.refused_template = header.template_id;
    // Each command of a client begins with its sequence, so it can be told though the rest is torn.
    const bool of_client = header.schema_id == order_entry::schema_id &&
                           header.template_id >= order_entry::enter_order_reader::template_id &&
                           header.template_id <= order_entry::enter_quotes_reader::template_id;
    const auto body = bytes.subspan(sbe::header_bytes);
    if (of_client && header.block_length >= sizeof(client_sequence) &&
        body.size() >= sizeof(client_sequence))
        answer.client_seq = client_sequence{sbe::load<std::uint64_t>(body.data())};
    return answer;
}

}  // namespace exchange

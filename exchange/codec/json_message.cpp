// SPDX-License-Identifier: BSL-1.0
//
// Walking over tables: see json_message.hpp.
#include <exchange/codec/json_message.hpp>

#include <exchange/codec/sbe.hpp>
#include <exchange/schema/administration_json.hpp>
#include <exchange/schema/market_data_json.hpp>
#include <exchange/schema/market_data_session_json.hpp>
#include <exchange/schema/order_entry_json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace exchange {

namespace {

constexpr std::array schemas{&order_entry::json_schema, &administration::json_schema,
                             &market_data::json_schema, &market_data_session::json_schema};

json_message_type find_numbered(std::uint16_t schema, std::uint16_t number) noexcept {
    for (const schema_tables::schema* const each : schemas) {
        if (each->number != schema) continue;
        const auto found =
            std::ranges::find(each->messages, number, &schema_tables::message::number);
        if (found != each->messages.end()) return {each, &*found};
    }
    return {};
}

void store(std::byte* to, std::size_t bytes, std::uint64_t value) noexcept {
    for (std::size_t each = 0; each < bytes; ++each)
        to[each] = static_cast<std::byte>(value >> (8 * each) & 0xff);
}

/// Negative ones as two's complement of 64 bits, as tables have them.
std::uint64_t load(const schema_tables::field& it, const std::byte* from) noexcept {
    std::uint64_t value = 0;
    for (std::size_t each = 0; each < it.bytes; ++each)
        value |= std::to_integer<std::uint64_t>(from[each]) << (8 * each);
    const std::size_t missing = 8 * (sizeof value - it.bytes);
    if (it.as == schema_tables::form::integer && missing > 0)
        value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << missing) >> missing);
    return value;
}

bool is_text(const schema_tables::field& it) noexcept { return it.as == schema_tables::form::text; }

/// Without the blanks at its end, and whatever it consists of.
std::string_view padded(const schema_tables::field& it, const std::byte* from) noexcept {
    const std::string_view all{reinterpret_cast<const char*>(from), it.bytes};
    const std::size_t first = std::min(all.find_first_not_of(' '), all.size());
    return all.substr(first, all.find_last_not_of(' ') + 1 - first);
}

padded_text<48> shortened(std::string_view text) noexcept { return text.substr(0, 48); }

void write_json_field(json_writer& to, const schema_tables::field& it,
                      const std::byte* from) noexcept {
    if (is_text(it)) {
        const std::string_view text = padded(it, from);
        if (it.optional && text.empty()) return;
        to.key(it.name);
        return to.text(text);
    }
    const std::uint64_t value = it.as == schema_tables::form::object ? 0 : load(it, from);
    if (it.optional && value == it.null) return;
    to.key(it.name);
    if (it.as == schema_tables::form::object) {
        to.begin_object();
        write_json_fields(to, it.members, {from, it.bytes});
        return to.end_object();
    }
    if (it.as == schema_tables::form::truth) return to.truth(value != 0);
    if (it.as == schema_tables::form::name) {
        const auto found = std::ranges::find(it.names, value, &schema_tables::value_name::value);
        return found != it.names.end() ? to.text(found->name) : to.natural(value);
    }
    if (it.as == schema_tables::form::integer) {
        const auto number = static_cast<std::int64_t>(value);
        return it.quoted ? to.quoted_integer(number) : to.integer(number);
    }
    it.quoted ? to.quoted_natural(value) : to.natural(value);
}

void write_json_list(json_writer& to, const schema_tables::group& list,
                     std::span<const std::byte> bytes) noexcept {
    sbe::group_entries entries;
    if (entries.wrap(bytes, 0, std::numeric_limits<std::size_t>::max()) != decode_error::none)
        return;
    to.key(list.name);
    to.begin_list();
    for (std::size_t each = 0; each < entries.count; ++each) {
        to.item();
        to.begin_object();
        write_json_fields(to, list.fields, {entries.at(each), entries.entry_bytes});
        to.end_object();
    }
    to.end_list();
}

}  // namespace

json_message_type find_json_message(std::string_view name) noexcept {
    for (const schema_tables::schema* const each : schemas) {
        const auto found = std::ranges::find(each->messages, name, &schema_tables::message::name);
        if (found != each->messages.end()) return {each, &*found};
    }
    return {};
}

void write_json_fields(json_writer& to, std::span<const schema_tables::field> fields,
                       std::span<const std::byte> block) noexcept {
    for (const schema_tables::field& each : fields)
        if (std::size_t{each.offset} + each.bytes <= block.size())
            write_json_field(to, each, block.data() + each.offset);
}

bool write_json_message(json_writer& to, std::span<const std::byte> message,
                        std::uint64_t sequence) noexcept {
    if (message.size() < sbe::header_bytes) return false;
    const sbe::message_header header = sbe::load_header(message.first<sbe::header_bytes>());
    const json_message_type type = find_numbered(header.schema_id, header.template_id);
    const auto body = message.subspan(sbe::header_bytes);
    if (type.message == nullptr || body.size() < header.block_length) return false;
    to.begin_object();
    to.key("message");
    to.text(type.message->name);
    if (sequence != 0) {
        to.key("sequence");
        to.quoted_natural(sequence);
    }
    write_json_fields(to, type.message->fields, body.first(header.block_length));
    if (type.message->list != nullptr)
        write_json_list(to, *type.message->list, body.subspan(header.block_length));
    to.end_object();
    return true;
}

// -------- Reading --------

bool json_fields_reader::fail(json_fault why) noexcept {
    from_.fail(why);
    return false;
}

/// Of a field inside of another one both are told: the inner one is noted first.
void json_fields_reader::note_field(std::string_view name) noexcept {
    const std::string_view inner = field_.view();
    if (inner.empty()) {
        field_ = shortened(name);
        return;
    }
    std::array<char, 48> both{};
    const std::size_t outer = std::min(name.size(), both.size());
    std::ranges::copy(name.substr(0, outer), both.begin());
    std::size_t size = outer;
    if (size < both.size()) both[size++] = '.';
    const std::size_t rest = std::min(inner.size(), both.size() - size);
    std::ranges::copy(inner.substr(0, rest), both.begin() + static_cast<std::ptrdiff_t>(size));
    field_ = std::string_view{both.data(), size + rest};
}

bool json_fields_reader::read(const schema_tables::message& what, std::size_t block_at,
                              bool any_yet) noexcept {
    size_ = block_at + what.block_bytes;
    if (size_ > into_.size()) return fail(json_fault::too_many_entries);
    std::ranges::fill(into_.subspan(block_at, what.block_bytes), std::byte{0});
    return members({what.fields, what.list, block_at}, any_yet);
}

bool json_fields_reader::members(const block& of, bool any_yet) noexcept {
    std::uint32_t seen = 0;
    bool list_seen = false;
    for (; !from_.take('}'); any_yet = true) {
        if (any_yet && !from_.need(',')) return false;
        if (!member(of, seen, list_seen)) return false;
    }
    if (!fill_in(of, seen)) return false;
    if (of.list == nullptr || list_seen) return true;
    if (into_.size() - size_ < sbe::dimension_bytes) return fail(json_fault::too_many_entries);
    store(into_.data() + size_, 2, of.list->entry_bytes);
    store(into_.data() + size_ + 2, 2, 0);
    size_ += sbe::dimension_bytes;
    return true;
}

bool json_fields_reader::member(const block& of, std::uint32_t& seen, bool& list_seen) noexcept {
    const std::optional<std::string_view> name = from_.key();
    if (!name) return false;
    const auto found = std::ranges::find(of.fields, *name, &schema_tables::field::name);
    const bool is_list = of.list != nullptr && *name == of.list->name;
    if (found == of.fields.end() && !is_list) {
        note_field(*name);
        return fail(json_fault::unknown_field);
    }
    const std::string_view known = is_list ? of.list->name : found->name;
    const std::uint32_t bit =
        is_list ? std::uint32_t{0} : std::uint32_t{1} << (found - of.fields.begin());
    const bool twice = is_list ? list_seen : (seen & bit) != 0;
    seen |= bit;
    list_seen = list_seen || is_list;
    const bool read =
        !twice && (is_list ? list(*of.list) : value(*found, into_.data() + of.at + found->offset));
    if (read) return true;
    note_field(known);
    return fail(json_fault::duplicate_field);  // Unless something else is wrong, which was noted.
}

/// What was not there: null, where that may be.
bool json_fields_reader::fill_in(const block& of, std::uint32_t seen) noexcept {
    for (std::size_t each = 0; each < of.fields.size(); ++each) {
        if ((seen >> each & 1) != 0) continue;
        const schema_tables::field& it = of.fields[each];
        std::byte* const to = into_.data() + of.at + it.offset;
        if (!it.optional) {
            note_field(it.name);
            return fail(json_fault::missing_field);
        }
        if (is_text(it)) pad_right({to, it.bytes}, {});
        else store(to, it.bytes, it.null);
    }
    return true;
}

bool json_fields_reader::value(const schema_tables::field& it, std::byte* to) noexcept {
    if (it.optional && from_.take_literal("null")) {
        if (is_text(it)) pad_right({to, it.bytes}, {});
        else store(to, it.bytes, it.null);
        return true;
    }
    switch (it.as) {
        case schema_tables::form::natural:
        case schema_tables::form::integer: return number(it, to);
        case schema_tables::form::text: return text(it, to);
        case schema_tables::form::name: return name(it, to);
        case schema_tables::form::truth: return truth(it, to);
        case schema_tables::form::object:
            if (!from_.take('{')) return fail(json_fault::wrong_type);
            return members({it.members, nullptr, static_cast<std::size_t>(to - into_.data())},
                           false);
    }
    return fail(json_fault::wrong_type);
}

bool json_fields_reader::text(const schema_tables::field& it, std::byte* to) noexcept {
    const std::optional<std::string_view> said = from_.text();
    if (!said) return false;
    if (said->size() > it.bytes) return fail(json_fault::too_long);
    // What fills up a field is no part of its text.
    if (said->starts_with(' ') || said->ends_with(' ')) return fail(json_fault::out_of_range);
    pad_right({to, it.bytes}, *said);
    return true;
}

bool json_fields_reader::name(const schema_tables::field& it, std::byte* to) noexcept {
    const std::optional<std::string_view> said = from_.text();
    if (!said) return false;
    const auto found = std::ranges::find(it.names, *said, &schema_tables::value_name::name);
    if (found == it.names.end()) return fail(json_fault::unknown_name);
    store(to, it.bytes, found->value);
    return true;
}

bool json_fields_reader::truth(const schema_tables::field& it, std::byte* to) noexcept {
    const bool yes = from_.take_literal("true");
    if (!yes && !from_.take_literal("false")) return fail(json_fault::wrong_type);
    store(to, it.bytes, yes ? 1 : 0);
    return true;
}

bool json_fields_reader::number(const schema_tables::field& it, std::byte* to) noexcept {
    const bool quoted = it.quoted && from_.peek() == '"';
    const std::optional<std::string_view> digits = quoted ? from_.text() : std::nullopt;
    if (quoted && !digits) return false;
    bool within = false;
    std::uint64_t value = 0;
    if (it.as == schema_tables::form::integer) {
        const auto said = quoted ? parse_integer(*digits) : from_.integer();
        value = static_cast<std::uint64_t>(said.value_or(0));
        within = said && *said >= static_cast<std::int64_t>(it.minimum) &&
                 *said <= static_cast<std::int64_t>(it.maximum);
    } else {
        const auto said = quoted ? parse_natural(*digits) : from_.natural();
        value = said.value_or(0);
        within = said && value >= it.minimum && value <= it.maximum;
    }
    // What is null is no value, so where one must be, that is none.
    if (!within || (value == it.null && !it.optional)) return fail(json_fault::out_of_range);
    store(to, it.bytes, value);
    return true;
}

bool json_fields_reader::list(const schema_tables::group& it) noexcept {
    if (!from_.take('[')) return fail(json_fault::wrong_type);
    if (into_.size() - size_ < sbe::dimension_bytes) return fail(json_fault::too_many_entries);
    std::byte* const dimension = into_.data() + size_;
    size_ += sbe::dimension_bytes;
    std::uint16_t count = 0;
    for (; !from_.take(']'); ++count) {
        if (count > 0 && !from_.need(',')) return false;
        if (into_.size() - size_ < it.entry_bytes) return fail(json_fault::too_many_entries);
        const std::size_t at = std::exchange(size_, size_ + it.entry_bytes);
        std::ranges::fill(into_.subspan(at, it.entry_bytes), std::byte{0});
        if (!from_.take('{')) return fail(json_fault::wrong_type);
        if (!members({it.fields, nullptr, at}, false)) return false;
    }
    store(dimension, 2, it.entry_bytes);
    store(dimension + 2, 2, count);
    return true;
}

}  // namespace exchange

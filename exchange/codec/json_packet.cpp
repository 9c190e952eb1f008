// SPDX-License-Identifier: BSL-1.0
//
// Packets by name: see json_packet.hpp.
#include <exchange/codec/json_packet.hpp>

#include <exchange/codec/sbe.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace exchange {

namespace {

using schema_tables::form;

// The payload of a login is text of fixed width, as soup_packet.cpp reads it.
constexpr std::array login_fields{
    schema_tables::field{"username", 0, 6, form::text, false, false, 0, 0, 0, {}, {}},
    schema_tables::field{"password", 6, 10, form::text, false, false, 0, 0, 0, {}, {}},
    schema_tables::field{"session", 16, 10, form::text, false, true, 0, 0, 0, {}, {}},
    schema_tables::field{"sequence", 26, 20, form::text, false, true, 0, 0, 0, {}, {}},
};
constexpr std::array acceptance_fields{
    schema_tables::field{"session", 0, 10, form::text, false, false, 0, 0, 0, {}, {}},
    schema_tables::field{"sequence", 10, 20, form::text, false, false, 0, 0, 0, {}, {}},
};
constexpr std::array reject_names{
    schema_tables::value_name{"not_authorized",
                              static_cast<std::uint64_t>(soup_reject::not_authorized)},
    schema_tables::value_name{"session_not_available",
                              static_cast<std::uint64_t>(soup_reject::session_not_available)},
};
constexpr std::array rejection_fields{
    schema_tables::field{"reason", 0, 1, form::name, false, false, 0, 0, 0, reject_names, {}},
};

/// What has no message of the application in it.
struct plain_packet {
    soup_type type;
    soup_end from;
    schema_tables::message said;
};

constexpr std::array plain_packets{
    plain_packet{soup_type::login_request,
                 soup_end::client,
                 {"login", 0, soup_login_bytes, login_fields, nullptr}},
    plain_packet{soup_type::login_accepted,
                 soup_end::server,
                 {"login_accepted", 0, soup_acceptance_bytes, acceptance_fields, nullptr}},
    plain_packet{soup_type::login_rejected,
                 soup_end::server,
                 {"login_rejected", 0, 1, rejection_fields, nullptr}},
    plain_packet{soup_type::client_heartbeat, soup_end::client, {"heartbeat", 0, 0, {}, nullptr}},
    plain_packet{soup_type::server_heartbeat, soup_end::server, {"heartbeat", 0, 0, {}, nullptr}},
    plain_packet{soup_type::logout_request, soup_end::client, {"logout", 0, 0, {}, nullptr}},
    plain_packet{
        soup_type::end_of_session, soup_end::server, {"end_of_session", 0, 0, {}, nullptr}},
};

constexpr std::string_view key_of_all = "message";
constexpr std::string_view debug_name = "debug";
constexpr std::string_view error_name = "error";

std::string_view as_text(std::span<const std::byte> bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// One text, on its way through.
class packet_reader {
public:
    packet_reader(std::string_view text, soup_end from, std::span<std::byte> into) noexcept
        : text_{text}, cursor_{text}, from_{from}, into_{into} {}

    json_packet_reading read() noexcept {
        if (!name() || !body()) return problem();
        if (!cursor_.at_end()) cursor_.fail(json_fault::not_json);
        if (cursor_.fault() != json_fault::none) return problem();
        return made_;
    }

private:
    bool name() noexcept {
        if (!cursor_.take('{')) {
            cursor_.fail(json_fault::message_not_first);
            return false;
        }
        const std::optional<std::string_view> key = cursor_.key();
        if (!key) return false;
        if (*key != key_of_all) {
            cursor_.fail(json_fault::message_not_first);
            return false;
        }
        const std::optional<std::string_view> said = cursor_.text();
        if (!said) return false;
        name_ = said->substr(0, 48);
        return true;
    }

    bool body() noexcept {
        const std::string_view name = name_.view();
        for (const plain_packet& each : plain_packets)
            if (each.said.name == name && each.from == from_) return plain(each);
        if (name == debug_name) return debug();
        if (name == error_name && from_ == soup_end::server) return error();
        const json_message_type found = find_json_message(name);
        if (found.message != nullptr) return message(found);
        cursor_.fail(json_fault::unknown_message);
        return false;
    }

    bool plain(const plain_packet& it) noexcept {
        json_fields_reader fields{cursor_, into_};
        const bool read = fields.read(it.said, 0, true);
        field_ = fields.field();
        if (!read) return false;
        made_.packet = {it.type, into_.first(fields.size())};
        align();
        return true;
    }

    /// Sessions and numbers stand at the right of their fields, as a client of SoupBinTCP writes them.
    void align() noexcept {
        if (made_.packet.type == soup_type::login_request) {
            const auto login = parse_soup_login(made_.packet.payload);
            if (login.ending == soup_ending::none)
                std::ranges::copy(format_soup_login(login.fields), into_.begin());
        } else if (made_.packet.type == soup_type::login_accepted) {
            const auto accepted = parse_soup_acceptance(made_.packet.payload);
            if (accepted.ending == soup_ending::none)
                std::ranges::copy(format_soup_acceptance(accepted.fields), into_.begin());
        }
    }

    bool message(const json_message_type& it) noexcept {
        made_.packet.type = soup_type::unsequenced;
        if (from_ == soup_end::server && !sequence()) return false;
        if (into_.size() < sbe::header_bytes) {
            cursor_.fail(json_fault::too_many_entries);
            return false;
        }
        json_fields_reader fields{cursor_, into_};
        const bool read = fields.read(*it.message, sbe::header_bytes, true);
        field_ = fields.field();
        if (!read) return false;
        sbe::store_header(into_.data(), {it.message->block_bytes, it.message->number,
                                         it.schema->number, it.schema->version});
        made_.packet.payload = into_.first(fields.size());
        return true;
    }

    /// The number of a message that has one stands right behind the name.
    bool sequence() noexcept {
        json_cursor ahead = cursor_;
        if (!ahead.take(',')) return true;
        const std::optional<std::string_view> key = ahead.key();
        if (!key || *key != "sequence") return true;
        const std::optional<std::string_view> digits = ahead.text();
        made_.sequence = digits ? parse_natural(*digits).value_or(0) : 0;
        if (made_.sequence == 0) {
            field_ = "sequence";
            cursor_.fail(json_fault::out_of_range);
            return false;
        }
        made_.packet.type = soup_type::sequenced;
        cursor_ = ahead;
        return true;
    }

    bool debug() noexcept {
        if (!cursor_.need(',')) return false;
        const std::optional<std::string_view> key = cursor_.key();
        const bool known = key && *key == "text";
        if (key && !known) cursor_.fail(json_fault::unknown_field);
        const std::optional<std::string_view> said = known ? cursor_.text() : std::nullopt;
        if (!said || !cursor_.need('}')) return false;
        if (said->size() > into_.size()) {
            cursor_.fail(json_fault::too_long);
            return false;
        }
        std::ranges::copy(std::as_bytes(std::span{*said}), into_.begin());
        made_.packet = {soup_type::debug, into_.first(said->size())};
        return true;
    }

    /// To a client an error is text for people, all of it: it has not read the message that it is about.
    bool error() noexcept {
        made_.packet = {soup_type::debug, std::as_bytes(std::span{text_})};
        cursor_ = json_cursor{std::string_view{}};
        return true;
    }

    [[nodiscard]] json_packet_reading problem() const noexcept {
        json_packet_reading bad;
        bad.problem = {cursor_.fault(), name_, field_, cursor_.position()};
        return bad;
    }

    std::string_view text_;
    json_cursor cursor_;
    soup_end from_;
    std::span<std::byte> into_;
    json_packet_reading made_;
    padded_text<48> name_;
    padded_text<48> field_;
};

}  // namespace

bool write_json_packet(json_writer& to, const soup_packet& packet,
                       std::uint64_t sequence) noexcept {
    if (packet.type == soup_type::sequenced)
        return write_json_message(to, packet.payload, sequence);
    if (packet.type == soup_type::unsequenced) return write_json_message(to, packet.payload, 0);
    to.begin_object();
    to.key(key_of_all);
    if (packet.type == soup_type::debug) {
        to.text(debug_name);
        to.key("text");
        to.text(as_text(packet.payload));
    } else {
        const auto found = std::ranges::find(plain_packets, packet.type, &plain_packet::type);
        if (found == plain_packets.end()) return false;
        to.text(found->said.name);
        write_json_fields(to, found->said.fields, packet.payload);
    }
    to.end_object();
    return true;
}

void write_json_problem(json_writer& to, const json_problem& problem) noexcept {
    to.begin_object();
    to.key(key_of_all);
    to.text(error_name);
    if (!problem.message.empty()) {
        to.key("refused");
        to.text(problem.message.view());
    }
    if (!problem.field.empty()) {
        to.key("field");
        to.text(problem.field.view());
    }
    to.key("reason");
    to.text(describe(problem.fault));
    to.key("position");
    to.natural(problem.position);
    to.end_object();
}

json_packet_reading read_json_packet(std::string_view text, soup_end from,
                                     std::span<std::byte> into) noexcept {
    return packet_reader{text, from, into}.read();
}

}  // namespace exchange

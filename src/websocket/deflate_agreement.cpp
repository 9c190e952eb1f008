// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/deflate_agreement.hpp>

#include <gyre/base/check.hpp>
#include <gyre/http/fields.hpp>
#include <websocket/header_scanner.hpp>

#include <algorithm>
#include <string_view>

namespace gyre::websocket {

namespace {

using http::equal_without_case;

constexpr std::string_view field_name = "Sec-WebSocket-Extensions";
constexpr std::string_view extension_name = "permessage-deflate";
constexpr int window_bits_max = 15;
constexpr int zlib_window_bits_min = 9;

void check(const deflate_options& wanted) noexcept {
    const auto in_range = [](int bits) {
        return bits >= zlib_window_bits_min && bits <= window_bits_max;
    };
    expects(in_range(wanted.our_window_bits), "our_window_bits is 9 to 15");
    expects(in_range(wanted.peer_window_bits), "peer_window_bits is 9 to 15");
    expects(wanted.level >= 1 && wanted.level <= 9, "level is 1 to 9");
    expects(wanted.memory_level >= 1 && wanted.memory_level <= 9, "memory_level is 1 to 9");
}

// One element of the field: an extension with parameters.
struct element {
    bool is_ours = false;
    bool damaged =
        false;  // An unknown parameter, one twice, a value that it cannot have, or no grammar.
    bool server_context_dropped = false;
    bool client_context_dropped = false;
    bool client_bits_named = false;
    std::optional<int> server_bits;
    std::optional<int> client_bits;
};

// RFC 7692, 7.1.2: 8 to 15, without leading zeros.
std::optional<int> window_bits(std::string_view text) noexcept {
    if (text == "8") return 8;
    if (text == "9") return 9;
    if (text.size() != 2 || text[0] != '1' || text[1] < '0' || text[1] > '5') return std::nullopt;
    return 10 + (text[1] - '0');
}

// False if the parameter makes the element one that must not be taken. RFC 7692, 7.1.1 and 7.1.2.
bool take_parameter(element& into, std::string_view name, std::optional<std::string_view> value) {
    const auto flag = [&value](bool& seen) {
        const bool first = !seen;
        seen = true;
        return first && !value;
    };
    if (equal_without_case(name, "server_no_context_takeover"))
        return flag(into.server_context_dropped);
    if (equal_without_case(name, "client_no_context_takeover"))
        return flag(into.client_context_dropped);
    if (equal_without_case(name, "server_max_window_bits")) {
        if (into.server_bits || !value) return false;
        into.server_bits = window_bits(*value);
        return into.server_bits.has_value();
    }
    if (equal_without_case(name, "client_max_window_bits")) {
        if (into.client_bits_named) return false;
        into.client_bits_named = true;
        if (value) into.client_bits = window_bits(*value);
        return !value || into.client_bits.has_value();
    }
    return false;
}

// RFC 6455, 9.1.
element read_element(header_scanner& scan) {
    element read;
    const std::string_view name = scan.token();
    read.is_ours = equal_without_case(name, extension_name);
    read.damaged = name.empty();
    while (!read.damaged && scan.take(';')) {
        const std::string_view parameter = scan.token();
        std::optional<std::string_view> value;
        if (scan.take('=')) value = scan.value();
        const bool grammar = !parameter.empty() && (!value || !value->empty());
        read.damaged = !grammar || (read.is_ours && !take_parameter(read, parameter, value));
    }
    if (!scan.at_end() && !scan.take(',')) {
        read.damaged = true;
        scan.skip_element();
    }
    return read;
}

template <class Visitor>
void for_each_element(const header_lookup& fields, Visitor&& visit) {
    fields.for_each(field_name, [&visit](std::string_view value) {
        header_scanner scan{value};
        while (!scan.at_end()) {
            // RFC 9110, 5.6.1.2: empty elements of a list are passed over.
            if (!scan.take(',')) visit(read_element(scan));
        }
    });
}

void add(std::string& to, std::string_view name) { to.append("; ").append(name); }
void add(std::string& to, std::string_view name, int value) {
    add(to, name);
    to.append("=").append(std::to_string(value));
}

std::optional<deflate_answer> answer_to(const element& offer, const deflate_options& wanted) {
    const int server_bits =
        std::min(wanted.our_window_bits, offer.server_bits.value_or(window_bits_max));
    if (server_bits < zlib_window_bits_min) return std::nullopt;

    deflate_answer answer;
    answer.field = extension_name;
    answer.agreed.our_context_kept = wanted.our_context_kept && !offer.server_context_dropped;
    if (!answer.agreed.our_context_kept) add(answer.field, "server_no_context_takeover");
    answer.agreed.peer_context_kept = wanted.peer_context_kept && !offer.client_context_dropped;
    if (!answer.agreed.peer_context_kept) add(answer.field, "client_no_context_takeover");

    answer.agreed.our_window_bits = server_bits;
    if (server_bits < window_bits_max || offer.server_bits) {
        add(answer.field, "server_max_window_bits", server_bits);
    }
    // RFC 7692, 7.1.2.2: only a client that named it understands it.
    answer.agreed.peer_window_bits = offer.client_bits.value_or(window_bits_max);
    if (offer.client_bits_named) {
        const int client_bits = std::min(wanted.peer_window_bits, answer.agreed.peer_window_bits);
        answer.agreed.peer_window_bits = client_bits;
        if (client_bits < window_bits_max) {
            add(answer.field, "client_max_window_bits", client_bits);
        }
    }
    return answer;
}

}  // namespace

// RFC 7692, 5 and 7.1.
std::optional<deflate_answer> answer_deflate_offers(const header_lookup& request,
                                                    const deflate_options& wanted) {
    check(wanted);
    std::optional<deflate_answer> answer;
    for_each_element(request, [&](const element& offer) {
        if (!answer && offer.is_ours && !offer.damaged) answer = answer_to(offer, wanted);
    });
    return answer;
}

std::string deflate_offer(const deflate_options& wanted) {
    check(wanted);
    std::string offer{extension_name};
    if (!wanted.peer_context_kept) add(offer, "server_no_context_takeover");
    if (!wanted.our_context_kept) add(offer, "client_no_context_takeover");
    if (wanted.peer_window_bits < window_bits_max) {
        add(offer, "server_max_window_bits", wanted.peer_window_bits);
    }
    if (wanted.our_window_bits < window_bits_max) {
        add(offer, "client_max_window_bits", wanted.our_window_bits);
    } else {
        add(offer, "client_max_window_bits");
    }
    return offer;
}

deflate_outcome read_deflate_answer(const header_lookup& answer,
                                    const std::optional<deflate_options>& wanted) {
    std::size_t elements = 0;
    element last;
    for_each_element(answer, [&](const element& each) {
        ++elements;
        last = each;
    });
    deflate_outcome outcome;
    if (elements == 0) return outcome;

    // RFC 6455, 9.1, and RFC 7692, 5: nothing that was not offered, and nothing twice.
    outcome.what = deflate_outcome::kind::refused;
    if (!wanted || elements > 1 || !last.is_ours || last.damaged) return outcome;
    // RFC 7692, 7.1.1.1 and 7.1.2.1: what the offer asks of the server, the answer has to grant.
    if (!wanted->peer_context_kept && !last.server_context_dropped) return outcome;
    const int server_bits = last.server_bits.value_or(window_bits_max);
    if (server_bits > wanted->peer_window_bits) return outcome;
    // RFC 7692, 7.1.2.2: with a value, which is no larger than that of the offer.
    if (last.client_bits_named && !last.client_bits) return outcome;
    if (last.client_bits.value_or(0) > wanted->our_window_bits) return outcome;

    outcome.what = deflate_outcome::kind::agreed;
    outcome.agreed.peer_context_kept = !last.server_context_dropped;
    outcome.agreed.our_context_kept = wanted->our_context_kept && !last.client_context_dropped;
    outcome.agreed.peer_window_bits = server_bits;
    outcome.agreed.our_window_bits =
        std::min(wanted->our_window_bits, last.client_bits.value_or(window_bits_max));
    return outcome;
}

}  // namespace gyre::websocket

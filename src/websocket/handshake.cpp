// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/handshake.hpp>

#include <gyre/base/buffer.hpp>
#include <gyre/base/check.hpp>
#include <gyre/http/authorization.hpp>
#include <gyre/http/fields.hpp>
#include <gyre/websocket/masking.hpp>
#include <websocket/accept_key.hpp>
#include <websocket/header_scanner.hpp>

#include <algorithm>
#include <utility>

namespace gyre::websocket {

namespace {

using http::equal_without_case;

constexpr std::string_view version = "13";

bool has_token(const header_lookup& fields, std::string_view name, std::string_view token) {
    bool found = false;
    fields.for_each(name, [&](std::string_view value) {
        for_each_token(value,
                       [&](std::string_view each) { found |= equal_without_case(each, token); });
    });
    return found;
}

// RFC 6455, 4.2.1, 1 to 6.
handshake_failure check_request(std::string_view method, const header_lookup& fields) {
    if (method != "GET") return handshake_failure::not_get;
    if (!has_token(fields, "Upgrade", "websocket") || !has_token(fields, "Connection", "upgrade")) {
        return handshake_failure::no_upgrade;
    }
    if (fields.find("Host").count != 1) return handshake_failure::no_host;
    const auto version_asked = fields.find("Sec-WebSocket-Version");
    if (version_asked.count != 1 || version_asked.value != version) {
        return handshake_failure::other_version;
    }
    const auto key = fields.find("Sec-WebSocket-Key");
    if (key.count != 1 || !is_handshake_key(key.value)) return handshake_failure::bad_key;
    return handshake_failure::none;
}

// RFC 6455, 10.2. Without the field it is no browser, which could claim any origin.
bool origin_allowed(const header_lookup& fields, const std::vector<std::string>& origins) {
    const auto origin = fields.find("Origin");
    if (origin.count == 0) return true;
    if (origin.count > 1) return false;
    const std::size_t scheme = origin.value.find("://");
    if (scheme != std::string_view::npos &&
        equal_without_case(origin.value.substr(scheme + 3), fields.find("Host").value)) {
        return true;
    }
    return std::ranges::any_of(origins, [&](const std::string& each) {
        return each == "*" || equal_without_case(each, origin.value);
    });
}

unsigned status_for(handshake_failure failure) noexcept {
    switch (failure) {
        case handshake_failure::none: return 101;
        case handshake_failure::not_get: return 405;
        case handshake_failure::no_upgrade:
        case handshake_failure::other_version: return 426;
        case handshake_failure::foreign_origin: return 403;
        default: return 400;
    }
}

// What a client needs to do better.
void add_hints(server_handshake& to) {
    if (to.failure == handshake_failure::not_get) to.fields.push_back({"Allow", "GET"});
    if (to.status == 426) {
        // RFC 6455, 4.2.2 and 4.4; RFC 9110, 15.5.22.
        to.fields.push_back({"Connection", "Upgrade"});
        to.fields.push_back({"Upgrade", "websocket"});
        to.fields.push_back({"Sec-WebSocket-Version", std::string{version}});
    }
}

// RFC 6455, 4.2.2, 5: subprotocol.
std::string choose_subprotocol(const header_lookup& fields, const std::vector<std::string>& known) {
    std::size_t best = known.size();
    fields.for_each("Sec-WebSocket-Protocol", [&](std::string_view value) {
        for_each_token(value, [&](std::string_view offered) {
            const auto at = std::ranges::find(known, offered);
            best = std::min(best, static_cast<std::size_t>(at - known.begin()));
        });
    });
    return best < known.size() ? known[best] : std::string{};
}

client_handshake::nonce random_nonce() {
    masking_keys keys = masking_keys::random();
    client_handshake::nonce made{};
    for (std::size_t at = 0; at < made.size(); at += sizeof(masking_key)) {
        std::ranges::copy(keys.next(), made.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return made;
}

}  // namespace

const char* describe(handshake_failure which) noexcept {
    switch (which) {
        case handshake_failure::none: return "no failure";
        case handshake_failure::not_get: return "the method is not GET";
        case handshake_failure::no_upgrade: return "the request asks for no upgrade to websocket";
        case handshake_failure::no_host: return "the request has not exactly one Host";
        case handshake_failure::bad_key: return "the request has not exactly one proper key";
        case handshake_failure::other_version: return "the request's version is not 13";
        case handshake_failure::foreign_origin: return "the origin is not among those allowed";
        case handshake_failure::not_switched: return "the server does not switch protocols";
        case handshake_failure::answer_without_upgrade:
            return "the answer names no upgrade to websocket";
        case handshake_failure::wrong_accept_key: return "the answer is to another request";
        case handshake_failure::stray_subprotocol:
            return "the answer chooses a subprotocol that was not offered";
        case handshake_failure::stray_extension:
            return "the answer has an extension that was not offered so";
    }
    return "unknown failure";
}

// RFC 6455, 4.2.2.
server_handshake answer_handshake(std::string_view method, const header_lookup& fields,
                                  const server_handshake_options& options) {
    server_handshake answer;
    answer.failure = check_request(method, fields);
    if (answer.failure == handshake_failure::none && !origin_allowed(fields, options.origins)) {
        answer.failure = handshake_failure::foreign_origin;
    }
    answer.status = status_for(answer.failure);
    if (answer.failure != handshake_failure::none) {
        add_hints(answer);
        return answer;
    }
    answer.fields.push_back({"Upgrade", "websocket"});
    answer.fields.push_back({"Connection", "Upgrade"});
    answer.fields.push_back(
        {"Sec-WebSocket-Accept", accept_key(fields.find("Sec-WebSocket-Key").value)});
    answer.agreed.subprotocol = choose_subprotocol(fields, options.subprotocols);
    if (!answer.agreed.subprotocol.empty()) {
        answer.fields.push_back({"Sec-WebSocket-Protocol", answer.agreed.subprotocol});
    }
    if (!options.deflate) return answer;
    std::optional<deflate_answer> deflate = answer_deflate_offers(fields, *options.deflate);
    if (!deflate) return answer;
    answer.agreed.deflate = deflate->agreed;
    answer.fields.push_back({"Sec-WebSocket-Extensions", std::move(deflate->field)});
    return answer;
}

client_handshake::client_handshake(client_handshake_options options)
    : client_handshake{std::move(options), random_nonce()} {}

client_handshake::client_handshake(client_handshake_options options, const nonce& from)
    : options_{std::move(options)}, key_{http::base64_encoded(text_of(from))} {
    expects(std::ranges::all_of(options_.subprotocols, http::is_token), "subprotocols are tokens");
}

// RFC 6455, 4.1.
std::vector<header_field> client_handshake::fields() const {
    std::vector<header_field> made{{"Upgrade", "websocket"},
                                   {"Connection", "Upgrade"},
                                   {"Sec-WebSocket-Key", key_},
                                   {"Sec-WebSocket-Version", std::string{version}}};
    if (!options_.origin.empty()) made.push_back({"Origin", options_.origin});
    std::string offered;
    for (const std::string& each : options_.subprotocols) {
        offered.append(offered.empty() ? "" : ", ").append(each);
    }
    if (!offered.empty()) made.push_back({"Sec-WebSocket-Protocol", std::move(offered)});
    if (options_.deflate) {
        made.push_back({"Sec-WebSocket-Extensions", deflate_offer(*options_.deflate)});
    }
    return made;
}

// RFC 6455, 4.1: the six checks at its end.
client_handshake::outcome client_handshake::read_answer(unsigned status,
                                                        const header_lookup& fields) const {
    outcome read;
    const auto failed = [&read](handshake_failure why) {
        read.failure = why;
        return read;
    };
    if (status != 101) return failed(handshake_failure::not_switched);
    const auto upgrade = fields.find("Upgrade");
    if (upgrade.count != 1 || !equal_without_case(upgrade.value, "websocket") ||
        !has_token(fields, "Connection", "upgrade")) {
        return failed(handshake_failure::answer_without_upgrade);
    }
    const auto accept = fields.find("Sec-WebSocket-Accept");
    if (accept.count != 1 || accept.value != accept_key(key_)) {
        return failed(handshake_failure::wrong_accept_key);
    }
    const auto subprotocol = fields.find("Sec-WebSocket-Protocol");
    const auto& offered = options_.subprotocols;
    if (subprotocol.count > 1 || (subprotocol.count == 1 &&
                                  std::ranges::find(offered, subprotocol.value) == offered.end())) {
        return failed(handshake_failure::stray_subprotocol);
    }
    const deflate_outcome deflate = read_deflate_answer(fields, options_.deflate);
    if (deflate.what == deflate_outcome::kind::refused) {
        return failed(handshake_failure::stray_extension);
    }
    read.agreed.subprotocol = subprotocol.value;
    if (deflate.what == deflate_outcome::kind::agreed) read.agreed.deflate = deflate.agreed;
    return read;
}

}  // namespace gyre::websocket

// SPDX-License-Identifier: BSL-1.0
//
// Who is let in, and what is said to who is not: see websocket_opening.hpp.
#include <exchange/net/transport/websocket_opening.hpp>

#include <gyre/http/status.hpp>

#include <algorithm>
#include <span>

namespace exchange {

namespace {

using gyre::http::head_progress;
using gyre::http::status;
using step = websocket_opening::step;

gyre::http::head_limits limits_of(const websocket_options& options) noexcept {
    gyre::http::head_limits limits;
    limits.bytes_max = options.head_bytes_max;
    limits.target_bytes_max = options.head_bytes_max;
    return limits;
}

void add(std::string& to, std::string_view name, std::string_view value) {
    to.append(name).append(": ").append(value).append("\r\n");
}

std::string head_of(status code, std::span<const gyre::websocket::header_field> fields) {
    std::string made = "HTTP/1.1 " + std::to_string(static_cast<unsigned>(code)) + " ";
    made.append(gyre::http::reason_of(code)).append("\r\n");
    for (const gyre::websocket::header_field& each : fields) add(made, each.name, each.value);
    return made;
}

/// The connection ends behind it. Fields of a refusal may say that, too.
std::string refusal(status code, std::string_view why,
                    std::span<const gyre::websocket::header_field> fields = {}) {
    std::string made = head_of(code, fields);
    const auto connection = &gyre::websocket::header_field::name;
    if (std::ranges::find(fields, "Connection", connection) == fields.end())
        add(made, "Connection", "close");
    add(made, "Content-Type", "text/plain; charset=us-ascii");
    add(made, "Content-Length", std::to_string(why.size() + 1));
    return made.append("\r\n").append(why).append("\n");
}

step refused(std::string answer) { return {step::kind::refused, 0, std::move(answer), {}}; }

/// Does the answer say nothing of what was asked? So a proxy speaks whose server is away.
bool is_for_now(unsigned code) noexcept {
    return code == static_cast<unsigned>(status::request_timeout) ||
           code == static_cast<unsigned>(status::too_many_requests) || (code >= 500 && code < 600);
}

std::string no_subprotocol() {
    return std::string{"offer one of the subprotocols "} + subprotocol_of(session_format::sbe) +
           ", " + subprotocol_of(session_format::json);
}

session_format format_of(std::string_view subprotocol) noexcept {
    return subprotocol == subprotocol_of(session_format::json) ? session_format::json
                                                               : session_format::sbe;
}

}  // namespace

websocket_opening::websocket_opening(const websocket_options& options, soup_end we,
                                     std::string_view authority)
    : options_{options}, authority_{authority}, parser_{limits_of(options)} {
    if (we != soup_end::client) return;
    gyre::websocket::client_handshake_options offer;
    offer.subprotocols.emplace_back(subprotocol_of(options.format));
    handshake_.emplace(std::move(offer));
}

std::string websocket_opening::first_words() const {
    if (!handshake_) return {};
    std::string made = "GET " + options_.path + " HTTP/1.1\r\n";
    add(made, "Host", authority_);
    for (const gyre::websocket::header_field& each : handshake_->fields())
        add(made, each.name, each.value);
    return made.append("\r\n");
}

step websocket_opening::read(gyre::const_buffer received) {
    return handshake_ ? read_answer(received) : answer_request(received);
}

step websocket_opening::answer_request(gyre::const_buffer received) {
    const head_progress progress = parser_.parse_request(received, request_);
    if (progress == head_progress::incomplete) return {};
    if (progress == head_progress::refused)
        return refused(refusal(gyre::http::status_for(parser_.why()), describe(parser_.why())));
    if (request_.target() != options_.path)
        return refused(refusal(status::not_found, "there is nothing but " + options_.path));
    if (parser_.framing().by != gyre::http::body_framing::kind::none ||
        request_.version() != gyre::http::version::http_1_1)
        return refused(
            refusal(status::bad_request, "a GET of HTTP/1.1 without a body is expected"));
    gyre::websocket::server_handshake_options ours;
    for (const session_format each : {session_format::sbe, session_format::json})
        ours.subprotocols.emplace_back(subprotocol_of(each));
    ours.origins = options_.origins;
    const gyre::websocket::server_handshake made =
        answer_handshake(request_.method_text(), request_.fields, ours);
    if (made.failure != gyre::websocket::handshake_failure::none)
        return refused(
            refusal(static_cast<status>(made.status), describe(made.failure), made.fields));
    if (made.agreed.subprotocol.empty())
        return refused(refusal(status::bad_request, no_subprotocol()));
    std::string answer = head_of(status::switching_protocols, made.fields).append("\r\n");
    return {step::kind::open, parser_.size(), std::move(answer),
            format_of(made.agreed.subprotocol)};
}

step websocket_opening::read_answer(gyre::const_buffer received) {
    gyre::http::response answer;
    const head_progress progress =
        parser_.parse_response(received, gyre::http::method::get, answer);
    if (progress == head_progress::incomplete) return {};
    if (progress == head_progress::refused) return refused({});
    const unsigned code = static_cast<unsigned>(answer.status);
    if (is_for_now(code)) return {step::kind::unavailable, 0, {}, {}};
    const auto outcome = handshake_->read_answer(code, answer.fields);
    if (outcome.failure != gyre::websocket::handshake_failure::none ||
        outcome.agreed.subprotocol != subprotocol_of(options_.format))
        return refused({});
    return {step::kind::open, parser_.size(), {}, options_.format};
}

std::string websocket_opening::too_late() {
    return refusal(status::request_timeout, "nothing was asked in time");
}

}  // namespace exchange

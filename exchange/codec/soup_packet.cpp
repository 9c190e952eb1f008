// SPDX-License-Identifier: BSL-1.0
//
// Headers, padded text and digits: see soup_packet.hpp.
#include <exchange/codec/soup_packet.hpp>

#include <charconv>

namespace exchange {

namespace {

constexpr std::size_t sequence_digits = 20;  // The largest 64-bit number has just as many.
constexpr std::size_t session_at = 16;       // In a login; username and password stand before it.

/// The number in a padded field. A blank field is zero, as clients that ask for nothing leave it blank.
std::optional<std::uint64_t> number(std::span<const std::byte> field) noexcept {
    const std::optional<std::string_view> digits = trimmed(field);
    if (!digits) return std::nullopt;
    if (digits->empty()) return 0;
    std::uint64_t value = 0;
    const char* const end = digits->data() + digits->size();
    const auto [stopped, failure] = std::from_chars(digits->data(), end, value);
    if (failure != std::errc{} || stopped != end) return std::nullopt;
    return value;
}

void put_number(std::span<std::byte> field, std::uint64_t value) noexcept {
    std::array<char, sequence_digits> digits;
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    pad_left(field, {digits.data(), written.ptr});
}

}  // namespace

std::string_view describe(soup_ending ending) noexcept {
    switch (ending) {
        case soup_ending::none: return "not ended";
        case soup_ending::logged_out: return "logged out";
        case soup_ending::session_ended: return "end of session";
        case soup_ending::rejected: return "login rejected";
        case soup_ending::empty_packet: return "a packet of length zero";
        case soup_ending::oversized_packet: return "a packet that is too long";
        case soup_ending::unknown_packet: return "an unknown type of packet";
        case soup_ending::wrong_direction: return "a packet that only the other side sends";
        case soup_ending::wrong_size: return "a packet of the wrong size";
        case soup_ending::malformed_login: return "a login with malformed text or digits";
        case soup_ending::before_login: return "a packet before the login";
        case soup_ending::second_login: return "a second login";
        case soup_ending::wrong_session: return "another session than asked for";
        case soup_ending::sequence_gap: return "a later sequence number than asked for";
        case soup_ending::login_timed_out: return "no login in time";
        case soup_ending::peer_silent: return "nothing heard for too long";
        case soup_ending::fell_behind: return "read too slowly: what follows is not kept any more";
        case soup_ending::removed: return "the user was removed or changed";
        case soup_ending::replaced: return "logged in again on another connection";
        case soup_ending::life_ended: return "the session is over, and another one has begun";
        case soup_ending::broken_transport: return "the rules of the transport were broken";
        case soup_ending::not_kept: return "what was asked for is not kept any more";
        case soup_ending::link_lost: return "the exchange was lost with messages on their way";
        case soup_ending::unreachable: return "the exchange cannot be reached";
        case soup_ending::gateway_goes: return "this server lets its clients go: log in again";
    }
    return "unknown";
}

soup_parsed<soup_login> parse_soup_login(std::span<const std::byte> payload) noexcept {
    if (payload.size() != soup_login_bytes) return {soup_ending::wrong_size, {}};
    const auto username = trimmed(payload.subspan(0, 6));
    const auto password = trimmed(payload.subspan(6, 10));
    const auto session = trimmed(payload.subspan(session_at, 10));
    const auto sequence = number(payload.subspan(session_at + 10, sequence_digits));
    if (!username || !password || !session || !sequence) return {soup_ending::malformed_login, {}};
    return {soup_ending::none, {*username, *password, *session, *sequence}};
}

soup_parsed<soup_acceptance> parse_soup_acceptance(std::span<const std::byte> payload) noexcept {
    if (payload.size() != soup_acceptance_bytes) return {soup_ending::wrong_size, {}};
    const auto session = trimmed(payload.subspan(0, 10));
    const auto sequence = number(payload.subspan(10, sequence_digits));
    if (!session || session->empty() || !sequence || *sequence == 0)
        return {soup_ending::malformed_login, {}};
    return {soup_ending::none, {*session, *sequence}};
}

std::array<std::byte, soup_login_bytes> format_soup_login(const soup_login& login) noexcept {
    std::array<std::byte, soup_login_bytes> out;
    const std::span fields{out};
    pad_right(fields.subspan(0, 6), login.username.view());
    pad_right(fields.subspan(6, 10), login.password.view());
    pad_left(fields.subspan(session_at, 10), login.session.view());
    put_number(fields.subspan(session_at + 10), login.sequence);
    return out;
}

std::array<std::byte, soup_acceptance_bytes> format_soup_acceptance(
    const soup_acceptance& acceptance) noexcept {
    std::array<std::byte, soup_acceptance_bytes> out;
    const std::span fields{out};
    pad_left(fields.subspan(0, 10), acceptance.session.view());
    put_number(fields.subspan(10), acceptance.sequence);
    return out;
}

}  // namespace exchange

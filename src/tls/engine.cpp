// SPDX-License-Identifier: BSL-1.0
#include <gyre/tls/engine.hpp>

#include "tls/engine_state.hpp"
#include "tls/peer_certificate.hpp"

#include <gyre/base/check.hpp>

#include <openssl/err.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace gyre::tls {
namespace {

constexpr std::size_t host_bytes_max = 253;
constexpr std::size_t label_bytes_max = 63;

bool may_be_in_host(char letter) noexcept {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-' ||
           letter == '_' || letter == '.' || letter == ':';
}

// Labels of letters, digits and hyphens, or what may be an address. In lower case, without a last dot.
io_result<std::string> host_from(std::string_view text) {
    std::string host{text};
    if (host.ends_with('.')) host.pop_back();
    for (char& each : host) {
        if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
        if (!may_be_in_host(each)) return errc::malformed;
    }
    if (host.size() > host_bytes_max || (host.empty() && !text.empty())) return errc::malformed;
    if (host.find(':') != std::string::npos) return host;  // An address, or refused later.
    for (std::size_t at = 0; !host.empty() && at <= host.size();) {
        const std::size_t end = std::min(host.find('.', at), host.size());
        if (end == at || end - at > label_bytes_max) return errc::malformed;
        at = end + 1;
    }
    return host;
}

/// With the number of the alert, if the peer gave up with one that has no code of its own.
error failed_by(const engine& of, errc why, activity during) noexcept {
    const std::optional<std::uint8_t> alert = of.alert();
    return {why, during, why == errc::tls_alert ? alert.value_or(0) : std::uint8_t{0}};
}

}  // namespace

engine::engine() noexcept = default;
engine::engine(engine&&) noexcept = default;
engine& engine::operator=(engine&&) noexcept = default;
engine::~engine() = default;
engine::engine(std::unique_ptr<state> it) noexcept : state_{std::move(it)} {}

io_result<engine> engine::client(const context& settings, std::string_view host,
                                 std::string_view left_out) {
    if (!settings) return error{errc::closed, activity::handshake};
    if (settings.state()->serves()) return error{errc::invalid_argument, activity::handshake};
    io_result<std::string> asked = host_from(host);
    if (!asked.ok()) return error{asked.error().code(), activity::handshake};
    const bool checked = settings.state()->client().servers == server_check::full;
    if (checked && asked.value().empty()) return error{errc::tls_name_missing, activity::handshake};

    auto made = std::make_unique<state>(settings.state(), asked.take());
    const bool aimed = made->aim(left_out);
    ERR_clear_error();
    if (!aimed) return error{errc::malformed, activity::handshake};
    return engine{std::move(made)};
}

io_result<engine> engine::server(const context& settings) {
    if (!settings) return error{errc::closed, activity::handshake};
    if (!settings.state()->serves()) return error{errc::invalid_argument, activity::handshake};
    return engine{std::make_unique<state>(settings.state(), std::string{})};
}

io_result<> engine::handshake() {
    const auto fail = [this](errc why) { return failed_by(*this, why, activity::handshake); };
    if (state_ == nullptr) return fail(errc::closed);
    state& it = *state_;
    if (it.established) return {};
    if (it.failed.code != errc::ok) return fail(it.failed.code);

    ERR_clear_error();
    if (const int returned = SSL_do_handshake(it.ssl.get()); returned != 1) {
        const errc why = it.outcome_of(returned);
        if (why == errc::eof) {
            it.failed = {errc::tls_alert, "the peer closed the connection during the handshake", 0};
        } else if (why == errc::resource_unavailable && it.in_ended && !it.held_up) {
            it.failed = {errc::tls_truncated, "the connection ended during the handshake", {}};
        } else {
            return fail(why);
        }
        return fail(it.failed.code);
    }
    it.established = true;
    it.keep_resumed();
    if (it.settings->serves()) return {};
    const bool alone = it.settings->options().protocol_required && protocol().empty();
    // RFC 7301, 3.2: the server chooses among what it is offered.
    const bool strange = !protocol().empty() && !it.has_offered(protocol());
    if (!alone && !strange) return {};
    if (alone) {
        it.failed = {errc::tls_no_common_protocol, "the server chose no application protocol", {}};
    } else {
        it.failed = {errc::tls_malformed, "the server chose a protocol that was not offered", {}};
    }
    it.established = false;
    SSL_shutdown(it.ssl.get());
    return fail(it.failed.code);
}

bool engine::held_up() const noexcept { return state_ != nullptr && state_->held_up; }

mutable_buffer engine::input_space() {
    expects(state_ != nullptr, "an engine that is none has no input");
    return state_->in.space();
}

void engine::received(std::size_t count) noexcept {
    if (state_ != nullptr) state_->in.filled(count);
}

void engine::input_ended() noexcept {
    if (state_ != nullptr) state_->in_ended = true;
}

const_buffer engine::output() const noexcept {
    return state_ != nullptr ? state_->out.content() : const_buffer{};
}

void engine::sent(std::size_t count) noexcept {
    if (state_ == nullptr) return;
    state_->out.drop(count);
    state_->out.release_if_empty();
}

io_result<std::size_t> engine::read(mutable_buffer into) {
    const auto fail = [this](errc why) { return failed_by(*this, why, activity::read); };
    if (state_ == nullptr) return fail(errc::closed);
    state& it = *state_;
    if (!established()) return fail(errc::not_connected);
    if (into.empty()) return std::size_t{0};
    std::size_t done = 0;
    while (done < into.size() && it.read_end == errc::ok) {
        ERR_clear_error();
        std::size_t got = 0;
        const mutable_buffer rest = into.subspan(done);
        const int returned = SSL_read_ex(it.ssl.get(), rest.data(), rest.size(), &got);
        done += got;
        if (returned == 1) continue;
        const errc why = it.outcome_of(returned);  // Nothing is lost if it is final: it is kept.
        if (why != errc::resource_unavailable) {
            it.read_end = why;
        } else if (it.in_ended && it.in.empty() && !it.held_up && done == 0) {
            it.read_end = errc::tls_truncated;
            it.failed = {it.read_end, "the connection ended without close_notify", {}};
        }
        if (why == errc::resource_unavailable) break;
    }
    if (done > 0) return done;  // What ended it is told by the next one.
    return fail(it.read_end != errc::ok ? it.read_end : errc::resource_unavailable);
}

io_result<std::size_t> engine::write(const_buffer from) {
    const auto fail = [this](errc why) { return failed_by(*this, why, activity::write); };
    if (state_ == nullptr) return fail(errc::closed);
    state& it = *state_;
    if (!established()) return fail(errc::not_connected);
    if (it.writing_ended) return fail(errc::broken_pipe);
    if (from.empty()) return std::size_t{0};
    std::size_t done = 0;
    while (done < from.size()) {
        const const_buffer piece =
            from.subspan(done, std::min(from.size() - done, state::record_max));
        if (!it.may_write(piece.size())) break;
        ERR_clear_error();
        std::size_t put = 0;
        const int returned = SSL_write_ex(it.ssl.get(), piece.data(), piece.size(), &put);
        done += put;
        if (returned == 1) continue;
        const errc why = it.outcome_of(returned);
        if (done == 0) return fail(why);
        break;
    }
    if (done == 0) return fail(errc::resource_unavailable);
    return done;
}

io_result<> engine::end_writing() {
    const auto fail = [](errc why) { return error{why, activity::shutdown}; };
    if (state_ == nullptr) return fail(errc::closed);
    state& it = *state_;
    if (!established()) return fail(errc::not_connected);
    if (it.writing_ended) return {};
    it.writing_ended = true;
    ERR_clear_error();
    const int returned = SSL_shutdown(it.ssl.get());  // RFC 8446, 6.1.
    if (returned >= 0) return {};
    const errc why = it.outcome_of(returned);
    return why == errc::resource_unavailable ? io_result<>{} : io_result<>{fail(why)};
}

bool engine::established() const noexcept { return state_ != nullptr && state_->established; }

bool engine::peer_ended() const noexcept {
    return state_ != nullptr && (SSL_get_shutdown(state_->ssl.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
}

std::string_view engine::failure() const noexcept {
    return state_ != nullptr ? std::string_view{state_->failed.text} : std::string_view{};
}

std::optional<std::uint8_t> engine::alert() const noexcept {
    return state_ != nullptr ? state_->failed.alert : std::nullopt;
}

tls::version engine::version() const noexcept {
    if (!established()) return version::none;
    return SSL_version(state_->ssl.get()) == TLS1_3_VERSION ? version::tls_1_3 : version::tls_1_2;
}

std::string_view engine::cipher() const noexcept {
    if (!established()) return {};
    const char* const name = SSL_CIPHER_standard_name(SSL_get_current_cipher(state_->ssl.get()));
    return name != nullptr ? name : "";
}

std::string_view engine::protocol() const noexcept {
    if (!established()) return {};
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(state_->ssl.get(), &name, &size);
    return text_of(std::as_bytes(std::span{name, size}));
}

std::string_view engine::server_name() const noexcept {
    if (state_ == nullptr) return {};
    return state_->settings->serves() ? state_->asked_for : state_->host;
}

bool engine::resumed() const noexcept {
    return established() && SSL_session_reused(state_->ssl.get()) == 1;
}

std::optional<certificate> engine::peer_certificate() const {
    if (!established()) return std::nullopt;
    const owned_certificate shown{SSL_get1_peer_certificate(state_->ssl.get())};
    if (shown == nullptr) return std::nullopt;
    return take_apart(*shown);
}

io_result<std::vector<std::byte>> engine::export_key(const exported_key& what) const {
    constexpr std::size_t size_max = std::size_t{255} * 32;  // RFC 5869, 2.3, with SHA-256.
    if (!established()) return errc::not_connected;
    if (what.size == 0 || what.size > size_max) return errc::invalid_argument;
    std::vector<std::byte> key(what.size);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(what.context.data());
    const int derived = SSL_export_keying_material(
        state_->ssl.get(), reinterpret_cast<unsigned char*>(key.data()), key.size(),
        what.label.data(), what.label.size(), bytes, what.context.size(), 1);
    ERR_clear_error();
    if (derived != 1) return errc::invalid_argument;
    return key;
}

}  // namespace gyre::tls

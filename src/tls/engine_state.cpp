// SPDX-License-Identifier: BSL-1.0
#include "tls/engine_state.hpp"

#include <gyre/base/check.hpp>

#include <openssl/err.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace gyre::tls {
namespace {

constexpr int failed_for_now = -1;

char lower(char letter) noexcept {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

// RFC 6066, 3: a list of names, of which only one kind was ever defined. Empty if it is no such list.
std::string name_in_extension(const_buffer list) {
    constexpr std::size_t header_size = 5;  // The size of the list, the kind, the size of the name.
    if (list.size() <= header_size || list[2] != std::byte{TLSEXT_NAMETYPE_host_name}) return {};
    const std::size_t size =
        std::to_integer<std::size_t>(list[3]) << 8 | std::to_integer<std::size_t>(list[4]);
    if (size != list.size() - header_size || size > TLSEXT_MAXLEN_host_name) return {};
    std::string name{text_of(list.subspan(header_size))};
    if (name.find('\0') != std::string::npos) return {};
    std::transform(name.begin(), name.end(), name.begin(), lower);
    if (name.ends_with('.')) name.pop_back();
    return name;
}

std::string asked_name(SSL* ssl) {
    const unsigned char* data = nullptr;
    std::size_t size = 0;
    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &data, &size) != 1) return {};
    return name_in_extension(std::as_bytes(std::span{data, size}));
}

bool offers_protocols(SSL* ssl) noexcept {
    const unsigned char* data = nullptr;
    std::size_t size = 0;
    return SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation, &data,
                                     &size) == 1;
}

using owned_address = std::unique_ptr<ASN1_OCTET_STRING, freed_by<&ASN1_OCTET_STRING_free>>;

bool is_address(const std::string& host) noexcept {
    return owned_address{a2i_IPADDRESS(host.c_str())} != nullptr;
}

struct block {
    std::unique_ptr<std::byte[]> memory;
    std::size_t size = 0;
};

// The last one that this thread has released, for the next that is as large: output comes and goes with every
// message, and asking the heap for so much each time costs page faults.
thread_local block spare;

}  // namespace

void byte_queue::release_if_empty() noexcept {
    if (empty() && memory_ != nullptr) spare = {std::move(memory_), capacity_};
}

// What is in it never moves: a transport may be sending it.
mutable_buffer byte_queue::space() {
    if (memory_ == nullptr && spare.size == capacity_) memory_ = std::move(spare.memory);
    if (memory_ == nullptr) memory_.reset(new std::byte[capacity_]);  // Not zeroed.
    return {memory_.get() + last_, room()};
}

void byte_queue::drop(std::size_t count) noexcept {
    expects(count <= size(), "no more is taken from a queue than it has");
    first_ += count;
    if (first_ == last_) first_ = last_ = 0;
}

engine::state::state(std::shared_ptr<context_state> its_settings, std::string its_host)
    : settings{std::move(its_settings)},
      chosen{settings},
      host{std::move(its_host)},
      ssl{SSL_new(settings->current().get())} {
    BIO* const bio = BIO_new(bio_method());
    expects(ssl != nullptr && bio != nullptr, "OpenSSL has no memory");
    SSL_set_app_data(ssl.get(), this);
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl.get(), bio, bio);
    SSL_set_verify(ssl.get(), settings->verify_mode(), &verified);
    if (settings->serves()) SSL_set_accept_state(ssl.get());
    else SSL_set_connect_state(ssl.get());
}

// OpenSSL would forget the session of a connection that ends without close_notify. But most clients end so,
// and only what has failed must not be resumed.
engine::state::~state() {
    if (failed.code == errc::ok || failed.code == errc::tls_truncated)
        SSL_set_shutdown(ssl.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

void engine::state::install(SSL_CTX& to, bool serves, bool logs_keys) noexcept {
    // OpenSSL prints each secret for it: a tenth of a handshake.
    if (logs_keys) SSL_CTX_set_keylog_callback(&to, &key_line);
    if (serves) {
        SSL_CTX_set_client_hello_cb(&to, &client_hello, nullptr);
        SSL_CTX_set_tlsext_servername_callback(&to, &refuse_nameless);
        SSL_CTX_set_alpn_select_cb(&to, &choose_protocol, nullptr);
        SSL_CTX_set_tlsext_ticket_key_evp_cb(&to, &ticket_key);
    } else {
        SSL_CTX_sess_set_new_cb(&to, &new_session);
    }
}

bool engine::state::has_offered(std::string_view protocol) const noexcept {
    return protocol != left_out && std::ranges::find(settings->options().protocols, protocol) !=
                                       settings->options().protocols.end();
}

bool engine::state::aim(std::string_view without) noexcept {
    SSL* const to = ssl.get();
    const client_options& options = settings->client();
    left_out = without;
    // RFC 7301, 3.1.
    std::string protocols;
    for (const std::string& each : options.protocols) {
        if (each == left_out) continue;
        protocols += static_cast<char>(each.size());
        protocols += each;
    }
    const auto* const wire = reinterpret_cast<const unsigned char*>(protocols.data());
    if (!protocols.empty()) {
        const int refused_it =
            SSL_set_alpn_protos(to, wire, static_cast<unsigned>(protocols.size()));
        if (refused_it != 0) return false;
    }
    if (host.empty()) return true;

    if (const owned_session known = settings->sessions().take(host); known != nullptr)
        SSL_set_session(to, known.get());
    const bool checked = options.servers == server_check::full;
    const bool address = is_address(host);
    if (!address && host.find(':') != std::string::npos) return false;
    if (address) {
        // RFC 6066, 3: addresses are no names to ask for.
        return !checked || X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(to), host.c_str()) == 1;
    }
    if (SSL_set_tlsext_host_name(to, host.c_str()) != 1) return false;
    // RFC 9525, 6.3: a wildcard is a whole label; 6.4: the subject's common name is no host.
    SSL_set_hostflags(to,
                      X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return !checked || SSL_set1_host(to, host.c_str()) == 1;
}

errc engine::state::outcome_of(int returned) {
    const int what = SSL_get_error(ssl.get(), returned);
    held_up = what == SSL_ERROR_WANT_WRITE;
    if (what == SSL_ERROR_ZERO_RETURN) return errc::eof;
    if (what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE)
        return errc::resource_unavailable;

    if (failed.code != errc::ok) {  // The first reason counts; others follow from it.
        ERR_clear_error();
        return failed.code;
    }
    failed = take_failure(*ssl, verification);
    if (refused != errc::ok) failed.code = refused;
    // The alert handshake_failure, after the handshake: the peer wanted to renegotiate.
    if (established && failed.code == errc::tls_no_common_cipher) failed.code = errc::tls_alert;
    // RFC 8446, 9.2; RFC 6066, 3: this is what servers that want a name answer to a client without.
    const bool named = SSL_get_servername(ssl.get(), TLSEXT_NAMETYPE_host_name) != nullptr;
    const bool wants_name =
        failed.alert == SSL_AD_MISSING_EXTENSION || failed.alert == SSL_AD_UNRECOGNIZED_NAME;
    if (wants_name && !settings->serves() && !named) failed.code = errc::tls_name_missing;
    return failed.code;
}

const BIO_METHOD* engine::state::bio_method() noexcept {
    static const owned_bio_method method = [] {
        owned_bio_method made{
            BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "bytes of an engine")};
        expects(made != nullptr, "OpenSSL has no memory");
        BIO_meth_set_read(made.get(), &bio_read);
        BIO_meth_set_write(made.get(), &bio_write);
        BIO_meth_set_ctrl(made.get(), &bio_control);
        return made;
    }();
    return method.get();
}

// The end of the input is not told: OpenSSL would answer it with an alert, and write no more. The
// engine, which reads, sees that nothing was left.
int engine::state::bio_read(BIO* bio, char* into, int size) noexcept {
    state& self = *static_cast<state*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const std::size_t count = std::min(self.in.size(), static_cast<std::size_t>(size));
    if (count == 0) {
        BIO_set_retry_read(bio);
        return failed_for_now;
    }
    std::memcpy(into, self.in.content().data(), count);
    self.in.drop(count);
    return static_cast<int>(count);
}

// Takes all or nothing; and all of what `may_write` has let begin, so that a record of the program's bytes
// never has to be tried again.
int engine::state::bio_write(BIO* bio, const char* from, int size) noexcept {
    state& self = *static_cast<state*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const auto wanted = static_cast<std::size_t>(size);
    if (self.out.room() < wanted) {
        BIO_set_retry_write(bio);
        return failed_for_now;
    }
    std::memcpy(self.out.space().data(), from, wanted);
    self.out.filled(wanted);
    return size;
}

long engine::state::bio_control(BIO*, int command, long, void*) noexcept {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

int engine::state::verified(int accepted, X509_STORE_CTX* store) noexcept {
    if (accepted == 1) return accepted;
    const int index = SSL_get_ex_data_X509_STORE_CTX_idx();
    state& self = of(static_cast<const SSL*>(X509_STORE_CTX_get_ex_data(store, index)));
    self.verification = describe_verification(*store);
    return accepted;
}

// Before anything else of the client's first message is looked at, sessions above all: these belong to the
// context that is chosen here.
int engine::state::client_hello(SSL* ssl, int* alert, void*) noexcept {
    state& self = of(ssl);
    self.asked_for = asked_name(ssl);
    if (self.lacks_name()) return SSL_CLIENT_HELLO_SUCCESS;  // `refuse_nameless` refuses it.
    if (self.choose_context(alert) != SSL_CLIENT_HELLO_SUCCESS) return SSL_CLIENT_HELLO_ERROR;
    if (self.chosen->options().protocol_required && !offers_protocols(ssl)) {
        self.refused = errc::tls_no_common_protocol;
        *alert = SSL_AD_NO_APPLICATION_PROTOCOL;
        return SSL_CLIENT_HELLO_ERROR;
    }
    return SSL_CLIENT_HELLO_SUCCESS;
}

int engine::state::choose_context(int* alert) {
    const server_options& options = settings->server();
    if (!options.choose) return SSL_CLIENT_HELLO_SUCCESS;

    const context found = options.choose(asked_for);
    if (!found) {
        refused = errc::tls_name_unknown;
        *alert = SSL_AD_UNRECOGNIZED_NAME;
        return SSL_CLIENT_HELLO_ERROR;
    }
    expects(found.state()->serves(), "what a server chooses by name is a server's context");
    chosen = found.state();
    SSL_set_SSL_CTX(ssl.get(), chosen->current().get());
    SSL_set_verify(ssl.get(), chosen->verify_mode(), &verified);
    return SSL_CLIENT_HELLO_SUCCESS;
}

bool engine::state::lacks_name() const noexcept {
    return settings->server().name_required && asked_for.empty();
}

// Only here it is known which version is spoken, and with it which alerts there are. RFC 8446, 9.2; before, a
// name that is not there counts as unrecognized: RFC 6066, 3.
int engine::state::refuse_nameless(SSL* ssl, int* alert, void*) noexcept {
    state& self = of(ssl);
    if (!self.lacks_name()) return SSL_TLSEXT_ERR_OK;
    self.refused = errc::tls_name_missing;
    const bool has_alert = SSL_version(ssl) == TLS1_3_VERSION;
    *alert = has_alert ? SSL_AD_MISSING_EXTENSION : SSL_AD_UNRECOGNIZED_NAME;
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

// RFC 7301, 3.2: the server prefers, and refuses a client that has nothing in common with it.
int engine::state::choose_protocol(SSL* ssl, const unsigned char** found, unsigned char* found_size,
                                   const unsigned char* offered, unsigned int offered_size,
                                   void*) noexcept {
    const std::vector<std::string>& ours = of(ssl).chosen->options().protocols;
    if (ours.empty()) return SSL_TLSEXT_ERR_NOACK;
    const std::span theirs{offered, offered_size};
    for (const std::string& each : ours) {
        for (std::size_t at = 0; at < theirs.size(); at += std::size_t{1} + theirs[at]) {
            const std::span name = theirs.subspan(at + 1, theirs[at]);
            if (text_of(std::as_bytes(name)) != each) continue;
            *found = name.data();
            *found_size = theirs[at];
            return SSL_TLSEXT_ERR_OK;
        }
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

int engine::state::new_session(SSL* ssl, SSL_SESSION* session) noexcept {
    state& self = of(ssl);
    if (self.host.empty() || SSL_SESSION_is_resumable(session) != 1) return 0;
    self.settings->sessions().put(self.host, owned_session{session});
    return 1;  // It is ours now.
}

// OpenSSL tells of new sessions, and of TLS 1.2 only in full handshakes. RFC 5077, 3.3: it may have got
// another ticket.
void engine::state::keep_resumed() {
    if (settings->serves() || host.empty() || SSL_session_reused(ssl.get()) != 1) return;
    if (SSL_version(ssl.get()) == TLS1_3_VERSION) return;
    settings->sessions().put(host, owned_session{SSL_get1_session(ssl.get())});
}

int engine::state::ticket_key(SSL* ssl, unsigned char* name, unsigned char* iv,
                              EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac, int encrypt) noexcept {
    const int prepared = of(ssl).settings->tickets().prepare(name, iv, cipher, mac, encrypt == 1);
    // RFC 8446, C.4: tickets of TLS 1.3 are used once, so each one is answered with another.
    const bool once = encrypt != 1 && SSL_version(ssl) == TLS1_3_VERSION;
    return once && prepared == ticket_keys::usable ? ticket_keys::to_renew : prepared;
}

void engine::state::key_line(const SSL* ssl, const char* line) noexcept {
    of(ssl).settings->options().key_log(line);
}

}  // namespace gyre::tls

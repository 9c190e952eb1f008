// SPDX-License-Identifier: BSL-1.0
//
// What is behind an engine: OpenSSL's connection, and the bytes on their way to it and from it.
//
// OpenSSL reads and writes through a BIO. Its own kind for memory would copy what passes once more, and move
// what is left; this one takes bytes out of the buffer that the transport has filled, and leaves those to
// send where the transport takes them.
#pragma once

#include "tls/context_state.hpp"
#include "tls/failure.hpp"
#include "tls/owned.hpp"

#include <gyre/base/buffer.hpp>
#include <gyre/tls/engine.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace gyre::tls {

/// Bytes in order, in memory that is there only while it is needed.
class byte_queue {
public:
    explicit byte_queue(std::size_t capacity) noexcept : capacity_{capacity} {}

    [[nodiscard]] const_buffer content() const noexcept {
        return {memory_.get() + first_, last_ - first_};
    }
    [[nodiscard]] std::size_t size() const noexcept { return last_ - first_; }
    [[nodiscard]] bool empty() const noexcept { return first_ == last_; }

    /// Where the next bytes go: the room behind the content, which stays where it is while it is not empty.
    [[nodiscard]] mutable_buffer space();
    [[nodiscard]] std::size_t room() const noexcept { return capacity_ - last_; }
    void filled(std::size_t count) noexcept { last_ += count; }
    void drop(std::size_t count) noexcept;

    /// Gives the memory back if nothing is in it.
    void release_if_empty() noexcept;

private:
    std::size_t capacity_;
    std::unique_ptr<std::byte[]> memory_;
    std::size_t first_ = 0;
    std::size_t last_ = 0;
};

class engine::state {
public:
    state(std::shared_ptr<context_state> settings, std::string host);
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state();

    /// Installs the callbacks of this file.
    static void install(SSL_CTX& to, bool serves, bool logs_keys) noexcept;

    /// How a client asks for its host and verifies it. False if OpenSSL takes it for no host.
    [[nodiscard]] bool aim(std::string_view left_out) noexcept;

    /// Whether a client has offered `protocol`.
    [[nodiscard]] bool has_offered(std::string_view protocol) const noexcept;

    /// What a call of OpenSSL that has not succeeded means; keeps it if it is final.
    [[nodiscard]] errc outcome_of(int returned);

    /// Keeps the session of a handshake that has ended well, if it is to be kept and OpenSSL does not tell.
    void keep_resumed();

    /// Whether output has room for a record with so many bytes of the program, and for alerts behind it.
    [[nodiscard]] bool may_write(std::size_t size) const noexcept {
        return out.room() >= size + record_overhead_max + alerts_room;
    }

    static constexpr std::size_t record_max = std::size_t{16} * 1024;  // RFC 8446, 5.1.
    static constexpr std::size_t record_overhead_max = 512;  // RFC 8446, 5.2: 256 and a header.
    static constexpr std::size_t records_at_once = 3;
    static constexpr std::size_t alerts_room = 2048;

    const std::shared_ptr<context_state> settings;
    std::shared_ptr<context_state> chosen;  // By name: whose certificates are shown.
    const std::string host;                 // That a client has asked for.
    std::string asked_for;                  // That a client asked this server for.
    std::string left_out;                   // Of the protocols, by a client.

    byte_queue in{engine::input_size};
    byte_queue out{records_at_once * (record_max + record_overhead_max) + alerts_room};
    bool in_ended = false;
    bool established = false;
    bool writing_ended = false;
    bool held_up = false;      // By output that is to be sent first, at the last attempt.
    errc read_end = errc::ok;  // What every further read comes to.
    failure_report failed;
    errc refused = errc::ok;   // What a callback of ours has decided.
    std::string verification;  // What was wrong with a certificate.
    owned_ssl ssl;             // The first to go: it uses the rest.

private:
    static state& of(const SSL* ssl) noexcept {
        return *static_cast<state*>(SSL_get_app_data(ssl));
    }

    // OpenSSL's callbacks.
    static const BIO_METHOD* bio_method() noexcept;
    static int bio_read(BIO* bio, char* into, int size) noexcept;
    static int bio_write(BIO* bio, const char* from, int size) noexcept;
    static long bio_control(BIO* bio, int command, long number, void* pointer) noexcept;
    static int verified(int accepted, X509_STORE_CTX* store) noexcept;
    static int client_hello(SSL* ssl, int* alert, void*) noexcept;
    static int refuse_nameless(SSL* ssl, int* alert, void*) noexcept;
    static int choose_protocol(SSL* ssl, const unsigned char** chosen, unsigned char* chosen_size,
                               const unsigned char* offered, unsigned int offered_size,
                               void*) noexcept;
    static int new_session(SSL* ssl, SSL_SESSION* session) noexcept;
    static int ticket_key(SSL* ssl, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                          EVP_MAC_CTX* mac, int encrypt) noexcept;
    static void key_line(const SSL* ssl, const char* line) noexcept;

    int choose_context(int* alert);
    [[nodiscard]] bool lacks_name() const noexcept;
};

}  // namespace gyre::tls

// SPDX-License-Identifier: BSL-1.0
//
// One TLS connection without any I/O: bytes in, bytes out.
//
// Its driver moves the peer's bytes into `input_space()`, and what stands in `output()` to the peer;
// it neither waits nor knows what a socket is. So all of it can be tested by splitting bytes at will, and its
// handshake may be computed on any thread. tls/stream.hpp drives it on a stream.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/tls/certificate.hpp>
#include <gyre/tls/context.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::tls {

/// What the keying material of an exporter is for.
struct exported_key {
    std::string_view label;  ///< From IANA's registry, or "EXPERIMENTAL...".
    const_buffer context;    ///< May be empty.
    std::size_t size = 32;   ///< Bytes wanted, up to 8160.
};

/// One end of a connection. Moves. One thread at a time; any thread.
///
/// `errc::resource_unavailable` of any function below means: not yet. Send its output if it is `held_up` by
/// that, else give it input, after what there is of output. After any other error the connection is lost for
/// this direction; what is left in `output()`, an alert, is still worth sending.
///
/// Memory: about 17 KiB for input once it has begun, up to 52 KiB for output while there is some, and what
/// OpenSSL keeps, 10 to 50 KiB. A peer cannot make that grow: a record ends at 16 KiB, a chain of
/// certificates at 100 KiB.
class engine {
public:
    engine() noexcept;  ///< None: everything but moves ends with `errc::closed`.
    engine(engine&&) noexcept;
    engine& operator=(engine&&) noexcept;
    ~engine();

    /// A client's end.
    ///
    /// @param  host  Whom to ask for and to verify: a name without a port, or an address. A name is sent in
    ///               the clear (SNI), an address is not.
    /// @param  left_out  A protocol of the context's that is not offered by ALPN; empty if all are.
    ///
    /// Errors:  `errc::tls_name_missing` if `host` is empty, and the context checks it; `errc::malformed` if
    ///          it is no host's name. `errc::closed` of no context; `errc::invalid_argument` of a server's.
    [[nodiscard]] static io_result<engine> client(const context& settings, std::string_view host,
                                                  std::string_view left_out = {});

    /// A server's end. Errors: `errc::closed` of no context; `errc::invalid_argument` of a client's.
    [[nodiscard]] static io_result<engine> server(const context& settings);

    /// Goes on with the handshake; ok once it has ended. What it computes may take milliseconds.
    ///
    /// Errors:  `errc::resource_unavailable`: not yet. `errc::certificate_...`: the peer's does not satisfy.
    ///          `errc::tls_...`: what their names say. `errc::tls_truncated` if the input ends.
    io_result<> handshake();

    /// The last attempt of a handshake or a read ended since too much output waits; then input does not help.
    [[nodiscard]] bool held_up() const noexcept;

    /// Where bytes of the peer go, at most `input_size`. Not empty once a handshake's step or a read has
    /// ended with `errc::resource_unavailable`, unless it is `held_up`.
    [[nodiscard]] mutable_buffer input_space();
    /// So many of its bytes are the peer's. @pre  at most as many as there are.
    void received(std::size_t count) noexcept;
    /// No more will come: the transport has ended.
    void input_ended() noexcept;

    /// What is to be sent; borrowed. It stays where it is until `sent` is called; more may follow it.
    [[nodiscard]] const_buffer output() const noexcept;
    /// So many bytes of the output are on their way. @pre  at most as many as there are.
    void sent(std::size_t count) noexcept;

    /// Takes what the peer wrote, as much as is there and fits.
    ///
    /// Errors:  `errc::resource_unavailable`: nothing yet. `errc::eof`: the peer has said that this is all.
    ///          `errc::tls_truncated`: the input has ended, and it had not. `errc::tls_malformed`,
    ///          `errc::tls_alert`: see `failure()`. They come again. `errc::not_connected` before the end of
    ///          the handshake. Never with bytes.
    io_result<std::size_t> read(mutable_buffer into);

    /// Encrypts some of `from`, at least a byte and at most 48 KiB.
    ///
    /// Errors:  `errc::resource_unavailable`: output is to be sent first. `errc::broken_pipe` after
    ///          `end_writing`. `errc::not_connected` before the end of the handshake.
    io_result<std::size_t> write(const_buffer from);

    /// Tells the peer that this was all, as close_notify in the output; once. Reading goes on.
    ///
    /// Errors:  `errc::not_connected` before the end of the handshake; what has failed the connection.
    io_result<> end_writing();

    [[nodiscard]] bool established() const noexcept;  ///< The handshake has ended well.
    [[nodiscard]] bool peer_ended() const noexcept;   ///< The peer's close_notify was read.

    /// Details of the error that ended the connection, for people: which certificate, which alert. Empty
    /// without one.
    [[nodiscard]] std::string_view failure() const noexcept;
    /// The number of the alert with which the peer gave up: RFC 8446, 6. None if it did not.
    [[nodiscard]] std::optional<std::uint8_t> alert() const noexcept;

    // Of established connections; empty or none before.

    [[nodiscard]] tls::version version() const noexcept;
    [[nodiscard]] std::string_view cipher() const noexcept;  ///< IANA's name; static storage.
    /// The application protocol that both agreed on; empty if none. Borrowed.
    [[nodiscard]] std::string_view protocol() const noexcept;
    /// The host that the client asked for; empty if none. Borrowed.
    [[nodiscard]] std::string_view server_name() const noexcept;
    [[nodiscard]] bool resumed() const noexcept;  ///< From an earlier session: nothing was signed.
    [[nodiscard]] std::optional<certificate> peer_certificate() const;

    /// Keying material that both ends derive alike, and no third party: RFC 8446, 7.5.
    ///
    /// Errors:  `errc::not_connected` before the end of the handshake; `errc::invalid_argument` for a size
    ///          that it cannot have.
    [[nodiscard]] io_result<std::vector<std::byte>> export_key(const exported_key& what) const;

    static constexpr std::size_t input_size =
        std::size_t{17} * 1024;  ///< A record and its overhead.

private:
    friend class context_state;
    class state;

    explicit engine(std::unique_ptr<state> it) noexcept;

    std::unique_ptr<state> state_;
};

}  // namespace gyre::tls

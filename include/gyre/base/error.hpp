// SPDX-License-Identifier: BSL-1.0
//
// Everything that can fail for reasons outside the program, as one 8-byte value.
//
// Without it every call would return std::error_code: twice the size, two virtual calls per
// comparison, and <system_error> in every translation unit. Beside the code stand the activity that
// met it and a number of that: "connect: Connection refused (port 80)". result.hpp pairs it with the
// progress made; error_code.hpp converts it.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>

namespace gyre {

/// What went wrong. Values below 4096 are the kernel's own errno numbers; the rest are gyre's.
enum class errc : std::int32_t {
    ok = 0,

    across_devices =
        EXDEV,  ///< A rename to another file system; a name that leads out of its directory.
    address_family_not_supported = EAFNOSUPPORT,
    address_in_use = EADDRINUSE,
    address_not_available = EADDRNOTAVAIL,
    already_connected = EISCONN,
    argument_list_too_long = E2BIG,
    bad_descriptor = EBADF,
    broken_pipe = EPIPE,
    busy = EBUSY,  ///< Another write to the same socket is under way.
    connection_aborted = ECONNABORTED,
    connection_refused = ECONNREFUSED,
    connection_reset = ECONNRESET,
    connection_timed_out = ETIMEDOUT,  ///< The kernel's timeout, not `timed_out`.
    destination_required = EDESTADDRREQ,
    directory_not_empty = ENOTEMPTY,
    file_exists = EEXIST,
    file_too_large = EFBIG,
    host_down = EHOSTDOWN,
    host_unreachable = EHOSTUNREACH,
    input_output = EIO,  ///< The device has failed.
    interrupted = EINTR,
    invalid_argument = EINVAL,
    invalid_seek = ESPIPE,  ///< A position in what has none: a pipe, a terminal, a socket.
    is_a_directory = EISDIR,
    message_size = EMSGSIZE,
    name_too_long = ENAMETOOLONG,
    network_down = ENETDOWN,
    network_unreachable = ENETUNREACH,
    no_buffer_space = ENOBUFS,
    no_child_process = ECHILD,
    no_network = ENONET,
    no_protocol_option = ENOPROTOOPT,
    no_space_on_device = ENOSPC,
    no_such_device = ENODEV,
    no_such_device_or_address = ENXIO,
    no_such_file = ENOENT,
    no_such_process = ESRCH,
    not_executable = ENOEXEC,  ///< No program that the kernel knows how to start.
    not_a_directory = ENOTDIR,
    not_connected = ENOTCONN,
    not_enough_memory = ENOMEM,
    not_supported = EOPNOTSUPP,
    operation_not_permitted = EPERM,
    permission_denied = EACCES,
    process_descriptors_exhausted = EMFILE,
    protocol_error = EPROTO,
    protocol_not_supported = EPROTONOSUPPORT,
    read_only_file_system = EROFS,
    resource_unavailable = EAGAIN,
    symbolic_link_loop = ELOOP,
    system_descriptors_exhausted = ENFILE,
    text_file_busy = ETXTBSY,  ///< A program that is open to be written.

    canceled = 4096,  ///< A stop, a drain or the closing of its socket ended the operation.
    timed_out,        ///< `with_timeout` or one of its like ended it, or no name server answered.
    eof,              ///< The peer finished; nothing follows.
    closed,           ///< Our own side was closed: a channel, a socket before it was begun on.
    limit_exceeded,   ///< A bound set by the program was reached.
    malformed,        ///< Text or bytes that do not follow their grammar.
    backend_unavailable,  ///< The required backend cannot run here.
    broken_promise,       ///< A callback was destroyed without having been called.
    foreign,              ///< A failure of another library that has no code here; ask that library.
    host_not_found,       ///< There is no host, or no service, of this name.
    no_data,              ///< The name exists, but has no address of the family, or no such record.
    server_failure,  ///< Name servers could not be reached, failed or refused; later they may not.
    unknown_user,    ///< The system has no user of this name.

    certificate_expired,
    certificate_not_yet_valid,
    certificate_wrong_host,      ///< It is for other names than the one that was asked for.
    certificate_self_signed,     ///< Its only issuer is itself, and it is not trusted.
    certificate_unknown_issuer,  ///< Its chain leads to no trusted authority.
    certificate_revoked,
    certificate_revocation_unknown,  ///< Its issuer's list of revocations is missing or out of date.
    certificate_unacceptable,  ///< Of another purpose, too weak a key, a broken signature, ...
    certificate_missing,       ///< None where one is required: the peer's, or our own.
    certificate_refused,       ///< The peer refused ours.
    certificate_unreadable,    ///< Text that holds no certificate, or none that can be used.
    key_unreadable,            ///< Text that holds no private key, or another password's.
    key_mismatch,              ///< A private key that is not its certificate's.
    tls_alert,                 ///< The peer gave up, and said why.
    tls_contradiction,         ///< Settings that cannot hold at the same time.
    tls_malformed,             ///< What the peer sent breaks the protocol, or was damaged.
    tls_name_missing,          ///< A server's name is required, and none was given.
    tls_name_unknown,          ///< The server has no such name.
    tls_no_common_cipher,      ///< Nor group, nor signature: the two sides share none.
    tls_no_common_protocol,    ///< Of those on top of TLS (ALPN).
    tls_truncated,             ///< The connection ended, and the peer had not said that it would.
    tls_version_mismatch       ///< The two sides share no version of TLS.
};

/// What was being done when it went wrong; only for messages, never compared.
enum class activity : std::uint16_t {
    unknown,
    open,
    bind,
    listen,
    accept,
    connect,
    read,
    write,
    wait,
    shutdown,
    close,
    adopt,
    set_option,
    get_option,
    endpoint,
    synchronize,
    allocate,
    resize,
    file_status,
    rename,
    remove,
    make_directory,
    read_link,
    list_directory,
    watch,
    signal,
    call,
    start_process,
    pass_descriptors,
    limit_resources,
    change_user,
    change_directory,
    start_thread,
    ring_setup,
    epoll_setup,
    wakeup_setup,
    resolve,
    handshake,
    configure,
    parse_url,
    upgrade,  ///< An HTTP connection becomes a WebSocket.
    tunnel    ///< A proxy connects to the server.
};

/// An error code and the activity that met it. Trivially copyable, 8 bytes.
///
/// Converts to true when something went wrong, so `if (error)` reads as it should. Equality looks
/// at the code only: `error == errc::eof` holds whatever met the end.
class [[nodiscard]] error {
public:
    constexpr error() noexcept = default;
    constexpr error(errc code) noexcept : code_{code} {}
    constexpr error(errc code, activity during) noexcept : code_{code}, during_{during} {}
    /// @param  number  For the message: the port to bind or connect to, the status of the answer to an
    ///                 upgrade or of a proxy, the alert of a TLS peer. 0: not known, or of no use.
    constexpr error(errc code, activity during, std::uint16_t number) noexcept
        : code_{code}, during_{during}, number_{number} {}

    /// @param  number  An errno value, positive. ECANCELED becomes `errc::canceled`.
    [[nodiscard]] static constexpr error from_errno(int number,
                                                    activity during = activity::unknown) noexcept {
        return {number == ECANCELED ? errc::canceled : static_cast<errc>(number), during};
    }

    [[nodiscard]] constexpr explicit operator bool() const noexcept { return code_ != errc::ok; }
    [[nodiscard]] constexpr errc code() const noexcept { return code_; }
    [[nodiscard]] constexpr activity during() const noexcept { return during_; }
    /// The port, status or alert that the message names; 0 if there is none.
    [[nodiscard]] constexpr std::uint16_t number() const noexcept { return number_; }

    /// A sentence for people: "connect: Connection refused (port 80)". Where errno's text misleads during
    /// this activity, one that does not. Allocates.
    [[nodiscard]] std::string message() const;

    [[nodiscard]] friend constexpr bool operator==(error left, error right) noexcept {
        return left.code_ == right.code_;
    }

private:
    errc code_ = errc::ok;
    activity during_ = activity::unknown;
    std::uint16_t number_ = 0;
};

static_assert(sizeof(error) == 8, "returned by value everywhere: two registers with a count");

/// The text of a code alone, such as "end of stream"; static storage.
[[nodiscard]] const char* describe(errc code) noexcept;

/// The verb of an activity, such as "connect"; empty for `unknown`; static storage.
[[nodiscard]] const char* describe(activity during) noexcept;

}  // namespace gyre

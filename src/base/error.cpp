// SPDX-License-Identifier: BSL-1.0
//
// The messages of include/gyre/base/error.hpp.
#include <gyre/base/error.hpp>

#include <gyre/base/error_code.hpp>

#include <cstring>

namespace gyre {
namespace {

class category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "gyre"; }

    [[nodiscard]] std::string message(int value) const override {
        return describe(static_cast<errc>(value));
    }

    // errno values keep their standard meaning: `code == std::errc::connection_refused` holds.
    [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
        if (value == static_cast<int>(errc::canceled)) return std::errc::operation_canceled;
        if (value == static_cast<int>(errc::timed_out)) return std::errc::timed_out;
        if (value < static_cast<int>(errc::canceled))
            return std::error_condition{value, std::generic_category()};
        return std::error_condition{value, *this};
    }
};

/// What an error's number is; null if it has none.
const char* kind_of_number(errc code, activity during) noexcept {
    if (code == errc::tls_alert) return "alert";
    switch (during) {
        case activity::bind:
        case activity::connect: return "port";
        case activity::upgrade:
        case activity::tunnel: return "status";
        default: return nullptr;
    }
}

}  // namespace

const char* describe(errc code) noexcept {
    switch (code) {
        case errc::ok: return "no error";
        case errc::canceled: return "operation canceled";
        case errc::timed_out: return "timed out";
        case errc::eof: return "end of stream";
        case errc::closed: return "already closed";
        case errc::limit_exceeded: return "limit exceeded";
        case errc::malformed: return "malformed input";
        case errc::backend_unavailable: return "required backend unavailable";
        case errc::broken_promise: return "dropped without an answer";
        case errc::foreign: return "failure of another library";
        case errc::host_not_found: return "no such host or service";
        case errc::no_data: return "no such record";
        case errc::server_failure: return "name server failure";
        case errc::unknown_user: return "no such user";
        case errc::certificate_expired: return "certificate has expired";
        case errc::certificate_not_yet_valid: return "certificate is not valid yet";
        case errc::certificate_wrong_host: return "certificate is for another host";
        case errc::certificate_self_signed: return "certificate is self-signed and not trusted";
        case errc::certificate_unknown_issuer: return "certificate of an issuer who is not trusted";
        case errc::certificate_revoked: return "certificate has been revoked";
        case errc::certificate_revocation_unknown: return "no current list of revoked certificates";
        case errc::certificate_unacceptable: return "certificate is not acceptable";
        case errc::certificate_missing: return "certificate required, and none given";
        case errc::certificate_refused: return "peer refused our certificate";
        case errc::certificate_unreadable: return "no readable certificate in PEM text";
        case errc::key_unreadable: return "no readable private key in PEM text, or no password";
        case errc::key_mismatch: return "private key of another certificate";
        case errc::tls_alert: return "peer gave up with an alert";
        case errc::tls_contradiction: return "TLS settings that contradict each other";
        case errc::tls_malformed: return "malformed or damaged TLS";
        case errc::tls_name_missing: return "server name required, and none given";
        case errc::tls_name_unknown: return "server has no such name";
        case errc::tls_no_common_cipher: return "no cipher, group or signature in common";
        case errc::tls_no_common_protocol: return "no application protocol in common";
        case errc::tls_truncated: return "connection ended without close_notify";
        case errc::tls_version_mismatch: return "no TLS version in common";
        default: break;
    }
    // strerrordesc_np is static and thread-safe, unlike strerror; null for numbers it does not know.
    const char* text = ::strerrordesc_np(static_cast<int>(code));
    return text != nullptr ? text : "unknown error";
}

const char* describe(activity during) noexcept {
    switch (during) {
        case activity::unknown: return "";
        case activity::open: return "open";
        case activity::bind: return "bind";
        case activity::listen: return "listen";
        case activity::accept: return "accept";
        case activity::connect: return "connect";
        case activity::read: return "read";
        case activity::write: return "write";
        case activity::wait: return "wait";
        case activity::shutdown: return "shutdown";
        case activity::close: return "close";
        case activity::adopt: return "adopt";
        case activity::set_option: return "set option";
        case activity::get_option: return "get option";
        case activity::endpoint: return "endpoint";
        case activity::synchronize: return "sync";
        case activity::allocate: return "allocate";
        case activity::resize: return "resize";
        case activity::file_status: return "file status";
        case activity::rename: return "rename";
        case activity::remove: return "remove";
        case activity::make_directory: return "make directory";
        case activity::read_link: return "read link";
        case activity::list_directory: return "list directory";
        case activity::watch: return "watch";
        case activity::signal: return "signal";
        case activity::call: return "call";
        case activity::start_process: return "start of a process";
        case activity::pass_descriptors: return "descriptors of a process";
        case activity::limit_resources: return "limits of a process";
        case activity::change_user: return "user of a process";
        case activity::change_directory: return "directory of a process";
        case activity::start_thread: return "start of a thread";
        case activity::ring_setup: return "io_uring set-up";
        case activity::epoll_setup: return "epoll set-up";
        case activity::wakeup_setup: return "loop set-up";
        case activity::resolve: return "resolve";
        case activity::handshake: return "TLS handshake";
        case activity::configure: return "TLS configuration";
        case activity::parse_url: return "URL";
        case activity::upgrade: return "WebSocket upgrade";
        case activity::tunnel: return "tunnel through a proxy";
    }
    return "";
}

std::string error::message() const {
    const char* const verb = describe(during_);
    if (*verb == '\0') return describe(code_);
    const char* text = describe(code_);
    // errno's own texts speak of a disk, and of a limit that is seldom the one (inotify(7)).
    if (during_ == activity::watch && code_ == errc::no_space_on_device)
        text = "the user has too many watches: see fs.inotify.max_user_watches";
    if (during_ == activity::watch && code_ == errc::process_descriptors_exhausted)
        text = "too many open files, or sets of watches: see fs.inotify.max_user_instances";
    std::string whole = std::string{verb} + ": " + text;
    const char* const kind = kind_of_number(code_, during_);
    if (kind != nullptr && number_ != 0) {
        whole.append(" (").append(kind).append(" ").append(std::to_string(number_)).append(")");
    }
    return whole;
}

const std::error_category& error_category() noexcept {
    static const category instance;
    return instance;
}

std::error_code to_error_code(error failure) noexcept {
    return {static_cast<int>(failure.code()), error_category()};
}

}  // namespace gyre

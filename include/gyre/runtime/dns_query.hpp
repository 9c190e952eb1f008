// SPDX-License-Identifier: BSL-1.0
//
// One question to the name servers, as an awaitable.
//
// c-ares composes it, repeats it and reads the answer; its sockets are descriptors of the host, waited for as
// any others, and its time-outs are timers of the loop. So there is no thread, and whatever is dropped leaves
// nothing behind. io/resolver.hpp asks questions that people have: hosts, services, search domains
// (docs/decisions/0029-resolver.md).
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/awaitable.hpp>
#include <gyre/coro/resumption.hpp>
#include <gyre/runtime/io_context.hpp>

#include <coroutine>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gyre {

struct resolv_conf;

/// How name servers are asked.
struct dns_options {
    dns_options() = default;

    std::vector<socket_address> servers;  ///< IPv4 or IPv6; if empty, those of `settings_file`.
    std::string settings_file = "/etc/resolv.conf";  ///< See resolv.conf(5).

    /// How long a server has for its answer before the next one is asked, up to an hour. An answer that
    /// is late counts all the same. 0: as `settings_file` says, or 5 s.
    duration timeout{};
    int tries = 0;  ///< How often each server is asked; 0: as `settings_file` says, or twice.
};

/// What `dns_options` come to when the settings have been read. Never changes; shared by queries.
class dns_settings {
public:
    /// Reads the settings of this machine, on the spot. A file that does not exist is an empty one. The
    /// environment has its say as with glibc: LOCALDOMAIN, RES_OPTIONS.
    ///
    /// Errors:  `errc::permission_denied` if the file cannot be read, `errc::address_family_not_supported` of
    ///          a server, `errc::invalid_argument`; or why the file cannot be opened.
    /// Threads: any.
    /// Cost:    reads `settings_file`, and the host's name.
    [[nodiscard]] static io_result<std::shared_ptr<const dns_settings>> read(
        const dns_options& options);

    /// The same of the machine that `from` is, which may be a simulated one.
    [[nodiscard]] static io_result<std::shared_ptr<const dns_settings>> read(
        const dns_options& options, host& from);

    dns_settings(const dns_settings&) = delete;
    dns_settings& operator=(const dns_settings&) = delete;
    ~dns_settings();

    /// The domains to look for a name in, in this order. "." is the name as it is.
    [[nodiscard]] const std::vector<std::string>& search() const noexcept;

    /// How many dots a name has at least that is tried as it is before it is looked for in the domains.
    [[nodiscard]] int dots_min() const noexcept;

    /// True if A is to be asked for instead of AAAA, and its answer is no data ("no-aaaa").
    [[nodiscard]] bool no_aaaa() const noexcept;

    /// True if A and AAAA are to be asked for one after the other ("single-request").
    [[nodiscard]] bool one_at_a_time() const noexcept;

    /// True if a name without dots is not asked for as it is, once it was looked for in a domain
    /// ("no-tld-query").
    [[nodiscard]] bool no_top_level_names() const noexcept;

    /// True if these settings are for as long as the program runs ("no-reload").
    [[nodiscard]] bool read_once() const noexcept;

private:
    friend class dns_query;

    explicit dns_settings(std::unique_ptr<const resolv_conf> said) noexcept;

    std::unique_ptr<const resolv_conf> said_;
};

/// What is asked for: see RFC 1035 3.2.2, RFC 3596 2.1, RFC 2782.
enum class dns_record : std::uint8_t { a, aaaa, srv, ptr };

/// One SRV record, as it came.
struct dns_service {
    std::uint16_t priority = 0;
    std::uint16_t weight = 0;
    std::uint16_t port = 0;
    std::string target;
};

/// The records of an answer, in its order. The message that brought them has at most 64 KiB.
struct dns_answer {
    std::vector<socket_address> addresses;  ///< Of A and AAAA; their port is 0.
    std::vector<dns_service> services;      ///< Of SRV.
    std::vector<std::string> names;         ///< Of PTR.
};

/// A query; made by its constructor, begun when it is awaited.
///
/// @return The records that were asked for: at least one unless there is an error.
///
/// Errors:        `errc::host_not_found`: there is no such name. `errc::no_data`: the name has no such
///                record. `errc::timed_out`: no server has answered. `errc::server_failure`: none could
///                be reached, or all of them failed or refused. `errc::malformed`: the name is none, or the
///                answer makes no sense.
/// Cancellation:  `errc::canceled`, at once; sockets and timers are gone then.
/// Threads:       resumes on the caller's executor.
/// Cost:          for each server that is asked, until the query ends: about 80 KiB, most of it tables of
///                c-ares, and a socket from a port that the kernel chooses.
class [[nodiscard]] dns_query final : public stop_target {
public:
    /// @param  how   Not null.
    /// @param  name  A name without search domains; of a PTR record, such as "1.2.0.192.in-addr.arpa".
    dns_query(std::shared_ptr<const dns_settings> how, std::string name, dns_record what) noexcept;
    dns_query(dns_query&& other) noexcept;
    ~dns_query();

    void request(stop_level level) noexcept override;
    [[nodiscard]] const char* waiting_for() const noexcept override { return "name server"; }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept;
    [[nodiscard]] io_result<dns_answer> await_resume() noexcept { return std::move(outcome_); }

    /// True if the query has failed since no server could be sent it: then the next name fares no better.
    [[nodiscard]] bool is_unreached() const noexcept { return unreached_; }

private:
    class conversation;
    class dialogue;

    void end(io_result<dns_answer> outcome) noexcept;

    std::shared_ptr<const dns_settings> how_;
    std::string name_;
    dns_record what_;
    std::unique_ptr<conversation> with_;  // While it waits.
    resumption back_;
    io_result<dns_answer> outcome_;
    bool unreached_ = false;
};

}  // namespace gyre

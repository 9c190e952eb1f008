// SPDX-License-Identifier: BSL-1.0
//
// Names to addresses, and back.
//
// Numbers are answered here, then the hosts file is, then name servers are asked, on the caller's loop and
// without a thread (runtime/dns_query.hpp). connect_to.hpp resolves and connects at once.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/endpoint.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gyre {

/// Whom a resolver asks, which files it reads, and how long it waits.
struct resolver_options {
    resolver_options() = default;

    std::vector<endpoint> servers;  ///< Name servers; if empty, those of `settings_file`.
    std::string settings_file = "/etc/resolv.conf";  ///< resolv.conf(5).
    std::string hosts_file = "/etc/hosts";           ///< hosts(5); empty: none.
    std::string services_file = "/etc/services";     ///< services(5); empty: none.

    /// Where hosts are looked for, in the `hosts` line of nsswitch.conf(5): "files" and "dns"; other sources
    /// count as unavailable. Empty: in `hosts_file`, then by name servers.
    std::string order_file = "/etc/nsswitch.conf";

    /// How long a server has for its answer before the next one is asked, up to an hour. An answer that is
    /// late counts all the same. 0: as `settings_file` says, or 5 s.
    duration timeout{};
    int tries = 0;  ///< How often each server is asked; 0: as `settings_file` says, or twice.

    /// Domains to look for a name in, instead of those of `settings_file`. "." is the name as it is.
    std::optional<std::vector<std::string>> search;

    /// How many dots a name must have to be tried as it is before it is looked for in the domains ("ndots"),
    /// instead of what `settings_file` says.
    std::optional<int> dots_min;

    /// After how long the files are read again, when something is asked for.
    duration files_kept = std::chrono::seconds{5};
};

/// What a port is for, where a service of one name has several.
enum class transport : std::uint8_t { tcp, udp };

/// Which addresses and services are wanted of a name.
struct resolve_options {
    resolve_options() noexcept = default;
    explicit resolve_options(endpoint::family only) noexcept : family{only} {}

    endpoint::family family = endpoint::family::none;  ///< v4 or v6 alone; none: both.
    transport carrier = transport::tcp;                ///< Of the service.
};

/// One place where a service is to be had: see `resolver::resolve_service`.
struct service_target {
    std::string host;  ///< To be resolved.
    std::uint16_t port = 0;
    std::uint16_t priority = 0;
    std::uint16_t weight = 0;

    friend bool operator==(const service_target&, const service_target&) = default;
};

/// What `resolver::find` finds, as it comes.
class found_addresses {
public:
    /// All addresses of one family, or of both. Called on the resolver's loop, at most twice.
    virtual void add(std::vector<endpoint> some) = 0;

protected:
    ~found_addresses() = default;
};

/// Looks names up. Copies are one resolver; it belongs to the loop it is first used on.
///
/// Nothing is remembered but the files: a cache belongs into the name server next door. Names are ASCII,
/// those of other scripts in their "xn--" form (RFC 5890). All of what is asked may go on at the same time.
class resolver {
public:
    resolver();
    explicit resolver(resolver_options options);

    /// The addresses of `host`, best first (`in_order_of_preference`); up to 64 of each family.
    ///
    /// An address in numbers never touches the network: "192.0.2.1", "2001:db8::1", "fe80::1%eth0". Nor do
    /// names below "localhost" (RFC 6761), "invalid" and "onion" (RFC 7686). Else sources are asked in the
    /// order of `order_file`. A name in the hosts file has the addresses there and no others. Name servers
    /// are asked for the name as it is and in the search domains, as resolv.conf(5) says and as glibc reads
    /// it (docs/decisions/0062-settings-of-names.md), until one of these names has an address; a dot at its
    /// end keeps it from that. A domain whose servers fail is passed over; a time-out leaves the name as it
    /// is.
    ///
    /// @param  host     Owned.
    /// @param  service  A port in numbers, or a name such as "https"; a name is looked for in services(5).
    /// @return At least one endpoint unless there is an error.
    ///
    /// Errors:        `errc::host_not_found`: no such host, or service. `errc::no_data`: it has no address of
    ///                this family. `errc::timed_out`: no name server has answered. `errc::server_failure`:
    ///                none could be reached, or all failed or refused. `errc::malformed`: it is no name,
    ///                or the answer is none. One family that is found is enough.
    /// Cancellation:  `errc::canceled`, at once; nothing goes on behind it.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          frames, and per query what `dns_query` costs; files are read every `files_kept`.
    [[nodiscard]] task<io_result<std::vector<endpoint>>> resolve(
        std::string host, std::string service, resolve_options options = {}) const;
    [[nodiscard]] task<io_result<std::vector<endpoint>>> resolve(
        std::string host, std::uint16_t port, resolve_options options = {}) const;

    /// The same, told of each family as soon as it is known, in the order of the answer: for those who
    /// begin before all is known.
    ///
    /// @param  to  Borrowed until completion.
    ///
    /// Errors, cancellation, threads, cost: as above.
    [[nodiscard]] task<io_result<>> find(std::string host, std::string service,
                                         resolve_options options, found_addresses& to) const;

    /// Where the service `name` is to be had, such as "_xmpp-client._tcp.example.org", in the order in which
    /// to try it: by priority, and drawn by weight among equals (RFC 2782).
    ///
    /// @return At least one target unless there is an error.
    ///
    /// Errors:        as `resolve`. `errc::no_data` also if the domain says that it has no such service.
    /// Cancellation:  as `resolve`.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          as `resolve`.
    [[nodiscard]] task<io_result<std::vector<service_target>>> resolve_service(
        std::string name) const;

    /// The names of `address`: those of the hosts file, or else what name servers say, whom the owner of the
    /// address may have told any name.
    ///
    /// @return At least one name unless there is an error.
    ///
    /// Errors:        `errc::host_not_found`, `errc::no_data`: it has no name; else as `resolve`.
    /// Cancellation:  as `resolve`.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          as `resolve`.
    [[nodiscard]] task<io_result<std::vector<std::string>>> reverse(ip_address address) const;
    [[nodiscard]] task<io_result<std::vector<std::string>>> reverse(endpoint of) const;

private:
    class state;

    // Coroutines that own what they use: this may be gone when they begin.
    static task<io_result<>> find_by(std::shared_ptr<state> self, std::string host,
                                     std::string service, resolve_options options,
                                     found_addresses& to);
    static task<io_result<std::vector<endpoint>>> resolve_by(std::shared_ptr<state> self,
                                                             std::string host, std::string service,
                                                             resolve_options options);
    static task<io_result<std::vector<service_target>>> resolve_service_by(
        std::shared_ptr<state> self, std::string name);
    static task<io_result<std::vector<std::string>>> reverse_by(std::shared_ptr<state> self,
                                                                ip_address address);

    std::shared_ptr<state> state_;
};

}  // namespace gyre

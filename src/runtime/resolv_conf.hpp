// SPDX-License-Identifier: BSL-1.0
//
// What an administrator has written down about name servers: resolv.conf(5).
//
// Read as glibc reads it; docs/decisions/0062-settings-of-names.md lists where musl differs, and where we do.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/runtime/operation.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace gyre {

/// What surrounds the file. Null: not set.
struct resolv_surroundings {
    const char* local_domain =
        nullptr;  ///< LOCALDOMAIN of the environment: the domains, whatever the file says.
    const char* options = nullptr;  ///< RES_OPTIONS of the environment: after those of the file.
    std::string host_name;  ///< Its domain is the one to search where none is named. May be empty.
};

/// The settings in a resolv.conf.
struct resolv_conf {
    static constexpr std::size_t servers_max = 3;

    /// Never fails: lines that make no sense are skipped.
    resolv_conf(std::string_view text, const resolv_surroundings& around);

    std::vector<socket_address> servers;  ///< At least one, at most `servers_max`.
    std::vector<std::string> search;      ///< As they stand there; "." is a name as it is.
    duration timeout = std::chrono::seconds{5};
    int tries = 2;
    int dots_min = 1;
    bool rotate = false;
    bool edns = false;
    bool over_tcp = false;            ///< "use-vc"
    bool trust_ad = false;            ///< "trust-ad"
    bool one_at_a_time = false;       ///< "single-request", "single-request-reopen"
    bool no_aaaa = false;             ///< "no-aaaa"
    bool no_top_level_names = false;  ///< "no-tld-query"
    bool read_once = false;           ///< "no-reload"

private:
    void take_line(std::string_view line, bool search_is_given);
    void take_options(std::string_view rest);
    void take_server(std::string_view word);
};

/// The address of a server, at port 53 unless there is another.
[[nodiscard]] socket_address with_name_server_port(socket_address it) noexcept;

}  // namespace gyre

// SPDX-License-Identifier: BSL-1.0
//
// What does not depend on whether there is TLS: see door_security.hpp.
#include <exchange/management/door_security.hpp>

#include <exchange/management/log_limit.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace exchange {
namespace {

[[nodiscard]] std::optional<tls_version> find_tls_version(std::string_view name) noexcept {
    if (name == "1.2") return tls_version::tls_1_2;
    if (name == "1.3") return tls_version::tls_1_3;
    return std::nullopt;
}

}  // namespace

void read_door_tls(json_section& in, door_tls& into, const std::string& folder) {
    in.in_object("tls", [&](json_section& tls) {
        if (tls.needs("certificates")) tls.read_path("certificates", into.certificates, folder);
        if (tls.needs("private_key")) tls.read_path("private_key", into.private_key, folder);
        tls.read_one_of("oldest", into.oldest, find_tls_version, "1.2, 1.3");
    });
}

insecure_report insecure_connections_in(event_log& log) {
    return [&log, told = log_limit{10}](const gyre::endpoint& peer,
                                        std::string_view reason) mutable {
        if (!log.tells(log_level::warning)) return;
        if (const auto untold = told.admit(log_limit::clock::now()))
            log.warning("tls_failed",
                        {{"address", peer.to_string()}, {"reason", reason}, {"untold", *untold}});
    };
}

}  // namespace exchange

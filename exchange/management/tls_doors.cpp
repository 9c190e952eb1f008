// SPDX-License-Identifier: BSL-1.0
//
// Certificates and keys of doors, where there is TLS: see door_security.hpp.
#include <exchange/management/door_security.hpp>

#include <exchange/management/text_file.hpp>
#include <gyre/tls/context.hpp>

#include <optional>
#include <utility>

namespace exchange {
namespace {

[[nodiscard]] config_error error_of(gyre::error why, const door_tls& how,
                                    const std::string& section) {
    const std::string certificates = section + ".tls.certificates";
    const std::string key = section + ".tls.private_key";
    if (why == gyre::errc::certificate_unreadable || why == gyre::errc::certificate_missing)
        return {certificates, "expected certificates as PEM in " + how.certificates};
    if (why == gyre::errc::key_unreadable)
        return {key, "expected a private key as PEM, not encrypted, in " + how.private_key};
    if (why == gyre::errc::key_mismatch)
        return {key, how.private_key + " is not the key of the first certificate in " +
                         how.certificates};
    return {section + ".tls", why.message()};
}

}  // namespace

std::vector<config_error> secure_doors(const door_tls& how, const std::string& section,
                                       client_server_options& into) {
    if (how.certificates.empty() || how.private_key.empty())
        return {};  // An error already, or no TLS.
    std::vector<config_error> wrong;
    const auto certificates = read_text_file(how.certificates);
    if (!certificates)
        wrong.push_back({section + ".tls.certificates", "cannot read " + how.certificates});
    const auto key = read_text_file(how.private_key);
    if (!key) wrong.push_back({section + ".tls.private_key", "cannot read " + how.private_key});
    if (!certificates || !key) return wrong;

    gyre::tls::server_options options;
    options.identities = {gyre::tls::identity{*certificates, *key}};
    if (how.oldest == tls_version::tls_1_3) options.oldest = gyre::tls::version::tls_1_3;
    auto made = gyre::tls::context::server(std::move(options));
    if (!made.ok()) wrong.push_back(error_of(made.error(), how, section));
    if (wrong.empty()) into.tls = made.take();
    return wrong;
}

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// A client's TLS, in builds that have it: see client_tls.hpp.
#include <exchange/client/client_tls.hpp>

#include <exchange/net/transport/tls_security.hpp>

#include <fstream>
#include <iterator>
#include <utility>

namespace exchange {

gyre::io_result<std::shared_ptr<channel_security>> client_security(const client_tls& how) {
    if (!how.wanted) return std::shared_ptr<channel_security>{};
    gyre::tls::client_options options;
    options.system_authorities = how.system_authorities;
    if (!how.authorities_file.empty()) {
        std::ifstream file{how.authorities_file, std::ios::binary};
        options.authorities.assign(std::istreambuf_iterator<char>{file}, {});
        if (options.authorities.empty()) return gyre::error{gyre::errc::certificate_unreadable};
    }
    if (!how.verify) {
        options.servers = gyre::tls::server_check::none;
        options.authorities.clear();
        options.system_authorities = false;
    }
    auto made = gyre::tls::context::client(std::move(options));
    if (!made.ok()) return made.error();
    // Else the first connection would find it out.
    if (const gyre::error no = check_server_name(made.value(), how.server_name)) return no;
    return connect_with_tls(made.take(), how.server_name);
}

}  // namespace exchange

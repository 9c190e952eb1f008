// SPDX-License-Identifier: BSL-1.0
//
// Fetches URLs one after another, on connections that are used again, and writes their bodies to the standard
// output.
//
// Servers of https are verified by what the system trusts; SSL_CERT_FILE names others. docs/guide/web.md
// explains.
#include <gyre/gyre.hpp>
#include <gyre/web/client.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

// snippet: fetch
gyre::task<gyre::io_result<>> fetch(gyre::web::client& web, std::string where) {
    auto got = co_await web.get(where);
    if (!got.ok()) co_return got.error();

    gyre::web::client_response response = got.take();
    std::fprintf(stderr, "%u %s\n", gyre::http::number_of(response.status),
                 response.where.to_string().c_str());
    std::vector<std::byte> space(64 << 10);
    for (;;) {
        auto [error, size] = co_await response.body.read_some(space);
        if (error == gyre::errc::eof) co_return gyre::io_result<>{};
        if (error) co_return error;
        std::fwrite(space.data(), 1, size, stdout);
    }
}
// end of snippet

gyre::task<gyre::io_result<>> fetch_all(std::vector<std::string> all) {
    // snippet: client
    gyre::web::client_options options;
    options.connect_time_max = 5s;
    options.total_time_max = 60s;
    options.redirects_max = 5;
    gyre::web::client web{options};
    // end of snippet
    for (const std::string& where : all) {
        const auto fetched = co_await fetch(web, where);
        if (!fetched.ok()) co_return fetched;
    }
    const auto& counts = web.counters();
    std::fprintf(stderr, "%zu requests on %llu connections\n", all.size(),
                 static_cast<unsigned long long>(counts.connections));
    co_return gyre::io_result<>{};
}

int main(int count, char** arguments) {
    if (count < 2) {
        std::fprintf(stderr, "usage: http_get URL...\n");
        return 2;
    }
    return gyre::run_until_signal(fetch_all({arguments + 1, arguments + count}));
}

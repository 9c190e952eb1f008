// SPDX-License-Identifier: BSL-1.0
//
// The examples that speak TLS with each of their operations failing in turn, as fused_examples_test.cpp does
// with the others. It stands apart since its scripts speak TLS, too: with our clients, which no fuse reaches.
#include <programs/fused_run.hpp>

#include <gyre/io/run.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/tls/stream.hpp>
#include <gyre/web/client.hpp>

#include <support/certificates.hpp>
#include <support/scratch_directory.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

/// A certificate for `own_loopback` that is valid now, its key, and who trusts it, as files and as a context.
struct secure_site {
    secure_site() {
        certificate_wish wish{"server"};
        wish.hosts = {"IP:" + own_loopback()};
        const auto now = std::chrono::system_clock::now() - certificate_day;
        wish.begins = std::chrono::duration_cast<std::chrono::hours>(now) - 24h;
        wish.ends = wish.begins + 24h * 7;
        const tls::identity made = root.issue(wish);
        files.put("chain", made.certificates);
        files.put("key", made.private_key);
        files.put("authority", root.certificate());
    }

    [[nodiscard]] tls::context trusting(std::string protocol) const {
        tls::client_options options;
        options.authorities = root.certificate();
        options.system_authorities = false;
        options.protocols = {std::move(protocol)};
        return tls::context::client(options).take();
    }

    test_authority root{"root"};
    scratch_directory files;
};

task<bool> is_echoed(endpoint where, tls::context settings) {
    auto connected = co_await stream_socket::connect(where);
    if (!connected.ok()) co_return false;
    const std::string host = own_loopback();
    auto shaken = co_await tls::connect(any_stream{connected.take()}, settings, host);
    if (!shaken.ok()) co_return false;
    tls::stream peer = shaken.take();
    std::string text = "hello";
    const auto said = co_await write_all(peer, bytes_of(text));
    if (!said.ok()) co_return false;
    const auto heard = co_await with_timeout(20s, read_exactly(peer, text));
    if (!heard.ok() || text != "hello") co_return false;
    const auto ended = co_await peer.finish();
    co_return ended.ok();
}

task<bool> is_served(std::string where, std::string page, tls::context settings) {
    web::client_options options;
    options.settings = std::move(settings);
    options.total_time_max = 20s;
    web::client web{std::move(options)};
    auto got = co_await web.get(where);
    if (!got.ok()) co_return false;
    const web::client_response response = got.take();
    const io_result<std::string> text = co_await response.text();
    co_return text.ok() && text.value() == page;
}

}  // namespace

TEST_CASE("fuse: tls_echo goes on, whatever becomes of a connection") {
    const secure_site site;
    const tls::context settings = site.trusting("echo");
    fused_scenario it;
    it.path = GYRE_TLS_ECHO;
    it.arguments = [&site] {
        return std::vector{std::string{"server"}, own_loopback() + ":0", site.files / "chain",
                           site.files / "key"};
    };
    it.script = talk_to([&](const endpoint& where) { return run(is_echoed(where, settings)); });
    it.verdict = goes_on_serving;

    under_every_fault(it);
}

TEST_CASE("fuse: tls_echo's client prints the answer or says why there is none") {
    const secure_site site;
    testing::program server{
        GYRE_TLS_ECHO, {"server", own_loopback() + ":0", site.files / "chain", site.files / "key"}};
    const std::string port = std::to_string(server.listening_on().port());
    fused_scenario it;
    it.path = GYRE_TLS_ECHO;
    it.arguments = [&] {
        return std::vector{std::string{"client"}, own_loopback(), port, site.files / "authority",
                           std::string{"hello"}};
    };
    it.script = [](testing::program& client, fused_outcome& into) {
        only_watch(client, into);
        into.served = into.served && into.output.starts_with("hello");
    };
    it.verdict = tells_or_succeeds;

    under_every_fault(it);
}

TEST_CASE("fuse: https_server goes on, whatever becomes of a connection") {
    const secure_site site;
    const scratch_directory pages;
    pages.put("page.txt", "a page");
    const tls::context settings = site.trusting("http/1.1");
    fused_scenario it;
    it.path = GYRE_HTTPS_SERVER;
    it.arguments = [&] {
        return std::vector{own_loopback() + ":0", pages.path().string(), site.files / "chain",
                           site.files / "key"};
    };
    it.script = talk_to([&](const endpoint& where) {
        return run(is_served("https://" + where.to_string() + "/page.txt", "a page", settings));
    });
    it.verdict = goes_on_serving;

    under_every_fault(it);
}

TEST_CASE("fuse: secure_quotes goes on, whatever becomes of a connection") {
    const secure_site site;
    const tls::context settings = site.trusting("http/1.1");
    fused_scenario it;
    it.path = GYRE_SECURE_QUOTES;
    it.arguments = [&site] {
        return std::vector{own_loopback() + ":0", site.files / "chain", site.files / "key"};
    };
    it.script = talk_to([&](const endpoint& where) {
        return run(is_served("https://" + where.to_string() + "/quotes/north", "101\n", settings));
    });
    it.verdict = goes_on_serving;

    under_every_fault(it);
}

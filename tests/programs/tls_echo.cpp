// SPDX-License-Identifier: BSL-1.0
//
// examples/tls_echo does what it says. It stands apart from the other examples since it wants OpenSSL, for
// certificates, too.
#include <programs/program.hpp>

#include <support/certificates.hpp>
#include <support/scratch_directory.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <string>

using namespace gyre;
using namespace gyre::testing;

namespace {

// Valid now: programs go by the clock.
certificate_wish valid_now(const std::string& name) {
    certificate_wish wish{name};
    wish.hosts = {"IP:127.0.0.1"};
    const auto now = std::chrono::system_clock::now() - certificate_day;
    wish.begins = std::chrono::duration_cast<std::chrono::hours>(now) - std::chrono::hours{24};
    wish.ends = wish.begins + std::chrono::hours{24 * 7};
    return wish;
}

struct example {
    explicit example(test_authority& by) { write(by.issue(valid_now("server"))); }

    void write(const tls::identity& it) const {
        files.put("chain", it.certificates);
        files.put("key", it.private_key);
    }
    [[nodiscard]] std::string ask(const endpoint& server, const test_authority& trusted) const {
        files.put("authority", trusted.certificate());
        const std::string port = std::to_string(server.port());
        program client{GYRE_TLS_ECHO, {"client", "127.0.0.1", port, files / "authority", "hello"}};
        const std::string said = client.rest_of_output();
        status = client.wait();
        return said;
    }

    scratch_directory files;
    mutable int status = -1;
};

}  // namespace

TEST_CASE("tls_echo answers who trusts it, and reads its certificates again at SIGHUP") {
    test_authority first{"first"};
    test_authority second{"second"};
    example files{first};
    program server{GYRE_TLS_ECHO,
                   {"server", "127.0.0.1:0", files.files / "chain", files.files / "key"}};
    const endpoint where = server.listening_on();

    CHECK(files.ask(where, first) == "hello");
    CHECK(files.status == 0);
    CHECK(files.ask(where, second).find("issuer who is not trusted") != std::string::npos);
    CHECK(files.status != 0);
    CHECK(server.next_line().starts_with("a client was refused: "));

    files.files.put("key", "no key");
    server.send(SIGHUP);
    CHECK(server.next_line().starts_with("the old certificate stays: "));
    CHECK(files.ask(where, first) == "hello");

    files.write(second.issue(valid_now("renewed")));
    server.send(SIGHUP);
    CHECK(server.next_line() == "new certificate");
    CHECK(files.ask(where, second) == "hello");

    server.send(SIGTERM);
    CHECK(server.rest_of_output().empty());
    CHECK(server.wait() == 0);
}

TEST_CASE("tls_echo says how it is used, and what it cannot use") {
    program nonsense{GYRE_TLS_ECHO, {"nonsense"}};
    CHECK(nonsense.next_line() == "usage: tls_echo server ADDRESS:PORT CHAIN.pem KEY.pem");
    CHECK(nonsense.rest_of_output() == "       tls_echo client HOST PORT AUTHORITY.pem TEXT\n");
    CHECK(nonsense.wait() == 2);

    program empty{GYRE_TLS_ECHO, {"server", "127.0.0.1:0", "/dev/null", "/dev/null"}};
    CHECK(empty.rest_of_output().find("no readable certificate") != std::string::npos);
    CHECK(empty.wait() == 1);
}

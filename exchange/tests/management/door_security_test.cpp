// SPDX-License-Identifier: BSL-1.0
//
// The section about TLS, and what a log says of connections that fail.
#include <exchange/management/door_security.hpp>

#include <exchange/management/gateway_config.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include <unistd.h>

using namespace exchange;

namespace {

[[nodiscard]] gateway_config_reading gateway_with(std::string_view tls) {
    std::string text = R"({"order_entry": {"at": "127.0.0.1:0", "tls": )";
    text.append(tls);
    text.append(
        R"(}, "facility": {"at": "127.0.0.1:7005", "name": "gw1"}, "credentials_file": "x"})");
    return read_gateway_config(text, "folder");
}

/// Connections that a test says have failed.
}  // namespace

TEST_CASE("door security: the section names files, and the oldest version") {
    const gateway_config_reading both = gateway_with(
        R"({"certificates": "chain.pem", "private_key": "/key.pem", "oldest": "1.3"})");
    CHECK(both.errors.empty());
    CHECK(both.value.tls.certificates == "folder/chain.pem");
    CHECK(both.value.tls.private_key == "/key.pem");
    CHECK(both.value.tls.oldest == tls_version::tls_1_3);
    const gateway_config_reading default_version =
        gateway_with(R"({"certificates": "chain.pem", "private_key": "key.pem"})");
    CHECK(default_version.value.tls.oldest == tls_version::tls_1_2);
}

TEST_CASE("door security: what is missing or unknown in the section is said with its place") {
    const gateway_config_reading wrong =
        gateway_with(R"({"certificates": "chain.pem", "oldest": "1.1", "cipher": "none"})");
    REQUIRE(wrong.errors.size() == 3);
    CHECK(wrong.errors[0].where == "order_entry.tls.private_key");
    CHECK(wrong.errors[1].where == "order_entry.tls.oldest");
    CHECK(wrong.errors[1].what.find("1.2, 1.3") != std::string::npos);
    CHECK(wrong.errors[2].where == "order_entry.tls.cipher");
}

TEST_CASE("door security: the log has the address and the reason of what failed") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    event_log log{ends[1], "a_gateway"};
    const insecure_report report = insecure_connections_in(log);
    for (int each = 0; each < 50; ++each)
        report(gyre::endpoint{gyre::ipv4::loopback(), 7}, "no shared cipher");
    ::close(ends[1]);
    std::string text;
    std::array<char, 4096> some{};
    for (ssize_t size = 0; (size = ::read(ends[0], some.data(), some.size())) > 0;)
        text.append(some.data(), static_cast<std::size_t>(size));
    ::close(ends[0]);
    CHECK(
        text.find(R"("event":"tls_failed","address":"127.0.0.1:7","reason":"no shared cipher")") !=
        std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') <= 20);  // Ten a second.
}

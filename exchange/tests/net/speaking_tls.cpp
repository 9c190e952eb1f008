// SPDX-License-Identifier: BSL-1.0
//
// Certificates for tests whose connections are secured: see spoken_security.hpp.
#include <exchange/net/transport/tls_security.hpp>
#include <exchange/tests/net/spoken_security.hpp>

#include <doctest/doctest.h>

#include <support/certificates.hpp>

namespace exchange::testing {
namespace {

/// Tests have both ends in one process.
class both_ends final : public channel_security {
public:
    both_ends() {
        gyre::testing::test_authority authority{"authority"};
        gyre::testing::certificate_wish wish;
        wish.hosts = {"IP:127.0.0.1"};
        gyre::tls::server_options serving;
        serving.identities = {authority.issue(wish)};
        gyre::tls::client_options asking;
        asking.authorities = authority.certificate();
        asking.system_authorities = false;
        asking.judged_at = gyre::testing::certificate_day;
        auto server = gyre::tls::context::server(std::move(serving));
        auto client = gyre::tls::context::client(std::move(asking));
        REQUIRE(server.ok());
        REQUIRE(client.ok());
        spoken_tls() = server.value();
        server_ = serve_with_tls(server.take());
        client_ = connect_with_tls(client.take());
    }

    [[nodiscard]] std::unique_ptr<secure_channel> open(const secure_channel_end& end) override {
        return (end.client ? client_ : server_)->open(end);
    }
    void report_failures(failure_report to) override {
        server_->report_failures(to);
        client_->report_failures(std::move(to));
    }

private:
    std::shared_ptr<channel_security> server_;
    std::shared_ptr<channel_security> client_;
};

}  // namespace

speaking_tls::speaking_tls() { spoken_security() = std::make_shared<both_ends>(); }

}  // namespace exchange::testing

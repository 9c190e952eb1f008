// SPDX-License-Identifier: BSL-1.0
//
// The resolver against a name server that others wrote: dnsmasq, if it is installed.
//
// tests/io/resolver_test.cpp says what the resolver promises; there the server is ours, and might be wrong in
// the same way as we are.
#include <gyre/io/resolver.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/sync/timeout.hpp>
#include <programs/program.hpp>
#include <support/harness.hpp>
#include <support/skip.hpp>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

constexpr const char* path_of_dnsmasq = "/usr/sbin/dnsmasq";

// Knows a few names below "test", and nothing else.
class dnsmasq {
public:
    dnsmasq() {
        std::ofstream hosts{hosts_};
        hosts << "192.0.2.1 dual.test four.test\n2001:db8::1 dual.test\n";
        for (int each = 0; each < 60; ++each) hosts << "10.0.0." << each << " large.test\n";
        hosts.close();
        for (int tries = 0; !started(); ++tries) REQUIRE(tries < 20);
    }
    dnsmasq(const dnsmasq&) = delete;
    dnsmasq& operator=(const dnsmasq&) = delete;
    ~dnsmasq() { ::unlink(hosts_.c_str()); }

    [[nodiscard]] resolver_options options() const {
        resolver_options made;
        made.servers = {where_};
        made.hosts_file.clear();
        made.settings_file = "/dev/null";
        made.order_file.clear();
        made.search = {"test"};
        return made;
    }

    void send(int signal) const { running_->send(signal); }

private:
    // A port that is free now may be another's in a moment.
    [[nodiscard]] bool started() {
        {
            io_context io;
            where_ = udp_socket::bind(io, {ipv4::loopback(), 0}).take().local_endpoint().value();
        }
        running_ = std::make_unique<program>(
            path_of_dnsmasq,
            std::vector{"--keep-in-foreground"s, "--log-facility=-"s, "--conf-file=/dev/null"s,
                        "--port=" + std::to_string(where_.port()), "--listen-address=127.0.0.1"s,
                        "--bind-interfaces"s, "--no-resolv"s, "--no-hosts"s, "--pid-file="s,
                        "--user="s + (::geteuid() == 0 ? "root" : ""), "--local=/test/"s,
                        "--edns-packet-max=512"s, "--addn-hosts=" + hosts_,
                        "--srv-host=_chat._tcp.test,second.test,5223,20,0"s,
                        "--srv-host=_chat._tcp.test,first.test,5222,10,0"s});
        for (;;) {
            const std::string line = running_->next_line();
            if (line.empty()) return false;
            if (line.find(hosts_) != std::string::npos) return true;  // It has read its names.
        }
    }

    const std::string hosts_ = "/tmp/gyre_dnsmasq_test." + std::to_string(::getpid());
    endpoint where_;
    std::unique_ptr<program> running_;
};

std::set<std::string> texts(const io_result<std::vector<endpoint>>& found) {
    std::set<std::string> made;
    for (const endpoint& each : found.value()) made.insert(each.to_string());
    return made;
}

using strings = std::set<std::string>;

}  // namespace

TEST_CASE("dnsmasq: addresses, aliases of nothing, truncation, services and names") {
    if (::access(path_of_dnsmasq, X_OK) != 0) return skip("dnsmasq is not installed");
    const dnsmasq server;
    on_every_backend([&](io_context&) -> task<> {
        const resolver names{server.options()};
        const resolve_options v6{endpoint::family::v6};

        const auto dual = co_await names.resolve("dual.test", 80);
        const auto searched = co_await names.resolve("dual", "http");
        const auto four = co_await names.resolve("four.test", 80);
        const auto no_six = co_await names.resolve("four.test", 80, v6);
        const auto nobody = co_await names.resolve("nobody.test.", 80);
        const auto refused = co_await names.resolve("elsewhere.example.", 80);
        const auto large = co_await names.resolve("large.test", 80);
        const auto chat = co_await names.resolve_service("_chat._tcp.test");
        const auto of_four = co_await names.reverse(ipv4{{10, 0, 0, 7}});
        const auto of_six = co_await names.reverse(ipv6::parse("2001:db8::1").value());

        CHECK(texts(dual) == strings{"192.0.2.1:80", "[2001:db8::1]:80"});
        CHECK(texts(searched) == texts(dual));
        CHECK(texts(four) == strings{"192.0.2.1:80"});
        CHECK(no_six.error() == errc::no_data);
        CHECK(nobody.error() == errc::host_not_found);
        CHECK(refused.error() == errc::server_failure);
        CHECK(texts(large).size() == 60);  // Three times what a datagram has room for.
        REQUIRE(chat.value().size() == 2);
        CHECK(chat.value()[0] == service_target{"first.test", 5222, 10, 0});
        CHECK(chat.value()[1] == service_target{"second.test", 5223, 20, 0});
        CHECK(of_four.value() == std::vector{"large.test"s});
        CHECK(of_six.value() == std::vector{"dual.test"s});
    });
}

TEST_CASE("dnsmasq: a server that stands still is waited for, and a query of it can be ended") {
    if (::access(path_of_dnsmasq, X_OK) != 0) return skip("dnsmasq is not installed");
    const dnsmasq server;
    on_every_backend([&](io_context&) -> task<> {
        resolver_options impatient = server.options();
        impatient.timeout = 10ms;
        impatient.tries = 2;
        const resolver soon_over{impatient};
        const resolver names{server.options()};
        const std::size_t before = open_descriptors();
        server.send(SIGSTOP);

        // The signal may take a moment to arrive.
        auto no_answer = co_await soon_over.resolve("dual.test", 80);
        while (no_answer.ok()) no_answer = co_await soon_over.resolve("dual.test", 80);
        const auto ended = co_await with_timeout(10ms, names.resolve("dual.test", 80));
        CHECK(no_answer.error() == errc::timed_out);
        CHECK(ended.error() == errc::timed_out);
        CHECK(open_descriptors() == before);

        server.send(SIGCONT);
        const auto dual = co_await names.resolve("dual.test", 80);
        CHECK(dual.value().size() == 2);
    });
}

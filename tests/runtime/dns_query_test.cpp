// SPDX-License-Identifier: BSL-1.0
//
// What gyre/runtime/dns_query.hpp promises to the code that uses it.
#include <gyre/runtime/dns_query.hpp>

#include <io/name_server.hpp>
#include <support/child.hpp>
#include <support/disposable.hpp>
#include <support/harness.hpp>
#include <support/refusals.hpp>
#include <support/waiting_laws.hpp>

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

using manner = dns_reply::manner;

std::shared_ptr<const dns_settings> settings_for(const endpoint& server) {
    dns_options options;
    options.servers = {server.raw()};
    options.settings_file = "/dev/null";
    options.timeout = 20s;
    return dns_settings::read(options).take();
}

template <class Body>
void with_server(const name_server::script& script, const Body& body) {
    on_every_backend([&](io_context& io) -> task<> {
        name_server server{io, script};
        const auto run = [&]() -> task<> { return body(io, server); };
        co_await while_answering(server, run);
    });
}

// A query that no server answers, for the laws of waiting.
class unanswered {
public:
    static constexpr const char* name = "dns_query";

    explicit unanswered(io_context& io)
        : silent_{udp_socket::bind(io, {ipv4::loopback(), 0}).take()} {}

    [[nodiscard]] dns_query wait() const {
        return dns_query{settings_for(silent_.local_endpoint().value()), "it.test", dns_record::a};
    }

private:
    udp_socket silent_;
};

disposable ask_in_frame(std::shared_ptr<const dns_settings> how, int& resumptions) {
    static_cast<void>(co_await dns_query{std::move(how), "it.test", dns_record::a});
    ++resumptions;
}

}  // namespace

TEST_CASE("a query yields the records that it asks for, in their order") {
    const auto script = [](const dns_question& asked) {
        switch (asked.type) {
            case record_type::a: return dns_reply{{a_record("192.0.2.2"), a_record("192.0.2.1")}};
            case record_type::aaaa: return dns_reply{{aaaa_record("2001:db8::1")}};
            case record_type::srv: return dns_reply{{srv_record(7, 8, 9, "there.test")}};
            case record_type::ptr: return dns_reply{{name_record(record_type::ptr, "it.test")}};
            case record_type::cname: return dns_reply{};
        }
        return dns_reply{};
    };
    with_server(script, [](io_context&, name_server& server) -> task<> {
        const auto how = settings_for(server.where());

        const auto a = co_await dns_query{how, "it.test", dns_record::a};
        const auto aaaa = co_await dns_query{how, "it.test", dns_record::aaaa};
        const auto srv = co_await dns_query{how, "_s._tcp.test", dns_record::srv};
        const auto ptr = co_await dns_query{how, "1.2.0.192.in-addr.arpa", dns_record::ptr};

        REQUIRE(a.value().addresses.size() == 2);
        CHECK(endpoint{a.value().addresses[0]} == endpoint::parse("192.0.2.2:0").value());
        CHECK(endpoint{a.value().addresses[1]} == endpoint::parse("192.0.2.1:0").value());
        REQUIRE(aaaa.value().addresses.size() == 1);
        CHECK(endpoint{aaaa.value().addresses[0]} == endpoint::parse("[2001:db8::1]:0").value());
        REQUIRE(srv.value().services.size() == 1);
        CHECK(srv.value().services[0].priority == 7);
        CHECK(srv.value().services[0].weight == 8);
        CHECK(srv.value().services[0].port == 9);
        CHECK(srv.value().services[0].target == "there.test");
        CHECK(ptr.value().names == std::vector{"it.test"s});
    });
}

TEST_CASE("each query has a port of its own") {
    on_every_backend([](io_context& io) -> task<> {
        udp_socket server = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
        const auto how = settings_for(server.local_endpoint().value());
        const auto body = [&](task_group& group) -> task<> {
            for (int each = 0; each < 2; ++each) {
                group.spawn([how]() -> task<> {
                    static_cast<void>(co_await dns_query{how, "it.test", dns_record::a});
                });
            }
            std::array<std::byte, 512> space{};
            auto [first_error, first, first_port] = co_await server.receive_from(space);
            auto [second_error, second, second_port] = co_await server.receive_from(space);
            CHECK_FALSE(first_port == second_port);
        };
        co_await with_group(body, group_options{group_mode::stop_on_exit});
    });
}

TEST_CASE("a server that sends more than anybody reads does not keep the loop from other work") {
    on_every_backend([](io_context& io) -> task<> {
        constexpr int nonsense_size = 100;
        udp_socket server = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
        const auto how = settings_for(server.local_endpoint().value());
        // The number that the socket of the query will have.
        const int number = ::dup(server.native_handle());
        ::close(number);
        std::set<int>
            heads;  // How long the datagram was that came next, whenever others had their turn.
        bool over = false;
        const auto others = [&]() -> task<> {
            while (!over) {
                int head = 0;
                ::ioctl(number, FIONREAD, &head);
                heads.insert(head);
                co_await yield();
            }
        };
        const auto flood = [&]() -> task<> {
            std::array<std::byte, 512> space{};
            auto [failed, got, from] = co_await server.receive_from(space);
            const const_buffer query = const_buffer{space}.first(got.size);
            const socket_address raw = from.raw();
            std::vector<std::byte> message(20, std::byte{0xff});
            for (int each = 0; each < nonsense_size;
                 ++each) {  // In one piece: the query finds all of it.
                message.push_back(std::byte{0});
                ::sendto(server.native_handle(), message.data(), message.size(), 0,
                         reinterpret_cast<const sockaddr*>(raw.data), raw.size);
            }
            message.assign(query.begin(), query.end());
            message[2] = std::byte{0x85};
            message[3] = std::byte{0x83};
            static_cast<void>(co_await server.send_to(message, from));
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(others());
            group.spawn(flood());
            const auto found = co_await dns_query{how, "it.test", dns_record::a};
            CHECK(found.error() == errc::host_not_found);
            over = true;
        };

        co_await with_group(body, group_options{group_mode::stop_on_exit});

        CHECK(heads.size() >= nonsense_size / 16);
    });
}

TEST_CASE("a query ends with canceled, whenever it is stopped") {
    check_stopped_before_start<unanswered>();
    check_stopped_while_pending<unanswered>();
}

TEST_CASE("a frame destroyed while its query waits leaves nothing behind") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        const udp_socket silent = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
        const auto how = settings_for(silent.local_endpoint().value());
        const std::size_t before = open_descriptors();
        stop_chain chain;
        const environment surroundings{io, &io, &chain};
        int resumptions = 0;
        const disposable asking = ask_in_frame(how, resumptions);
        asking.frame.promise().env = &surroundings;
        io.post([&asking] { resume(asking.frame); });
        for (int each = 0; each < 5; ++each) io.poll();
        CHECK(open_descriptors() == before + 1);
        CHECK(chain.pending() != nullptr);
        CHECK(io.next_deadline() != never);

        asking.frame.destroy();

        CHECK(open_descriptors() == before);
        CHECK(chain.pending() == nullptr);
        CHECK(io.next_deadline() == never);
        for (int each = 0; each < 5; ++each) io.poll();
        CHECK(resumptions == 0);
    });
}

TEST_CASE("a frame destroyed between its answer and its resumption is not resumed") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        const udp_socket silent = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
        const auto how = settings_for(silent.local_endpoint().value());
        const std::size_t before = open_descriptors();
        stop_chain chain;
        const environment surroundings{io, &io, &chain};
        int resumptions = 0;
        const disposable asking = ask_in_frame(how, resumptions);
        asking.frame.promise().env = &surroundings;
        io.post([&] {
            resume(asking.frame);
            chain.request(stop_level::stop);  // Posts it.
            asking.frame.destroy();
        });

        for (int each = 0; each < 5; ++each) io.poll();

        CHECK(resumptions == 0);
        CHECK(open_descriptors() == before);
    });
}

TEST_CASE("a loop that can wait for nothing ends a query with its own failure") {
    // Without descriptors there is no backend, and each operation ends at once.
    const child_report report = in_child([](child_process& me) {
        rlimit limit{};
        ::getrlimit(RLIMIT_NOFILE, &limit);
        const rlimit none{0, limit.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &none);
        io_context io;
        ::setrlimit(RLIMIT_NOFILE, &limit);
        me.check(bool{io.status()}, "there is no backend");
        dns_options options;
        options.settings_file = "/dev/null";
        const auto how = dns_settings::read(options).take();
        error outcome;
        const auto ask = [&]() -> task<> {
            const auto found = co_await dns_query{how, "it.test", dns_record::a};
            outcome = found.error();
        };
        run_to_end(me, io, ask());
        me.check(outcome == io.status(), "the query says so: " + outcome.message());
    });
    CAPTURE(report.text);
    CHECK(report.passed());
}

TEST_CASE("a server has the time and the tries that the file says") {
    const std::string path = "/tmp/gyre_dns_query_test." + std::to_string(::getpid());
    std::ofstream{path} << "options timeout:1 attempts:1\n";
    with_every_backend([&](const io_context_options& options) {
        io_context io{options};
        const udp_socket silent = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
        dns_options wanted;
        wanted.servers = {silent.local_endpoint().value().raw()};
        wanted.settings_file = path;
        const auto how = dns_settings::read(wanted).take();
        stop_chain chain;
        const environment surroundings{io, &io, &chain};
        int resumptions = 0;
        const disposable asking = ask_in_frame(how, resumptions);
        asking.frame.promise().env = &surroundings;
        const time_point begun = std::chrono::steady_clock::now();
        io.post([&asking] { resume(asking.frame); });
        for (int each = 0; each < 5; ++each) io.poll();

        CHECK(io.next_deadline() >= begun + 1s);
        CHECK(io.next_deadline() <= std::chrono::steady_clock::now() + 1s);
        asking.frame.destroy();
    });
    const auto script = [](const dns_question&) { return dns_reply{manner::silent}; };
    with_server(script, [&](io_context&, name_server& server) -> task<> {
        dns_options wanted;
        wanted.servers = {server.where().raw()};
        wanted.settings_file = path;
        wanted.timeout = 10ms;

        const auto answered =
            co_await dns_query{dns_settings::read(wanted).take(), "it.test", dns_record::a};

        CHECK(answered.error() == errc::timed_out);
        while (server.asked().empty()) co_await yield();  // It may read later than that.
        CHECK(server.asked().size() == 1);
    });
    ::unlink(path.c_str());
}

TEST_CASE("settings that cannot be are refused") {
    dns_options local;
    local.servers = {endpoint::local("/run/it").value().raw()};
    dns_options negative;
    negative.timeout = -1ms;
    dns_options many;
    many.tries = 1'000'000;

    CHECK(dns_settings::read(local).error() == errc::address_family_not_supported);
    CHECK(dns_settings::read(negative).error() == errc::invalid_argument);
    CHECK(dns_settings::read(many).error() == errc::invalid_argument);
}

TEST_CASE("settings that are not there are the usual ones") {
    dns_options options;
    options.settings_file = "/no/such/file";

    const auto read = dns_settings::read(options);

    REQUIRE(read.ok());
    CHECK(read.value()->dots_min() == 1);
}

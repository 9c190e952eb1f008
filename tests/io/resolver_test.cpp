// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/resolver.hpp promises to the code that uses it.
#include <gyre/io/resolver.hpp>

#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <io/name_server.hpp>
#include <support/conformance.hpp>
#include <support/disposable.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>
#include <support/skip.hpp>

#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

using manner = dns_reply::manner;

// A file that lasts as long as the test.
class temporary_file {
public:
    explicit temporary_file(const std::string& text) { write(text); }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file() { ::unlink(path.c_str()); }

    void write(const std::string& text) const { std::ofstream{path} << text; }

    const std::string path = "/tmp/gyre_resolver_test." + std::to_string(::getpid());
};

dns_reply nowhere(const dns_question&) { return dns_reply{dns_reply::no_such_name}; }

// One host of both families.
dns_reply dual_stack(const dns_question& asked) {
    if (asked.name != "dual.test") return dns_reply{dns_reply::no_such_name};
    if (asked.type == record_type::a) return dns_reply{{a_record("127.0.0.9")}};
    if (asked.type == record_type::aaaa) return dns_reply{{aaaa_record("::1")}};
    return {};
}

std::set<std::string> texts(const io_result<std::vector<endpoint>>& found) {
    std::set<std::string> made;
    for (const endpoint& each : found.value()) made.insert(each.to_string());
    return made;
}

using strings = std::set<std::string>;

// Runs `body(server)` on every backend, beside a server with this script.
template <class Body>
void with_server(const name_server::script& script, const Body& body) {
    on_each_backend_of("names of the kernel", [&](io_context& io) -> task<> {
        name_server server{io, script};
        const auto run = [&]() -> task<> { return body(server); };
        co_await while_answering(server, run);
    });
}

// What resolving `name` ends with if the server replies like this.
void check_ends_with(const dns_reply& reply, errc expected, std::string name = "it.test") {
    CAPTURE(expected);
    with_server([&](const dns_question&) { return reply; },
                [&](name_server& server) -> task<> {
                    const resolver names{server.options()};

                    const auto found = co_await names.resolve(name, 80);

                    CHECK(found.error() == expected);
                    CHECK(found.error().during() == activity::resolve);
                    CHECK(found.value().empty());
                });
}

disposable ask_in_frame(const resolver& names) {
    const resolve_options v4{endpoint::family::v4};
    const auto found = co_await names.resolve("it.test", 80, v4);
    CHECK_MESSAGE(false, "it is destroyed before: ", found.ok());
}

}  // namespace

TEST_CASE("a name has the addresses of both families that its server knows") {
    with_server(dual_stack, [](name_server& server) -> task<> {
        const resolver names{server.options()};

        const auto found = co_await names.resolve("dual.test", "8080");
        const auto only_v4 =
            co_await names.resolve("dual.test", 1, resolve_options{endpoint::family::v4});
        const auto only_v6 =
            co_await names.resolve("dual.test", 2, resolve_options{endpoint::family::v6});

        CHECK(texts(found) == strings{"127.0.0.9:8080", "[::1]:8080"});
        CHECK(texts(only_v4) == strings{"127.0.0.9:1"});
        CHECK(texts(only_v6) == strings{"[::1]:2"});
        CHECK(server.asked().size() == 4);
    });
}

TEST_CASE("numbers, and names that are no host's, never touch the network") {
    with_server(nowhere, [](name_server& server) -> task<> {
        const resolver names{server.options()};
        const auto one = [&](std::string host) -> task<std::string> {
            const auto found = co_await names.resolve(std::move(host), 80);
            if (!found.ok()) co_return std::string{describe(found.error().code())};
            std::string all;
            for (const std::string& each : texts(found)) all += each + ' ';
            co_return all;
        };
        const std::string loop = std::to_string(::if_nametoindex("lo"));
        const std::string malformed = describe(errc::malformed);
        const std::vector<std::pair<std::string, std::string>> all{
            {"192.0.2.7", "192.0.2.7:80 "},
            {"2001:DB8::7", "[2001:db8::7]:80 "},
            {"fe80::1%1", "[fe80::1%1]:80 "},
            {"fe80::1%lo", "[fe80::1%" + loop + "]:80 "},
            {"fe80::1%no_such_one", describe(errc::no_such_device)},
            {"localhost", "127.0.0.1:80 [::1]:80 "},
            {"LOCALHOST.", "127.0.0.1:80 [::1]:80 "},
            {"db.localhost", "127.0.0.1:80 [::1]:80 "},
            {"it.invalid", describe(errc::host_not_found)},
            {"secret.onion", describe(errc::host_not_found)},
            {"127.1", malformed},
            {"192.0.2.1.", malformed},
            {"2130706433", malformed},
            {"1.2.3.4.5", malformed},
            {"0x7f.1", malformed},
            {"256.1.1.1", malformed},
            {"::g", malformed},
            {"a b", malformed},
            {"a/b", malformed},
            {"a:80", malformed},
            {"", malformed},
            {"a\0b"s, malformed},
        };
        for (const auto& [host, expected] : all) {
            CAPTURE(host);
            const std::string got = co_await one(host);
            CHECK(got == expected);
        }
        const auto other_family =
            co_await names.resolve("192.0.2.7", 80, resolve_options{endpoint::family::v6});
        CHECK(other_family.error() == errc::no_data);
        CHECK(server.asked().empty());
    });
}

TEST_CASE("names that cannot be are malformed, and nothing is asked") {
    with_server(nowhere, [](name_server& server) -> task<> {
        const resolver names{server.options()};
        const std::string long_label(64, 'a');
        std::string long_name;
        while (long_name.size() < 256) long_name += "abcdefg.";

        for (const std::string& each : {long_label + ".test", long_name + "test", "a..test"s}) {
            CAPTURE(each);
            const auto found = co_await names.resolve(each, 80);
            CHECK(found.error() == errc::malformed);
        }
        CHECK(server.asked().empty());
    });
}

TEST_CASE("a service is a number, or has a name that services(5) or everybody knows") {
    const temporary_file services{
        "# comment\nfunny 4711/tcp droll # more\nfunny 4712/udp\nbad\nworse x/tcp\n"};
    with_server(nowhere, [&](name_server& server) -> task<> {
        resolver_options options = server.options();
        options.services_file = services.path;
        const resolver names{options};
        resolve_options by_udp;
        by_udp.carrier = transport::udp;

        const auto funny = co_await names.resolve("127.0.0.1", "funny");
        const auto droll = co_await names.resolve("127.0.0.1", "droll");
        const auto other = co_await names.resolve("127.0.0.1", "funny", by_udp);
        const auto known = co_await names.resolve("127.0.0.1", "https");
        const auto zero = co_await names.resolve("127.0.0.1", "0");
        const auto unknown = co_await names.resolve("127.0.0.1", "unheard_of");
        const auto too_high = co_await names.resolve("127.0.0.1", "65536");
        const auto worse = co_await names.resolve("127.0.0.1", "worse");

        CHECK(texts(funny) == strings{"127.0.0.1:4711"});
        CHECK(texts(droll) == strings{"127.0.0.1:4711"});
        CHECK(texts(other) == strings{"127.0.0.1:4712"});
        CHECK(texts(known) == strings{"127.0.0.1:443"});
        CHECK(texts(zero) == strings{"127.0.0.1:0"});
        CHECK(unknown.error() == errc::host_not_found);
        CHECK(too_high.error() == errc::malformed);
        CHECK(worse.error() == errc::host_not_found);
    });
}

TEST_CASE("what the hosts file says of a name is all that there is to it") {
    const temporary_file hosts{
        "127.0.0.5 Left.test both.test  # comment\r\n::5\tboth.test\nnonsense right.test\n"
        "127.0.0.5 both.test\n#127.0.0.6 both.test"};
    with_server(dual_stack, [&](name_server& server) -> task<> {
        resolver_options options = server.options();
        options.hosts_file = hosts.path;
        const resolver names{options};

        const auto left = co_await names.resolve("lefT.TEST", 80);
        const auto both = co_await names.resolve("both.test.", 80);
        CHECK(texts(left) == strings{"127.0.0.5:80"});
        CHECK(texts(both) == strings{"127.0.0.5:80", "[::5]:80"});
        CHECK(server.asked().empty());

        const auto right = co_await names.resolve("right.test", 80);
        const auto elsewhere = co_await names.resolve("dual.test", 80);
        CHECK(right.error() == errc::host_not_found);
        CHECK(elsewhere.ok());
    });
}

TEST_CASE("files are read again when they are old") {
    const temporary_file hosts{"127.0.0.5 it.test"};
    with_server(nowhere, [&](name_server& server) -> task<> {
        resolver_options options = server.options();
        options.hosts_file = hosts.path;
        const resolver patient{options};
        options.files_kept = 0s;
        const resolver eager{options};
        const auto before = co_await patient.resolve("it.test", 80);
        hosts.write("127.0.0.6 it.test");

        const auto kept = co_await patient.resolve("it.test", 80);
        const auto fresh = co_await eager.resolve("it.test", 80);
        hosts.write("127.0.0.7 it.test");
        const auto fresher = co_await eager.resolve("it.test", 80);

        CHECK(texts(before) == strings{"127.0.0.5:80"});
        CHECK(texts(kept) == strings{"127.0.0.5:80"});
        CHECK(texts(fresh) == strings{"127.0.0.6:80"});
        CHECK(texts(fresher) == strings{"127.0.0.7:80"});
        hosts.write("127.0.0.5 it.test");
    });
}

TEST_CASE("each way of failing has its own error") {
    check_ends_with(dns_reply{dns_reply::no_such_name}, errc::host_not_found);
    check_ends_with(dns_reply{}, errc::no_data);
    check_ends_with(dns_reply{dns_reply::server_failure}, errc::server_failure);
    check_ends_with(dns_reply{dns_reply::refused}, errc::server_failure);
    check_ends_with(dns_reply{{srv_record(1, 2, 3, "elsewhere.test")}}, errc::no_data);
}

TEST_CASE("an answer that makes no sense is malformed") {
    dns_reply reply{manner::cut};
    reply.records = {a_record("192.0.2.1")};
    check_ends_with(reply, errc::malformed);
}

TEST_CASE("a silent server is asked as often as it is to be, and then the time is out") {
    with_server([](const dns_question&) { return dns_reply{manner::silent}; },
                [](name_server& server) -> task<> {
                    resolver_options options = server.options();
                    options.timeout = 10ms;
                    options.tries = 3;
                    const resolver names{options};
                    const time_point begun = std::chrono::steady_clock::now();

                    const auto found = co_await names.resolve("it.test", 80);

                    co_await settle();  // The server reads what it has been sent.
                    CHECK(found.error() == errc::timed_out);
                    CHECK(server.times_asked("it.test", record_type::a) == 3);
                    CHECK(server.times_asked("it.test", record_type::aaaa) == 3);
                    CHECK(std::chrono::steady_clock::now() - begun >= 30ms);  // The same each time.
                });
}

TEST_CASE("answers to other questions, and nonsense, are no answers") {
    for (const manner each : {manner::garbled, manner::other_question}) {
        int asked = 0;
        with_server(
            [&](const dns_question&) {
                return ++asked % 2 == 1 ? dns_reply{each} : dns_reply{{a_record("192.0.2.1")}};
            },
            [&](name_server& server) -> task<> {
                asked = 0;
                resolver_options options = server.options();
                options.timeout = 20ms;
                options.tries = 4;
                const resolver names{options};

                const auto found =
                    co_await names.resolve("it.test", 80, resolve_options{endpoint::family::v4});

                CHECK(texts(found) == strings{"192.0.2.1:80"});
                CHECK(asked >= 2);
            });
    }
}

TEST_CASE("a truncated answer is asked for again over TCP, however slowly that comes") {
    for (const manner over_tcp : {manner::plain, manner::byte_by_byte}) {
        with_server(
            [&](const dns_question& asked) {
                dns_reply reply{asked.over_tcp ? over_tcp : manner::truncated};
                for (int each = 0; each < 40; ++each) {
                    reply.records.push_back(a_record("10.0.0." + std::to_string(each)));
                }
                return reply;
            },
            [](name_server& server) -> task<> {
                const resolver names{server.options()};

                const auto found =
                    co_await names.resolve("large.test", 80, resolve_options{endpoint::family::v4});

                CHECK(texts(found).size() == 40);
                CHECK(server.streamed() == 1);
                CHECK(server.asked().size() == 2);
            });
    }
}

TEST_CASE("no more than 64 addresses of a family are taken") {
    with_server(
        [](const dns_question& asked) {
            dns_reply reply{asked.over_tcp ? manner::plain : manner::truncated};
            for (int each = 0; each < 200; ++each) {
                reply.records.push_back(a_record("10.0.0." + std::to_string(each)));
            }
            return reply;
        },
        [](name_server& server) -> task<> {
            const resolver names{server.options()};

            const auto found =
                co_await names.resolve("huge.test", 80, resolve_options{endpoint::family::v4});

            CHECK(found.value().size() == 64);
        });
}

TEST_CASE("an alias has the addresses of what it stands for, each once") {
    with_server(
        [](const dns_question& asked) {
            dns_reply reply;
            if (asked.type != record_type::a) return reply;
            reply.records = {name_record(record_type::cname, "real.test"), a_record("192.0.2.1"),
                             a_record("192.0.2.1")};
            reply.records[1].owner = "real.test";
            reply.records[2].owner = "real.test";
            return reply;
        },
        [](name_server& server) -> task<> {
            const resolver names{server.options()};

            const auto found = co_await names.resolve("alias.test", 80);

            CHECK(found.value() == std::vector<endpoint>{endpoint::parse("192.0.2.1:80").value()});
        });
}

TEST_CASE("one family that is found is enough, whatever becomes of the other") {
    for (const dns_reply& other :
         {dns_reply{dns_reply::server_failure}, dns_reply{dns_reply::no_such_name}, dns_reply{}}) {
        with_server(
            [&](const dns_question& asked) {
                return asked.type == record_type::a ? dns_reply{{a_record("192.0.2.1")}} : other;
            },
            [](name_server& server) -> task<> {
                const resolver names{server.options()};

                const auto found = co_await names.resolve("it.test", 80);

                CHECK(texts(found) == strings{"192.0.2.1:80"});
            });
    }
}

TEST_CASE("a failure of one family is not taken for the lack of an address") {
    with_server(
        [](const dns_question& asked) {
            return asked.type == record_type::a ? dns_reply{dns_reply::server_failure}
                                                : dns_reply{};
        },
        [](name_server& server) -> task<> {
            const resolver names{server.options()};

            const auto found = co_await names.resolve("it.test", 80);

            CHECK(found.error() == errc::server_failure);
        });
}

TEST_CASE("names are looked for in the search domains, with both families from one of them") {
    // "db" has IPv4 in the first domain and IPv6 in the second: two hosts, of which only one is meant.
    const auto script = [](const dns_question& asked) {
        if (asked.name == "db.one.test" && asked.type == record_type::a)
            return dns_reply{{a_record("192.0.2.1")}};
        if (asked.name == "db.one.test") return dns_reply{};
        if (asked.name == "db.two.test") return dns_reply{{aaaa_record("2001:db8::2")}};
        if (asked.name == "www.db.two.test" && asked.type == record_type::a)
            return dns_reply{{a_record("192.0.2.3")}};
        return dns_reply{dns_reply::no_such_name};
    };
    with_server(script, [](name_server& server) -> task<> {
        resolver_options options = server.options();
        options.search = {"one.test", "two.test"};
        const resolver names{options};
        const auto names_asked = [&](std::size_t from) {
            std::vector<std::string> all;
            for (std::size_t each = from; each < server.asked().size(); ++each) {
                if (server.asked()[each].type == record_type::a)
                    all.push_back(server.asked()[each].name);
            }
            return all;
        };

        const auto db = co_await names.resolve("db", 80);
        CHECK(texts(db) == strings{"192.0.2.1:80"});
        CHECK(names_asked(0) == std::vector{"db.one.test"s});

        std::size_t before = server.asked().size();
        const auto www = co_await names.resolve("www.db", 80);
        CHECK(texts(www) == strings{"192.0.2.3:80"});
        CHECK(names_asked(before) ==
              std::vector{"www.db"s, "www.db.one.test"s, "www.db.two.test"s});

        before = server.asked().size();
        const auto absolute = co_await names.resolve("db.", 80);
        CHECK(absolute.error() == errc::host_not_found);
        CHECK(names_asked(before) == std::vector{"db"s});

        before = server.asked().size();
        const auto none = co_await names.resolve("nobody", 80);
        CHECK(none.error() == errc::host_not_found);
        CHECK(names_asked(before) ==
              std::vector{"nobody.one.test"s, "nobody.two.test"s, "nobody"s});
    });
}

TEST_CASE("a failure below one domain does not keep the next from being asked for") {
    const auto script = [](const dns_question& asked) {
        if (asked.name == "db.one.test") return dns_reply{dns_reply::server_failure};
        if (asked.name == "db.two.test") return dns_reply{{a_record("192.0.2.2")}};
        if (asked.name.starts_with("late.one")) return dns_reply{manner::silent};
        return dns_reply{dns_reply::no_such_name};
    };
    with_server(script, [](name_server& server) -> task<> {
        resolver_options options = server.options();
        options.search = {"one.test", "two.test"};
        options.timeout = 20ms;
        const resolver names{options};

        const auto found = co_await names.resolve("db", 80);
        CHECK(texts(found) == strings{"192.0.2.2:80"});

        // "No such name" would be said too early of a name that may be there.
        const auto late = co_await names.resolve("late", 80);
        CHECK(late.error() == errc::timed_out);
        CHECK(server.times_asked("late.two.test", record_type::a) == 0);
        CHECK(server.times_asked("late", record_type::a) == 1);
    });
}

TEST_CASE("a domain that cannot be appended is passed over, and a dot stands for no domain") {
    with_server(dual_stack, [](name_server& server) -> task<> {
        resolver_options options = server.options();
        options.search = {"."};
        const resolver dot{options};
        options.search = {std::string(64, 'd'), std::string(250, 'd'), "test"};
        const resolver endless{options};

        const auto missing = co_await dot.resolve("db", 80);
        CHECK(missing.error() == errc::host_not_found);
        CHECK(server.times_asked("db", record_type::a) == 1);
        CHECK(server.asked().size() == 2);

        const auto found = co_await endless.resolve("dual", 80);
        CHECK(texts(found) == strings{"127.0.0.9:80", "[::1]:80"});
        CHECK(server.asked().size() == 4);
    });
}

TEST_CASE("sources are asked in the order of nsswitch.conf") {
    const temporary_file order{"hosts: dns files\n"};
    const std::string hosts = order.path + ".hosts";
    std::ofstream{hosts} << "127.0.0.5 dual.test listed.test\n";
    with_server(dual_stack, [&](name_server& server) -> task<> {
        resolver_options options = server.options();
        options.hosts_file = hosts;
        options.order_file = order.path;
        options.files_kept = 0s;
        const resolver names{options};
        const resolve_options v4{endpoint::family::v4};
        order.write("hosts: dns files\n");

        const auto served = co_await names.resolve("dual.test", 80, v4);
        const auto listed = co_await names.resolve("listed.test", 80, v4);
        CHECK(texts(served) == strings{"127.0.0.9:80"});
        CHECK(texts(listed) == strings{"127.0.0.5:80"});

        order.write("hosts: dns [NOTFOUND=return] files\n");
        const auto ended = co_await names.resolve("listed.test", 80, v4);
        CHECK(ended.error() == errc::host_not_found);

        order.write("hosts: files\n");
        const std::size_t before = server.asked().size();
        const auto alone = co_await names.resolve("dual.test", 80, v4);
        const auto unlisted = co_await names.resolve("else.test", 80, v4);
        const auto names_of = co_await names.reverse(ipv4{{127, 0, 0, 5}});
        CHECK(texts(alone) == strings{"127.0.0.5:80"});
        CHECK(unlisted.error() == errc::host_not_found);
        CHECK(names_of.value() == std::vector{"dual.test"s, "listed.test"s});
        CHECK(server.asked().size() == before);
    });
    ::unlink(hosts.c_str());
}

TEST_CASE("options of the settings change what is asked for, and how") {
    const temporary_file settings{""};
    with_server(dual_stack, [&](name_server& server) -> task<> {
        resolver_options options = server.options();
        options.settings_file = settings.path;
        options.files_kept = 0s;
        const resolver names{options};

        settings.write("options no-aaaa\n");
        const auto only_v4 = co_await names.resolve("dual.test", 80);
        const auto no_v6 =
            co_await names.resolve("dual.test", 80, resolve_options{endpoint::family::v6});
        CHECK(texts(only_v4) == strings{"127.0.0.9:80"});
        CHECK(no_v6.error() == errc::no_data);
        CHECK(server.times_asked("dual.test", record_type::aaaa) == 0);

        settings.write("options use-vc\n");
        const auto streamed = co_await names.resolve("dual.test", 80);
        CHECK(streamed.value().size() == 2);
        CHECK(server.streamed() == 2);

        settings.write("options single-request no-reload\n");
        const std::size_t before = server.asked().size();
        const auto in_turn = co_await names.resolve("dual.test", 80);
        CHECK(in_turn.value().size() == 2);
        REQUIRE(server.asked().size() == before + 2);
        CHECK(server.asked()[before].type == record_type::a);
        CHECK_FALSE(server.asked()[before].over_tcp);

        settings.write("options no-aaaa\n");  // Not read any more.
        const auto as_before = co_await names.resolve("dual.test", 80);
        CHECK(as_before.value().size() == 2);
        settings.write("");
    });
}

TEST_CASE("an answer that comes late counts, while others are asked") {
    with_server(
        [](const dns_question&) {
            dns_reply late{{a_record("192.0.2.1")}};
            late.delay = 60ms;
            return late;
        },
        [](name_server& server) -> task<> {
            resolver_options options = server.options();
            options.timeout = 10ms;
            options.tries = 100;
            const resolver names{options};

            const auto found =
                co_await names.resolve("it.test", 80, resolve_options{endpoint::family::v4});

            CHECK(texts(found) == strings{"192.0.2.1:80"});
            CHECK(server.asked().size() > 1);
        });
}

TEST_CASE("settings come from the file unless options name others") {
    const temporary_file settings{"nameserver 127.0.0.1\nsearch from.file.test\noptions ndots:2\n"};
    with_server(nowhere, [&](name_server& server) -> task<> {
        resolver_options options = server.options();
        options.settings_file = settings.path;
        options.search.reset();
        options.dots_min.reset();
        const resolver names{options};

        const auto found = co_await names.resolve("a.b", 80, resolve_options{endpoint::family::v4});

        CHECK(found.error() == errc::host_not_found);
        REQUIRE(server.asked().size() == 2);
        CHECK(server.asked()[0].name == "a.b.from.file.test");
        CHECK(server.asked()[1].name == "a.b");
    });
}

TEST_CASE("services are listed by priority, and by chance according to their weights") {
    with_server(
        [](const dns_question& asked) {
            if (asked.name != "_chat._tcp.test" || asked.type != record_type::srv)
                return dns_reply{dns_reply::no_such_name};
            return dns_reply{
                {srv_record(20, 1, 4, "last.test"), srv_record(10, 30, 1, "heavy.test"),
                 srv_record(10, 10, 2, "light.test"), srv_record(10, 0, 3, "none.test")}};
        },
        [](name_server& server) -> task<> {
            const resolver names{server.options()};
            constexpr int rounds = 400;
            std::map<std::string, int> firsts;
            for (int round = 0; round < rounds; ++round) {
                const auto found = co_await names.resolve_service("_chat._tcp.test");
                REQUIRE(found.value().size() == 4);
                ++firsts[found.value().front().host];
                CHECK(found.value().back() == service_target{"last.test", 4, 20, 1});
            }
            // Of 400 about 293, 98 and 10; five standard deviations to either side.
            CHECK(firsts["heavy.test"] > 245);
            CHECK(firsts["heavy.test"] < 340);
            CHECK(firsts["light.test"] > 54);
            CHECK(firsts["light.test"] < 142);
            CHECK(firsts["none.test"] < 30);
        });
}

TEST_CASE("a domain may say that it has no such service") {
    with_server([](const dns_question&) { return dns_reply{{srv_record(0, 0, 0, "")}}; },
                [](name_server& server) -> task<> {
                    const resolver names{server.options()};

                    const auto found = co_await names.resolve_service("_chat._tcp.test");
                    const auto no_name = co_await names.resolve_service("1.2.3.4");

                    CHECK(found.error() == errc::no_data);
                    CHECK(no_name.error() == errc::malformed);
                });
}

TEST_CASE("addresses have the names of the hosts file, or else of their servers") {
    const temporary_file hosts{"192.0.2.9 Known.test also.test"};
    const auto script = [](const dns_question& asked) {
        if (asked.type != record_type::ptr) return dns_reply{};
        if (asked.name == "1.2.0.192.in-addr.arpa")
            return dns_reply{{name_record(record_type::ptr, "one.test"),
                              name_record(record_type::ptr, "uno.test")}};
        if (asked.name ==
            "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa")
            return dns_reply{{name_record(record_type::ptr, "six.test")}};
        return dns_reply{dns_reply::no_such_name};
    };
    with_server(script, [&](name_server& server) -> task<> {
        resolver_options options = server.options();
        options.hosts_file = hosts.path;
        const resolver names{options};
        const auto of = [&](std::string_view text) {
            return names.reverse(ip_address::parse(text).value());
        };

        const auto known = co_await of("::ffff:192.0.2.9");
        CHECK(known.value() == std::vector{"Known.test"s, "also.test"s});
        CHECK(server.asked().empty());

        auto one = co_await of("192.0.2.1");
        const auto six = co_await names.reverse(endpoint::parse("[2001:db8::1]:80").value());
        const auto none = co_await of("192.0.2.2");
        std::vector<std::string> sorted = one.take();
        std::ranges::sort(sorted);
        CHECK(sorted == std::vector{"one.test"s, "uno.test"s});
        CHECK(six.value() == std::vector{"six.test"s});
        CHECK(none.error() == errc::host_not_found);
    });
}

TEST_CASE("a stop ends a query at once and leaves nothing behind") {
    for (const manner each : {manner::silent, manner::truncated}) {
        // The second goes on over TCP, which is silent then.
        const auto script = [&](const dns_question& asked) {
            return asked.over_tcp ? dns_reply{manner::silent} : dns_reply{each};
        };
        with_server(script, [&](name_server& server) -> task<> {
            const resolver names{server.options()};
            const std::size_t before = open_descriptors();
            const bool streams = each == manner::truncated;

            const auto ask = [&](task_group& group) -> task<> {
                error outcome;
                group.spawn(
                    names.resolve("it.test", 80),
                    [&](io_result<std::vector<endpoint>> found) { outcome = found.error(); });
                while (server.asked().size() < (streams ? 4U : 2U)) co_await yield();
                co_await settle();
                CHECK(open_descriptors() > before);
                group.request_stop();
                co_await group.join();
                CHECK(outcome == errc::canceled);
            };
            co_await with_group(ask);

            // The server has the other ends of its streams until it has read their ends.
            while (open_descriptors() > before) co_await yield();
            CHECK(open_descriptors() == before);
        });
    }
}

TEST_CASE("a time-out of the caller ends a query") {
    with_server([](const dns_question&) { return dns_reply{manner::silent}; },
                [](name_server& server) -> task<> {
                    const resolver names{server.options()};
                    const std::size_t before = open_descriptors();

                    const auto found = co_await with_timeout(20ms, names.resolve("it.test", 80));

                    CHECK(found.error() == errc::timed_out);
                    CHECK(open_descriptors() == before);
                });
}

TEST_CASE("a query that is stopped before it begins asks nobody") {
    with_server(dual_stack, [](name_server& server) -> task<> {
        const resolver names{server.options()};
        error outcome;
        const auto body = [&](task_group& group) -> task<> {
            group.request_stop();
            group.spawn(names.resolve("dual.test", 80),
                        [&](io_result<std::vector<endpoint>> found) { outcome = found.error(); });
            co_return;
        };

        co_await with_group(body);

        CHECK(outcome == errc::canceled);
        CHECK(server.asked().empty());
    });
}

TEST_CASE("a coroutine may be destroyed while it waits for a name server") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        // Nobody runs it.
        const name_server server{io, [](const dns_question&) { return dns_reply{}; }};
        const resolver names{server.options()};
        const std::size_t before = open_descriptors();
        stop_chain chain;
        environment surroundings;
        surroundings.executor = executor_ref{io};
        surroundings.loop = &io;
        surroundings.chain = &chain;
        const disposable asking = ask_in_frame(names);
        asking.frame.promise().env = &surroundings;
        io.post([&asking] { resume(asking.frame); });
        for (int each = 0; each < 5; ++each) io.poll();
        CHECK(open_descriptors() == before + 1);
        CHECK(chain.pending() != nullptr);

        asking.frame.destroy();

        CHECK(open_descriptors() == before);
        CHECK(chain.pending() == nullptr);
        for (int each = 0; each < 5; ++each) io.poll();
    });
}

TEST_CASE("a resolver may be gone before what it was asked for begins") {
    with_server(dual_stack, [](name_server& server) -> task<> {
        auto asking = resolver{server.options()}.resolve("dual.test", 80);

        const auto found = co_await std::move(asking);

        CHECK(found.value().size() == 2);
    });
}

TEST_CASE("many names are looked up at the same time, while the loop does other things") {
    with_server(
        [](const dns_question& asked) {
            const std::string number = asked.name.substr(4, asked.name.find('.') - 4);
            dns_reply reply{{a_record("10.1.0." + number)}};
            reply.delay = std::chrono::milliseconds{std::stoi(number) % 7};
            return reply;
        },
        [](name_server& server) -> task<> {
            const resolver names{server.options()};
            std::vector<task<io_result<std::vector<endpoint>>>> all;
            for (int each = 0; each < 100; ++each) {
                all.push_back(names.resolve("host" + std::to_string(each) + ".test", 80,
                                            resolve_options{endpoint::family::v4}));
            }

            const auto found = co_await when_all(std::move(all));

            for (std::size_t each = 0; each < found.size(); ++each) {
                CHECK(texts(found[each]) == strings{"10.1.0." + std::to_string(each) + ":80"});
            }
        });
}

namespace {

const std::vector<conformance_row> on_each_machine{
    {"a server that is not there is a failure at once",
     [](io_context& io) -> task<> {
         resolver_options options;
         options.settings_file = "/dev/null";
         {
             name_server gone{io, nowhere};
             options = gone.options();
         }
         const resolver names{options};

         const auto found = co_await with_timeout(10s, names.resolve("it.test", 80));

         CHECK(found.error() == errc::server_failure);
     }},
    {"the second server answers for the first that does not",
     [](io_context& io) -> task<> {
         name_server silent{io, [](const dns_question&) { return dns_reply{manner::silent}; }};
         name_server failing{
             io, [](const dns_question&) { return dns_reply{dns_reply::server_failure}; }};
         name_server good{io, dual_stack};
         const auto body = [&](task_group& group) -> task<> {
             silent.start(group);
             failing.start(group);
             good.start(group);
             resolver_options options = good.options();
             options.servers = {silent.where(), failing.where(), good.where()};
             options.timeout = 50ms;
             options.tries = 3;
             const resolver names{options};

             const auto found = co_await names.resolve("dual.test", 80);

             CHECK(found.value().size() == 2);
             CHECK(silent.asked().size() >= 2);
             CHECK(failing.asked().size() >= 2);
         };
         co_await with_group(body, group_options{group_mode::stop_on_exit});
     }},
    {"options that cannot be are told when something is asked for",
     [](io_context&) -> task<> {
         resolver_options local;
         local.servers = {endpoint::local("/run/it").value()};
         resolver_options negative;
         negative.timeout = -1s;
         const resolver with_local{local};
         const resolver with_negative{negative};

         const auto first = co_await with_local.resolve("it.test", 80);
         const auto second = co_await with_negative.resolve("it.test", 80);
         const auto number = co_await with_negative.resolve("192.0.2.1", 80);

         CHECK(first.error() == errc::address_family_not_supported);
         CHECK(second.error() == errc::invalid_argument);
         CHECK(number.ok());
     }},
    {"a time-out may end a query whose answer is there already",
     [](io_context&) -> task<> {
         resolver_options how;
         how.servers = {endpoint{ipv4::loopback(), 1}};  // Refused, so ready at once.
         how.hosts_file = "";
         const resolver names{how};
         const auto busy = []() -> task<> {
             co_await yield();  // The query has been sent by now.
             const auto end = std::chrono::steady_clock::now() + 30ms;
             while (std::chrono::steady_clock::now() < end) {
             }
         };

         const auto [found, other] =
             co_await when_all(with_timeout(15ms, names.resolve("host.example.", 80)), busy());

         // Where the query is served first, it has failed.
         CHECK_FALSE(found.ok());
         static_cast<void>(other);
     }},
};

const conformance_suite on_each_machine_suite{"names", on_each_machine};

}  // namespace

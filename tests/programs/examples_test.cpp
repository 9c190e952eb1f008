// SPDX-License-Identifier: BSL-1.0
//
// The examples do what they say: each is run, and answers a script or prints what is expected.
#include <programs/person.hpp>
#include <programs/program.hpp>

#include <support/harness.hpp>
#include <support/other_process.hpp>
#include <support/scratch_directory.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

// Runs a program whose output is fixed, on every backend.
void check_output(const std::string& path, const std::string& expected) {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        program it{path, {}, {{"GYRE_BACKEND", name}}};

        CHECK(it.rest_of_output() == text_of_file(expected));
        CHECK(it.wait() == 0);
    }
}

// Enters the room under `name`.
void enters(person& who, const std::string& name) {
    CHECK(who.hears() == "your name?");
    who.says(name + "\n");
    CHECK(who.hears() == name + " has come");
}

struct contender {
    std::string name;
    std::string path;
    std::vector<program::variable> variables;
};

// An example on every backend, and the same on Boost.Asio if that is built: docs/guide/beside_asio.md.
std::vector<contender> and_on_asio(const std::string& ours, const std::string& theirs) {
    std::vector<contender> all;
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        all.push_back({name, ours, {{"GYRE_BACKEND", name}}});
    }
    if (!theirs.empty()) all.push_back({"on Asio", theirs, {}});
    return all;
}

void ends_well(program& server) {
    server.send(SIGTERM);
    CHECK(server.wait() == 0);
}

}  // namespace

TEST_CASE("hello_timer counts down and greets") {
    check_output(GYRE_HELLO_TIMER, GYRE_EXAMPLES "/hello_timer.expected");
}

TEST_CASE("request_arena: a request's frame and words are in one buffer, with no heap behind it") {
    check_output(GYRE_REQUEST_ARENA, GYRE_EXAMPLES "/request_arena.expected");
}

TEST_CASE("first_tasks: results come one after the other, together, wrong and too late") {
    check_output(GYRE_FIRST_TASKS, GYRE_EXAMPLES "/guide/first_tasks.expected");
}

TEST_CASE("failures: an error comes with what was achieved, and can be told from others") {
    check_output(GYRE_FAILURES, GYRE_EXAMPLES "/guide/failures.expected");
}

TEST_CASE("inside_asio: a gyre client and an Asio server talk on one thread") {
    if (std::string_view{GYRE_INSIDE_ASIO}.empty()) {
        MESSAGE("not built: it needs Boost and exceptions");
        return;
    }
    check_output(GYRE_INSIDE_ASIO, GYRE_EXAMPLES "/inside_asio.expected");
}

TEST_CASE("tcp_client sends its argument and prints the answer") {
    program server{GYRE_ECHO_SERVER, {"127.0.0.1:0"}};
    const std::string where = server.listening_on().to_string();

    program client{GYRE_TCP_CLIENT, {where, "hello from the command line"}};

    CHECK(client.rest_of_output() == "hello from the command line");
    CHECK(client.wait() == 0);
    ends_well(server);
}

TEST_CASE("tcp_client sends its standard input, however long, and prints the answer") {
    program server{GYRE_ECHO_SERVER, {"127.0.0.1:0"}};
    const std::string where = server.listening_on().to_string();
    std::string input;
    for (int line = 0; line < 200'000; ++line) input += std::to_string(line) + '\n';

    program client{GYRE_TCP_CLIENT, {where}, {}, input};
    const std::string answer = client.rest_of_output();

    CHECK(answer.size() == input.size());
    CHECK((answer == input));
    CHECK(client.wait() == 0);
    ends_well(server);
}

TEST_CASE("tcp_client says why it cannot connect, and how it is used") {
    std::string unused;
    {
        program server{GYRE_ECHO_SERVER, {"127.0.0.1:0"}};
        unused = server.listening_on().to_string();
        ends_well(server);
    }

    program refused{GYRE_TCP_CLIENT, {unused, "x"}};
    program nonsense{GYRE_TCP_CLIENT};

    const std::string port = unused.substr(unused.rfind(':') + 1);
    CHECK(refused.rest_of_output() == "gyre: connect: Connection refused (port " + port + ")\n");
    CHECK(refused.wait() == 1);
    CHECK(nonsense.rest_of_output() == "usage: tcp_client ADDRESS:PORT [TEXT]\n");
    CHECK(nonsense.wait() == 2);
}

TEST_CASE(
    "happy_eyeballs connects by name, says to which address, and tries as often as it is told") {
    std::string unused;
    {
        program server{GYRE_ECHO_SERVER, {"127.0.0.1:0"}};
        const endpoint where = server.listening_on();
        unused = std::to_string(where.port());

        // "localhost" is ::1 as well, where nobody listens.
        program client{GYRE_HAPPY_EYEBALLS, {"localhost", unused}};

        CHECK(client.next_line().starts_with("connected to " + where.to_string() + " in "));
        CHECK(client.wait() == 0);
        ends_well(server);
    }
    program refused{GYRE_HAPPY_EYEBALLS, {"localhost", unused, "2"}};
    program unnamed{GYRE_HAPPY_EYEBALLS, {"it.invalid", "http"}};

    const std::string said = "connect: Connection refused (port " + unused + ")\n";
    CHECK(refused.rest_of_output() ==
          "localhost: " + said + "localhost: " + said + "gyre: " + said);
    CHECK(refused.wait() == 1);
    CHECK(unnamed.rest_of_output() ==
          "it.invalid: resolve: no such host or service\n"
          "gyre: resolve: no such host or service\n");
    CHECK(unnamed.wait() == 1);
}

TEST_CASE("port_forwarder carries both directions whole, and the end of each") {
    std::string input;
    for (int line = 0; line < 50'000; ++line) input += std::to_string(line) + '\n';
    for (const contender& each : and_on_asio(GYRE_PORT_FORWARDER, GYRE_PROXY_ASIO)) {
        CAPTURE(each.name);
        program server{GYRE_ECHO_SERVER, {"127.0.0.1:0"}};
        program forwarder{
            each.path, {"127.0.0.1:0", server.listening_on().to_string()}, each.variables};

        program client{GYRE_TCP_CLIENT, {forwarder.listening_on().to_string()}, {}, input};
        const std::string answer = client.rest_of_output();

        CHECK((answer == input));
        CHECK(client.wait() == 0);
        ends_well(forwarder);
        ends_well(server);
    }
}

TEST_CASE("port_forwarder closes a connection whose target refuses, and says how it is used") {
    std::string unused;
    {
        program server{GYRE_ECHO_SERVER, {"127.0.0.1:0"}};
        unused = server.listening_on().to_string();
        ends_well(server);
    }
    for (const contender& each : and_on_asio(GYRE_PORT_FORWARDER, GYRE_PROXY_ASIO)) {
        CAPTURE(each.name);
        program forwarder{each.path, {"127.0.0.1:0", unused}, each.variables};
        program nonsense{each.path, {"127.0.0.1:0"}};
        person client{forwarder.listening_on()};
        const std::string name = std::filesystem::path{each.path}.filename();

        CHECK(client.sees_the_end());
        CHECK(nonsense.rest_of_output() ==
              "usage: " + name + " ADDRESS:PORT TARGET_ADDRESS:PORT\n");
        CHECK(nonsense.wait() == 2);
        ends_well(forwarder);
    }
}

TEST_CASE("port_forwarder ends what is left when the grace is over") {
    for (const contender& each : and_on_asio(GYRE_PORT_FORWARDER, GYRE_PROXY_ASIO)) {
        CAPTURE(each.name);
        program server{GYRE_ECHO_SERVER, {"127.0.0.1:0"}};
        program forwarder{
            each.path, {"127.0.0.1:0", server.listening_on().to_string()}, each.variables};
        person client{forwarder.listening_on()};
        client.says("hello\n");
        CHECK(client.hears() == "hello");

        forwarder.send(SIGTERM);
        CHECK(client.sees_the_end());
        CHECK(forwarder.wait() == 0);
        ends_well(server);
    }
}

TEST_CASE("load_balancer passes requests and bodies on, past a server that is dead, and counts") {
    if (std::string_view{GYRE_LOAD_BALANCER}.empty() ||
        std::string_view{GYRE_NOTES_SERVER}.empty()) {
        MESSAGE("not built: it needs the protocols");
        return;
    }
    for (const contender& each : and_on_asio(GYRE_LOAD_BALANCER, "")) {
        CAPTURE(each.name);
        program notes{GYRE_NOTES_SERVER, {"127.0.0.1:0"}};
        const std::string alive = notes.listening_on().to_string();
        program proxy{
            each.path, {"127.0.0.1:0", "http://127.0.0.1:1", "http://" + alive}, each.variables};
        const endpoint where = proxy.listening_on();
        person writer{where};
        writer.says(
            "POST /notes HTTP/1.1\r\nHost: h\r\nX-Name: ann\r\nContent-Length: 8\r\n"
            "Connection: close\r\n\r\nbuy milk");
        CHECK(writer.hears_everything().starts_with("HTTP/1.1 201 Created\r\n"));
        person reader{where};
        for (int again = 0; again < 10; ++again) {
            reader.says("GET /notes HTTP/1.1\r\nHost: h\r\n\r\n");
            CHECK(reader.hears() == "HTTP/1.1 200 OK\r");
            while (reader.hears() != "\r") {
            }
            CHECK(reader.hears().ends_with(" buy milk"));
        }

        proxy.send(SIGTERM);
        const std::string counted = proxy.rest_of_output();
        CHECK(counted.find(alive + ": 11 requests, 0 failures\n") != std::string::npos);
        CHECK(proxy.wait() == 0);
        ends_well(notes);
    }
}

TEST_CASE("load_balancer has no client wait for the answers of others") {
    if (std::string_view{GYRE_LOAD_BALANCER}.empty()) {
        MESSAGE("not built: it needs the protocols");
        return;
    }
    const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(::listen(listening, 128) == 0);
    socket_address raw;
    socklen_t size = sizeof(raw.data);
    REQUIRE(::getsockname(listening, reinterpret_cast<sockaddr*>(raw.data), &size) == 0);
    raw.size = size;
    const std::string port = std::to_string(endpoint{raw}.port());
    program proxy{GYRE_LOAD_BALANCER, {"127.0.0.1:0", "http://127.0.0.1:" + port}};
    const endpoint where = proxy.listening_on();
    std::deque<person> clients;
    for (int each = 0; each < 20; ++each) {
        clients.emplace_back(where).says("GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
    }

    std::vector<int> connections;
    std::size_t asked = 0;
    while (asked < clients.size()) {
        pollfd readable{listening, POLLIN, 0};
        REQUIRE(::poll(&readable, 1, 30'000) == 1);  // Less than a server has for an answer.
        connections.push_back(::accept(listening, nullptr, nullptr));
        std::array<char, 4096> head{};
        REQUIRE(::recv(connections.back(), head.data(), head.size(), 0) > 0);
        if (std::string_view{head.data()}.starts_with("GET /held ")) ++asked;
    }

    for (const int each : connections) ::close(each);
    ::close(listening);
    for (person& each : clients) CHECK(each.hears() == "HTTP/1.1 502 Bad Gateway\r");
    ends_well(proxy);
}

TEST_CASE("load_balancer says that no server answers, and how it is used") {
    if (std::string_view{GYRE_LOAD_BALANCER}.empty()) {
        MESSAGE("not built: it needs the protocols");
        return;
    }
    program proxy{GYRE_LOAD_BALANCER, {"127.0.0.1:0", "http://127.0.0.1:1"}};
    person client{proxy.listening_on()};
    program nonsense{GYRE_LOAD_BALANCER, {"127.0.0.1:0", "nowhere"}};

    client.says("GET / HTTP/1.1\r\nHost: h\r\n\r\n");

    CHECK(client.hears() == "HTTP/1.1 502 Bad Gateway\r");
    CHECK(nonsense.rest_of_output() == "usage: load_balancer ADDRESS:PORT URL...\n");
    CHECK(nonsense.wait() == 2);
    ends_well(proxy);
}

TEST_CASE("in the chat each line reaches all members, who hear as well who comes and goes") {
    for (const contender& each : and_on_asio(GYRE_CHAT_SERVER, GYRE_CHAT_ASIO)) {
        CAPTURE(each.name);
        program server{each.path, {"127.0.0.1:0"}, each.variables};
        const endpoint where = server.listening_on();
        person ann{where};
        enters(ann, "ann");
        {
            person bob{where};
            enters(bob, "bob");
            CHECK(ann.hears() == "bob has come");

            ann.says("hello bob\r\nare you th");
            CHECK(ann.hears() == "ann: hello bob");
            CHECK(bob.hears() == "ann: hello bob");
            ann.says("ere?\n\nyes?\n");
            for (person* member : {&ann, &bob}) {
                CHECK(member->hears() == "ann: are you there?");
                CHECK(member->hears() == "ann: yes?");
            }
            bob.says("beep \x1b[2J\a\n");
            CHECK(ann.hears() == "bob: beep ?[2J?");
            ::shutdown(bob.number(), SHUT_WR);
            CHECK(bob.hears() == "bob: beep ?[2J?");
            CHECK(bob.sees_the_end());
        }
        CHECK(ann.hears() == "bob has gone");
        server.send(SIGTERM);
        CHECK(ann.hears() == "* the room is closing: goodbye");
        CHECK(ann.sees_the_end());
        ann.leaves();
        CHECK(server.wait() == 0);
    }
}

TEST_CASE("counting_pool counts words over all its connections, whichever loop has them") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        program server{GYRE_COUNTING_POOL, {"127.0.0.1:0"}, {{"GYRE_BACKEND", name}}};
        const endpoint where = server.listening_on();
        for (int visitor = 1; visitor <= 12; ++visitor) {
            person it{where};
            it.says("whale\nword " + std::to_string(visitor) + "\n");
            CHECK(it.hears() == std::to_string(visitor));
            CHECK(it.hears() == "1");
        }
        server.send(SIGTERM);
        CHECK(server.rest_of_output() == "counted 13 different words\n");
        CHECK(server.wait() == 0);
    }
}

TEST_CASE("in the chat a name must be a name, and not in use") {
    for (const contender& each : and_on_asio(GYRE_CHAT_SERVER, GYRE_CHAT_ASIO)) {
        CAPTURE(each.name);
        program server{each.path, {"127.0.0.1:0"}, each.variables};
        const endpoint where = server.listening_on();
        person ann{where};
        enters(ann, "ann");
        person other{where};

        CHECK(other.hears() == "your name?");
        for (const char* wrong : {"\n", "two words\n", "seventeenletters7\n", "\x1b[0m\n"}) {
            other.says(wrong);
            CHECK(other.hears() == "up to 16 letters and digits, please");
        }
        other.says("ann\n");
        CHECK(other.hears() == "taken; another, please");
        other.says("ann2\n");
        CHECK(other.hears() == "ann2 has come");
        ann.leaves();
        other.leaves();
        ends_well(server);
    }
}

TEST_CASE("in the chat a line that is too long ends its author's visit, and no other") {
    for (const contender& each : and_on_asio(GYRE_CHAT_SERVER, GYRE_CHAT_ASIO)) {
        CAPTURE(each.name);
        program server{each.path, {"127.0.0.1:0"}, each.variables};
        const endpoint where = server.listening_on();
        person ann{where};
        enters(ann, "ann");
        person bob{where};
        enters(bob, "bob");
        CHECK(ann.hears() == "bob has come");

        bob.says(std::string(2000, 'x'));

        CHECK(bob.hears() == "* that line was too long: goodbye");
        CHECK(bob.sees_the_end());
        CHECK(ann.hears() == "bob has gone");
        ann.leaves();
        bob.leaves();
        ends_well(server);
    }
}

TEST_CASE("in the chat a member who does not read is disconnected, and the others go on") {
    for (const contender& each : and_on_asio(GYRE_CHAT_SERVER, GYRE_CHAT_ASIO)) {
        CAPTURE(each.name);
        program server{each.path, {"127.0.0.1:0"}, each.variables};
        const endpoint where = server.listening_on();
        person ann{where};
        enters(ann, "ann");
        person deaf{where};
        enters(deaf, "deaf");
        CHECK(ann.hears() == "deaf has come");
        const std::string text(500, 'x');

        // Until the deaf one's buffers and unread lines are full, and it is gone.
        std::string heard;
        int lines = 0;
        do {
            ann.says(text + "\n");
            heard = ann.hears();
            REQUIRE(++lines < 1'000'000);
        } while (heard == "ann: " + text);
        const std::string last_words = deaf.hears_everything();

        CHECK(heard == "deaf has gone");
        CHECK(last_words.ends_with("* you do not read what is written: goodbye\n"));
        CHECK(ann.hears() == "ann: " + text);
        ann.leaves();
        deaf.leaves();
        ends_well(server);
    }
}

TEST_CASE("the supervisor keeps programs up, replaces them, and ends them the last one first") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        const std::string lasting =
            "trap 'echo over; exit 0' TERM; echo up with $LISTEN_FDS; while :; do sleep 0.05; done";
        program it{GYRE_SUPERVISOR,
                   {"--listen", "127.0.0.1:0", "one", "sh", "-c", lasting, "--", "two", "sh", "-c",
                    lasting},
                   {{"GYRE_BACKEND", name}}};
        CHECK(it.listening_on().port() != 0);
        std::vector<std::string> first{it.next_line(), it.next_line()};
        std::sort(first.begin(), first.end());
        CHECK(first == std::vector<std::string>{"one: up with 1", "two: up with 1"});

        it.send(SIGHUP);
        CHECK(it.next_line() == "replacing all, one by one");
        std::vector<std::string> replaced;
        for (int lines = 0; lines < 6; ++lines) replaced.push_back(it.next_line());
        const auto place = [&](const std::string& line) {
            return std::find(replaced.begin(), replaced.end(), line) - replaced.begin();
        };
        CHECK(place("one: over") < place("one: exited with 0"));
        CHECK(place("one: exited with 0") < place("one: up with 1"));
        CHECK(place("one: exited with 0") < place("two: over"));
        CHECK(place("two: over") < place("two: exited with 0"));
        CHECK(place("two: up with 1") < 6);

        it.send(SIGTERM);
        CHECK(it.rest_of_output() ==
              "two: over\ntwo: exited with 0\none: over\none: exited with 0\n");
        CHECK(it.wait() == 0);
    }
}

TEST_CASE("the supervisor starts anew what ends, and says how it has ended") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        program it{GYRE_SUPERVISOR,
                   {"job", "sh", "-c", "printf 'no end'; exit 3", "--", "gone", "/no/such/program"},
                   {{"GYRE_BACKEND", name}}};
        std::map<std::string, int> heard;
        while (heard["job: no end"] < 3 || heard["job: exited with 3"] < 3 ||
               heard["gone: start of a process: No such file or directory"] < 2) {
            const std::string line = it.next_line();
            ++heard[line];
            if (line.empty() || heard[line] > 1000) break;
        }
        CHECK(heard["job: no end"] >= 3);
        CHECK(heard["job: exited with 3"] >= 3);
        CHECK(heard.size() == 3);
        it.send(SIGTERM);
        CHECK(it.wait() == 0);
    }
}

TEST_CASE("what a program of the supervisor's has started ends with it") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        program it{GYRE_SUPERVISOR,
                   {"parent", "sh", "-c", "sleep 1000 & echo $!; wait", "--",  //
                    "leaver", "sh", "-c", "sleep 1000 & echo $!"},
                   {{"GYRE_BACKEND", name}}};
        std::map<std::string, int> children;
        while (children.size() < 2) {
            const std::string line = it.next_line();
            REQUIRE_FALSE(line.empty());
            const std::size_t colon = line.find(": ");
            const int child = std::atoi(line.c_str() + colon + 2);
            if (child > 0) children.emplace(line.substr(0, colon), child);
        }
        CHECK(ends(children["leaver"]));
        it.send(SIGTERM);
        static_cast<void>(it.rest_of_output());
        CHECK(it.wait() == 0);
        CHECK(ends(children["parent"]));
    }
}

TEST_CASE("timetable: what waits for time goes on when it should") {
    check_output(GYRE_TIMETABLE, GYRE_EXAMPLES "/timetable.expected");
}

TEST_CASE("price_quotes: tasks end together, first, in turn, and when they are stopped") {
    check_output(GYRE_PRICE_QUOTES, GYRE_EXAMPLES "/price_quotes.expected");
}

TEST_CASE("price_streams: requests on one connection are answered, or given up, by themselves") {
    if (std::string_view{GYRE_PRICE_STREAMS}.empty()) {
        MESSAGE("not built: it needs nghttp2");
        return;
    }
    check_output(GYRE_PRICE_STREAMS, GYRE_EXAMPLES "/price_streams.expected");
}

TEST_CASE("streamed_bodies: what is sent comes back while it is sent, and a file is stored") {
    if (std::string_view{GYRE_STREAMED_BODIES}.empty()) {
        MESSAGE("not built: it needs nghttp2");
        return;
    }
    check_output(GYRE_STREAMED_BODIES, GYRE_EXAMPLES "/streamed_bodies.expected");
}

TEST_CASE("price_board: between threads nothing is lost, and each question is answered") {
    check_output(GYRE_PRICE_BOARD, GYRE_EXAMPLES "/price_board.expected");
}

TEST_CASE("order_journal finds its orders again, also behind one that a crash has cut off") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        const scratch_directory scratch;
        scratch.put("journal", "buy 1\nbuy 2\nbu");

        program it{GYRE_ORDER_JOURNAL, {scratch.path().string()}, {{"GYRE_BACKEND", name}}};

        CHECK(it.rest_of_output() ==
              "start 1: 2 orders in the journal\n"
              "100 orders, fewer groups: yes\n"
              "start 2: 102 orders in the journal\n"
              "100 orders, fewer groups: yes\n"
              "journal: 1396 bytes\n"
              "snapshot: 12 bytes\n");
        CHECK(it.wait() == 0);
        CHECK(scratch.get("snapshot") == "orders: 202\n");
        CHECK_FALSE(std::filesystem::exists(scratch / "journal"));
    }
}

TEST_CASE("watched_settings reads a file that was written, or replaced, and no other") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        const scratch_directory scratch;
        scratch.put("settings", "one\n");
        program it{GYRE_WATCHED_SETTINGS, {scratch / "settings"}, {{"GYRE_BACKEND", name}}};
        CHECK(it.next_line() == "one");

        scratch.put("settings", "two\n");
        CHECK(it.next_line() == "two");
        scratch.put("other", "not this\n");
        scratch.put("new", "stop\n");
        std::filesystem::rename(scratch / "new", scratch / "settings");

        CHECK(it.rest_of_output() == "stop\n");
        CHECK(it.wait() == 0);
    }
}

TEST_CASE("resolve tells addresses, and whose they are") {
    for (const auto& [host, says] : std::map<std::string, std::string>{
             {"192.0.2.7", "192.0.2.7:443: documentation\n"},
             {"2001:db8::1", "[2001:db8::1]:443: documentation\n"},
             {"10.1.2.3", "10.1.2.3:443: a private network\n"},
             {"1.1.1.1", "1.1.1.1:443: the internet\n"},
             {"it.invalid", "gyre: resolve: no such host or service\n"}}) {
        program it{GYRE_RESOLVE, {host, "443"}};
        CHECK(it.rest_of_output() == says);
        CHECK(it.wait() == (host == "it.invalid" ? 1 : 0));
    }
}

TEST_CASE("the ticker's listener joins a group, and knows what it has seen when it is stopped") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        const std::vector<program::variable> variables{{"GYRE_BACKEND", name}};
        program listener{GYRE_UDP_TICKER, {"listen", "239.255.71.9:7179", "lo"}, variables};
        const endpoint group = listener.listening_on();
        program publisher{GYRE_UDP_TICKER, {"publish", group.to_string(), "lo", "50"}, variables};

        CHECK(publisher.wait() == 0);
        CHECK(listener.next_line() ==
              "ticks 1 to 50: 50 received, 0 missing, 0 repeated, 0 back in time");
        CHECK(listener.wait() == 0);
    }
}

TEST_CASE("the file broker hands out open files of its directory, and nothing else") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        const scratch_directory directory;
        const scratch_directory place;
        static_cast<void>(directory.put("greeting", "hello, client\n"));
        std::filesystem::create_symlink("greeting", directory / "inner");
        std::filesystem::create_symlink(place.put("secret", "secret\n"), directory / "escape");
        const std::string at = "unix:" + (place / "broker.sock");
        const std::vector<program::variable> variables{{"GYRE_BACKEND", name}};
        program broker{GYRE_FILE_BROKER, {"serve", at, directory.path().string()}, variables};
        REQUIRE(broker.next_line().starts_with("serving"));

        program good{GYRE_FILE_BROKER, {"show", at, "greeting"}, variables};
        CHECK(good.rest_of_output() == "hello, client\n");
        CHECK(good.wait() == 0);
        program missing{GYRE_FILE_BROKER, {"show", at, "nothing"}, variables};
        CHECK(missing.wait() == 1);
        program outside{GYRE_FILE_BROKER, {"show", at, "../greeting"}, variables};
        CHECK(outside.wait() == 1);
        program inner{GYRE_FILE_BROKER, {"show", at, "inner"}, variables};
        CHECK(inner.rest_of_output() == "hello, client\n");
        CHECK(inner.wait() == 0);
        program escape{GYRE_FILE_BROKER, {"show", at, "escape"}, variables};
        CHECK(escape.rest_of_output().starts_with("open: "));
        CHECK(escape.wait() == 1);
        broker.send(SIGTERM);
        CHECK(broker.wait() == 0);
    }
}

TEST_CASE("key_value_server answers each line, those that came together as well") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        program server{GYRE_KEY_VALUE_SERVER, {"127.0.0.1:0"}, {{"GYRE_BACKEND", name}}};
        const endpoint where = server.listening_on();
        person ann{where};
        person bob{where};

        ann.says("set colour dark blue\r\n");
        CHECK(ann.hears() == "ok");
        bob.says("get colour\nget shape\nset shape round\nget shape\ndro");
        CHECK(bob.hears() == "is dark blue");
        CHECK(bob.hears() == "none");
        CHECK(bob.hears() == "ok");
        CHECK(bob.hears() == "is round");
        bob.says("p colour\ndrop colour\nsing\n\n");
        CHECK(bob.hears() == "ok");
        CHECK(bob.hears() == "none");
        CHECK(bob.hears() == "what?");
        CHECK(bob.hears() == "what?");
        ann.says("set long " + std::string(100'000, 'x') + "\nget shape\n");
        CHECK(ann.hears() == "too long");
        CHECK(ann.hears() == "is round");
        ann.says("set trap x\r\r\nget trap\n");
        CHECK(ann.hears() == "what?");
        CHECK(ann.hears() == "none");
        ann.says("get sha");
        ::shutdown(ann.number(), SHUT_WR);
        CHECK(ann.sees_the_end());
        server.send(SIGTERM);
        CHECK(bob.sees_the_end());
        CHECK(server.wait() == 0);
    }
}

namespace {

void append(const std::string& path, std::string_view text) {
    std::ofstream{path, std::ios::app} << text;
}

}  // namespace

TEST_CASE("tail_follow prints what is added, through renames and cuts, until SIGINT") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        const scratch_directory home;
        const std::string path = home / "log";
        program tail{GYRE_TAIL_FOLLOW, {path}, {{"GYRE_BACKEND", name}}};

        append(path, "first\nsecond\nthi");
        CHECK(tail.next_line() == "first");
        CHECK(tail.next_line() == "second");
        append(home / "other", "not this one\n");
        append(path, "rd\n");
        CHECK(tail.next_line() == "third");
        std::filesystem::rename(path, home / "log.1");
        append(home / "log.1", "by one who has it open\nwithout an end");
        append(path, "");  // As rotation makes it, before the writer knows.
        CHECK(tail.next_line() == "by one who has it open");
        append(home / "log.1", ", as it seemed\nlate");
        CHECK(tail.next_line() == "without an end, as it seemed");
        append(path, "new\n");
        CHECK(tail.next_line() == "late");
        CHECK(tail.next_line() == "new");
        std::filesystem::resize_file(path, 0);
        append(path, "a\n");
        CHECK(tail.next_line() == "a");
        tail.send(SIGINT);
        CHECK(tail.rest_of_output().empty());
        CHECK(tail.wait() == 0);
    }
}

TEST_CASE("what follows a path goes on when its folder is gone, and made again") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        const scratch_directory home;
        const std::vector<program::variable> variables{{"GYRE_BACKEND", name}};
        const auto put = [&](const std::string& text) {
            std::filesystem::create_directory(home / "folder");
            append(home / "folder/it", text);
        };
        put("one\n");
        program settings{GYRE_WATCHED_SETTINGS, {home / "folder/it"}, variables};
        program tail{GYRE_TAIL_FOLLOW, {home / "folder/it"}, variables};
        CHECK(settings.next_line() == "one");
        CHECK(tail.next_line() == "one");

        std::filesystem::remove_all(home / "folder");
        CHECK(settings.next_line() == "the old settings stay: open: No such file or directory");
        put("stop\n");
        CHECK(settings.rest_of_output() == "stop\n");
        CHECK(settings.wait() == 0);
        CHECK(tail.next_line() == "stop");
        tail.send(SIGINT);
        CHECK(tail.rest_of_output().empty());
        CHECK(tail.wait() == 0);
    }
}

TEST_CASE("watched_settings reads what a link two steps up is turned to, as Kubernetes does") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        const scratch_directory home;
        const auto turn = [&](const std::string& version, const std::string& text) {
            std::filesystem::create_directory(home / version);
            home.put(version + "/settings", text);
            std::filesystem::create_symlink(version, home / "..data_tmp");
            std::filesystem::rename(home / "..data_tmp", home / "..data");
        };
        turn("..1", "one\n");
        std::filesystem::create_symlink("..data/settings", home / "settings");
        program it{GYRE_WATCHED_SETTINGS, {home / "settings"}, {{"GYRE_BACKEND", name}}};
        CHECK(it.next_line() == "one");

        turn("..2", "two\n");
        std::filesystem::remove_all(home / "..1");
        CHECK(it.next_line() == "two");
        turn("..3", "stop\n");

        CHECK(it.rest_of_output() == "stop\n");
        CHECK(it.wait() == 0);
    }
}

TEST_CASE("tail_follow goes on behind links into other directories, where a log is rotated") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        const scratch_directory home;
        std::filesystem::create_directory(home / "containers");
        std::filesystem::create_directory(home / "pods");
        std::filesystem::create_symlink(home / "pods/0.log", home / "containers/it.log");
        program tail{GYRE_TAIL_FOLLOW, {home / "containers/it.log"}, {{"GYRE_BACKEND", name}}};

        append(home / "pods/0.log", "first\n");
        CHECK(tail.next_line() == "first");
        append(home / "pods/0.log", "second\n");
        CHECK(tail.next_line() == "second");
        std::filesystem::rename(home / "pods/0.log", home / "pods/0.log.1");
        append(home / "pods/0.log.1", "late\n");
        CHECK(tail.next_line() == "late");
        append(home / "pods/0.log", "new\n");
        CHECK(tail.next_line() == "new");
        append(home / "pods/1.log", "another link\n");
        std::filesystem::create_symlink(home / "pods/1.log", home / "link");
        std::filesystem::rename(home / "link", home / "containers/it.log");
        CHECK(tail.next_line() == "another link");
        append(home / "pods/1.log", "and more\n");
        CHECK(tail.next_line() == "and more");
        tail.send(SIGINT);
        CHECK(tail.rest_of_output().empty());
        CHECK(tail.wait() == 0);
    }
}

TEST_CASE("tail_follow says how it is used, and what it cannot read") {
    const scratch_directory home;
    program nonsense{GYRE_TAIL_FOLLOW};
    program folder{GYRE_TAIL_FOLLOW, {home.path().string()}};

    CHECK(nonsense.rest_of_output() == "usage: tail_follow FILE\n");
    CHECK(nonsense.wait() == 2);
    CHECK(folder.rest_of_output() == "gyre: read: Is a directory\n");
    CHECK(folder.wait() == 1);
}

TEST_CASE("a server that is told to hang up is replaced by one on the same port, and ends") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        program first{GYRE_ROLLING_SERVER, {"127.0.0.1:0"}, {{"GYRE_BACKEND", name}}};
        const endpoint where = first.listening_on();
        person reader{where};
        CHECK(reader.hears().starts_with("tick "));

        first.send(SIGHUP);
        std::string lines = first.next_line() + '\n';  // Of both generations, in any order.
        lines += first.next_line() + '\n';
        CHECK(lines.find("listening on " + where.to_string()) != std::string::npos);
        const std::size_t told = lines.find("succeeded by ");
        REQUIRE(told != std::string::npos);
        const int next = std::stoi(lines.substr(told + 13));

        person late{where};
        CHECK(late.hears().starts_with("tick "));
        REQUIRE(::kill(next, SIGTERM) == 0);
        CHECK(first.rest_of_output().empty());  // Its end is that of the successor.
        CHECK(first.wait() == 0);
    }
}

// SPDX-License-Identifier: BSL-1.0
//
// The programs of the chapters of docs/guide, talked to as the chapters say. Those whose output is fixed are
// in examples_test.cpp.
#include <programs/person.hpp>
#include <programs/program.hpp>

#include <support/harness.hpp>
#include <support/scratch_directory.hpp>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

endpoint address_of(int number) {
    socket_address raw;
    socklen_t size = sizeof raw.data;
    REQUIRE(::getsockname(number, reinterpret_cast<sockaddr*>(raw.data), &size) == 0);
    raw.size = size;
    return endpoint{raw};
}

int bound_socket_of_type(int type) {
    const int number = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
    const endpoint any{ipv4::loopback(), 0};
    const auto* raw = reinterpret_cast<const sockaddr*>(any.raw().data);
    REQUIRE(::bind(number, raw, any.raw().size) == 0);
    return number;
}

void wait_until_readable(int number) {
    pollfd readable{number, POLLIN, 0};
    REQUIRE(::poll(&readable, 1, 60'000) == 1);
}

// A server that resets its first connection as soon as something has come on it.
void reset_one_connection(int listener) {
    wait_until_readable(listener);
    const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    wait_until_readable(accepted);
    const linger none{1, 0};
    REQUIRE(::setsockopt(accepted, SOL_SOCKET, SO_LINGER, &none, sizeof none) == 0);
    ::close(accepted);
}

// A server of datagrams that answers when, and what, a test wants.
class udp_server_by_hand {
public:
    struct request {
        std::string text;
        sockaddr_in from{};
    };

    udp_server_by_hand() = default;
    udp_server_by_hand(const udp_server_by_hand&) = delete;
    udp_server_by_hand& operator=(const udp_server_by_hand&) = delete;
    ~udp_server_by_hand() { ::close(number_); }

    std::string address() const { return address_of(number_).to_string(); }

    request receives() const {
        wait_until_readable(number_);
        request it;
        socklen_t size = sizeof it.from;
        std::array<char, 4096> space{};
        const ssize_t got = ::recvfrom(number_, space.data(), space.size(), 0,
                                       reinterpret_cast<sockaddr*>(&it.from), &size);
        REQUIRE(got >= 0);
        it.text.assign(space.data(), static_cast<std::size_t>(got));
        return it;
    }

    // The next one that is no repetition of `old`.
    request receives_other_than(const request& old) const {
        request it = receives();
        while (it.text == old.text) it = receives();
        return it;
    }

    void answers(const request& to, std::string_view text) const {
        const auto* raw = reinterpret_cast<const sockaddr*>(&to.from);
        REQUIRE(::sendto(number_, text.data(), text.size(), 0, raw, sizeof to.from) ==
                static_cast<ssize_t>(text.size()));
    }

private:
    int number_ = bound_socket_of_type(SOCK_DGRAM);
};

constexpr std::size_t number_bytes = 8;  // In front of the text of a request and of an answer.

// What a udp_client has printed, without what it says of attempts that had no answer.
std::string answers_in(std::string output) {
    for (std::size_t at = output.find("attempt "); at != std::string::npos;
         at = output.find("attempt ")) {
        output.erase(at, output.find('\n', at) + 1 - at);
    }
    return output;
}

// What a dump tells whichever compiler has made the names of functions: names that were given, what is
// waited for, and the lines of the program itself, those of gyre without their number.
std::string essence_of(const std::string& dump) {
    std::string essence;
    std::istringstream lines{dump};
    for (std::string line; std::getline(lines, line);) {
        const std::size_t at = line.rfind(" at ");
        const std::size_t begin = line.find_first_not_of(' ');
        if (at != std::string::npos && line.ends_with(" ms")) {
            const std::string place = line.substr(at + 4, line.rfind(", ") - at - 4);
            std::string file = place.substr(place.rfind('/') + 1);
            if (!file.starts_with("stuck.cpp:")) file.resize(file.find(':'));
            const bool is_named = line[begin] == '"';
            line.resize(is_named ? line.find('"', begin + 1) + 1 : begin);
            line += file;
        }
        essence += line + '\n';
    }
    return essence;
}

// What a program answers to SIGUSR1. Its last line is that of the coroutine that answers.
std::string dump_of(program& it) {
    it.send(SIGUSR1);
    CHECK(it.next_line() == "gyre: waiting coroutines:");
    std::string text;
    for (std::string line = "-";
         !line.empty() && line.find("dump_at_signals") == std::string::npos;) {
        line = it.next_line();
        text += line + '\n';
    }
    return text;
}

bool has_two(std::string_view text, std::string_view of) { return text.find(of) != text.rfind(of); }

// The first block of a page behind `heading`, without its fences.
std::string block_behind(const std::string& page, std::string_view heading) {
    const std::size_t begin = page.find("\n```\n", page.find(heading)) + 5;
    return page.substr(begin, page.find("```\n", begin) - begin);
}

}  // namespace

TEST_CASE("file_client: what a server sends back is what was sent to it, however long") {
    const scratch_directory home;
    std::string question;
    for (int line = 0; line < 100'000; ++line) question += std::to_string(line) + '\n';
    home.put("question", question);
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        program server{GYRE_ECHO_SERVER, {"127.0.0.1:0"}};
        home.put("answer", "of the last run");
        program client{GYRE_FILE_CLIENT,
                       {server.listening_on().to_string(), home / "question", home / "answer"},
                       {{"GYRE_BACKEND", name}}};

        const std::string size = std::to_string(question.size());
        CHECK(client.rest_of_output() == size + " bytes sent, " + size + " received\n");
        CHECK(client.wait() == 0);
        CHECK((home.get("answer") == question));
        server.send(SIGTERM);
        CHECK(server.wait() == 0);
    }
}

TEST_CASE("file_client tells what has failed, not what was stopped because of it") {
    const scratch_directory home;
    home.put("question", std::string(std::size_t{16} << 20, 'q'));  // More than buffers take.
    const int listener = bound_socket_of_type(SOCK_STREAM);
    REQUIRE(::listen(listener, 1) == 0);
    const std::string where = address_of(listener).to_string();

    program cut_off{GYRE_FILE_CLIENT, {where, home / "question", home / "answer"}};
    reset_one_connection(listener);
    ::close(listener);
    const std::string said = cut_off.rest_of_output();
    CAPTURE(said);
    CHECK((said.find("Connection reset") != std::string::npos ||
           said.find("Broken pipe") != std::string::npos));
    CHECK(cut_off.wait() == 1);

    program missing{GYRE_FILE_CLIENT, {where, home / "no such file", home / "other"}};
    CHECK(missing.rest_of_output() == "gyre: open: No such file or directory\n");
    CHECK(missing.wait() == 1);
    CHECK_FALSE(std::filesystem::exists(home / "other"));
    program nonsense{GYRE_FILE_CLIENT, {where}};
    CHECK(nonsense.rest_of_output() ==
          "usage: file_client ADDRESS:PORT QUESTION_FILE ANSWER_FILE\n");
    CHECK(nonsense.wait() == 2);
}

TEST_CASE("countdown_server: a line starts a countdown, and a drain waits for its end") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        program server{GYRE_COUNTDOWN_SERVER,
                       {"127.0.0.1:0", "20", "60000", "60000"},
                       {{"GYRE_BACKEND", name}}};
        const endpoint where = server.listening_on();
        person idle{where};
        person busy{where};
        idle.says("count\n");
        for (const char* line : {"3", "2", "1", "go"}) CHECK(idle.hears() == line);
        busy.says("count\r\n");
        CHECK(busy.hears() == "3");

        server.send(SIGTERM);

        CHECK(idle.hears() == "disconnected: the server ends");
        CHECK(idle.sees_the_end());
        for (const char* line : {"2", "1", "go"}) CHECK(busy.hears() == line);
        CHECK(busy.hears() == "disconnected: the server ends");
        CHECK(busy.sees_the_end());
        idle.leaves();
        busy.leaves();
        CHECK(server.wait() == 0);
    }
}

TEST_CASE("countdown_server: after the grace a countdown is stopped, and its client is told") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        program server{
            GYRE_COUNTDOWN_SERVER, {"127.0.0.1:0", "500", "60000", "1"}, {{"GYRE_BACKEND", name}}};
        person client{server.listening_on()};
        client.says("count\n");
        CHECK(client.hears() == "3");

        server.send(SIGTERM);

        // A late stop may leave time for another tick, but not for all: the grace is shorter than a tick.
        const std::string rest = client.hears_everything();
        CAPTURE(rest);
        CHECK(rest.find("go") == std::string::npos);
        CHECK(rest.ends_with("disconnected: the server ends\n"));
        client.leaves();
        CHECK(server.wait() == 0);
    }
}

TEST_CASE("countdown_server: a client that says nothing, or too much, is told why it must leave") {
    program server{GYRE_COUNTDOWN_SERVER, {"127.0.0.1:0", "1", "50"}};
    const endpoint where = server.listening_on();
    person silent{where};
    CHECK(silent.hears() == "disconnected: no line for too long");
    CHECK(silent.sees_the_end());
    server.send(SIGTERM);
    CHECK(server.wait() == 0);

    program patient{GYRE_COUNTDOWN_SERVER, {"127.0.0.1:0", "1", "60000"}};
    person talkative{patient.listening_on()};
    talkative.says(std::string(300, 'x'));
    CHECK(talkative.hears() == "disconnected: the line is too long");
    CHECK(talkative.sees_the_end());
    talkative.leaves();
    patient.send(SIGTERM);
    CHECK(patient.wait() == 0);

    for (const std::vector<std::string>& wrong : {std::vector<std::string>{"nowhere"},
                                                  {"127.0.0.1:0", "0"},
                                                  {"127.0.0.1:0", "1", "none"}}) {
        program nonsense{GYRE_COUNTDOWN_SERVER, wrong};
        CHECK(nonsense.rest_of_output().starts_with("usage: countdown_server "));
        CHECK(nonsense.wait() == 2);
    }
}

TEST_CASE("udp_client and udp_echo: each text is answered, over IPv4 and IPv6") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        for (const char* local : {"127.0.0.1:0", "[::1]:0"}) {
            const std::vector<program::variable> variables{{"GYRE_BACKEND", name}};
            program server{GYRE_UDP_ECHO, {local}, variables};
            program client{GYRE_UDP_CLIENT,
                           {server.listening_on().to_string(), "100", "one", "two", "two"},
                           variables};

            CHECK(answers_in(client.rest_of_output()) == "one\ntwo\ntwo\n");
            CHECK(client.wait() == 0);
            server.send(SIGTERM);
            CHECK(server.rest_of_output().empty());
            CHECK(server.wait() == 0);
        }
    }
}

TEST_CASE("udp_client asks again by the same number, and takes no answer to another request") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        const udp_server_by_hand server;
        program client{GYRE_UDP_CLIENT,
                       {server.address(), "100", "first", "second"},
                       {{"GYRE_BACKEND", name}}};

        const auto lost = server.receives();
        const auto again = server.receives();
        CHECK(again.text == lost.text);
        const std::string number = again.text.substr(0, number_bytes);
        CHECK(again.text == number + "first");
        server.answers(again, "");
        server.answers(again, "12345678 is another's number");
        server.answers(again, number + std::string(3000, 'x'));  // Cut off, so no answer.
        server.answers(again, number + "FIRST");

        const auto next = server.receives_other_than(again);
        const std::string next_number = next.text.substr(0, number_bytes);
        CHECK(next.text == next_number + "second");
        CHECK(next_number != number);
        server.answers(next, number + "FIRST, and late");
        server.answers(next, next_number + "SECOND");

        CHECK(answers_in(client.rest_of_output()) == "FIRST\nSECOND\n");
        CHECK(client.wait() == 0);
    }
}

TEST_CASE("udp_client goes on after a refusal, until the server is there") {
    std::string unused;
    {
        program server{GYRE_UDP_ECHO, {"127.0.0.1:0"}};
        unused = server.listening_on().to_string();
        server.send(SIGTERM);
        CHECK(server.wait() == 0);
    }
    program client{GYRE_UDP_CLIENT, {unused, "100", "hello"}};
    CHECK(client.next_line() == "attempt 1: read: Connection refused");

    program server{GYRE_UDP_ECHO, {unused}};
    CHECK(answers_in(client.rest_of_output()) == "hello\n");
    CHECK(client.wait() == 0);
    server.send(SIGTERM);
    CHECK(server.wait() == 0);
}

TEST_CASE("udp_client gives up after its attempts, ends at a signal, and says how it is used") {
    const udp_server_by_hand silent;
    program impatient{GYRE_UDP_CLIENT, {silent.address(), "2", "hello"}};
    CHECK(impatient.next_line() == "attempt 1: read: timed out");
    CHECK(impatient.rest_of_output() == "gyre: read: timed out\n");
    CHECK(impatient.wait() == 1);

    const udp_server_by_hand other;
    program patient{GYRE_UDP_CLIENT, {other.address(), "1000000", "hello"}};
    static_cast<void>(other.receives());
    patient.send(SIGTERM);
    CHECK(patient.wait() == 0);

    for (const char* attempts : {"0", "none"}) {
        program nonsense{GYRE_UDP_CLIENT, {silent.address(), attempts, "hello"}};
        CHECK(nonsense.rest_of_output() == "usage: udp_client ADDRESS:PORT ATTEMPTS TEXT...\n");
        CHECK(nonsense.wait() == 2);
    }
}

TEST_CASE("job_pool counts the same primes in however many jobs") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        for (const char* jobs : {"1", "7", "50"}) {
            program it{GYRE_JOB_POOL, {"20000", jobs}, {{"GYRE_BACKEND", name}}};
            const std::string count{jobs};
            CHECK(it.rest_of_output() ==
                  count + " jobs\n" + count + " of them done, 2262 primes\n");
            CHECK(it.wait() == 0);
        }
    }
    for (const std::vector<std::string>& wrong : {std::vector<std::string>{"0"}, {"10", "0"}}) {
        program nonsense{GYRE_JOB_POOL, wrong};
        CHECK(nonsense.rest_of_output() == "usage: job_pool [MOST [JOBS]]\n");
        CHECK(nonsense.wait() == 2);
    }
}

TEST_CASE("job_pool: a signal stops jobs that have begun and would take days") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        program it{GYRE_JOB_POOL, {"1000000000000", "20"}, {{"GYRE_BACKEND", name}}};
        CHECK(it.next_line() == "20 jobs");

        it.send(SIGTERM);

        CHECK(it.rest_of_output() == "0 of them done, 0 primes\n");
        CHECK(it.wait() == 0);
    }
}

TEST_CASE("stuck: the dump is the one that the guide shows, and a signal ends it all the same") {
    const std::string page = text_of_file(GYRE_EXAMPLES "/../docs/guide/07_hanging.md");
    const std::string shown = essence_of(block_behind(page, "prints this to standard error"));
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        program it{GYRE_STUCK, {}, {{"GYRE_BACKEND", name}}};
        CHECK(it.next_line() == "transferring");

        std::string dump = dump_of(it);
        for (int more = 10'000; more > 0 && !has_two(dump, "waiting for mutex"); --more) {
            dump = dump_of(it);  // It was not stuck yet.
        }

        CHECK("gyre: waiting coroutines:\n" + essence_of(dump) == shown);
        it.send(SIGTERM);
        CHECK(it.rest_of_output() == "ann has 100, bob has 100\n");
        CHECK(it.wait() == 0);
    }
}

// SPDX-License-Identifier: BSL-1.0
//
// One test suite for the three steps of docs/guide/porting_from_asio.md: what a program does must not
// change while it is ported. The server in each conversation is this file.
#include <programs/program.hpp>

#include <support/harness.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

using namespace gyre;
using namespace gyre::testing;

namespace {

// One accepted connection, read and written by hand.
class conversation {
public:
    explicit conversation(int number) : number_{number} { REQUIRE(number >= 0); }
    conversation(const conversation&) = delete;
    conversation& operator=(const conversation&) = delete;
    ~conversation() { ends(); }

    void says(std::string_view text) const {
        REQUIRE(::send(number_, text.data(), text.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(text.size()));
    }
    std::string hears() {
        std::size_t end = unread_.find('\n');
        while (end == std::string::npos && read_more()) end = unread_.find('\n');
        if (end == std::string::npos) return std::exchange(unread_, {});
        const std::string line = unread_.substr(0, end);
        unread_.erase(0, end + 1);
        return line;
    }
    // Whether the other side closes; pings may come before.
    bool sees_the_end() {
        while (read_more()) {
        }
        return true;
    }
    void ends() {
        if (number_ >= 0) ::close(number_);
        number_ = -1;
    }

private:
    bool read_more() {
        pollfd readable{number_, POLLIN, 0};
        REQUIRE(::poll(&readable, 1, 60'000) == 1);
        std::array<char, 4096> space{};
        const ssize_t got = ::recv(number_, space.data(), space.size(), 0);
        if (got > 0) unread_.append(space.data(), static_cast<std::size_t>(got));
        return got > 0;  // A reset is an end, too.
    }

    int number_;
    std::string unread_;
};

// An address that refuses connections until it is opened.
class town_crier {
public:
    town_crier() : number_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
        where_.sin_family = AF_INET;
        where_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof where_;
        REQUIRE(::bind(number_, reinterpret_cast<sockaddr*>(&where_), size) == 0);
        REQUIRE(::getsockname(number_, reinterpret_cast<sockaddr*>(&where_), &size) == 0);
    }
    town_crier(const town_crier&) = delete;
    town_crier& operator=(const town_crier&) = delete;
    ~town_crier() { ::close(number_); }

    void opens() const { REQUIRE(::listen(number_, 8) == 0); }
    std::string address() const { return "127.0.0.1:" + std::to_string(ntohs(where_.sin_port)); }
    int accepts() const {
        pollfd readable{number_, POLLIN, 0};
        REQUIRE(::poll(&readable, 1, 60'000) == 1);
        return ::accept4(number_, nullptr, nullptr, SOCK_CLOEXEC);
    }

private:
    int number_;
    sockaddr_in where_{};
};

void check_welcome(conversation& with, program& follower) {
    CHECK(with.hears() == "hello ann");
    with.says("welcome\n");
    CHECK(follower.next_line() == "welcome");
}

void check_end(conversation& with, program& follower) {
    with.says("bye\n");
    CHECK(follower.next_line() == "done");
    CHECK(with.sees_the_end());
    CHECK(follower.wait() == 0);
}

using scenario = std::function<void(const town_crier&, program&)>;

enum class door { open, closed };

// Runs one scenario with each step of the port; the later ones on every backend.
void on_every_step(door at_first, const scenario& act) {
    struct step {
        const char* name;
        std::string path;
        bool has_backends;
    };
    const std::array<step, 3> steps{{{"callbacks", GYRE_FOLLOW_CALLBACKS, false},
                                     {"mixed", GYRE_FOLLOW_MIXED, true},
                                     {"gyre", GYRE_FOLLOW_GYRE, true}}};
    for (const step& each : steps) {
        if (each.path.empty()) {
            MESSAGE(each.name, " was not built: it needs Boost and exceptions");
            continue;
        }
        CAPTURE(each.name);
        for (const backend_choice backend : backends_under_test()) {
            const std::string name = describe(backend);
            CAPTURE(name);
            const town_crier server;
            if (at_first == door::open) server.opens();
            program follower{each.path, {server.address(), "ann"}, {{"GYRE_BACKEND", name}}};
            act(server, follower);
            if (!each.has_backends) break;
        }
    }
}

}  // namespace

TEST_CASE("porting: a server that refuses at first is tried again, and then followed") {
    on_every_step(door::closed, [](const town_crier& server, program& follower) {
        CHECK(follower.next_line() == "attempt 1 failed");
        server.opens();
        conversation with{server.accepts()};
        CHECK(with.hears() == "hello ann");
        with.says("welcome\n");
        std::string line = follower.next_line();
        while (line.starts_with("attempt")) line = follower.next_line();  // Before the door opened.
        CHECK(line == "welcome");
        check_end(with, follower);
    });
}

TEST_CASE("porting: a server that is never there is given up") {
    on_every_step(door::closed, [](const town_crier&, program& follower) {
        CHECK(
            follower.rest_of_output() ==
            "attempt 1 failed\nattempt 2 failed\nattempt 3 failed\nattempt 4 failed\ngiving up\n");
        CHECK(follower.wait() == 1);
    });
}

TEST_CASE("porting: a name that the server does not want ends the program") {
    on_every_step(door::open, [](const town_crier& server, program& follower) {
        conversation with{server.accepts()};
        CHECK(with.hears() == "hello ann");
        with.says("go away\n");
        CHECK(follower.next_line() == "refused: go away");
        CHECK(with.sees_the_end());
        CHECK(follower.wait() == 3);
    });
}

namespace {

// From the moment on when the follower is welcome.
void on_every_welcome_step(
    const std::function<void(const town_crier&, conversation&, program&)>& act) {
    on_every_step(door::open, [&](const town_crier& server, program& follower) {
        conversation with{server.accepts()};
        check_welcome(with, follower);
        act(server, with, follower);
    });
}

}  // namespace

TEST_CASE("porting: the heart beats while lines are printed, whole, halved or several at once") {
    on_every_welcome_step([](const town_crier&, conversation& with, program& follower) {
        for (int beat = 0; beat < 3; ++beat) CHECK(with.hears() == "ping");
        with.says("one\ntwo\nth");
        CHECK(follower.next_line() == "one");
        CHECK(follower.next_line() == "two");
        with.says("ree\n");
        CHECK(follower.next_line() == "three");
        CHECK(with.hears() == "ping");
        check_end(with, follower);
    });
}

TEST_CASE("porting: a connection that ends is made anew, as often as it takes") {
    on_every_welcome_step([](const town_crier& server, conversation& with, program& follower) {
        with.says("one\n");
        CHECK(follower.next_line() == "one");
        with.ends();
        for (int time = 0; time < 7; ++time) {  // More often than attempts in a row are allowed.
            CHECK(follower.next_line() == "lost: the end");
            conversation next{server.accepts()};
            check_welcome(next, follower);
        }
        CHECK(follower.next_line() == "lost: the end");
        conversation last{server.accepts()};
        check_welcome(last, follower);
        check_end(last, follower);
    });
}

TEST_CASE("porting: a connection that ends before the welcome is made anew") {
    on_every_step(door::open, [](const town_crier& server, program& follower) {
        {
            conversation with{server.accepts()};
            CHECK(with.hears() == "hello ann");
        }
        CHECK(follower.next_line() == "lost: the end");
        conversation next{server.accepts()};
        check_welcome(next, follower);
        check_end(next, follower);
    });
}

TEST_CASE("porting: a server that falls silent is left, and connected to anew") {
    on_every_welcome_step([](const town_crier& server, conversation& with, program& follower) {
        with.says("half a li");
        CHECK(follower.next_line() == "lost: silence");
        CHECK(with.sees_the_end());
        conversation next{server.accepts()};
        check_welcome(next, follower);
        next.says("fresh\n");  // The half line is forgotten.
        CHECK(follower.next_line() == "fresh");
        check_end(next, follower);
    });
}

TEST_CASE("porting: a line that is too long is no line, and the connection is made anew") {
    on_every_welcome_step([](const town_crier& server, conversation& with, program& follower) {
        with.says(std::string(1000, 'x'));
        CHECK(follower.next_line() == "lost: line too long");
        conversation next{server.accepts()};
        check_welcome(next, follower);
        check_end(next, follower);
    });
}

TEST_CASE("porting: an address that is none is explained") {
    for (const std::string path : {GYRE_FOLLOW_CALLBACKS, GYRE_FOLLOW_MIXED, GYRE_FOLLOW_GYRE}) {
        if (path.empty()) continue;
        for (const char* wrong : {"nowhere", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http",
                                  "127.0.0.1:70000", "300.0.0.1:80", ":80"}) {
            CAPTURE(wrong);
            program it{path, {wrong, "ann"}};
            CHECK(it.rest_of_output() == "usage: follow ADDRESS:PORT NAME\n");
            CHECK(it.wait() == 2);
        }
        program alone{path, {"127.0.0.1:80"}};
        CHECK(alone.wait() == 2);
    }
}

TEST_CASE("porting: both ledgers count every deposit") {
    for (const std::string path : {GYRE_LEDGER_ASIO, GYRE_LEDGER_GYRE}) {
        if (path.empty()) continue;
        program it{path};
        CHECK(it.rest_of_output() == "10000\n");
        CHECK(it.wait() == 0);
    }
}

TEST_CASE("porting: the idioms of Asio and ours come to the same") {
    for (const std::string path : {GYRE_IDIOMS_ASIO, GYRE_IDIOMS_GYRE}) {
        if (path.empty()) continue;
        program it{path};
        CHECK(it.rest_of_output() == text_of_file(GYRE_EXAMPLES "/porting/idioms.expected"));
        CHECK(it.wait() == 0);
    }
}

// SPDX-License-Identifier: BSL-1.0
//
// Each example with each of its operations failing in turn, with each error that it may have: what then
// becomes of the program is what its comments promise, on epoll and on io_uring.
#include <programs/fused_run.hpp>

#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/settle.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

std::function<std::vector<std::string>()> always(std::vector<std::string> arguments) {
    return [arguments = std::move(arguments)] { return arguments; };
}

// A server at whichever port is free, that answers as `converse` expects.
fused_scenario server(const std::string& path, std::function<bool(const endpoint&)> converse) {
    fused_scenario it;
    it.path = path;
    it.arguments = always({own_loopback() + ":0"});
    it.script = talk_to(std::move(converse));
    it.verdict = goes_on_serving;
    return it;
}

void send_ticks(const char* group, std::uint16_t port, std::uint8_t count) {
    const int number = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const in_addr loopback{htonl(INADDR_LOOPBACK)};
    REQUIRE(::setsockopt(number, IPPROTO_IP, IP_MULTICAST_IF, &loopback, sizeof loopback) == 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = ::inet_addr(group);
    for (std::uint8_t each = 1; each <= count; ++each) {
        const std::array<std::uint8_t, 8> tick{0, 0, 0, 0, 0, 0, 0, each};
        const auto* raw = reinterpret_cast<const sockaddr*>(&to);
        REQUIRE(::sendto(number, tick.data(), tick.size(), 0, raw, sizeof to) == 8);
    }
    ::close(number);
}

// What a file broker answers; nothing if it does not.
std::string ask_broker(const std::string& path, std::string_view name) {
    const int number = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    path.copy(to.sun_path, sizeof to.sun_path - 1);
    std::array<char, 256> space{};
    ssize_t got = -1;
    if (::connect(number, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
        static_cast<void>(::send(number, name.data(), name.size(), MSG_NOSIGNAL));
        got = ::recv(number, space.data(), space.size(), 0);
    }
    ::close(number);
    return got > 0 ? std::string(space.data(), static_cast<std::size_t>(got)) : std::string{};
}

// A frame of a WebSocket's server of less than 126 bytes; what is left of the stream if there is none.
std::string next_frame(plain_peer& from) {
    const std::string head = from.hears(2);
    return head.size() < 2 ? head : head + from.hears(static_cast<std::size_t>(head[1] & 0x7f));
}

// Whether a server of datagrams sends one back. It is sent again as long as neither it nor a refusal comes.
bool is_echoed(const endpoint& where) {
    const int number = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const auto* raw = reinterpret_cast<const sockaddr*>(where.raw().data);
    REQUIRE(::connect(number, raw, where.raw().size) == 0);
    const std::string_view text = "hello";
    std::array<char, 16> space{};
    ssize_t got = 0;
    for (int attempt = 0; got == 0 && attempt < 600; ++attempt) {
        const bool sent = ::send(number, text.data(), text.size(), MSG_NOSIGNAL) > 0;
        pollfd readable{number, POLLIN, 0};
        if (sent && ::poll(&readable, 1, 100) == 0) continue;
        got = sent ? ::recv(number, space.data(), space.size(), 0) : -1;
    }
    ::close(number);
    return got > 0 && text == std::string_view{space.data(), static_cast<std::size_t>(got)};
}

// Talks to each that comes, one after the other.
class plain_server {
public:
    explicit plain_server(std::function<void(plain_peer&)> talk)
        : talk_{std::move(talk)}, thread_{[this] { serve(); }} {}
    plain_server(const plain_server&) = delete;
    plain_server& operator=(const plain_server&) = delete;
    ~plain_server() {
        ::shutdown(number_, SHUT_RDWR);
        thread_.join();
        ::close(number_);
    }

    [[nodiscard]] endpoint where() const {
        socket_address raw;
        socklen_t size = sizeof raw.data;
        REQUIRE(::getsockname(number_, reinterpret_cast<sockaddr*>(raw.data), &size) == 0);
        raw.size = size;
        return endpoint{raw};
    }

private:
    static int listening() {
        const int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const endpoint any{ipv4::loopback(), 0};
        const auto* raw = reinterpret_cast<const sockaddr*>(any.raw().data);
        REQUIRE(::bind(number, raw, any.raw().size) == 0);
        REQUIRE(::listen(number, 16) == 0);
        return number;
    }
    void serve() const {
        for (int number = accepted(); number >= 0; number = accepted()) {
            plain_peer peer{number};
            talk_(peer);
        }
    }
    int accepted() const { return ::accept4(number_, nullptr, nullptr, SOCK_CLOEXEC); }

    std::function<void(plain_peer&)> talk_;
    int number_ = listening();
    std::thread thread_;
};

// Says hello to each GET on a connection.
void answer_gets(plain_peer& client) {
    for (std::string line = client.hears(); !line.empty(); line = client.hears()) {
        if (line == "\r") client.says("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n");
    }
}

}  // namespace

TEST_CASE("fuse: echo_server goes on, whatever becomes of a connection") {
    under_every_fault(server(GYRE_ECHO_SERVER, [](const endpoint& where) {
        plain_peer client{where};
        client.says("hello\n");
        return client.hears() == "hello" && client.hears_the_rest().empty();
    }));
}

TEST_CASE("fuse: key_value_server goes on, whatever becomes of a connection") {
    under_every_fault(server(GYRE_KEY_VALUE_SERVER, [](const endpoint& where) {
        plain_peer client{where};
        client.says("set a 1\nget a\n");
        return client.hears() == "ok" && client.hears() == "is 1";
    }));
}

TEST_CASE("fuse: chat_server goes on, whatever becomes of a member") {
    under_every_fault(server(GYRE_CHAT_SERVER, [](const endpoint& where) {
        plain_peer member{where};
        if (member.hears() != "your name?") return false;
        member.says("ann\n");
        if (member.hears() != "ann has come") return false;
        member.says("hello\n");
        return member.hears() == "ann: hello" && member.hears_the_rest().empty();
    }));
}

TEST_CASE("fuse: websocket_chat goes on, whatever becomes of a member") {
    if (std::string_view{GYRE_WEBSOCKET_CHAT}.empty()) {
        MESSAGE("not built: it needs the protocols");
        return;
    }
    under_every_fault(server(GYRE_WEBSOCKET_CHAT, [](const endpoint& where) {
        plain_peer member{where};
        member.says(
            "GET /chat?name=ann HTTP/1.1\r\nHost: h\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
        if (member.hears() != "HTTP/1.1 101 Switching Protocols\r") return false;
        std::string line = member.hears();
        while (line.size() > 1) line = member.hears();
        // A text in one frame, then a close, both with a key of zeros. It reads frames, whatever they say: a
        // server that is told to end says goodbye, and waits for an answer for seconds.
        member.says({"\x81\x87\0\0\0\0hello!\n", 13});
        if (next_frame(member) != "\x81\x0b\x61nn\nhello!\n") return false;
        member.says({"\x88\x82\0\0\0\0\x03\xe8", 8});
        return member.hears_the_rest() == "\x88\x02\x03\xe8";
    }));
}

TEST_CASE("fuse: notes_server goes on, whatever becomes of a connection") {
    if (std::string_view{GYRE_NOTES_SERVER}.empty()) {
        MESSAGE("not built: it needs the protocols");
        return;
    }
    under_every_fault(server(GYRE_NOTES_SERVER, [](const endpoint& where) {
        plain_peer client{where};
        client.says(
            "POST /notes HTTP/1.1\r\nHost: h\r\nX-Name: ann\r\nContent-Length: 8\r\n\r\nbuy milk"
            "GET /notes HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        return client.hears() == "HTTP/1.1 201 Created\r" &&
               client.hears_the_rest().find(" buy milk\n") != std::string::npos;
    }));
}

TEST_CASE("fuse: counting_pool goes on, whatever becomes of a connection") {
    under_every_fault(server(GYRE_COUNTING_POOL, [](const endpoint& where) {
        plain_peer client{where};
        client.says("whale\n");
        return !client.hears().empty();
    }));
}

TEST_CASE("fuse: port_forwarder goes on, whatever becomes of a connection") {
    program echo{GYRE_ECHO_SERVER, {"127.0.0.1:0"}};
    fused_scenario it = server(GYRE_PORT_FORWARDER, [](const endpoint& where) {
        plain_peer client{where};
        client.says("hello\n");
        return client.hears() == "hello" && client.hears_the_rest().empty();
    });
    it.arguments = always({own_loopback() + ":0", echo.listening_on().to_string()});

    under_every_fault(it);
}

TEST_CASE("fuse: rolling_server goes on, whatever becomes of a connection") {
    under_every_fault(server(GYRE_ROLLING_SERVER, [](const endpoint& where) {
        plain_peer client{where};
        return client.hears().starts_with("tick ");
    }));
}

TEST_CASE("fuse: tcp_client prints the answer or why there is none") {
    program echo{GYRE_ECHO_SERVER, {"127.0.0.1:0"}};
    fused_scenario it;
    it.path = GYRE_TCP_CLIENT;
    it.arguments = always({echo.listening_on().to_string()});
    it.input = "hello\n";
    it.script = [](program& client, fused_outcome& into) {
        only_watch(client, into);
        into.served = into.output.starts_with("hello\n");
    };
    it.verdict = tells_or_succeeds;

    under_every_fault(it);
}

TEST_CASE("fuse: http_get writes the bodies or says why not") {
    if (std::string_view{GYRE_HTTP_GET}.empty()) {
        MESSAGE("not built: it needs the protocols");
        return;
    }
    const plain_server site{answer_gets};
    const std::string base = "http://" + site.where().to_string();
    fused_scenario it;
    it.path = GYRE_HTTP_GET;
    it.arguments = always({base + "/one", base + "/two"});
    it.script = [](program& client, fused_outcome& into) {
        only_watch(client, into);
        const std::size_t one = into.output.find("hello\n");
        into.served = into.served && one != std::string::npos &&
                      into.output.find("hello\n", one + 1) != std::string::npos;
    };
    it.verdict = tells_or_succeeds;

    under_every_fault(it);
}

TEST_CASE("fuse: load_balancer goes on, whatever becomes of a connection") {
    if (std::string_view{GYRE_LOAD_BALANCER}.empty()) {
        MESSAGE("not built: it needs the protocols");
        return;
    }
    const plain_server site{[](plain_peer& client) {
        for (std::string line = client.hears(); !line.empty(); line = client.hears()) {
            if (line != "\r") continue;
            return client.says(
                "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n");
        }
    }};
    fused_scenario it = server(GYRE_LOAD_BALANCER, [](const endpoint& where) {
        plain_peer client{where};
        client.says("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        return client.hears() == "HTTP/1.1 200 OK\r" &&
               client.hears_the_rest().ends_with("\r\n\r\nhello\n");
    });
    it.arguments = always({own_loopback() + ":0", "http://" + site.where().to_string()});

    under_every_fault(it);
}

TEST_CASE("fuse: happy_eyeballs connects or says why not") {
    program echo{GYRE_ECHO_SERVER, {"127.0.0.1:0"}};
    fused_scenario it;
    it.path = GYRE_HAPPY_EYEBALLS;
    it.arguments = always({"127.0.0.1", std::to_string(echo.listening_on().port())});
    it.script = only_watch;
    it.verdict = tells_or_succeeds;

    under_every_fault(it);
}

TEST_CASE("fuse: file_client keeps the answer or says why there is none") {
    const scratch_directory home;
    home.put("question", "hello\n");
    program echo{GYRE_ECHO_SERVER, {"127.0.0.1:0"}};
    const std::string where = echo.listening_on().to_string();
    fused_scenario it;
    it.path = GYRE_FILE_CLIENT;
    it.arguments = [&] {
        home.put("answer", "");
        return std::vector{where, home / "question", home / "answer"};
    };
    it.script = [&](program& client, fused_outcome& into) {
        only_watch(client, into);
        into.served = into.served && home.get("answer") == "hello\n";
    };
    it.verdict = tells_or_succeeds;

    under_every_fault(it);
}

TEST_CASE("fuse: countdown_server goes on, whatever becomes of a connection") {
    fused_scenario it = server(GYRE_COUNTDOWN_SERVER, [](const endpoint& where) {
        plain_peer client{where};
        client.says("count\n");
        for (const char* line : {"3", "2", "1", "go"}) {
            if (client.hears() != line) return false;
        }
        return client.hears_the_rest().empty();
    });
    it.arguments = always({own_loopback() + ":0", "1", "60000"});

    under_every_fault(it);
}

TEST_CASE("fuse: udp_echo goes on answering or says what has ended it") {
    fused_scenario it;
    it.path = GYRE_UDP_ECHO;
    it.arguments = always({own_loopback() + ":0"});
    it.script = [](program& echo, fused_outcome& into) {
        constexpr std::string_view ready = "listening on ";
        const std::string line = echo.next_line();
        into.output = line + "\n";
        if (line.starts_with(ready)) {
            const endpoint where = endpoint::parse(line.substr(ready.size())).value();
            into.served = is_echoed(where) && is_echoed(where);
            end_program(echo, SIGTERM, into);
        }
        into.output += echo.rest_of_output();
    };
    it.verdict = tells_or_succeeds;

    under_every_fault(it);
}

TEST_CASE("fuse: udp_client has its answers, or says why not") {
    program echo{GYRE_UDP_ECHO, {"127.0.0.1:0"}};
    fused_scenario it;
    it.path = GYRE_UDP_CLIENT;
    it.arguments = always({echo.listening_on().to_string(), "100", "hello", "again"});
    it.script = [](program& client, fused_outcome& into) {
        only_watch(client, into);
        into.served = into.says("hello\n") && into.says("again\n");
    };
    it.verdict = tells_or_succeeds;

    under_every_fault(it);
}

TEST_CASE("fuse: the ticker's publisher sends all or says why not") {
    fused_scenario it;
    it.path = GYRE_UDP_TICKER;
    it.arguments = always({"publish", "239.255.71.77:7177", "lo", "3"});
    it.script = only_watch;
    it.verdict = tells_or_succeeds;

    under_every_fault(it);
}

TEST_CASE("fuse: the ticker's listener tells what it has seen, and what ended it") {
    fused_scenario it;
    it.path = GYRE_UDP_TICKER;
    it.arguments = always({"listen", "239.255.71.78:7178", "lo"});
    it.script = [](program& listener, fused_outcome& into) {
        into.output = listener.next_line() + "\n";
        if (into.output.starts_with("listening on ")) {
            send_ticks("239.255.71.78", 7178, 3);
            end_program(listener, SIGTERM, into);
        }
        into.output += listener.rest_of_output();
        into.served = into.says("ticks ") && !into.says("gyre: ");
    };
    it.verdict = tells_or_succeeds;

    under_every_fault(it);
}

TEST_CASE("fuse: the file broker goes on, whatever becomes of a client") {
    const scratch_directory directory;
    const scratch_directory place;
    static_cast<void>(directory.put("greeting", "hello, client\n"));
    const std::string path = place / "broker.sock";
    fused_scenario it = server(GYRE_FILE_BROKER, {});
    it.arguments = always({"serve", "unix:" + path, directory.path().string()});
    it.script = talk_to([&](const endpoint&) { return ask_broker(path, "greeting") == "here"; },
                        "serving ");

    under_every_fault(it);
}

TEST_CASE("fuse: the file broker's client shows the file or says why not") {
    const scratch_directory directory;
    const scratch_directory place;
    static_cast<void>(directory.put("greeting", "hello, client\n"));
    const std::string at = "unix:" + (place / "broker.sock");
    program broker{GYRE_FILE_BROKER, {"serve", at, directory.path().string()}};
    REQUIRE(broker.next_line().starts_with("serving"));
    fused_scenario it;
    it.path = GYRE_FILE_BROKER;
    it.arguments = always({"show", at, "greeting"});
    it.script = [](program& client, fused_outcome& into) {
        only_watch(client, into);
        into.served = into.output.starts_with("hello, client\n") && into.status == 0;
    };
    it.verdict = tells_or_succeeds;

    under_every_fault(it);
}

TEST_CASE("fuse: tail_follow prints what is added or says why not") {
    const scratch_directory home;
    const std::string path = home / "log";
    fused_scenario it;
    it.path = GYRE_TAIL_FOLLOW;
    it.arguments = [&] {
        std::ofstream{path} << "first\n";
        return std::vector{path};
    };
    it.script = [&](program& tail, fused_outcome& into) {
        // If it was told that there is no file, it waits for a change, and what it waits for may be over.
        const auto next = [&](const std::string& wanted) {
            static_cast<void>(eventually([&] {
                std::error_code none_there;
                std::filesystem::permissions(path, std::filesystem::perms::owner_all, none_there);
                return tail.has_printed(wanted + "\n") || tail.has_printed("fuse: ");
            }));
            const std::string line = tail.next_line();
            into.output += line + "\n";
            return line == wanted;
        };
        into.served = next("first");
        std::ofstream{path, std::ios::app} << "second\n";
        into.served = into.served && next("second");
        std::filesystem::rename(path, home / "log.1");
        std::ofstream{path} << "third\n";
        into.served = into.served && next("third");
        end_program(tail, SIGINT, into);
    };
    it.verdict = tells_or_succeeds;

    under_every_fault(it);
}

TEST_CASE("fuse: order_journal keeps what it says or says why not") {
    const scratch_directory home;
    fused_scenario it;
    it.path = GYRE_ORDER_JOURNAL;
    it.arguments = [&] {
        std::filesystem::remove(home / "journal");
        std::filesystem::remove(home / "snapshot");
        return std::vector{home.path().string()};
    };
    it.script = [&](program& day, fused_outcome& into) {
        only_watch(day, into);
        into.served = into.served && home.get("snapshot") == "orders: 200\n";
    };
    it.verdict = tells_or_succeeds;

    under_every_fault(it);
}

TEST_CASE("fuse: watched_settings goes on with the old ones or says why not") {
    const scratch_directory home;
    fused_scenario it;
    it.path = GYRE_WATCHED_SETTINGS;
    it.arguments = [&] { return std::vector{home.put("settings", "one\n")}; };
    it.script = [&](program& watcher, fused_outcome& into) {
        std::string line = watcher.next_line();
        into.output = line + "\n";
        for (int attempt = 0; line == "one" && attempt < 2; ++attempt) {
            static_cast<void>(home.put("settings", "stop\n"));
            const std::string said = watcher.next_line();
            into.output += said + "\n";
            if (!said.starts_with("the old settings stay: ")) break;
        }
        into.output += watcher.rest_of_output();
        into.served = into.says("stop\n");
    };
    it.verdict = tells_or_succeeds;

    under_every_fault(it);
}

TEST_CASE("fuse: the supervisor keeps its program up, whatever fails on the way") {
    fused_scenario it = server(GYRE_SUPERVISOR, {});
    it.arguments = always({"--listen", own_loopback() + ":0", "job", "sh", "-c",
                           "while echo up; do sleep 0.05; done"});
    it.script = [](program& supervisor, fused_outcome& into) {
        std::string line = supervisor.next_line();
        while (!line.empty() && line != "job: up") {
            if (line.starts_with("listening on ")) into.began = true;
            into.output += line + "\n";
            line = supervisor.next_line();
        }
        into.served = line == "job: up";
        if (into.began) end_program(supervisor, SIGTERM, into);
    };

    under_every_fault(it);
}

TEST_CASE("fuse: rolling_server is replaced or says why not, and goes on") {
    fused_scenario it = server(GYRE_ROLLING_SERVER, {});
    it.left_open_max = 1;  // The process that goes on.
    it.script = [](program& first, fused_outcome& into) {
        const auto next = [&] {
            const std::string line = first.next_line();
            into.output += line + "\n";
            return line;
        };
        into.began = next().starts_with("listening on ");
        if (!into.began) return;
        first.send(SIGHUP);
        for (std::string line = next(); !line.empty(); line = next()) {
            constexpr std::string_view replaced = "succeeded by ";
            if (line.starts_with(replaced)) {
                into.served = ::kill(std::stoi(line.substr(replaced.size())), SIGTERM) == 0;
                return;
            }
            if (line.starts_with("going on: ")) {
                into.served = true;
                return end_program(first, SIGTERM, into);
            }
        }
    };

    under_every_fault(it);
}

TEST_CASE("fuse: inside_asio prints the answers or says why there are none") {
    if (std::string_view{GYRE_INSIDE_ASIO}.empty()) {
        MESSAGE("not built: it needs Boost and exceptions");
        return;
    }
    fused_scenario it;
    it.path = GYRE_INSIDE_ASIO;
    it.arguments = always({});
    it.script = [](program& both, fused_outcome& into) {
        only_watch(both, into);
        into.served = into.output.starts_with(text_of_file(GYRE_EXAMPLES "/inside_asio.expected"));
    };
    it.verdict = tells_or_succeeds;

    under_every_fault(it);
}

TEST_CASE("fuse: follow_gyre comes back after whatever ends a session") {
    const plain_server news{[](plain_peer& follower) {
        if (!follower.hears().starts_with("hello ")) return;
        follower.says("welcome\nnews\nbye\n");
        static_cast<void>(follower.hears_the_rest());
    }};
    fused_scenario it;
    it.path = GYRE_FOLLOW_GYRE;
    it.arguments = always({news.where().to_string(), "ann"});
    it.script = [](program& follower, fused_outcome& into) {
        only_watch(follower, into);
        into.served = into.says("welcome\nnews\ndone\n");
    };
    it.verdict = [](const fused_outcome& of) -> std::string {
        return of.served && of.status == 0 ? "" : "it has given up";
    };

    under_every_fault(it);
}

// SPDX-License-Identifier: BSL-1.0
//
// A chat room: each line that a member writes is sent to all members.
//
// Each connection is a group of two: one coroutine reads lines and says them to the room, one writes to
// the member what the room has said. Between them stands a bounded channel per member, so a member who
// does not read costs a fixed amount of memory, and is then disconnected instead of holding up the
// others. Try it with two terminals and tcp_client.
#include <gyre/gyre.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;

constexpr std::size_t line_bytes_max = 512;
constexpr std::size_t name_bytes_max = 16;
constexpr std::size_t unread_lines_max = 64;
constexpr auto farewell = 2s;

using line = std::shared_ptr<const std::string>;  // One copy for all who are to read it.

struct member {
    std::string name;
    gyre::task_group& coroutines;
    gyre::channel<line> unread{unread_lines_max};
    bool too_slow = false;
    bool unheard = false;  // A write to it has failed.
};

// Who is there. One thread, so no locks.
class room {
public:
    bool has(std::string_view name) const {
        return std::ranges::any_of(members_,
                                   [&](const member* each) { return each->name == name; });
    }
    void enter(member& who) {
        members_.push_back(&who);
        say(who.name + " has come");
    }
    void leave(member& who) {
        std::erase(members_, &who);
        say(who.name + " has gone");
    }
    void say(const std::string& text) {
        const line said = std::make_shared<const std::string>(text + '\n');
        for (member* each : members_) {
            line copy = said;
            if (each->unread.try_send(copy) || each->too_slow) continue;
            each->too_slow = true;
            each->coroutines.request_stop();  // Its reads and writes end; it leaves by itself.
        }
    }

private:
    std::vector<member*> members_;
};

using line_reader = gyre::buffered_reader<gyre::tcp_socket>;

// The next line, without its end; control characters are replaced, for the sake of terminals. A drain
// of the server ends the wait for it.
gyre::task<gyre::io_result<std::string>> next_line(line_reader& from) {
    auto [error, bytes] = co_await gyre::idle(from.read_until("\n"));
    if (error) co_return error;

    std::string text{gyre::text_of(bytes)};
    from.consume(bytes.size());
    text.erase(text.find_last_not_of("\r\n") + 1);
    const auto is_control = [](unsigned char each) { return each < 0x20 || each == 0x7f; };
    std::ranges::replace_if(text, is_control, '?');
    co_return gyre::io_result<std::string>{std::move(text)};
}

bool is_name(std::string_view text) {
    const auto fits = [](unsigned char each) { return std::isalnum(each) != 0; };
    return !text.empty() && text.size() <= name_bytes_max && std::ranges::all_of(text, fits);
}

gyre::task<gyre::io_result<std::string>> ask_for_name(const room& hall, gyre::tcp_socket& peer,
                                                      line_reader& from) {
    std::string_view question = "your name?\n";
    for (;;) {
        auto [failure, sent] = co_await gyre::write_all(peer, gyre::bytes_of(question));
        if (failure) co_return failure;

        auto answer = co_await next_line(from);
        if (!answer.ok()) co_return answer;
        if (!is_name(answer.value())) {
            question = "up to 16 letters and digits, please\n";
        } else if (hall.has(answer.value())) {
            question = "taken; another, please\n";
        } else {
            co_return answer;
        }
    }
}

// Writes to the member what the room says, until there is nothing more to come. Who cannot be written to is
// not read from either: it would not learn that it is deaf.
gyre::task<> write_lines(gyre::tcp_socket& peer, member& to) {
    for (;;) {
        auto said = co_await to.unread.receive();
        if (!said.ok()) co_return;

        const line text = said.take();
        auto [failure, sent] = co_await gyre::write_all(peer, gyre::bytes_of(*text));
        if (failure) break;
    }
    to.unheard = true;
    to.coroutines.request_stop();
}

// What the member is told at the end, by the reason for it.
std::string_view parting_words(const member& who, gyre::error ended) {
    if (who.too_slow) return "\n* you do not read what is written: goodbye\n";
    if (ended == gyre::errc::limit_exceeded) return "* that line was too long: goodbye\n";
    if (ended == gyre::errc::canceled && !who.unheard) return "* the room is closing: goodbye\n";
    return {};
}

gyre::task<std::string_view> converse(room& hall, gyre::tcp_socket& peer, line_reader& from,
                                      std::string name) {
    const auto talk = [&](gyre::task_group& group) -> gyre::task<std::string_view> {
        member self{std::move(name), group};
        hall.enter(self);
        group.spawn(write_lines(peer, self));

        gyre::error ended;
        while (!ended) {
            const auto said = co_await next_line(from);
            ended = said.error();
            if (!ended && !said.value().empty()) hall.say(self.name + ": " + said.value());
        }
        hall.leave(self);
        self.unread.close();
        co_await group.join();  // What the room has said so far is written first.
        co_return parting_words(self, ended);
    };
    const auto words = co_await gyre::with_group(talk);
    co_return words;
}

gyre::task<> chat(room& hall, gyre::tcp_socket peer) {
    line_reader from{peer, line_bytes_max};
    auto named = co_await gyre::with_timeout(60s, ask_for_name(hall, peer, from));
    if (named.ok()) {
        const auto words = co_await converse(hall, peer, from, named.take());
        static_cast<void>(
            co_await gyre::shielded(gyre::write_all(peer, gyre::bytes_of(words)), farewell));
    }
    static_cast<void>(co_await peer.close_gracefully(farewell));
}

gyre::task<gyre::io_result<>> chat_server(gyre::endpoint local) {
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();

    auto acceptor = listening.take();
    const auto bound = acceptor.local_endpoint();
    if (!bound.ok()) co_return bound.error();
    std::printf("listening on %s\n", bound.value().to_string().c_str());
    std::fflush(stdout);

    room hall;
    gyre::serve_options options;
    options.connections_max = 1000;
    const auto session = [&hall](gyre::tcp_socket peer) { return chat(hall, std::move(peer)); };
    const auto ended = co_await gyre::serve(std::move(acceptor), session, options);
    co_return ended;
}

int main(int count, char** arguments) {
    const auto local = gyre::endpoint::parse(count > 1 ? arguments[1] : "127.0.0.1:7001");
    if (!local.ok()) {
        std::fprintf(stderr, "usage: chat_server [ADDRESS:PORT]\n");
        return 2;
    }
    return gyre::run_until_signal(chat_server(local.value()));
}

// SPDX-License-Identifier: BSL-1.0
//
// A chat room in a browser: the page by HTTP, the messages by WebSocket, on one port.
//
// Each member has a queue with two bounds. Who does not read fills it, and is then disconnected and told why;
// no other member waits for it. Try it: open http://127.0.0.1:8080/ in two windows.
#include <gyre/gyre.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http/serve_connection.hpp>
#include <gyre/websocket/hub.hpp>
#include <gyre/websocket/upgrade.hpp>

#include "page.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace http = gyre::http;
namespace websocket = gyre::websocket;

constexpr std::size_t message_bytes_max = 4000;
constexpr std::size_t name_bytes_max = 16;

// snippet: bounds
// What a member may leave unread.
websocket::hub_options unread_bounds() {
    websocket::hub_options made;
    made.messages_max = 256;
    made.bytes_max = 256 * 1024;
    made.members_max = 1000;
    made.when_full = websocket::slow_member::disconnect;
    return made;
}
// end of snippet

// Who is there. One thread, so no locks.
class room {
public:
    // Makes a message of UTF-8 into frames once, whatever the number of members.
    void say(const std::string& who, std::string_view text) {
        auto message = websocket::prepared_message::make(
            websocket::message_kind::text,
            gyre::bytes_of(std::string{who}.append("\n").append(text)));
        if (message.ok()) static_cast<void>(members.send_now(message.take()));
    }
    bool enter(const std::string& who) {
        if (!names_.insert(who).second) return false;
        say("", who + " has come");
        return true;
    }
    void leave(const std::string& who) {
        names_.erase(who);
        say("", who + " has gone");
    }

    websocket::hub members{unread_bounds()};

private:
    std::set<std::string, std::less<>> names_;
};

bool is_name(std::string_view text) {
    const auto fits = [](unsigned char each) { return std::isalnum(each) != 0; };
    return !text.empty() && text.size() <= name_bytes_max && std::ranges::all_of(text, fits);
}

// snippet: session
// Until the peer closes, or breaks a rule: it has been told then.
gyre::task<> read_messages(room& hall, websocket::connection& from, const std::string& name) {
    for (;;) {
        const auto got = co_await from.receive();
        if (!got.ok()) co_return;
        hall.say(name, got.value().text());
    }
}

gyre::task<> talk(room& hall, websocket::connection& peer, std::string name) {
    if (!hall.enter(name)) {
        static_cast<void>(
            co_await peer.close({websocket::close_code::policy_violation, "That name is taken"}));
        co_return;
    }
    const auto ended =
        co_await gyre::when_any(hall.members.serve(peer), read_messages(hall, peer, name));
    hall.leave(name);
    if (std::get<0>(ended.results).error() == gyre::errc::limit_exceeded) {
        static_cast<void>(
            co_await peer.close({websocket::close_code::policy_violation, "You do not read"}));
    }
}
// end of snippet

// snippet: upgrade
gyre::task<http::response> chat(room& hall, http::request& asked) {
    std::string name = asked.query_value("name").value_or("");
    if (!is_name(name)) {
        co_return http::response{http::status::bad_request, "text/plain", "a name, please"};
    }
    websocket::upgrade_options options;
    options.connection.limits.message_bytes_max = message_bytes_max;
    co_return websocket::upgrade(asked, options,
                                 [&hall, name = std::move(name)](websocket::connection& peer) {
                                     return talk(hall, peer, name);
                                 });
}
// end of snippet

http::handler file(std::string_view type, std::string_view text) {
    return [type, text](http::request&) -> gyre::task<http::response> {
        http::response made{http::status::ok, type, http::static_text{text}};
        made.fields.set("content-security-policy", "default-src 'self'; img-src data:");
        made.fields.set("x-content-type-options", "nosniff");
        co_return made;
    };
}

http::handler routes(room& hall) {
    http::router made;
    made.add(http::method::get, "/", file("text/html; charset=utf-8", index_html))
        .add(http::method::get, "/chat.css", file("text/css; charset=utf-8", chat_css))
        .add(http::method::get, "/chat.js", file("text/javascript; charset=utf-8", chat_js))
        .add(http::method::get, "/chat",
             [&hall](http::request& asked) { return chat(hall, asked); });
    return std::move(made).build();
}

struct web {
    explicit web(room& hall) : answer{routes(hall)} {}

    http::handler answer;
    http::connection_options options;
    http::connection_hooks hooks;
};

gyre::task<> serve_one(const web& by, gyre::tcp_socket peer) {
    gyre::any_stream stream{std::move(peer)};
    static_cast<void>(
        co_await http::serve_connection(std::move(stream), by.answer, by.options, by.hooks));
}

gyre::task<gyre::io_result<>> websocket_chat(gyre::endpoint local) {
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();

    auto acceptor = listening.take();
    const auto bound = acceptor.local_endpoint();
    if (!bound.ok()) co_return bound.error();
    std::printf("listening on %s\n", bound.value().to_string().c_str());
    std::fflush(stdout);

    room hall;
    const web serves{hall};
    const auto session = [&serves](gyre::tcp_socket peer) {
        return serve_one(serves, std::move(peer));
    };
    gyre::serve_options limits;
    limits.connections_max = 2000;
    const auto ended = co_await gyre::serve(std::move(acceptor), session, limits);
    co_return ended;
}

int main(int count, char** arguments) {
    const auto local = gyre::endpoint::parse(count > 1 ? arguments[1] : "127.0.0.1:8080");
    if (!local.ok()) {
        std::fprintf(stderr, "usage: websocket_chat [ADDRESS:PORT]\n");
        return 2;
    }
    return gyre::run_until_signal(websocket_chat(local.value()));
}

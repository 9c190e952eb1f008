// SPDX-License-Identifier: BSL-1.0
//
// The server of `websocket` on Boost.Beast: an echo, and a room as in its example chat-multi.
//
// A message is one frame (auto_fragment is off), and each member of the room has a queue of messages that
// all of them share.
#include <lab/servers/asio_coroutine/server.hpp>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include <deque>
#include <memory>
#include <string>
#include <unordered_set>

namespace {

using namespace asio_coroutine;
namespace beast = boost::beast;

using connection = beast::websocket::stream<servers::stream>;

struct message {
    std::string bytes;
    bool is_text;
};
using shared_message = std::shared_ptr<const message>;

class member : public std::enable_shared_from_this<member> {
public:
    explicit member(connection& on) : on_{on} {}

    void send(const shared_message& next) {
        waiting_.push_back(next);
        if (waiting_.size() == 1) write();
    }
    void leave() noexcept { left_ = true; }

private:
    void write() {
        on_.text(waiting_.front()->is_text);
        on_.async_write(asio::buffer(waiting_.front()->bytes),
                        [self = shared_from_this()](beast::error_code failed, std::size_t) {
                            if (failed || self->left_) return;
                            self->waiting_.pop_front();
                            if (!self->waiting_.empty()) self->write();
                        });
    }

    connection& on_;
    std::deque<shared_message> waiting_;
    bool left_ = false;
};

// Of the thread: this server has one.
std::unordered_set<std::shared_ptr<member>>& room() {
    static std::unordered_set<std::shared_ptr<member>> members;
    return members;
}

task echo(connection& on) {
    beast::flat_buffer space;
    for (;;) {
        const auto [ended, size] = co_await on.async_read(space, result_of);
        if (ended) co_return;
        on.text(on.got_text());
        const auto [failed, sent] = co_await on.async_write(space.data(), result_of);
        if (failed) co_return;
        space.consume(size);
    }
}

task publish(connection& on) {
    const auto self = std::make_shared<member>(on);
    room().insert(self);
    beast::flat_buffer space;
    for (;;) {
        const auto [ended, size] = co_await on.async_read(space, result_of);
        if (ended) break;
        const auto* const bytes = static_cast<const char*>(space.data().data());
        const auto next =
            std::make_shared<const message>(message{std::string{bytes, size}, on.got_text()});
        space.consume(size);
        for (const auto& each : room()) each->send(next);
    }
    room().erase(self);
    self->leave();
}

task converse(servers::stream peer, std::size_t) {
    beast::flat_buffer space;
    beast::http::request<beast::http::empty_body> asked;
    const auto [ended, size] = co_await beast::http::async_read(peer, space, asked, result_of);
    if (ended || !beast::websocket::is_upgrade(asked)) co_return;
    const auto on = std::make_shared<connection>(std::move(peer));
    on->auto_fragment(false);
    const auto [failed] = co_await on->async_accept(asked, result_of);
    if (failed) co_return;
    if (asked.target() == "/hub") {
        co_await publish(*on);
    } else {
        co_await echo(*on);
    }
}

}  // namespace

int servers::serve_websocket(const job& wanted) { return serve<accept_all<converse>>(wanted); }

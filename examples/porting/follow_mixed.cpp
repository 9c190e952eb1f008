// SPDX-License-Identifier: BSL-1.0
//
// Step 2 of docs/guide/porting_from_asio.md: one function is ported, its neighbours are not.
//
// The session (log in, then read lines until it ends) is a coroutine, called from a handler and calling
// back. Sockets and timers are still Asio's, and so are the retries before and the heartbeat beside it.
#include "follow.hpp"

#include <gyre/gyre.hpp>
#include <gyre/interop/asio.hpp>
#include <gyre/interop/callbacks.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <string>
#include <utility>

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using namespace follow;

class follower {
public:
    follower(gyre::asio_guest& guest, const tcp::endpoint& server, const std::string& name)
        : loop_{guest.loop()},
          server_{server},
          hello_{"hello " + name + "\n"},
          socket_{guest.host()},
          pause_{guest.host()},
          heart_{guest.host()} {}

    void start() { connect(); }
    int status() const { return status_; }

private:
    // snippet: springboard
    void connect() {
        socket_.async_connect(server_, [this](error_code failure) {
            if (!failure) {
                session().call(loop_, [this](gyre::error why) { session_ended(why); });
                return;
            }
            socket_.close();
            if (++attempts_ == attempts_max) return end("giving up", no_server);

            say("attempt " + std::to_string(attempts_) + " failed");
            pause_.expires_after(pause_after(attempts_));
            pause_.async_wait([this](error_code) { connect(); });
        });
    }

    gyre::springboard<gyre::error> session() {
        unread_.clear();
        const auto greeted =
            co_await asio::async_write(socket_, asio::buffer(hello_), gyre::use_io_result);
        if (!greeted.ok()) co_return greeted.error();

        auto answer = co_await line();
        if (!answer.ok()) co_return answer.error();
        if (answer.value() != "welcome") {
            end("refused: " + answer.value(), refused);
            co_return gyre::errc::permission_denied;
        }
        say(answer.value());
        attempts_ = 0;
        beat();
        for (;;) {
            auto next = co_await gyre::with_timeout(silence_max, line());
            if (!next.ok()) co_return next.error();
            if (next.value() == "bye") co_return gyre::error{};
            say(next.value());
        }
    }

    gyre::task<gyre::io_result<std::string>> line() {
        const auto [error, size] = co_await asio::async_read_until(
            socket_, asio::dynamic_buffer(unread_, line_size_max), '\n', gyre::use_io_result);
        if (error) co_return error;
        std::string text = unread_.substr(0, size - 1);
        unread_.erase(0, size);
        co_return text;
    }
    // end of snippet

    void session_ended(gyre::error why) {
        if (status_ != done) return;
        if (!why) return end("done", done);
        lost(why == gyre::errc::timed_out        ? "silence"
             : why == gyre::errc::limit_exceeded ? "line too long"
                                                 : "the end");
    }

    void beat() {
        heart_.expires_after(beat_period);
        heart_.async_wait([this, session = sessions_](error_code canceled) {
            if (canceled || session != sessions_) return;  // It may have been on its way.
            asio::async_write(socket_, asio::buffer("ping\n", 5),
                              [this, session](error_code failure, std::size_t) {
                                  if (!failure && session == sessions_) beat();
                              });
        });
    }

    void lost(const char* why) {
        say(std::string{"lost: "} + why);
        ++sessions_;
        heart_.cancel();
        socket_.close();
        connect();
    }

    void end(const std::string& last_words, int status) {
        say(last_words);
        status_ = status;
        ++sessions_;
        heart_.cancel();
        socket_.close();
    }

    gyre::io_context& loop_;
    tcp::endpoint server_;
    std::string hello_;
    tcp::socket socket_;
    asio::steady_timer pause_;
    asio::steady_timer heart_;
    std::string unread_;
    int attempts_ = 0;
    int sessions_ = 0;
    int status_ = done;
};

int main(int count, char** arguments) {
    if (count != 3) return explain_use();
    const auto where = gyre::endpoint::parse(arguments[1]);
    if (!where.ok() || where.value().kind() != gyre::endpoint::family::v4) return explain_use();
    const tcp::endpoint server{asio::ip::address_v4{where.value().v4().bytes},
                               where.value().port()};

    // snippet: guest
    asio::io_context host;
    gyre::io_context loop;
    gyre::asio_guest guest{host, loop};

    follower it{guest, server, arguments[2]};
    it.start();
    host.run();
    // end of snippet
    return it.status();
}

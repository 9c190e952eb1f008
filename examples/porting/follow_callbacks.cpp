// SPDX-License-Identifier: BSL-1.0
//
// Step 1 of docs/guide/porting_from_asio.md: the program as it is found, in Asio's callbacks.
//
// Not a bad program: it has one object per connection, cancels what it must, and survives everything
// that its tests do to it. But to see what it does, read it in the order in which handlers run.
#include "follow.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using namespace follow;

class follower {
public:
    follower(asio::io_context& io, const tcp::endpoint& server, const std::string& name)
        : server_{server},
          hello_{"hello " + name + "\n"},
          socket_{io},
          pause_{io},
          heart_{io},
          silence_{io} {}

    void start() { connect(); }
    int status() const { return status_; }

private:
    // snippet: retry
    void connect() {
        socket_.async_connect(server_, [this](error_code failure) {
            if (!failure) return log_in();

            socket_.close();
            if (++attempts_ == attempts_max) return end("giving up", no_server);

            say("attempt " + std::to_string(attempts_) + " failed");
            pause_.expires_after(pause_after(attempts_));
            pause_.async_wait([this](error_code) { connect(); });
        });
    }
    // end of snippet

    // snippet: chain
    void log_in() {
        unread_.clear();
        asio::async_write(socket_, asio::buffer(hello_), [this](error_code failure, std::size_t) {
            if (failure) return lost("the end");
            hear_answer();
        });
    }

    void hear_answer() {
        asio::async_read_until(socket_, asio::dynamic_buffer(unread_, line_size_max), '\n',
                               [this](error_code failure, std::size_t size) {
                                   if (failure) return lost("the end");
                                   const std::string answer = take_line(size);
                                   if (answer != "welcome") {
                                       return end("refused: " + answer, refused);
                                   }
                                   say(answer);
                                   attempts_ = 0;
                                   beat();
                                   read_line();
                               });
    }
    // end of snippet

    // snippet: timer
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
    // end of snippet

    // snippet: cancellation
    void read_line() {
        silence_.expires_after(silence_max);
        silence_.async_wait([this, read = ++reads_](error_code canceled) {
            if (!canceled && read == reads_) silent_.emit(asio::cancellation_type::terminal);
        });
        const auto on_line = [this](error_code failure, std::size_t size) {
            ++reads_;  // The silence may be on its way already.
            silence_.cancel();
            if (failure == asio::error::operation_aborted) return lost("silence");
            if (failure == asio::error::not_found) return lost("line too long");
            if (failure) return lost("the end");
            use_line(take_line(size));
        };
        asio::async_read_until(socket_, asio::dynamic_buffer(unread_, line_size_max), '\n',
                               asio::bind_cancellation_slot(silent_.slot(), on_line));
    }
    // end of snippet

    void use_line(const std::string& line) {
        if (line == "bye") return end("done", done);
        say(line);
        read_line();
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

    std::string take_line(std::size_t size) {
        std::string line = unread_.substr(0, size - 1);
        unread_.erase(0, size);
        return line;
    }

    tcp::endpoint server_;
    std::string hello_;
    tcp::socket socket_;
    asio::steady_timer pause_;
    asio::steady_timer heart_;
    asio::steady_timer silence_;
    asio::cancellation_signal silent_;
    std::string unread_;
    int attempts_ = 0;
    int sessions_ = 0;
    int reads_ = 0;
    int status_ = done;
};

// snippet: errors
bool parse(std::string_view text, tcp::endpoint& server) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return false;

    error_code failure;
    const auto address = asio::ip::make_address(text.substr(0, colon), failure);
    if (failure) return false;

    std::uint16_t port = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return false;

    server = {address, port};
    return true;
}
// end of snippet

int main(int count, char** arguments) {
    tcp::endpoint server;
    if (count != 3 || !parse(arguments[1], server)) return explain_use();

    asio::io_context io;
    follower it{io, server, arguments[2]};
    it.start();
    io.run();
    return it.status();
}

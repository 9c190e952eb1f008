// SPDX-License-Identifier: BSL-1.0
//
// gyre as a guest in somebody else's loop: one thread, run by Boost.Asio.
//
// A gyre loop asks for two things only: to be polled when its descriptor is readable, and when its next
// deadline has come. That is all that `guest` does, so it can be copied for any other loop. Here an Asio
// server answers a gyre client, both on the main thread.
#include <gyre/gyre.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <cctype>
#include <cstdio>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Runs a gyre loop whenever it has something to do, until its last coroutine has ended.
class guest {
public:
    guest(asio::io_context& host, gyre::io_context& loop)
        : loop_{loop}, readable_{host}, due_{host} {}
    ~guest() { watch(-1); }

    void run() {
        loop_.poll();
        if (loop_.roots().empty()) return watch(-1);

        watch(loop_.native_wait_handle());  // Another one after a change of backend.
        if (!waiting_) {
            waiting_ = true;
            readable_.async_wait(asio::posix::stream_descriptor::wait_read, [this](auto failure) {
                waiting_ = false;
                if (!failure) run();
            });
        }
        if (loop_.next_deadline() == gyre::never) return;
        due_.expires_at(loop_.next_deadline());  // Ends the wait for the deadline before.
        due_.async_wait([this](auto failure) {
            if (!failure) run();
        });
    }

private:
    // Asio may watch the descriptor, but it stays gyre's: release() instead of close().
    void watch(int number) {
        if (readable_.is_open() && readable_.native_handle() == number) return;
        if (readable_.is_open()) readable_.release();
        if (number >= 0) readable_.assign(number);
        if (number < 0) due_.cancel();
    }

    gyre::io_context& loop_;
    asio::posix::stream_descriptor readable_;
    asio::steady_timer due_;
    bool waiting_ = false;
};

// The Asio side: answers each line in capitals.
class shouting_server {
public:
    explicit shouting_server(asio::io_context& host)
        : acceptor_{host, {asio::ip::address_v4::loopback(), 0}}, peer_{host} {
        acceptor_.async_accept(peer_, [this](auto failure) {
            if (!failure) answer_lines();
        });
    }
    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

private:
    void answer_lines() {
        asio::async_read_until(peer_, asio::dynamic_buffer(text_), '\n',
                               [this](auto failure, std::size_t) {
                                   if (!failure) answer();
                               });
    }
    void answer() {
        std::printf("asio: heard %s", text_.c_str());
        for (char& each : text_) {
            each = static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
        }
        asio::async_write(peer_, asio::buffer(text_), [this](auto failure, std::size_t) {
            text_.clear();
            if (!failure) answer_lines();
        });
    }

    asio::ip::tcp::acceptor acceptor_;
    asio::ip::tcp::socket peer_;
    std::string text_;
};

// The gyre side.
gyre::task<> whisper(std::uint16_t port) {
    const gyre::endpoint where{gyre::ipv4::loopback(), port};
    auto connected = co_await gyre::tcp_socket::connect(where);
    if (!connected.ok()) co_return;

    auto server = connected.take();
    gyre::buffered_reader from{server, 256};
    for (const std::string_view text : {"hello\n", "is anybody there?\n", "goodbye\n"}) {
        static_cast<void>(co_await gyre::write_all(server, gyre::bytes_of(text)));
        auto [error, answer] = co_await from.read_until("\n");
        if (error) co_return;

        std::printf("gyre: answer %s", std::string{gyre::text_of(answer)}.c_str());
        from.consume(answer.size());
        static_cast<void>(co_await gyre::sleep_for(5ms));  // Kept by an Asio timer.
    }
    std::printf("gyre: done\n");
}

int main() {
    asio::io_context host;
    gyre::io_context loop;
    shouting_server server{host};
    guest gyre_guest{host, loop};

    gyre::launch(loop, whisper(server.port()), gyre::or_terminate{});
    gyre_guest.run();
    host.run();  // Returns when the client has closed, the server with it, and nothing waits any more.
}

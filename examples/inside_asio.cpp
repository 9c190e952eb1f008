// SPDX-License-Identifier: BSL-1.0
//
// gyre as a guest in another framework's loop: one thread, run by Boost.Asio.
//
// `asio_guest` polls a gyre loop from Asio's whenever it has something to do, so both kinds of code share
// a thread. Here an Asio server, written in callbacks, answers a gyre client. How to do the same inside
// another loop can be read in gyre/interop/asio_guest.hpp.
#include <gyre/gyre.hpp>
#include <gyre/interop/asio.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <cctype>
#include <cstdio>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

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

// The gyre side: its socket and its first pause are gyre's, the second pause is a timer of Asio's.
gyre::task<gyre::io_result<>> whisper(asio::io_context& host, std::uint16_t port) {
    const gyre::endpoint where{gyre::ipv4::loopback(), port};
    auto connected = co_await gyre::tcp_socket::connect(where);
    if (!connected.ok()) co_return connected.error();

    auto server = connected.take();
    gyre::buffered_reader from{server, 256};
    asio::steady_timer pause{host};
    for (const std::string_view text : {"hello\n", "is anybody there?\n", "goodbye\n"}) {
        auto [failure, sent] = co_await gyre::write_all(server, gyre::bytes_of(text));
        if (failure) co_return failure;
        auto [error, answer] = co_await from.read_until("\n");
        if (error) co_return error;

        std::printf("gyre: answer %s", std::string{gyre::text_of(answer)}.c_str());
        from.consume(answer.size());
        static_cast<void>(co_await gyre::sleep_for(5ms));
        pause.expires_after(5ms);  // A timer of Asio's.
        const auto waited = co_await pause.async_wait(gyre::use_io_result);
        if (!waited.ok()) co_return waited.error();
    }
    std::printf("gyre: done\n");
    co_return gyre::io_result<>{};
}

int main() {
    asio::io_context host;
    gyre::io_context loop;
    gyre::asio_guest guest{host, loop};  // The thread that runs the host runs the loop, too.

    shouting_server server{host};
    gyre::error failed;
    const auto on_end = [&](gyre::task_outcome<gyre::io_result<>> outcome) {
        failed = outcome.get().error();
        if (failed) host.stop();  // The server may still wait for this client.
    };
    gyre::launch(loop, whisper(host, server.port()), on_end);
    host.run();  // Returns when the client has closed, the server with it, and nothing waits any more.
    if (!failed) return 0;
    std::fprintf(stderr, "gyre: %s\n", failed.message().c_str());
    return 1;
}

// SPDX-License-Identifier: BSL-1.0
//
// The least a Boost.Asio echo server with completion handlers can be: a session lives as long as a handler
// of its holds it, which is how Asio's own examples do it.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/write.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

class session : public std::enable_shared_from_this<session> {
public:
    explicit session(tcp::socket peer) : peer_{std::move(peer)} {}

    void read() {
        peer_.async_read_some(asio::buffer(space_),
                              [self = shared_from_this()](error_code failed, std::size_t size) {
                                  if (!failed) self->write(size);
                              });
    }

private:
    void write(std::size_t size) {
        asio::async_write(peer_, asio::buffer(space_, size),
                          [self = shared_from_this()](error_code failed, std::size_t) {
                              if (!failed) self->read();
                          });
    }

    tcp::socket peer_;
    char space_[4096];
};

void accept_all(tcp::acceptor& acceptor) {
    acceptor.async_accept([&acceptor](error_code failed, tcp::socket peer) {
        if (failed) return;
        peer.set_option(tcp::no_delay{true});
        std::make_shared<session>(std::move(peer))->read();
        accept_all(acceptor);
    });
}

int main(int, char** arguments) {
    const auto port = static_cast<asio::ip::port_type>(std::atoi(arguments[1]));
    asio::io_context loop{1};
    asio::signal_set signals{loop, SIGINT, SIGTERM};
    signals.async_wait([&](auto, auto) { loop.stop(); });
    tcp::acceptor acceptor{loop, {asio::ip::address_v4::loopback(), port}};
    std::printf("%d\n", acceptor.local_endpoint().port());
    std::fflush(stdout);
    accept_all(acceptor);
    loop.run();
}

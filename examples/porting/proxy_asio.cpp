// SPDX-License-Identifier: BSL-1.0
//
// What examples/port_forwarder.cpp does, on coroutines of Boost.Asio: docs/guide/beside_asio.md.
//
//     proxy_asio 127.0.0.1:8000 192.0.2.7:80
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

constexpr std::size_t sessions_max = 10'000;
constexpr auto silence_max = 10min;
constexpr auto grace = 1s;
constexpr auto result = asio::as_tuple(asio::use_awaitable);

class silence {
public:
    using clock = asio::steady_timer::clock_type;

    void push_back() { deadline_ = clock::now() + silence_max; }

    asio::awaitable<void> wait() {
        asio::steady_timer timer{co_await asio::this_coro::executor};
        while (clock::now() < deadline_) {
            timer.expires_at(deadline_);
            const auto [stopped] = co_await timer.async_wait(result);
            if (stopped) co_return;
        }
    }

private:
    clock::time_point deadline_ = clock::now() + silence_max;
};

// The end of `from` is passed on; a failure ends the other direction, too.
asio::awaitable<void> copy(tcp::socket& from, tcp::socket& to, silence& since) {
    std::vector<char> space(32 * 1024);
    error_code ignored;
    for (;;) {
        const auto [failed, size] = co_await from.async_read_some(asio::buffer(space), result);
        if (failed == asio::error::eof) break;
        since.push_back();
        error_code refused = failed;
        if (!refused) {
            const auto [unsent, sent] =
                co_await asio::async_write(to, asio::buffer(space.data(), size), result);
            refused = unsent;
        }
        if (refused) {
            from.close(ignored);
            to.close(ignored);
            co_return;
        }
        since.push_back();
    }
    to.shutdown(tcp::socket::shutdown_send, ignored);
}

asio::awaitable<void> forward(tcp::socket client, tcp::endpoint target) {
    tcp::socket server{client.get_executor()};
    asio::steady_timer limit{client.get_executor(), 10s};
    const auto connected =
        co_await (server.async_connect(target, result) || limit.async_wait(result));
    if (connected.index() == 1 || std::get<0>(std::get<0>(connected))) co_return;

    error_code ignored;
    client.set_option(tcp::no_delay{true}, ignored);
    server.set_option(tcp::no_delay{true}, ignored);
    silence since;
    co_await ((copy(client, server, since) && copy(server, client, since)) || since.wait());
}

class proxy {
public:
    proxy(asio::io_context& io, tcp::endpoint target)
        : io_{io},
          acceptor_{io},
          signals_{io, SIGINT, SIGTERM},
          place_{io},
          over_{io},
          target_{target} {}

    error_code listen(const tcp::endpoint& local) {
        error_code failed;
        acceptor_.open(local.protocol(), failed);
        if (!failed) acceptor_.set_option(tcp::acceptor::reuse_address{true}, failed);
        if (!failed) acceptor_.bind(local, failed);
        if (!failed) acceptor_.listen(asio::socket_base::max_listen_connections, failed);
        return failed;
    }

    tcp::endpoint local() const { return acceptor_.local_endpoint(); }

    asio::awaitable<void> accept() {
        while (!draining_) {
            if (sessions_ == sessions_max) {
                place_.expires_at(asio::steady_timer::time_point::max());
                co_await place_.async_wait(result);
                continue;
            }
            auto [failed, client] = co_await acceptor_.async_accept(result);
            if (!failed) {
                begin(std::move(client));
            } else if (!draining_) {  // As where descriptors are exhausted.
                place_.expires_after(100ms);
                co_await place_.async_wait(result);
            }
        }
    }

    // Until a signal, then until the sessions have ended, or the grace has.
    asio::awaitable<void> serve() {
        co_await signals_.async_wait(result);
        draining_ = true;
        signals_.async_wait([](error_code failed, int signal) {
            if (!failed) std::_Exit(128 + signal);
        });
        error_code ignored;
        acceptor_.close(ignored);
        place_.cancel();
        over_.expires_after(grace);
        if (sessions_ > 0) co_await over_.async_wait(result);
        io_.stop();
    }

private:
    void begin(tcp::socket client) {
        ++sessions_;
        asio::co_spawn(io_, forward(std::move(client), target_), [this](std::exception_ptr) {
            --sessions_;
            if (!draining_) place_.cancel();
            if (draining_ && sessions_ == 0) over_.cancel();
        });
    }

    asio::io_context& io_;
    tcp::acceptor acceptor_;
    asio::signal_set signals_;
    asio::steady_timer place_;  // Cancelled when one is free.
    asio::steady_timer over_;   // Cancelled when the last session has ended.
    tcp::endpoint target_;
    std::size_t sessions_ = 0;
    bool draining_ = false;
};

std::optional<tcp::endpoint> parse(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string host{text.substr(0, colon)};
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    error_code failed;
    const auto address = asio::ip::make_address(host, failed);
    const int port = std::atoi(text.data() + colon + 1);
    if (failed || port < 0 || port > 65535) return std::nullopt;
    return tcp::endpoint{address, static_cast<unsigned short>(port)};
}

int main(int count, char** arguments) {
    const auto local = parse(count == 3 ? arguments[1] : "");
    const auto target = parse(count == 3 ? arguments[2] : "");
    if (!local || !target) {
        std::fprintf(stderr, "usage: proxy_asio ADDRESS:PORT TARGET_ADDRESS:PORT\n");
        return 2;
    }
    asio::io_context io{1};
    proxy it{io, *target};
    if (const error_code failed = it.listen(*local)) {
        std::fprintf(stderr, "proxy_asio: listen: %s\n", failed.message().c_str());
        return 1;
    }
    std::cout << "listening on " << it.local() << std::endl;
    asio::co_spawn(io, it.accept(), asio::detached);
    asio::co_spawn(io, it.serve(), asio::detached);
    io.run();
}

// SPDX-License-Identifier: BSL-1.0
//
// Short connections with handlers: what a client or a session needs lives in one object.
//
// Clients are as many as begin at once, and are used again for the next burst; sessions are made for
// each connection and end themselves, as servers do it.
#include <lab/in_process/asio/library.hpp>
#include <lab/in_process/sessions.hpp>

#include <lab/kit/fail.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>

namespace {

namespace asio = boost::asio;

using asio_lab::buffer_of;
using asio_lab::error_code;
using asio_lab::library;
using asio_lab::stream;
using port = library::port;

// What clients and sessions share.
struct churn {
    churn(asio::io_context& on, const lab::churn_case& what)
        : context{on}, work{what}, ports{library::listen(on, what.listeners)} {}

    [[nodiscard]] bool http() const noexcept { return work.play == lab::churn_play::http_1_0; }

    asio::io_context& context;
    lab::churn_case work;
    std::deque<port> ports;
    lab::byte_tally tally{};
};

// Connects, sends and receives a byte, and closes both ends, by itself.
class lone_actor {
public:
    explicit lone_actor(churn& all) : all_{all}, client_{all.context}, server_{all.context} {}

    void begin(std::uint64_t connections, lab::histogram& latency) {
        left_ = connections;
        timer_.emplace(latency);
        next();
    }

private:
    void next() {
        if (left_-- == 0) return;
        port& at = all_.ports[turn_++ % all_.ports.size()];
        library::open(client_);
        client_.async_connect(at.address, [this, &at](error_code error) {
            lab::require(!error, "asio: connect");
            accept(at);
        });
    }

    void accept(port& at) {
        at.listening.async_accept(server_, [this](error_code error) {
            lab::require(!error, "asio: accept");
            send();
        });
    }

    void send() {
        byte_ = all_.tally.next();
        client_.async_write_some(buffer_of(std::span<const std::byte>{byte_}),
                                 [this](error_code error, std::size_t) {
                                     lab::require(!error, "asio: write");
                                     receive();
                                 });
    }

    void receive() {
        server_.async_read_some(buffer_of(std::span<std::byte>{arrived_}),
                                [this](error_code error, std::size_t) {
                                    lab::require(!error, "asio: read");
                                    all_.tally.received(arrived_);
                                    server_.close();
                                    client_.close();
                                    timer_->lap();
                                    next();
                                });
    }

    churn& all_;
    stream client_;
    stream server_;
    std::size_t turn_ = 0;
    std::array<std::byte, 1> byte_{};
    std::array<std::byte, 1> arrived_{};
    std::optional<lab::lap_timer> timer_;
    std::uint64_t left_ = 0;
};

// The server's end of one connection; owns itself until it has answered.
class session {
public:
    static void begin(stream socket, churn& all) {
        auto* it = new session{std::move(socket), all};
        it->read();
    }

private:
    session(stream socket, churn& all) : socket_{std::move(socket)}, all_{all} {}

    void read() {
        const auto space = all_.http() ? request_.space() : std::span<std::byte>{arrived_};
        socket_.async_read_some(buffer_of(space), [this](error_code error, std::size_t size) {
            lab::require(!error, "asio: read");
            if (all_.http()) return answer_after(size);
            all_.tally.received(arrived_);
            delete this;
        });
    }

    void answer_after(std::size_t size) {
        if (!request_.received(size)) return read();
        write(lab::bytes_of(lab::http_1_0_response));
    }

    void write(std::span<const std::byte> rest) {
        socket_.async_write_some(buffer_of(rest), [this, rest](error_code error, std::size_t size) {
            lab::require(!error, "asio: write");
            if (size < rest.size()) return write(rest.subspan(size));
            delete this;
        });
    }

    stream socket_;
    churn& all_;
    std::array<std::byte, 1> arrived_{};
    lab::http_inbox request_{lab::http_1_0_request};
};

void accept_next(churn& all, std::uint64_t left) {
    if (left == 0) return;
    all.ports.front().listening.async_accept([&all, left](error_code error, stream accepted) {
        lab::require(!error, "asio: accept");
        session::begin(std::move(accepted), all);
        accept_next(all, left - 1);
    });
}

// A client; `Over` is called when its connection is over.
template <class Over>
class client {
public:
    client(churn& all, Over over) : all_{all}, over_{over}, socket_{all.context} {}

    void begin() {
        library::open(socket_);
        socket_.async_connect(all_.ports.front().address, [this](error_code error) {
            lab::require(!error, "asio: connect");
            if (all_.http()) return write(lab::bytes_of(lab::http_1_0_request));
            byte_ = all_.tally.next();
            write(byte_);
        });
    }

private:
    void write(std::span<const std::byte> rest) {
        socket_.async_write_some(buffer_of(rest), [this, rest](error_code error, std::size_t size) {
            lab::require(!error, "asio: write");
            if (size < rest.size()) return write(rest.subspan(size));
            if (all_.http()) return read_response();
            expect_end();
        });
    }

    void read_response() {
        socket_.async_read_some(buffer_of(response_.space()),
                                [this](error_code error, std::size_t size) {
                                    lab::require(!error, "asio: read");
                                    if (!response_.received(size)) return read_response();
                                    expect_end();
                                });
    }

    void expect_end() {
        socket_.async_read_some(
            buffer_of(std::span<std::byte>{byte_}), [this](error_code error, std::size_t) {
                lab::require(error == asio::error::eof, "asio: more came than was sent");
                socket_.close();
                over_();
            });
    }

    churn& all_;
    Over over_;
    stream socket_;
    std::array<std::byte, 1> byte_{};
    lab::http_inbox response_{lab::http_1_0_response};
};

// Begins the next burst when the last connection of one is over.
class bursts {
public:
    explicit bursts(churn& all) : all_{all} {
        for (std::size_t i = 0; i < all.work.at_once; ++i) clients_.emplace_back(all, ended{this});
    }

    void begin(std::uint64_t connections, lab::histogram& latency) {
        left_ = connections;
        timer_.emplace(latency);
        accept_next(all_, connections);
        next();
    }

private:
    struct ended {
        bursts* of;
        void operator()() const { of->client_ended(); }
    };

    void next() {
        if (left_ == 0) return;
        left_ -= clients_.size();
        under_way_ = clients_.size();
        timer_->begin();
        for (auto& each : clients_) each.begin();
    }

    void client_ended() {
        timer_->over();
        if (--under_way_ == 0) next();
    }

    churn& all_;
    std::deque<client<ended>> clients_;
    std::optional<lab::burst_timer> timer_;
    std::uint64_t left_ = 0;
    std::size_t under_way_ = 0;
};

// A player with what it plays on.
template <class Player>
class own_churn {
public:
    own_churn(asio::io_context& context, const lab::churn_case& work)
        : all_{context, work}, player_{all_} {}

    void begin(std::uint64_t connections, lab::histogram& latency) {
        player_.begin(connections, latency);
    }

    void check() const { all_.tally.check(); }

private:
    churn all_;
    Player player_;
};

}  // namespace

lab::preparation asio_lab::prepare(layout how, const lab::churn_case& work) {
    if (work.play == lab::churn_play::one_actor) {
        return lab::prepared<lab::churn_session<library, own_churn<lone_actor>>>(how, work);
    }
    return lab::prepared<lab::churn_session<library, own_churn<bursts>>>(how, work);
}

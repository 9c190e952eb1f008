// SPDX-License-Identifier: BSL-1.0
//
// Short connections with handlers: what a client or a session needs lives in one object.
//
// Clients are as many as begin at once, and are used again for the next burst; sessions are made for
// each connection and end themselves, as servers do it.
#pragma once

#include <lab/in_process/asio_callback/chains.hpp>

#include <lab/kit/fail.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>

namespace asio_lab {

class churn_handlers {
public:
    churn_handlers(asio::io_context& on, const lab::churn_case& what)
        : context_{on}, work_{what}, ports_{library::listen(on, what.listeners)} {
        for (std::size_t i = 0; i < what.at_once; ++i) clients_.emplace_back(*this);
    }

    void begin(std::uint64_t connections, lab::slice& now) {
        left_ = connections;
        timer_.emplace(now.latency);
        if (work_.play == lab::churn_play::one_actor) return play_alone();
        accept_next(connections);
        begin_burst();
    }

    void end(lab::slice&) const { tally_.check(); }

private:
    [[nodiscard]] bool http() const noexcept { return work_.play == lab::churn_play::http_1_0; }

    // Connects, sends and receives a byte, and closes both ends, by itself.
    void play_alone() {
        if (left_-- == 0) return;
        library::port& at = ports_[turn_++ % ports_.size()];
        stream& socket = clients_.front().socket;
        library::open(socket);
        socket.async_connect(at.address, [this, &at, &socket](error_code failed) {
            lab::require(!failed, "asio: connect");
            at.listening.async_accept(server_, [this, &socket](error_code error) {
                lab::require(!error, "asio: accept");
                byte_ = tally_.next();
                send_all(socket, byte_, [this, &socket] {
                    receive_all(server_, arrived_, [this, &socket] {
                        tally_.received(arrived_);
                        server_.close();
                        socket.close();
                        timer_->lap();
                        play_alone();
                    });
                });
            });
        });
    }

    // The server's end of one connection; owns itself until it has answered.
    struct session {
        session(stream accepted, churn_handlers& of) : socket{std::move(accepted)}, all{of} {}

        void answer() {
            if (all.http()) {
                return receive_message(socket, request, [this] {
                    send_all(socket, lab::bytes_of(lab::http_1_0_response),
                             [this] { delete this; });
                });
            }
            receive_all(socket, arrived, [this] {
                all.tally_.received(arrived);
                delete this;
            });
        }

        stream socket;
        churn_handlers& all;
        std::array<std::byte, 1> arrived{};
        lab::http_inbox request{lab::http_1_0_request};
    };

    void accept_next(std::uint64_t left) {
        if (left == 0) return;
        ports_.front().listening.async_accept([this, left](error_code error, stream accepted) {
            lab::require(!error, "asio: accept");
            (new session{std::move(accepted), *this})->answer();
            accept_next(left - 1);
        });
    }

    struct client {
        explicit client(churn_handlers& of) : all{of}, socket{of.context_} {}

        void begin() {
            library::open(socket);
            socket.async_connect(all.ports_.front().address, [this](error_code error) {
                lab::require(!error, "asio: connect");
                if (all.http()) {
                    return send_all(socket, lab::bytes_of(lab::http_1_0_request), [this] {
                        receive_message(socket, response, [this] { expect_end(); });
                    });
                }
                byte = all.tally_.next();
                send_all(socket, byte, [this] { expect_end(); });
            });
        }

        void expect_end() {
            socket.async_read_some(
                buffer_of(std::span<std::byte>{byte}), [this](error_code error, std::size_t) {
                    lab::require(error == asio::error::eof, "asio: more came than was sent");
                    socket.close();
                    all.client_ended();
                });
        }

        churn_handlers& all;
        stream socket;
        std::array<std::byte, 1> byte{};
        lab::http_inbox response{lab::http_1_0_response};
    };

    void begin_burst() {
        if (left_ == 0) return;
        left_ -= clients_.size();
        under_way_ = clients_.size();
        timer_->begin();
        for (client& each : clients_) each.begin();
    }

    // The last one of a burst begins the next.
    void client_ended() {
        timer_->over();
        if (--under_way_ == 0) begin_burst();
    }

    asio::io_context& context_;
    lab::churn_case work_;
    std::deque<library::port> ports_;
    lab::byte_tally tally_;
    std::uint64_t left_ = 0;
    std::optional<lab::lap_timer> timer_;

    stream server_{context_};
    std::size_t turn_ = 0;
    std::array<std::byte, 1> byte_{};
    std::array<std::byte, 1> arrived_{};

    std::deque<client> clients_;
    std::size_t under_way_ = 0;
};

}  // namespace asio_lab

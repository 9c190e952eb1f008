// SPDX-License-Identifier: BSL-1.0
//
// Ping-pong with handlers: a round is a chain of four, or each side has a chain of its own.
#include <lab/in_process/asio_callback/chains.hpp>
#include <lab/in_process/sessions.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace {

using asio_lab::receive_all;
using asio_lab::send_all;

class ping_pong_pair {
public:
    ping_pong_pair(boost::asio::io_context& context, const lab::latency_case& work)
        : sockets_{context, work.via},
          played_by_{work.played_by},
          message_{work.message_bytes},
          at_server_(work.message_bytes) {}

    void begin(std::uint64_t rounds, lab::histogram& latency) {
        timer_.emplace(latency);
        rounds_left_ = rounds;
        if (played_by_ == lab::ping_pong::one_actor) return play_round();

        server_rounds_left_ = rounds;
        answer();
        ask();
    }

private:
    void play_round() {
        if (rounds_left_-- == 0) return;
        send_all(sockets_.client, message_.next(), [this] {
            receive_all(sockets_.server, at_server_, [this] {
                send_all(sockets_.server, at_server_, [this] {
                    receive_all(sockets_.client, message_.reply_space(), [this] {
                        finish_round();
                        play_round();
                    });
                });
            });
        });
    }

    void ask() {
        if (rounds_left_-- == 0) return;
        send_all(sockets_.client, message_.next(), [this] {
            receive_all(sockets_.client, message_.reply_space(), [this] {
                finish_round();
                ask();
            });
        });
    }

    void answer() {
        if (server_rounds_left_-- == 0) return;
        receive_all(sockets_.server, at_server_,
                    [this] { send_all(sockets_.server, at_server_, [this] { answer(); }); });
    }

    void finish_round() {
        message_.check_reply();
        timer_->lap();
    }

    asio_lab::library::stream_pair sockets_;
    lab::ping_pong played_by_;
    lab::ping message_;
    std::vector<std::byte> at_server_;
    std::optional<lab::lap_timer> timer_;
    std::uint64_t rounds_left_ = 0;
    std::uint64_t server_rounds_left_ = 0;
};

}  // namespace

lab::preparation asio_lab::prepare(layout how, const lab::latency_case& work) {
    return lab::prepared<lab::rounds_session<library, ping_pong_pair>>(how, work.pairs, work);
}

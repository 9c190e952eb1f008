// SPDX-License-Identifier: BSL-1.0
//
// Boost.Asio as its fastest users write it: completion handlers, no coroutine. Players with streams are
// here, the others have a file each.
//
// Every handler captures little enough for Asio's recycling allocator, which it gives to handlers
// without one of their own, and reads and writes are resumed by hand instead of through the composed
// operations. Handlers of one chain follow each other, so connections need no strand even where any thread
// may run any handler. ../asio/library.hpp has the rest of the configuration. See
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/core/allocation.html
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/reference/recycling_allocator.html
#include <lab/in_process/asio/contender.hpp>
#include <lab/in_process/asio_callback/chains.hpp>
#include <lab/in_process/asio_callback/churn.hpp>
#include <lab/in_process/asio_callback/dispatch.hpp>
#include <lab/in_process/asio_callback/fan_out.hpp>
#include <lab/in_process/asio_callback/timers.hpp>

#include <lab/kit/fail.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace {

using asio_lab::buffer_of;
using asio_lab::error_code;
using asio_lab::receive_all;
using asio_lab::receive_message;
using asio_lab::send_all;

// A round is a chain of four handlers, or each side has a chain of its own.
class ping_pong_handlers : public lab::no_end {
public:
    ping_pong_handlers(boost::asio::io_context& context, const lab::latency_case& work)
        : sockets_{context, work.via},
          alone_{work.played_by == lab::ping_pong::one_actor},
          message_{work.message_bytes},
          at_server_(work.message_bytes) {}

    void begin(std::uint64_t rounds, lab::slice& now) {
        timer_.emplace(now.latency);
        rounds_left_ = answers_left_ = rounds;
        if (!alone_) answer();
        ask();
    }

private:
    void ask() {
        if (rounds_left_-- == 0) return;
        send_all(sockets_.client, message_.next(), [this] { alone_ ? answer() : receive_reply(); });
    }

    void answer() {
        receive_all(sockets_.server, at_server_, [this] {
            send_all(sockets_.server, at_server_, [this] {
                if (alone_) return receive_reply();
                if (--answers_left_ > 0) answer();
            });
        });
    }

    void receive_reply() {
        receive_all(sockets_.client, message_.reply_space(), [this] {
            message_.check_reply();
            timer_->lap();
            ask();
        });
    }

    asio_lab::library::stream_pair sockets_;
    bool alone_;
    lab::ping message_;
    std::vector<std::byte> at_server_;
    std::optional<lab::lap_timer> timer_;
    std::uint64_t rounds_left_ = 0;
    std::uint64_t answers_left_ = 0;
};

class http_handlers : public lab::no_end {
public:
    explicit http_handlers(boost::asio::io_context& context)
        : sockets_{context, lab::transport::tcp} {}

    void begin(std::uint64_t requests, lab::slice& now) {
        timer_.emplace(now.latency);
        to_ask_ = requests;
        to_answer_ = requests;
        answer();
        ask();
    }

private:
    void ask() {
        if (to_ask_-- == 0) return;
        send_all(sockets_.client, lab::bytes_of(lab::http_request), [this] {
            receive_message(sockets_.client, responses_, [this] {
                timer_->lap();
                ask();
            });
        });
    }

    void answer() {
        if (to_answer_-- == 0) return;
        receive_message(sockets_.server, requests_, [this] {
            send_all(sockets_.server, lab::bytes_of(lab::http_response), [this] { answer(); });
        });
    }

    asio_lab::library::stream_pair sockets_;
    lab::http_inbox requests_{lab::http_request};
    lab::http_inbox responses_{lab::http_response};
    std::optional<lab::lap_timer> timer_;
    std::uint64_t to_ask_ = 0;
    std::uint64_t to_answer_ = 0;
};

// Two independent chains.
struct handlers_of_direction {
    void begin() {
        write();
        read();
    }

    void write() {
        const auto next = outgoing.next();
        if (next.empty()) return;

        from.async_write_some(buffer_of(next), [this](error_code error, std::size_t size) {
            lab::require(!error, "asio: write");
            outgoing.sent(size);
            write();
        });
    }

    void read() {
        const auto space = incoming.space();
        if (space.empty()) return;

        to.async_read_some(buffer_of(space), [this](error_code error, std::size_t size) {
            lab::require(!error, "asio: read");
            incoming.received(size);
            read();
        });
    }

    boost::asio::io_context& context;
    asio_lab::stream& from;
    asio_lab::stream& to;
    lab::outgoing_stream outgoing;
    lab::incoming_stream incoming;
};

struct players : asio_lab::library {
    using items = asio_lab::handlers;
    using ping_pong_pair = ping_pong_handlers;
    using http_connection = http_handlers;
    using direction = handlers_of_direction;
    using churn = asio_lab::churn_handlers;
    using one_timer = asio_lab::one_timer;
    using crowd = lab::player_session<asio_lab::library, asio_lab::crowd>;
    using pushing = asio_lab::pushing;
    using parents = asio_lab::parents;
};

}  // namespace

lab::contender lab::make_contender(std::string_view backend) {
    return asio_lab::make<players>("asio_callback", backend);
}

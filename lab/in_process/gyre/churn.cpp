// SPDX-License-Identifier: BSL-1.0
//
// Short connections as gyre's users serve them: an accept loop, a coroutine for each connection.
//
// `gyre::serve` would add its bound, its counters and its drain; like the others' servers, this one
// knows how many connections will come.
#include <lab/in_process/gyre/contender.hpp>

#include <lab/kit/fail.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/task_group.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using gyre::stream_socket;
using gyre::task;

struct port {
    gyre::tcp_acceptor acceptor;
    gyre::endpoint address;
};

struct churn {
    churn(gyre::io_context& loop, const lab::churn_case& what) : work{what} {
        for (lab::listener& each : lab::listen_on_loopback(work.listeners)) {
            ports.push_back({gyre::tcp_acceptor::adopt(loop, each.socket.release()),
                             gyre::endpoint{gyre::ipv4::loopback(), each.port()}});
        }
    }

    port& next_port() { return ports[next++ % ports.size()]; }

    lab::churn_case work;
    std::vector<port> ports;
    std::size_t next = 0;
    lab::byte_tally tally;
};

stream_socket client_of(gyre::io_result<stream_socket> connected) {
    lab::require(connected.ok(), "gyre: connect");
    stream_socket client = connected.take();
    lab::set_reset_on_close(client.native_handle());
    return client;
}

// Parameters of coroutines in this file are borrowed if they are references: they outlive the run of
// the loop.

task<> play_alone(churn& all, std::uint64_t connections, lab::histogram& latency) {
    lab::lap_timer timer{latency};
    for (std::uint64_t i = 0; i < connections; ++i) {
        port& at = all.next_port();
        auto connected = co_await stream_socket::connect(at.address);
        stream_socket client = client_of(std::move(connected));
        auto accepted = co_await at.acceptor.accept();
        lab::require(accepted.ok(), "gyre: accept");
        stream_socket server = accepted.take();

        const auto byte = all.tally.next();
        const auto sent = co_await client.write_some(std::span{byte});
        std::array<std::byte, 1> arrived;
        const auto got = co_await server.read_some(std::span{arrived});
        lab::require(sent.ok() && got.ok(), "gyre: a byte was lost");
        all.tally.received(arrived);

        lab::require(server.close().ok() && client.close().ok(), "gyre: close");
        timer.lap();
    }
}

task<> receive_message(stream_socket& from, std::string_view expected) {
    lab::http_inbox inbox{expected};
    for (bool complete = false; !complete;) {
        const auto got = co_await from.read_some(inbox.space());
        lab::require(got.ok(), "gyre: a message ended early");
        complete = inbox.received(got.value());
    }
}

task<> expect_end(stream_socket& from) {
    std::array<std::byte, 1> space;
    const auto got = co_await from.read_some(std::span{space});
    lab::require(got.error() == gyre::errc::eof, "gyre: more came than was sent");
}

task<> bring_byte(churn& all, port& at, lab::burst_timer& timer) {
    auto connected = co_await stream_socket::connect(at.address);
    stream_socket client = client_of(std::move(connected));
    const auto byte = all.tally.next();
    const auto sent = co_await client.write_some(std::span{byte});
    lab::require(sent.ok(), "gyre: a byte was lost");

    std::array<std::byte, 1> space;
    const auto ended = co_await client.read_some(std::span{space});
    lab::require(ended.error() == gyre::errc::eof, "gyre: more came than was sent");
    lab::require(client.close().ok(), "gyre: close");
    timer.over();
}

task<> take_byte(churn& all, stream_socket peer) {
    std::array<std::byte, 1> arrived;
    const auto got = co_await peer.read_some(std::span{arrived});
    lab::require(got.ok(), "gyre: a byte was lost");
    all.tally.received(arrived);
}

task<> ask(port& at, lab::burst_timer& timer) {
    auto connected = co_await stream_socket::connect(at.address);
    stream_socket client = client_of(std::move(connected));
    const auto asked = co_await gyre::write_all(client, lab::bytes_of(lab::http_1_0_request));
    lab::require(asked.ok(), "gyre: a request was lost");
    co_await receive_message(client, lab::http_1_0_response);
    co_await expect_end(client);
    lab::require(client.close().ok(), "gyre: close");
    timer.over();
}

task<> answer(stream_socket peer) {
    co_await receive_message(peer, lab::http_1_0_request);
    const auto answered = co_await gyre::write_all(peer, lab::bytes_of(lab::http_1_0_response));
    lab::require(answered.ok(), "gyre: a response was lost");
}

void begin_session(gyre::task_group& sessions, churn& all, stream_socket peer) {
    if (all.work.play == lab::churn_play::http_1_0) {
        sessions.spawn(answer(std::move(peer)));
    } else {
        sessions.spawn(take_byte(all, std::move(peer)));
    }
}

void begin_client(gyre::task_group& clients, churn& all, lab::burst_timer& timer) {
    port& at = all.next_port();
    if (all.work.play == lab::churn_play::http_1_0) {
        clients.spawn(ask(at, timer));
    } else {
        clients.spawn(bring_byte(all, at, timer));
    }
}

// Bursts go to one port.
task<> serve_bursts(churn& all, std::uint64_t connections) {
    const auto body = [&](gyre::task_group& sessions) -> task<> {
        for (std::uint64_t i = 0; i < connections; ++i) {
            auto accepted = co_await all.ports.front().acceptor.accept();
            lab::require(accepted.ok(), "gyre: accept");
            begin_session(sessions, all, accepted.take());
        }
    };
    co_await gyre::with_group(body);
}

task<> send_bursts(churn& all, std::uint64_t connections, lab::histogram& latency) {
    const auto body = [&](gyre::task_group& clients) -> task<> {
        lab::burst_timer timer{latency};
        for (std::uint64_t done = 0; done < connections; done += all.work.at_once) {
            timer.begin();
            for (std::size_t i = 0; i < all.work.at_once; ++i) {
                begin_client(clients, all, timer);
            }
            co_await clients.join();
        }
    };
    co_await gyre::with_group(body);
}

class churn_session final : public gyre_lab::loop_session {
public:
    churn_session(const gyre_lab::options& how, const lab::churn_case& work)
        : loop_session{how}, all_{loop_, work} {}

    void play(lab::slice& now) override {
        if (all_.work.play == lab::churn_play::one_actor) {
            launch(loop_, play_alone(all_, now.operations, now.latency), gyre::or_terminate{});
        } else {
            launch(loop_, serve_bursts(all_, now.operations), gyre::or_terminate{});
            launch(loop_, send_bursts(all_, now.operations, now.latency), gyre::or_terminate{});
        }
        loop_.run();
        all_.tally.check();
        now.done = now.latency.count();
    }

private:
    churn all_;
};

}  // namespace

lab::preparation gyre_lab::prepare(const options& loop, const lab::churn_case& work) {
    return lab::prepared<churn_session>(loop, work);
}

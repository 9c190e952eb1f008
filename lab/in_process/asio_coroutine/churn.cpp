// SPDX-License-Identifier: BSL-1.0
//
// Short connections with Asio's coroutines: one for each client and one for each session.
//
// The next burst is begun by the completion handler of the last client, which costs less than a
// coroutine that waits for a counter.
#include <lab/in_process/asio/sessions.hpp>
#include <lab/in_process/asio_coroutine/spawn.hpp>

#include <lab/kit/fail.hpp>

#include <boost/asio/as_tuple.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace {

namespace asio = boost::asio;

using asio_lab::buffer_of;
using asio_lab::port;
using asio_lab::stream;
using asio_lab::task;

struct churn {
    churn(asio::io_context& on, const lab::churn_case& what)
        : context{on}, work{what}, ports{asio_lab::listen(on, what.listeners)} {}

    [[nodiscard]] bool http() const noexcept { return work.play == lab::churn_play::http_1_0; }
    port& next_port() { return ports[next++ % ports.size()]; }

    asio::io_context& context;
    lab::churn_case work;
    std::deque<port> ports;
    std::size_t next = 0;
    lab::byte_tally tally{};
};

// Parameters of coroutines in this file are borrowed if they are references: they outlive the run of
// the loop.

task play_alone(churn& all, std::uint64_t connections, lab::histogram& latency) {
    lab::lap_timer timer{latency};
    for (std::uint64_t i = 0; i < connections; ++i) {
        port& at = all.next_port();
        stream client{all.context};
        asio_lab::open(client);
        co_await client.async_connect(at.address, asio::deferred);
        stream server = co_await at.listening.async_accept(asio::deferred);

        const auto byte = all.tally.next();
        co_await client.async_write_some(buffer_of(std::span{byte}), asio::deferred);
        std::array<std::byte, 1> arrived{};
        co_await server.async_read_some(buffer_of(std::span<std::byte>{arrived}), asio::deferred);
        all.tally.received(arrived);

        server.close();
        client.close();
        timer.lap();
    }
}

task write_all(stream& to, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        bytes = bytes.subspan(co_await to.async_write_some(buffer_of(bytes), asio::deferred));
    }
}

task receive_message(stream& from, std::string_view expected) {
    lab::http_inbox inbox{expected};
    for (bool complete = false; !complete;) {
        const std::size_t size =
            co_await from.async_read_some(buffer_of(inbox.space()), asio::deferred);
        complete = inbox.received(size);
    }
}

task expect_end(stream& from) {
    std::array<std::byte, 1> space{};
    constexpr auto result_of = asio::as_tuple(asio::deferred);
    const auto [error, size] =
        co_await from.async_read_some(buffer_of(std::span<std::byte>{space}), result_of);
    lab::require(error == asio::error::eof, "asio: more came than was sent");
}

task bring_byte(churn& all) {
    stream client{all.context};
    asio_lab::open(client);
    co_await client.async_connect(all.ports.front().address, asio::deferred);
    const auto byte = all.tally.next();
    co_await client.async_write_some(buffer_of(std::span{byte}), asio::deferred);

    std::array<std::byte, 1> space{};
    constexpr auto result_of = asio::as_tuple(asio::deferred);
    const auto [error, size] =
        co_await client.async_read_some(buffer_of(std::span<std::byte>{space}), result_of);
    lab::require(error == asio::error::eof, "asio: more came than was sent");
}

task take_byte(churn& all, stream peer) {
    std::array<std::byte, 1> arrived{};
    co_await peer.async_read_some(buffer_of(std::span<std::byte>{arrived}), asio::deferred);
    all.tally.received(arrived);
}

task ask(churn& all) {
    stream client{all.context};
    asio_lab::open(client);
    co_await client.async_connect(all.ports.front().address, asio::deferred);
    co_await write_all(client, lab::bytes_of(lab::http_1_0_request));
    co_await receive_message(client, lab::http_1_0_response);
    co_await expect_end(client);
}

task answer(stream peer) {
    co_await receive_message(peer, lab::http_1_0_request);
    co_await write_all(peer, lab::bytes_of(lab::http_1_0_response));
}

void begin_session(churn& all, stream peer) {
    if (all.http()) {
        asio_lab::spawn(all.context, answer(std::move(peer)));
    } else {
        asio_lab::spawn(all.context, take_byte(all, std::move(peer)));
    }
}

task serve_bursts(churn& all, std::uint64_t connections) {
    for (std::uint64_t i = 0; i < connections; ++i) {
        stream accepted = co_await all.ports.front().listening.async_accept(asio::deferred);
        begin_session(all, std::move(accepted));
    }
}

class bursts {
public:
    explicit bursts(churn& all) : all_{all} {}

    void begin(std::uint64_t connections, lab::histogram& latency) {
        left_ = connections;
        timer_.emplace(latency);
        next();
    }

private:
    void next() {
        if (left_ == 0) return;
        left_ -= all_.work.at_once;
        under_way_ = all_.work.at_once;
        timer_->begin();
        for (std::size_t i = 0; i < all_.work.at_once; ++i) {
            asio::co_spawn(all_.context, all_.http() ? ask(all_) : bring_byte(all_),
                           [this](std::exception_ptr error) {
                               asio_lab::expect_success(error);
                               client_ended();
                           });
        }
    }

    void client_ended() {
        timer_->over();
        if (--under_way_ == 0) next();
    }

    churn& all_;
    std::optional<lab::burst_timer> timer_;
    std::uint64_t left_ = 0;
    std::size_t under_way_ = 0;
};

class churn_session final : public asio_lab::loop_session {
public:
    explicit churn_session(const lab::churn_case& work) : all_{context_, work}, clients_{all_} {}

    void play(lab::slice& now) override {
        if (all_.work.play == lab::churn_play::one_actor) {
            asio_lab::spawn(context_, play_alone(all_, now.operations, now.latency));
        } else {
            asio_lab::spawn(context_, serve_bursts(all_, now.operations));
            clients_.begin(now.operations, now.latency);
        }
        run();
        all_.tally.check();
        now.done = now.latency.count();
    }

private:
    churn all_;
    bursts clients_;
};

}  // namespace

lab::preparation asio_lab::prepare(layout, const lab::churn_case& work) {
    return lab::prepared<churn_session>(work);
}

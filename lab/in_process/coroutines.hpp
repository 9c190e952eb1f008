// SPDX-License-Identifier: BSL-1.0
//
// What coroutines do in `latency`, `throughput`, `http` and `churn`: the same text for gyre and for Asio, so
// that neither does more or less. Only the words differ, and those are the library's.
//
// Reads and writes are continued here after short transfers, in the loop that awaits them: composed
// operations would add something of a library's own. A result is awaited into a named local first, and
// then asked for by `Library::moved`, which fails if there was an error.
#pragma once

#include <lab/in_process/coroutine_timers.hpp>
#include <lab/in_process/sessions.hpp>

#include <lab/kit/fail.hpp>
#include <lab/kit/session.hpp>
#include <lab/kit/sockets.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace lab {

template <class Library>
class coroutine_pair : public no_end {
public:
    coroutine_pair(typename Library::context& context, const latency_case& work)
        : context_{context},
          sockets_{context, work.via},
          played_by_{work.played_by},
          message_{work.message_bytes},
          at_server_(work.message_bytes) {}

    void begin(std::uint64_t rounds, slice& now) {
        if (played_by_ == ping_pong::two_sides) Library::spawn(context_, answer(rounds));
        Library::spawn(context_, ask(rounds, now.latency));
    }

private:
    using task = typename Library::task;

    task ask(std::uint64_t rounds, histogram& latency) {
        auto& [client, server] = sockets_;
        lap_timer timer{latency};
        for (std::uint64_t round = 0; round < rounds; ++round) {
            for (auto left = message_.next(); !left.empty();) {
                const auto sent = co_await Library::write_some(client, left);
                left = left.subspan(Library::moved(sent));
            }
            if (played_by_ == ping_pong::one_actor) {
                for (auto left = std::span{at_server_}; !left.empty();) {
                    const auto got = co_await Library::read_some(server, left);
                    left = left.subspan(Library::moved(got));
                }
                for (auto left = std::as_bytes(std::span{at_server_}); !left.empty();) {
                    const auto sent = co_await Library::write_some(server, left);
                    left = left.subspan(Library::moved(sent));
                }
            }
            for (auto left = message_.reply_space(); !left.empty();) {
                const auto got = co_await Library::read_some(client, left);
                left = left.subspan(Library::moved(got));
            }
            message_.check_reply();
            timer.lap();
        }
    }

    task answer(std::uint64_t rounds) {
        auto& server = sockets_.server;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            for (auto left = std::span{at_server_}; !left.empty();) {
                const auto got = co_await Library::read_some(server, left);
                left = left.subspan(Library::moved(got));
            }
            for (auto left = std::as_bytes(std::span{at_server_}); !left.empty();) {
                const auto sent = co_await Library::write_some(server, left);
                left = left.subspan(Library::moved(sent));
            }
        }
    }

    typename Library::context& context_;
    typename Library::stream_pair sockets_;
    ping_pong played_by_;
    ping message_;
    std::vector<std::byte> at_server_;
};

template <class Library>
class coroutine_http : public no_end {
public:
    explicit coroutine_http(typename Library::context& context)
        : context_{context}, sockets_{context, transport::tcp} {}

    void begin(std::uint64_t requests, slice& now) {
        Library::spawn(context_, answer(requests));
        Library::spawn(context_, ask(requests, now.latency));
    }

private:
    using task = typename Library::task;

    task ask(std::uint64_t requests, histogram& latency) {
        auto& client = sockets_.client;
        lap_timer timer{latency};
        for (std::uint64_t request = 0; request < requests; ++request) {
            for (auto left = bytes_of(http_request); !left.empty();) {
                const auto sent = co_await Library::write_some(client, left);
                left = left.subspan(Library::moved(sent));
            }
            for (bool complete = false; !complete;) {
                const auto got = co_await Library::read_some(client, responses_.space());
                complete = responses_.received(Library::moved(got));
            }
            timer.lap();
        }
    }

    task answer(std::uint64_t requests) {
        auto& server = sockets_.server;
        for (std::uint64_t request = 0; request < requests; ++request) {
            for (bool complete = false; !complete;) {
                const auto got = co_await Library::read_some(server, requests_.space());
                complete = requests_.received(Library::moved(got));
            }
            for (auto left = bytes_of(http_response); !left.empty();) {
                const auto sent = co_await Library::write_some(server, left);
                left = left.subspan(Library::moved(sent));
            }
        }
    }

    typename Library::context& context_;
    typename Library::stream_pair sockets_;
    http_inbox requests_{http_request};
    http_inbox responses_{http_response};
};

/// One direction of `throughput`: two coroutines.
template <class Library>
struct coroutine_direction {
    using task = typename Library::task;

    void begin() {
        Library::spawn(context, write());
        Library::spawn(context, read());
    }

    task write() {
        auto next = outgoing.next();
        while (!next.empty()) {
            const auto sent = co_await Library::write_some(from, next);
            outgoing.sent(Library::moved(sent));
            next = outgoing.next();
        }
    }

    task read() {
        auto space = incoming.space();
        while (!space.empty()) {
            const auto got = co_await Library::read_some(to, space);
            incoming.received(Library::moved(got));
            space = incoming.space();
        }
    }

    typename Library::context& context;
    typename Library::stream& from;
    typename Library::stream& to;
    outgoing_stream outgoing;
    incoming_stream incoming;
};

/// A coroutine for each client and for each session of `churn`. The client that is the last of a burst to
/// end begins the next burst.
template <class Library>
class coroutine_churn {
public:
    coroutine_churn(typename Library::context& context, const churn_case& work)
        : context_{context}, work_{work}, ports_{Library::listen(context, work.listeners)} {}

    void begin(std::uint64_t connections, slice& now) {
        if (work_.play == churn_play::one_actor) {
            Library::spawn(context_, play_alone(connections, now.latency));
            return;
        }
        left_ = connections;
        timer_.emplace(now.latency);
        Library::spawn(context_, serve(connections));
        begin_burst();
    }

    void end(slice&) const { tally_.check(); }

private:
    using task = typename Library::task;
    using stream = typename Library::stream;
    using port = typename Library::port;
    using connecting = typename Library::connecting;

    task play_alone(std::uint64_t connections, histogram& latency) {
        lap_timer timer{latency};
        for (std::uint64_t i = 0; i < connections; ++i) {
            port& at = ports_[next_++ % ports_.size()];
            connecting attempt{context_, at};
            auto connected = co_await attempt.connect();
            auto& client = attempt.take(std::move(connected));
            auto accepted = co_await Library::accept(at);
            auto&& server = Library::accepted(accepted);

            const auto byte = tally_.next();
            const auto sent = co_await Library::write_some(client, std::span{byte});
            std::array<std::byte, 1> arrived{};
            const auto got = co_await Library::read_some(server, std::span{arrived});
            require(Library::moved(sent) == 1 && Library::moved(got) == 1,
                    "churn: a byte was lost");
            tally_.received(arrived);

            Library::close(server);
            Library::close(client);
            timer.lap();
        }
    }

    task serve(std::uint64_t connections) {
        port& at = ports_.front();
        for (std::uint64_t i = 0; i < connections; ++i) {
            auto accepted = co_await Library::accept(at);
            auto&& peer = Library::accepted(accepted);
            if (http()) {
                Library::spawn(context_, answer(std::move(peer)));
            } else {
                Library::spawn(context_, take_byte(std::move(peer)));
            }
        }
    }

    void begin_burst() {
        if (left_ == 0) return;
        left_ -= work_.at_once;
        under_way_ = work_.at_once;
        timer_->begin();
        for (std::size_t i = 0; i < work_.at_once; ++i) Library::spawn(context_, visit());
    }

    [[nodiscard]] bool http() const noexcept { return work_.play == churn_play::http_1_0; }

    task visit() {
        connecting attempt{context_, ports_.front()};
        auto connected = co_await attempt.connect();
        auto& client = attempt.take(std::move(connected));
        const auto byte = http() ? std::array<std::byte, 1>{} : tally_.next();
        std::span<const std::byte> left{byte};
        if (http()) left = bytes_of(http_1_0_request);
        while (!left.empty()) {
            const auto sent = co_await Library::write_some(client, left);
            left = left.subspan(Library::moved(sent));
        }
        http_inbox inbox{http_1_0_response};
        for (bool complete = !http(); !complete;) {
            const auto got = co_await Library::read_some(client, inbox.space());
            complete = inbox.received(Library::moved(got));
        }
        std::array<std::byte, 1> space{};
        const auto ended = co_await Library::read_to_end(client, std::span{space});
        require(Library::is_end(ended), "churn: more came than was sent");
        Library::close(client);
        timer_->over();
        if (--under_way_ == 0) begin_burst();
    }

    task take_byte(stream peer) {
        std::array<std::byte, 1> arrived{};
        const auto got = co_await Library::read_some(peer, std::span{arrived});
        require(Library::moved(got) == 1, "churn: a byte was lost");
        tally_.received(arrived);
    }

    task answer(stream peer) {
        http_inbox inbox{http_1_0_request};
        for (bool complete = false; !complete;) {
            const auto got = co_await Library::read_some(peer, inbox.space());
            complete = inbox.received(Library::moved(got));
        }
        for (auto left = bytes_of(http_1_0_response); !left.empty();) {
            const auto sent = co_await Library::write_some(peer, left);
            left = left.subspan(Library::moved(sent));
        }
    }

    typename Library::context& context_;
    churn_case work_;
    std::deque<port> ports_;
    std::size_t next_ = 0;
    byte_tally tally_;
    std::optional<lap_timer> timer_;
    std::uint64_t left_ = 0;
    std::size_t under_way_ = 0;
};

/// A library whose players are these, and those of coroutine_timers.hpp.
template <class Library>
struct with_coroutines : Library {
    using ping_pong_pair = coroutine_pair<Library>;
    using http_connection = coroutine_http<Library>;
    using direction = coroutine_direction<Library>;
    using churn = coroutine_churn<Library>;
    using one_timer = coroutine_timer<Library>;
    using crowd = coroutine_crowd<Library>;
    using pushing = coroutine_pushing<Library>;
};

}  // namespace lab

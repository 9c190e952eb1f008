// SPDX-License-Identifier: BSL-1.0
//
// What exchange/bench/span_log.hpp promises: of each message, when it was there and when it was done.
#include <exchange/bench/span_log.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace exchange::bench;
using namespace std::chrono_literals;

namespace {

gyre::time_point at(gyre::duration it) { return gyre::time_point{it}; }

class edges_seen final : public measurement_edges {
public:
    void begins() noexcept override { seen += "begins "; }
    void last_received() noexcept override { seen += "last "; }
    void ends() noexcept override { seen += "ends "; }

    std::string seen;
};

}  // namespace

TEST_CASE(
    "messages that were read together were received together, and leave with the next flush") {
    span_log log{{0, 10}};

    log.received(at(1us), 2);
    log.received(at(3us), 1);
    log.flushed(at(8us));
    log.received(at(9us), 1);
    log.flushed(at(10us));

    CHECK(log.received_at(0) == at(1us));
    CHECK(log.received_at(1) == at(1us));
    CHECK(log.received_at(2) == at(3us));
    CHECK(log.received_at(3) == at(9us));
    CHECK(log.flushed_at(0) == at(8us));
    CHECK(log.flushed_at(2) == at(8us));
    CHECK(log.flushed_at(3) == at(10us));
    CHECK(log.messages() == 4);
    CHECK(log.receptions() == 3);
    CHECK(log.flushes() == 2);
}

TEST_CASE("a message that waits was not flushed") {
    span_log log{{0, 10}};
    log.received(at(1us), 1);
    log.flushed(at(2us));
    log.received(at(3us), 1);

    CHECK(log.was_flushed(0));
    CHECK_FALSE(log.was_flushed(1));
}

TEST_CASE("reading and flushing without a message leaves no trace") {
    span_log log{{0, 2}};
    log.flushed(at(1us));
    log.received(at(2us), 0);
    log.received(at(3us), 1);
    log.flushed(at(4us));
    log.flushed(at(5us));  // A heartbeat, say.

    CHECK(log.flushed_at(0) == at(4us));
    CHECK(log.receptions() == 1);
    CHECK(log.flushes() == 1);
}

TEST_CASE(
    "the observer is told of the first measured message, of the last one and of its end, once") {
    edges_seen edges;
    span_log log{{2, 4}, &edges};

    log.received(at(1us), 2);
    log.flushed(at(2us));
    CHECK(edges.seen.empty());
    log.received(at(3us), 1);
    CHECK(edges.seen == "begins ");
    log.flushed(at(4us));
    CHECK(edges.seen == "begins ");
    log.received(at(5us), 1);
    CHECK(edges.seen == "begins last ");
    log.received(at(6us), 1);  // It came before the last measured one had left.
    log.flushed(at(7us));
    CHECK(edges.seen == "begins last ends ");
    log.received(at(8us), 1);
    log.flushed(at(9us));
    CHECK(edges.seen == "begins last ends ");
}

TEST_CASE("a batch that holds the first and the last measured message is both edges") {
    edges_seen edges;
    span_log log{{2, 4}, &edges};

    log.received(at(1us), 5);
    log.flushed(at(2us));

    CHECK(edges.seen == "begins last ends ");
    CHECK(log.flushed_at(3) == at(2us));
}

// SPDX-License-Identifier: BSL-1.0
//
// What exchange/bench/span_recorder.hpp promises: what a pipeline says of batches, told of messages.
#include <exchange/bench/span_recorder.hpp>

#include <exchange/bench/prepared_host.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::bench;

namespace {

/// A pipeline that only has to say what it does.
struct pipeline {
    scenario play{scenario_name::ioc_without_execution, book_state::empty};
    std::unique_ptr<order_entry_host> host = prepared_host(play, {});
    span_log log{{0, 100}};
    span_recorder recorder{*host, log};

    void carry_out(int messages) {
        for (int each = 0; each < messages; ++each) {
            host->apply(end_session{session_id{2}});
            recorder.carried_out();
        }
    }
};

}  // namespace

TEST_CASE("messages count from when their batch was received to when it was written") {
    pipeline it;

    it.recorder.received();
    it.carry_out(3);
    it.recorder.written();
    it.recorder.received();
    it.carry_out(1);
    it.recorder.written();

    CHECK(it.log.messages() == 4);
    CHECK(it.log.receptions() == 2);
    CHECK(it.log.flushes() == 2);
    CHECK(it.log.received_at(0) == it.log.received_at(2));
    CHECK(it.log.received_at(0) < it.log.flushed_at(2));
    CHECK(it.log.flushed_at(2) < it.log.received_at(3));
}

TEST_CASE("what another client sent before all was written is a batch of its own") {
    pipeline it;

    it.recorder.received();
    it.carry_out(1);
    it.recorder.received();
    it.carry_out(1);
    it.recorder.written();

    CHECK(it.log.receptions() == 2);
    CHECK(it.log.received_at(0) < it.log.received_at(1));
    CHECK(it.log.flushed_at(0) == it.log.flushed_at(1));
}

TEST_CASE("preparation, logins and heartbeats are no messages of the load") {
    pipeline it;
    REQUIRE(it.host->counts().commands > 0);

    it.recorder.received();
    it.recorder.carried_out();
    it.recorder.written();

    CHECK(it.log.messages() == 0);
    CHECK(it.log.flushes() == 0);
}

// SPDX-License-Identifier: BSL-1.0
//
// What exchange/bench/measurement.hpp promises: every scenario plays over real sockets and derives what it
// should, and a facility that does anything else gets no figures.
#include <exchange/bench/measurement.hpp>

#include <exchange/bench/loopback.hpp>

#include <doctest/doctest.h>

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <thread>

using namespace exchange;
using namespace exchange::bench;
using namespace std::chrono_literals;

namespace {

cell small(scenario_name which, book_state state, std::uint32_t rate = unbounded) {
    return {which, state, rate, 60, 6};
}

cell_result measure_bare(const cell& which, feed_transport by = feed_transport::multicast) {
    const auto facility = make_facility({});
    return measure(*facility, which, {.feed = by});
}

constexpr std::array all_names = {
    scenario_name::place_and_cancel,
    scenario_name::ioc_without_execution,
    scenario_name::fok_without_execution,
    scenario_name::amend_quantity,
    scenario_name::trade,
    scenario_name::sweep_one_level,
    scenario_name::sweep_adjacent_levels,
    scenario_name::sweep_sparse_levels,
    scenario_name::mass_cancel,
};

/// A facility with a few habits of its own.
class odd_facility : public facility_under_test {
public:
    [[nodiscard]] facility_identity about() const override { return real_->about(); }
    [[nodiscard]] facility_endpoints start(const facility_plan& plan) override {
        return real_->start(plan);
    }
    void stop() override { real_->stop(); }

private:
    std::unique_ptr<facility_under_test> real_ = make_facility({});
};

/// Its feed goes by a road on which every fifth of the first datagrams is lost. Not more: the last one of an
/// event is missed only when a heartbeat comes, a second later.
class lossy_facility final : public odd_facility {
public:
    ~lossy_facility() override { lossy_facility::stop(); }

    [[nodiscard]] facility_endpoints start(const facility_plan& plan) override {
        facility_plan other = plan;
        other.feed = address_of(inside_);
        road_ = std::thread{[this, to = datagrams_to(plan.feed)] { carry(to); }};
        return odd_facility::start(other);
    }
    void stop() override {
        odd_facility::stop();
        closed_ = true;
        if (road_.joinable()) road_.join();
    }

private:
    void carry(const descriptor& to) {
        std::array<std::byte, 2048> datagram;
        for (unsigned number = 1; !closed_;) {
            pollfd waiting{inside_.get(), POLLIN, 0};
            if (::poll(&waiting, 1, 10) <= 0) continue;
            const ssize_t size = ::recv(inside_.get(), datagram.data(), datagram.size(), 0);
            const bool lost = number <= 25 && number % 5 == 0;
            ++number;
            if (size <= 0 || lost) continue;
            static_cast<void>(::send(to.get(), datagram.data(), static_cast<std::size_t>(size), 0));
        }
    }

    descriptor inside_ = datagrams_at_loopback({htonl(INADDR_ANY)});
    std::atomic<bool> closed_ = false;
    std::thread road_;
};

/// Its feed is never sent.
class silent_facility final : public odd_facility {
public:
    [[nodiscard]] facility_endpoints start(const facility_plan& plan) override {
        facility_plan other = plan;
        other.feed = address_of(nobody_);
        return odd_facility::start(other);
    }

private:
    descriptor nobody_ = datagrams_at_loopback({htonl(INADDR_ANY)});
};

/// Its market is closed, so that it answers with something else than what is counted.
class closed_facility final : public odd_facility {
public:
    [[nodiscard]] facility_endpoints start(const facility_plan& plan) override {
        plan.host.apply(set_phase{instrument_id{1}, market_phase::closed});
        return odd_facility::start(plan);
    }
};

// Those from `first` to `last`; all at once take long beside other programs.
void play_scenarios(scenario_name first, scenario_name last, book_state state) {
    for (const scenario_name which : all_names) {
        if (which < first || which > last) continue;
        const cell played = small(which, state);
        CAPTURE(name_of(played));

        const cell_result result = measure_bare(played);

        REQUIRE(result.fault == "");
        CHECK(result.internal.count == 60);
        CHECK(result.wire.count == 60);
        CHECK(result.internal.min > 0ns);
        // Neither bounds the other: a client may have read what a call sends before that call returns.
        CHECK(result.wire.min > 0ns);
        CHECK(result.way_in.min > 0ns);
        // The three parts are the whole.
        CHECK(result.way_in.mean_ns + result.internal.mean_ns + result.way_out.mean_ns ==
              doctest::Approx(result.wire.mean_ns));
        CHECK(result.inbound == 66 * shape_of(which).inbound());
        CHECK(result.orders_per_second > 0);
        // No message costs as much as a second of a core; nothing is carried out for nothing.
        CHECK(result.processor_ns > 100);
        CHECK(result.processor_ns < 1e9);
    }
}

}  // namespace

TEST_CASE("scenarios 1 to 3 play with an empty book") {
    play_scenarios(scenario_name::place_and_cancel, scenario_name::amend_quantity,
                   book_state::empty);
}

TEST_CASE("scenarios 4 to 8 play with an empty book") {
    play_scenarios(scenario_name::trade, scenario_name::mass_cancel, book_state::empty);
}

TEST_CASE("scenarios 1 to 3 play with a filled book") {
    play_scenarios(scenario_name::place_and_cancel, scenario_name::amend_quantity,
                   book_state::filled);
}

TEST_CASE("scenarios 4 to 8 play with a filled book") {
    play_scenarios(scenario_name::trade, scenario_name::mass_cancel, book_state::filled);
}

TEST_CASE("a fill-or-kill plays with a filled book, over a feed to one host") {
    const cell played = small(scenario_name::fok_without_execution, book_state::filled);

    CHECK(measure_bare(played, feed_transport::unicast).fault == "");
}

TEST_CASE("an event at a low rate is sent when it is due, and the rate is reached") {
    const cell played = small(scenario_name::trade, book_state::empty, 500);

    const cell_result result = measure_bare(played);

    REQUIRE(result.fault == "");
    // Sixty events at this rate take 118 ms, not less; more only on a machine that has no time.
    CHECK(result.achieved_per_second < 520);
    CHECK(result.achieved_per_second > 100);
    CHECK(result.lateness.min >= 0ns);
    CHECK(result.saturated == (result.achieved_per_second < 495));
}

TEST_CASE("a rate that is not reached is marked") {
    const cell played = small(scenario_name::mass_cancel, book_state::empty, 1'000'000);

    const cell_result result = measure_bare(played);

    REQUIRE(result.fault == "");
    CHECK(result.saturated);
    CHECK(result.lateness.max > 0ns);
    CHECK(result.wire.max >
          result.lateness.max / 2);  // What is sent late counts from when it was due.
}

TEST_CASE("datagrams that are lost are asked for, and nothing is missing in the end") {
    lossy_facility facility;

    const cell_result result =
        measure(facility, small(scenario_name::sweep_one_level, book_state::empty), {});

    CHECK(result.fault == "");
    CHECK(result.requests > 0);
}

TEST_CASE("a facility whose feed does not arrive has no figures, and it is said why") {
    silent_facility facility;

    const cell_result result =
        measure(facility, small(scenario_name::trade, book_state::empty), {.silence_max = 100ms});

    CHECK(result.fault.starts_with("nothing has come for too long; complete are 0 of"));
    CHECK(result.internal.count == 0);
}

TEST_CASE("a facility that derives something else has no figures, and it is said what") {
    closed_facility facility;

    const cell_result result =
        measure(facility, small(scenario_name::trade, book_state::empty), {.silence_max = 100ms});

    CHECK(result.fault == "what precedes an event was refused, or is not what it should be");
    CHECK(result.internal.count == 0);
}

TEST_CASE("a run whose core is looked at tells its floor, and explains its longest delays") {
    const auto facility = make_facility({});
    const two_processors cores = choose_processors();

    const cell_result result = measure(
        *facility, small(scenario_name::trade, book_state::empty, 500),
        {.facility_processor = cores.served, .load_processor = cores.load, .samples_core = true});

    REQUIRE(result.fault == "");
    REQUIRE(!result.worst.empty());
    const auto took = [](const explained_delay& it) {
        return it.message.complete - it.message.due;
    };
    CHECK(took(result.worst.front()) == result.wire.max);
    for (const explained_delay& each : result.worst) {
        CHECK(took(each) >= 0ns);
        CHECK(each.host >= 0ns);
        CHECK(each.host <= took(each));
        CHECK(each.turn >= 0ns);
        CHECK(each.turn <= took(each));
    }
    CHECK(result.host.lost >= 0);
    CHECK(result.host.lost < 1);
}

TEST_CASE("a run whose core is not looked at explains nothing") {
    CHECK(measure_bare(small(scenario_name::trade, book_state::empty)).worst.empty());
}

// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/bench/measurement.hpp>

#include <exchange/bench/core_sampler.hpp>
#include <exchange/bench/core_time.hpp>
#include <exchange/bench/prepared_host.hpp>
#include <exchange/bench/scenario_player.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <semaphore>
#include <utility>

namespace exchange::bench {
namespace {

using gyre::duration;
using gyre::time_point;

time_point clock_now() { return std::chrono::steady_clock::now(); }

/// Counts, on the facility's thread, what the host has derived.
class derived_counter final : public measurement_edges {
public:
    derived_counter(const order_entry_host& host, measurement_edges* next) noexcept
        : host_{host}, before_{host.market().published()}, next_{next} {}

    void begins() noexcept override {
        if (next_ != nullptr) next_->begins();
    }
    // Not at the end: its client may have left by then, and what a leave derives is not counted.
    void last_received() noexcept override {
        derived_ = host_.market().published() - before_;
        if (next_ != nullptr) next_->last_received();
    }
    void ends() noexcept override {
        if (next_ != nullptr) next_->ends();
        over_.release();
    }

    /// Waits for the facility to say that all has left it: its client may know so a little earlier.
    [[nodiscard]] bool wait_for_end() { return over_.try_acquire_for(patience); }

    /// From all messages up to the last measured one. Meaningful once the facility has stopped.
    [[nodiscard]] std::uint64_t derived() const noexcept { return derived_; }

private:
    static constexpr std::chrono::seconds patience{2};

    const order_entry_host& host_;
    std::binary_semaphore over_{0};
    std::uint64_t before_;
    std::uint64_t derived_ = 0;
    measurement_edges* next_;
};

double seconds(duration it) { return std::chrono::duration<double>{it}.count(); }

/// Enough for a quantile, and over in a moment.
std::size_t core_events(const cell& which) {
    return std::min<std::size_t>(which.events, 400'000 / shape_of(which.which).derived_in_all());
}

std::vector<latency_summary> by_second(const scenario_result& played, std::size_t first) {
    std::vector<latency_summary> all;
    std::vector<duration> second;
    time_point begin = played.due[first];
    const duration length = played.due.back() - begin;
    const duration slice = length < std::chrono::seconds{2} ? length : std::chrono::seconds{1};
    for (std::size_t at = first; at < played.due.size(); ++at) {
        // What is left at the end belongs to the last whole second.
        if (played.due[at] - begin >= slice && played.due.back() - played.due[at] >= slice) {
            all.push_back(summarise(std::exchange(second, {})));
            begin += slice;
        }
        second.push_back(played.events[at].complete - played.due[at]);
    }
    all.push_back(summarise(std::move(second)));
    return all;
}

void add_latencies(cell_result& to, const scenario_result& played, const span_log& spans,
                   std::size_t first) {
    std::vector<duration> internal;
    std::vector<duration> wire;
    std::vector<duration> way_in;
    std::vector<duration> way_out;
    std::vector<duration> lateness;
    duration busy{};
    time_point busy_until{};
    for (std::size_t at = first; at < played.events.size(); ++at) {
        const auto& event = played.events[at];
        const time_point received = spans.received_at(event.first);
        const time_point flushed = spans.flushed_at(event.last);
        internal.push_back(flushed - received);
        wire.push_back(event.complete - played.due[at]);
        way_in.push_back(received - played.due[at]);
        way_out.push_back(event.complete - flushed);
        lateness.push_back(played.sent[at] - played.due[at]);
        if (flushed <= busy_until) continue;
        busy += flushed - std::max(received, busy_until);
        busy_until = flushed;
    }
    to.events_per_second = static_cast<double>(internal.size()) / seconds(busy);
    to.internal = summarise(std::move(internal));
    to.wire = summarise(std::move(wire));
    to.way_in = summarise(std::move(way_in));
    to.way_out = summarise(std::move(way_out));
    to.lateness = summarise(std::move(lateness));
    to.wire_by_second = by_second(played, first);
}

void add_rates(cell_result& to, const scenario_result& played, const cell& which,
               std::size_t first) {
    // From the first that was due to the last that was complete: who begins late has not kept up.
    const duration took = played.events.back().complete - played.due[first];
    to.achieved_per_second = static_cast<double>(played.events.size() - first) / seconds(took);
    to.orders_per_second = to.achieved_per_second * shape_of(which.which).inbound();
    to.saturated = which.rate_per_second != unbounded &&
                   to.achieved_per_second < which.kept_share * which.rate_per_second;
}

void add_samples(cell_result& to, const scenario_result& played, const core_sampler& of_core,
                 std::size_t first) {
    constexpr std::size_t worst_max = 10;
    to.host = floor_of(of_core.gaps(), of_core.sampled());
    std::vector<delayed_message> messages;
    for (std::size_t at = first; at < played.events.size(); ++at)
        messages.push_back({played.due[at], played.events[at].complete});
    to.worst = worst_delays(messages, to.wire.p50, worst_max, of_core.gaps(), played.stalls);
}

}  // namespace

cell_result measure(facility_under_test& facility, const cell& which,
                    const measurement_options& options) {
    const event_shape shape = shape_of(which.which);
    cell_result result;
    stay_on_processor(
        options.facility_processor);  // Its cache, so that the core is measured there.
    result.core = summarise(time_core(which.which, which.state, core_events(which)));
    stay_on_processor(options.load_processor);

    scenario play{which.which, which.state};
    const auto host = prepared_host(play, clock_now());
    const std::uint64_t warm_up = std::uint64_t{which.warm_up_events} * shape.inbound();
    result.inbound = std::uint64_t{which.events_in_all()} * shape.inbound();
    derived_counter derived{*host, options.edges};
    span_log spans{{warm_up, result.inbound}, &derived};
    feed_client feed{options.feed};
    scenario_target target;
    target.silence_max = options.silence_max;
    target.first_command = host->counts().commands + 1;
    target.first_of_feed = host->feed().messages().next_sequence();
    target.endpoints = facility.start({*host, spans, feed.address(), options.facility_processor});
    const thread_clocks served = thread_clocks::of_others();
    const duration spent_before = served.spent();
    std::optional<core_sampler> sampler;
    if (options.samples_core)
        sampler.emplace(options.facility_processor, core_sampler::beside::measured);
    const scenario_result played = bench::play(which, play, feed, target);
    const bool all_left = played.fault.empty() && derived.wait_for_end();
    const duration spent = served.spent() - spent_before;
    if (sampler) sampler->stop();
    facility.stop();

    result.fault = played.fault;
    if (result.fault.empty() && !all_left)
        result.fault = "the facility never said that everything had been written";
    const std::uint64_t wanted = std::uint64_t{which.events_in_all()} * shape.derived_in_all();
    if (result.fault.empty() && derived.derived() != wanted)
        result.fault = "the facility derived " + std::to_string(derived.derived()) +
                       " messages from " + std::to_string(result.inbound) + " instead of " +
                       std::to_string(wanted);
    if (!result.fault.empty()) return result;

    add_latencies(result, played, spans, which.warm_up_events);
    add_rates(result, played, which, which.warm_up_events);
    if (sampler) add_samples(result, played, *sampler, which.warm_up_events);
    result.processor_ns = static_cast<double>(spent.count()) / static_cast<double>(result.inbound);
    result.receptions = spans.receptions();
    result.flushes = spans.flushes();
    result.datagrams = played.datagrams;
    result.requests = played.requests;
    result.counted = facility.counts();
    return result;
}

}  // namespace exchange::bench

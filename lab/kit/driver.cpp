// SPDX-License-Identifier: BSL-1.0
//
// The clock, the counters and the words of the protocol.
#include <lab/kit/driver.hpp>

#include <lab/kit/allocations.hpp>
#include <lab/kit/fail.hpp>
#include <lab/kit/kernel_counts.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

namespace lab {
namespace {

using json = nlohmann::ordered_json;

// What a slice took.
struct cost {
    std::chrono::nanoseconds wall;
    std::chrono::nanoseconds processor;         // User and system time of all threads.
    std::uint64_t allocations;                  // Made by this thread.
    std::uint64_t context_switches;             // Of all threads.
    std::optional<std::uint64_t> system_calls;  // Where they are counted.
};

// Runs from its construction.
class stopwatch {
public:
    [[nodiscard]] cost stop() const noexcept {
        const auto stopped = std::chrono::steady_clock::now();
        const auto processor_after = *processor_time(CLOCK_PROCESS_CPUTIME_ID);
        auto calls = calls_.so_far();
        if (calls) *calls -= 2;  // The last two.
        return {stopped - started_, processor_after - processor_before_,
                allocations_of_this_thread() - allocations_before_,
                context_switches() - switches_before_, calls};
    }

private:
    std::chrono::nanoseconds processor_before_ = *processor_time(CLOCK_PROCESS_CPUTIME_ID);
    std::uint64_t allocations_before_ = allocations_of_this_thread();
    std::uint64_t switches_before_ = context_switches();
    system_call_counter calls_{0};
    // Last: the other readings are not the work.
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

// Quantiles beyond which too few values lie are left out.
json summary_of(const histogram& latency) {
    if (latency.count() == 0) return nullptr;
    json all = {{"count", latency.count()},
                {"mean", latency.mean()},
                {"min", latency.min()},
                {"max", latency.max()},
                {"deviation", latency.deviation()}};
    for (const auto& [name, part] : {std::pair{"p50", 0.5}, std::pair{"p90", 0.9},
                                     std::pair{"p99", 0.99}, std::pair{"p99.9", 0.999}}) {
        if (const auto value = latency.known_quantile(part)) all[name] = *value;
    }
    return all;
}

json summary_with_buckets(const histogram& latency) {
    json all = summary_of(latency);
    if (all.is_null()) return all;
    json& buckets = all["buckets"] = json::array();
    latency.for_each_bucket(
        [&](std::uint64_t value, std::uint64_t count) { buckets.push_back({value, count}); });
    return all;
}

class driver {
public:
    explicit driver(const contender& who) : who_{who} {}

    json answer(const nlohmann::json& request) {
        const std::string what = request.at("do");
        if (what == "about") return about();
        if (what == "count_system_calls") return count_calls();
        if (what == "prepare") return prepare(request.at("suite"), request.at("case"));
        require(session_ != nullptr, "driver: " + what + " before a case was prepared");
        if (what == "play") return play(request.at("operations"));
        require(what == "finish", "driver: there is no request \"" + what + "\"");
        return finish();
    }

private:
    [[nodiscard]] json about() const {
        const auto& [name, library, version, backend] = who_.about;
        return {{"name", name}, {"library", library}, {"version", version}, {"backend", backend}};
    }

    static json count_calls() {
        const std::string refusal = count_system_calls();
        if (refusal.empty()) return {{"counting", true}};
        return {{"refused", refusal}};
    }

    json prepare(const std::string& suite, const nlohmann::json& record) {
        require(!prepared_, "driver: a process plays one case");
        prepared_ = true;
        const case_record read = read_case(suite, record);
        preparation made = who_.prepare(read.what);
        if (const auto* refusal = std::get_if<cannot_run>(&made)) {
            return {{"cannot_run", refusal->reason}};
        }
        session_ = std::move(std::get<std::unique_ptr<session>>(made));
        unit_ = unit_of(read.what);
        one_thread_ = is_played_by_one_thread(read.what);
        if (read.warm_up > 0) {
            slice warm_up{read.warm_up, verification::every_byte};
            play(warm_up);
        }
        return {{"ready", true}};
    }

    cost play(slice& now) {
        session_->get_ready(now);
        const stopwatch watch;
        session_->play(now);
        const cost spent = watch.stop();
        session_->mark_done(now);
        const std::uint64_t done = now.done > 0 ? now.done : now.latency.count();
        require(done == now.operations, "driver: " + std::to_string(done) + " of " +
                                            std::to_string(now.operations) +
                                            " operations were done");
        return spent;
    }

    json play(std::uint64_t operations) {
        require(operations > 0 && operations % unit_ == 0,
                "driver: the operations of a slice are no multiple of " + std::to_string(unit_));
        slice now{operations};
        const std::vector<counter> before = session_->counted();
        const cost spent = play(now);
        json counters = json::object();
        const std::vector<counter> after = session_->counted();
        for (std::size_t i = 0; i < after.size(); ++i) {
            counters[std::string{after[i].name}] = after[i].count - before[i].count;
        }
        latency_.add(now.latency);

        json reply = {{"wall_ns", spent.wall.count()},
                      {"cpu_ns", spent.processor.count()},
                      {"operations", operations},
                      {"allocations", nullptr},
                      {"context_switches", spent.context_switches},
                      {"counters", std::move(counters)},
                      {"latency", summary_of(now.latency)}};
        if (one_thread_) reply["allocations"] = spent.allocations;
        if (spent.system_calls) reply["system_calls"] = *spent.system_calls;
        return reply;
    }

    json finish() {
        session_.reset();
        return {{"memory_mb", peak_memory_megabytes(0)},
                {"latency", summary_with_buckets(latency_)}};
    }

    const contender& who_;
    std::unique_ptr<session> session_;
    std::uint64_t unit_ = 1;
    bool prepared_ = false;
    bool one_thread_ = true;
    histogram latency_;
};

}  // namespace

void drive(const contender& who, std::istream& requests, std::ostream& replies) {
    driver all{who};
    for (std::string line; std::getline(requests, line);) {
        replies << all.answer(nlohmann::json::parse(line)).dump() << std::endl;
    }
}

}  // namespace lab

// SPDX-License-Identifier: BSL-1.0
//
// Reading the case records of the in-process suites from JSON.
#include <lab/kit/cases.hpp>

#include <lab/kit/fail.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <concepts>
#include <initializer_list>
#include <string>
#include <vector>

namespace lab {
namespace {

using json = nlohmann::json;

// Takes one field after the other; what is left over at the end is a mistake.
class fields {
public:
    fields(std::string_view suite, const json& record) : suite_{suite}, record_{record} {
        if (!record.is_object()) reject("is no object");
        kind_ = text("kind");
    }

    [[nodiscard]] const std::string& kind() const noexcept { return kind_; }

    [[nodiscard]] std::uint64_t number(const char* name, std::uint64_t least) {
        const json& value = field(name);
        if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
            value.get<std::uint64_t>() < least) {
            reject("\"" + std::string{name} + "\" is not a whole number of at least " +
                   std::to_string(least));
        }
        return value.get<std::uint64_t>();
    }

    [[nodiscard]] std::size_t count(const char* name) { return number(name, 1); }

    [[nodiscard]] std::chrono::nanoseconds duration(const char* name) {
        return std::chrono::nanoseconds{number(name, 0)};
    }

    /// @param enumerators  Their words, in the order in which they are declared.
    template <class Enum>
    [[nodiscard]] Enum one_of(const char* name,
                              std::initializer_list<std::string_view> enumerators) {
        const std::string wanted = text(name);
        const auto* const found = std::ranges::find(enumerators, wanted);
        if (found == enumerators.end()) {
            reject("\"" + std::string{name} + "\" cannot be \"" + wanted + "\"");
        }
        return static_cast<Enum>(found - enumerators.begin());
    }

    [[nodiscard]] std::uint64_t warm_up(std::uint64_t unit) {
        const std::uint64_t operations = number("warm_up", 0);
        if (operations % unit != 0) {
            reject("\"warm_up\" is no multiple of " + std::to_string(unit));
        }
        return operations;
    }

    void expect_no_more() const {
        for (const auto& [name, value] : record_.items()) {
            if (std::ranges::find(taken_, name) == taken_.end()) {
                reject("there is no field \"" + name + "\"");
            }
        }
    }

    [[noreturn]] void reject(const std::string& why) const {
        fail("case " + std::string{suite_} + "/" + (kind_.empty() ? "?" : kind_) + ": " + why);
    }

private:
    const json& field(const char* name) {
        const auto found = record_.find(name);
        if (found == record_.end()) reject("\"" + std::string{name} + "\" is missing");
        taken_.emplace_back(name);
        return *found;
    }

    std::string text(const char* name) {
        const json& value = field(name);
        if (!value.is_string()) reject("\"" + std::string{name} + "\" is no string");
        return value.get<std::string>();
    }

    std::string_view suite_;
    const json& record_;
    std::string kind_;
    std::vector<std::string> taken_;
};

dispatch_item item_of(fields& from) {
    return from.one_of<dispatch_item>("item", {"continuation", "coroutine"});
}

work read_dispatch(fields& from) {
    if (from.kind() == "post") {
        const auto order = from.one_of<dispatch_order>(
            "order", {"all_then_run", "batches_from_inside", "interleaved", "from_another_thread"});
        return dispatch_case{item_of(from), order, from.count("batch")};
    }
    if (from.kind() != "shared_post") from.reject("no such kind");
    const auto order = from.one_of<shared_order>(
        "order", {"from_outside", "batches_from_inside", "post_then_run", "queued"});
    const std::size_t posters = from.number("posters", order == shared_order::from_outside ? 1 : 0);
    return shared_dispatch_case{item_of(from), order, from.count("threads"), posters,
                                from.count("batch")};
}

transport via_of(fields& from) { return from.one_of<transport>("via", {"tcp", "unix"}); }

work read_throughput(fields& from) {
    throughput_case what{via_of(from), from.count("directions"), from.count("bytes")};
    if (what.directions > 2) from.reject("\"directions\" are 1 or 2");
    if (from.kind() == "stream") return what;
    if (from.kind() != "stream_threads") from.reject("no such kind");
    what.threads = from.count("threads");
    return what;
}

work read_latency(fields& from) {
    if (from.kind() != "ping_pong") from.reject("no such kind");
    const auto play = from.one_of<ping_pong>("play", {"one_actor", "two_sides"});
    return latency_case{via_of(from), play, from.count("bytes"), from.count("pairs")};
}

work read_http(fields& from) {
    http_case what{from.count("connections")};
    if (from.kind() == "http") return what;
    if (from.kind() != "http_threads") from.reject("no such kind");
    what.threads = from.count("threads");
    if (what.connections % what.threads != 0) from.reject("the threads have unequal shares");
    return what;
}

work read_timers(fields& from) {
    const auto use = from.one_of<timer_use>(
        "kind",
        {"cancel_waited", "cancel_unwaited", "fire_in_a_row", "fire_together", "push_back"});
    timers_case what{use};
    if (use == timer_use::fire_together || use == timer_use::push_back) {
        what.timers = from.count("timers");
    }
    if (use == timer_use::fire_together) {
        what.delay_min = from.duration("delay_min_ns");
        what.delay_max = from.duration("delay_max_ns");
        if (what.delay_min > what.delay_max) from.reject("the delays are in the wrong order");
    } else if (use == timer_use::fire_in_a_row || use == timer_use::push_back) {
        what.delay_min = what.delay_max = from.duration("delay_ns");
    }
    if (use == timer_use::push_back) what.per_tick = from.number("per_tick", 0);
    return what;
}

work read_churn(fields& from) {
    if (from.kind() != "churn") from.reject("no such kind");
    const auto play = from.one_of<churn_play>("play", {"one_actor", "bursts", "http_1_0"});
    const churn_case what{play, from.count("listeners"), from.count("at_once")};
    if (play == churn_play::one_actor && what.at_once != 1) from.reject("one actor is one client");
    if (play != churn_play::one_actor && what.listeners != 1)
        from.reject("bursts go to 1 listener");
    return what;
}

work read_fan_out(fields& from) {
    if (from.kind() != "fork_join") from.reject("no such kind");
    return fan_out_case{from.count("parents"), from.count("groups"), from.count("children")};
}

work read_files(fields& from) {
    const auto play = from.one_of<files_play>(
        "kind", {"random_reads", "writes_at", "writes_in_order", "reads_in_order", "group_commit"});
    const bool past = from.one_of<int>("cache", {"page", "none"}) == 1;
    const files_case what{play, past, from.count("bytes"), from.count("at_once"),
                          from.count("file_bytes")};
    if (what.file_bytes % what.block_bytes != 0) from.reject("the file ends within a block");
    const bool together = play == files_play::random_reads || play == files_play::group_commit;
    if (!together && what.at_once != 1) from.reject("what is in order is not at once");
    if (what.file_bytes / what.block_bytes < what.at_once) from.reject("the file is too small");
    return what;
}

work read_channel(fields& from) {
    if (from.kind() != "channel") from.reject("no such kind");
    return channel_case{from.count("capacity"), from.count("senders"), from.count("take")};
}

work read_work(std::string_view suite, fields& from) {
    if (suite == "dispatch") return read_dispatch(from);
    if (suite == "throughput") return read_throughput(from);
    if (suite == "latency") return read_latency(from);
    if (suite == "http") return read_http(from);
    if (suite == "timers") return read_timers(from);
    if (suite == "churn") return read_churn(from);
    if (suite == "fan_out") return read_fan_out(from);
    if (suite == "files") return read_files(from);
    if (suite == "channels") return read_channel(from);
    from.reject("no such suite in process");
}

std::uint64_t unit(const dispatch_case& work) { return work.batch; }
std::uint64_t unit(const shared_dispatch_case& work) {
    switch (work.order) {
        case shared_order::from_outside: return work.posters;
        case shared_order::batches_from_inside: return work.threads * work.batch;
        default: return work.threads;
    }
}
std::uint64_t unit(const throughput_case& work) {
    return work.directions * std::max<std::uint64_t>(work.threads, 1);
}
std::uint64_t unit(const latency_case& work) { return work.pairs; }
std::uint64_t unit(const http_case& work) { return work.connections; }
std::uint64_t unit(const timers_case& work) {
    return work.use == timer_use::fire_together ? work.timers : 1;
}
std::uint64_t unit(const churn_case& work) { return work.at_once; }
std::uint64_t unit(const fan_out_case& work) {
    return work.parents * work.groups * work.children_per_group;
}
std::uint64_t unit(const files_case& work) {
    return work.at_once > 1 ? work.at_once : work.file_bytes / work.block_bytes;
}
std::uint64_t unit(const channel_case& work) { return work.senders; }

}  // namespace

case_record read_case(std::string_view suite, const nlohmann::json& record) {
    fields from{suite, record};
    const work what = read_work(suite, from);
    const std::uint64_t warm_up = from.warm_up(unit_of(what));
    from.expect_no_more();
    return {what, warm_up};
}

std::uint64_t unit_of(const work& what) noexcept {
    return std::visit([](const auto& each) { return unit(each); }, what);
}

bool is_played_by_one_thread(const work& what) noexcept {
    return std::visit(
        []<class Case>(const Case& each) {
            if constexpr (requires { each.threads; }) return each.threads == 0;
            if constexpr (std::same_as<Case, channel_case>) return false;
            if constexpr (std::same_as<Case, dispatch_case>) {
                return each.order != dispatch_order::from_another_thread;
            }
            return true;
        },
        what);
}

}  // namespace lab

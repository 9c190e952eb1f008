// SPDX-License-Identifier: BSL-1.0
//
// What the core costs by itself, in nanoseconds an event: risk check, match, and all derived messages.
//
// Each case runs with two sinks. `counted` looks at every batch and at no message: the core alone.
// `encoded` makes wire messages of all of them, as the facility does: into the streams of the two
// sessions and the public feed, whose rings go round and forget what is oldest. Run it pinned, and read
// medians of repetitions:
//
//     taskset -c 1 exchange_micro --benchmark_repetitions=15 --benchmark_report_aggregates_only=true
#include <exchange/bench/scenarios.hpp>
#include <exchange/codec/event_codec.hpp>
#include <exchange/codec/mold_sender.hpp>
#include <exchange/codec/soup_stream.hpp>
#include <exchange/core/book.hpp>
#include <exchange/core/partition.hpp>

#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace exchange;
using bench::book_state;
using bench::scenario;
using bench::scenario_name;
using benchmark::Counter;
using stopwatch = std::chrono::steady_clock;

double seconds_since(stopwatch::time_point begin) {
    return std::chrono::duration<double>(stopwatch::now() - begin).count();
}

struct counting_sink {
    void operator()(const event_batch& batch) { messages += batch.events.size(); }

    std::uint64_t messages = 0;
};

struct encoding_sink {
    void operator()(const event_batch& batch) {
        messages += batch.events.size();
        encode_batch(batch, *this);
        for (soup_stream& each : streams) each.reader_at(each.messages().next_sequence());
        benchmark::ClobberMemory();
    }

    // Whose orders only stand in the background has no stream: nothing measured is for them.
    soup_stream* session(session_id it) {
        return number(it) <= streams.size() ? &streams[number(it) - 1u] : nullptr;
    }
    mold_sender* feed() { return &public_feed; }
    soup_stream* administrator() { return nullptr; }

    std::uint64_t messages = 0;
    std::array<soup_stream, 2> streams{soup_stream{{.session = "MAKER"}},
                                       soup_stream{{.session = "TAKER"}}};
    mold_sender public_feed{{.session = "FEED"}, gyre::time_point{}};
};

// Commands of one kind as they lie in memory, so that no variant is unpacked in the measured loop.
template <class Sink, class Command>
void apply_all(partition& core, const std::vector<command>& commands, Sink& sink) {
    for (const command& each : commands) {
        core.apply(1'000, *std::get_if<Command>(&each), event_sink::to(sink));
    }
}

template <class Sink>
void apply_any(partition& core, const std::vector<command>& commands, Sink& sink) {
    for (const command& each : commands) core.apply(1'000, each, event_sink::to(sink));
}

// Plays `events` of a scenario at a time between two looks at the clock; where something unmeasured
// precedes each event, one at a time.
template <class Sink>
void play(benchmark::State& state, scenario_name which, book_state book) {
    partition core{scenario::limits()};
    scenario script{which, book};
    Sink sink;
    apply_any(core, script.prepare(), sink);
    std::vector<command> before, measured;
    script.before(before);
    const std::uint32_t events = before.empty() ? 1'000 : 1;
    bool first = true;
    std::uint64_t messages = 0;
    for (auto _ : state) {
        if (!std::exchange(first, false)) {
            before.clear();
            script.before(before);
        }
        measured.clear();
        for (std::uint32_t each = 0; each < events; ++each) script.measured(measured);
        apply_any(core, before, sink);
        const std::uint64_t said = sink.messages;
        const stopwatch::time_point begin = stopwatch::now();
        apply_any(core, measured, sink);
        state.SetIterationTime(seconds_since(begin));
        messages += sink.messages - said;
    }
    const auto played = static_cast<double>(state.iterations()) * events;
    if (messages != static_cast<std::uint64_t>(played) * script.derived()) {
        state.SkipWithError("not the number of messages that the scenario derives");
    }
    state.counters["per event"] = Counter(played, Counter::kIsRate | Counter::kInvert);
    state.counters["messages"] = static_cast<double>(messages) / played;
}

// A thousand makers wait; a thousand takers meet one each.
template <class Sink>
void trade_in_blocks(benchmark::State& state) {
    constexpr std::uint32_t block = 1'000;
    partition core{scenario::limits()};
    scenario script{scenario_name::trade, book_state::filled};
    Sink sink;
    apply_any(core, script.prepare(), sink);
    std::vector<command> makers, takers;
    std::uint64_t messages = 0;
    for (auto _ : state) {
        makers.clear();
        takers.clear();
        for (std::uint32_t each = 0; each < block; ++each) script.before(makers);
        for (std::uint32_t each = 0; each < block; ++each) script.measured(takers);
        apply_any(core, makers, sink);
        const std::uint64_t said = sink.messages;
        const stopwatch::time_point begin = stopwatch::now();
        apply_all<Sink, enter_order>(core, takers, sink);
        state.SetIterationTime(seconds_since(begin));
        messages += sink.messages - said;
    }
    const auto played = static_cast<double>(state.iterations()) * block;
    state.counters["per event"] = Counter(played, Counter::kIsRate | Counter::kInvert);
    state.counters["messages"] = static_cast<double>(messages) / played;
}

// Between two looks at the clock, what `plan` makes of each number of an event; from the maker's and the
// taker's sessions, on a filled book.
template <class Sink, class Plan>
void play_advanced(benchmark::State& state, const Plan& plan) {
    constexpr std::uint32_t block = 1'000;
    partition core{scenario::limits()};
    Sink sink;
    apply_any(core, scenario{scenario_name::place_and_cancel, book_state::filled}.prepare(), sink);
    std::vector<command> before, measured;
    std::uint64_t number = 0;
    std::uint64_t messages = 0;
    for (auto _ : state) {
        before.clear();
        measured.clear();
        for (std::uint32_t each = 0; each < block; ++each) plan(each, number, before, measured);
        apply_any(core, before, sink);
        const std::uint64_t said = sink.messages;
        const stopwatch::time_point begin = stopwatch::now();
        apply_any(core, measured, sink);
        state.SetIterationTime(seconds_since(begin));
        messages += sink.messages - said;
    }
    const auto played = static_cast<double>(state.iterations()) * block;
    state.counters["per event"] = Counter(played, Counter::kIsRate | Counter::kInvert);
    state.counters["messages"] = static_cast<double>(messages) / played;
}

constexpr price_ticks middle = 100'000;

enter_advanced_order plain_sell(std::uint64_t number, contracts quantity) {
    enter_advanced_order it{};
    it.session = session_id{1};
    it.client_seq = client_sequence{number};
    it.instrument = instrument_id{1};
    it.side = order_side::sell;
    it.type = order_type::limit;
    it.tif = time_in_force::good_till_cancel;
    it.price = middle;
    it.quantity = quantity;
    return it;
}

enter_order taken(std::uint64_t number) {
    return {session_id{2},
            client_sequence{number},
            instrument_id{1},
            order_side::buy,
            order_type::limit,
            time_in_force::immediate_or_cancel,
            execution_instruction::none,
            self_trade_action::account_default,
            middle,
            1};
}

// A stop is entered, waits, and is cancelled by its sequence: 3 messages.
template <class Sink>
void stop_and_cancel(benchmark::State& state) {
    play_advanced<Sink>(
        state, [](std::uint32_t each, std::uint64_t& number, auto&, auto& measured) {
            enter_advanced_order it = plain_sell(++number, 1);
            it.type = order_type::stop_limit;
            it.trigger_price = middle - 100 - each % 64;
            measured.push_back(it);
            measured.push_back(cancel_order{
                it.session, client_sequence{++number}, {order_id::none, it.client_seq}});
        });
}

// A fill of all that an iceberg shows, and the next part: 13 messages.
template <class Sink>
void iceberg_fill(benchmark::State& state) {
    play_advanced<Sink>(
        state, [](std::uint32_t each, std::uint64_t& number, auto& before, auto& measured) {
            if (each == 0) {
                enter_advanced_order it = plain_sell(++number, 1'001);
                it.display_quantity = 1;
                before.push_back(cancel_orders{it.session, client_sequence{number}, account_id{1},
                                               instrument_id::none, side_filter::both});
                it.client_seq = client_sequence{++number};
                before.push_back(it);
            }
            measured.push_back(taken(++number));
        });
}

enum class auction_part : std::uint8_t { entering, uncrossing };

// A thousand orders meet in an auction, at a hundred prices a side; then it is ended. Told per order that is
// entered, its indication included, or per trade of the uncross.
template <class Sink>
void auction(benchmark::State& state, auction_part part) {
    constexpr std::uint32_t pairs = 500;
    partition core{scenario::limits()};
    scenario script{scenario_name::trade, book_state::empty};
    Sink sink;
    apply_any(core, script.prepare(), sink);
    std::vector<command> makers, takers, orders;
    for (auto _ : state) {
        makers.clear();
        takers.clear();
        orders.clear();
        for (std::uint32_t each = 0; each < pairs; ++each) {
            script.before(makers);
            script.measured(takers);
        }
        for (std::uint32_t each = 0; each < pairs; ++each) {
            for (command* const one : {&makers[each], &takers[each]}) {
                auto& order = std::get<enter_order>(*one);
                const price_ticks better = (each * 7 % (pairs / 2)) % 100;
                order.price += order.side == order_side::buy ? better : -better;
                order.tif = time_in_force::good_till_cancel;
                orders.emplace_back(order);
            }
        }
        const instrument_id in = std::get<enter_order>(orders.front()).instrument;
        core.apply(1'000, set_phase{in, market_phase::opening_auction}, event_sink::to(sink));
        const stopwatch::time_point begin = stopwatch::now();
        apply_all<Sink, enter_order>(core, orders, sink);
        const double entered = seconds_since(begin);
        const stopwatch::time_point entered_at = stopwatch::now();
        core.apply(1'000, uncross{in}, event_sink::to(sink));
        const double uncrossed = seconds_since(entered_at);
        state.SetIterationTime(part == auction_part::entering ? entered : uncrossed);
        if (core.state().memory.orders.in_use() != 0) state.SkipWithError("orders are left over");
    }
    const auto played = static_cast<double>(state.iterations()) *
                        (part == auction_part::entering ? 2 * pairs : pairs);
    state.counters["per event"] = Counter(played, Counter::kIsRate | Counter::kInvert);
}

void clock_alone(benchmark::State& state) {
    for (auto _ : state) state.SetIterationTime(seconds_since(stopwatch::now()));
}
BENCHMARK(clock_alone)->UseManualTime();

// ---------------------------------------------------------------------------------------------
// The book without accounts, risk and messages: add and remove by turns, 10,000 orders standing.
// ---------------------------------------------------------------------------------------------

enum class price_pattern : std::uint8_t { touch, dense, wide, sparse };

price_ticks price_in(price_pattern pattern, std::mt19937_64& random) {
    switch (pattern) {
        case price_pattern::touch: return -static_cast<price_ticks>(random() % 10);
        case price_pattern::dense: return -static_cast<price_ticks>(random() % 1'000);
        case price_pattern::wide: return -static_cast<price_ticks>(random() % 60'000);
        case price_pattern::sparse:
            return -static_cast<price_ticks>(random() % (std::uint64_t{1} << 40));
    }
    return 0;
}

void bare_book(benchmark::State& state, price_pattern pattern) {
    constexpr std::uint32_t standing = 10'000;
    constexpr std::uint32_t block = 10'000;
    book_memory memory{order_slab{2 * standing}, {chunk_pool{1u << 15}, node_pool{1u << 17}}};
    book in;
    std::mt19937_64 random{20'260'519};
    std::vector<order_index> resting;
    struct planned {
        price_ticks price;
        order_side side;
        std::uint32_t victim;
    };
    std::vector<planned> plan(block);
    const auto draw = [&](planned& it) {
        it.side = random() % 2 == 0 ? order_side::buy : order_side::sell;
        const price_ticks away = price_in(pattern, random);
        it.price = it.side == order_side::buy ? away - 1 : -away;
        it.victim = static_cast<std::uint32_t>(random() % standing);
    };
    const auto add = [&](const planned& it) {
        const order_index index = memory.orders.take();
        order& made = memory.orders[index];
        made.price = it.price;
        made.side = it.side;
        made.open = 10;
        in.add(memory, index);
        return index;
    };
    for (std::uint32_t each = 0; each < standing; ++each) {
        planned it;
        draw(it);
        resting.push_back(add(it));
    }
    price_rank seen = 0;
    for (auto _ : state) {
        for (planned& each : plan) draw(each);
        const stopwatch::time_point begin = stopwatch::now();
        for (const planned& each : plan) {
            const order_index gone = std::exchange(resting[each.victim], add(each));
            in.remove(memory, gone);
            memory.orders.give_back(gone);
            seen += in.of(each.side).best_rank();
        }
        state.SetIterationTime(seconds_since(begin));
    }
    benchmark::DoNotOptimize(seen);
    const auto messages = static_cast<double>(state.iterations()) * 2 * block;
    state.counters["per message"] = Counter(messages, Counter::kIsRate | Counter::kInvert);
    state.counters["messages/s"] = Counter(messages, Counter::kIsRate);
}
BENCHMARK_CAPTURE(bare_book, touch, price_pattern::touch)->UseManualTime();
BENCHMARK_CAPTURE(bare_book, dense, price_pattern::dense)->UseManualTime();
BENCHMARK_CAPTURE(bare_book, wide, price_pattern::wide)->UseManualTime();
BENCHMARK_CAPTURE(bare_book, sparse, price_pattern::sparse)->UseManualTime();

template <class Sink>
void add_cases(const std::string& sink) {
    using enum scenario_name;
    for (const scenario_name which :
         {place_and_cancel, ioc_without_execution, fok_without_execution, amend_quantity, trade,
          sweep_one_level, sweep_adjacent_levels, sweep_sparse_levels, mass_cancel}) {
        for (const book_state book : {book_state::empty, book_state::filled}) {
            if (which == fok_without_execution && book == book_state::empty) continue;
            const std::string name = std::string{bench::title(which)} +
                                     (book == book_state::empty ? ", empty, " : ", filled, ") +
                                     sink;
            benchmark::RegisterBenchmark(name.c_str(), [which, book](benchmark::State& state) {
                play<Sink>(state, which, book);
            })->UseManualTime();
        }
    }
    benchmark::RegisterBenchmark(("4 trade, in blocks, " + sink).c_str(), &trade_in_blocks<Sink>)
        ->UseManualTime();
    benchmark::RegisterBenchmark(("stop entered and cancelled, " + sink).c_str(),
                                 &stop_and_cancel<Sink>)
        ->UseManualTime();
    benchmark::RegisterBenchmark(("iceberg filled and shown again, " + sink).c_str(),
                                 &iceberg_fill<Sink>)
        ->UseManualTime();
    for (const auction_part part : {auction_part::entering, auction_part::uncrossing}) {
        const bool enters = part == auction_part::entering;
        benchmark::RegisterBenchmark(
            ((enters ? "auction, each order, " : "auction, each trade, ") + sink).c_str(),
            [part](benchmark::State& state) { auction<Sink>(state, part); })
            ->UseManualTime();
    }
}

}  // namespace

int main(int argc, char** argv) {
    add_cases<counting_sink>("counted");
    add_cases<encoding_sink>("encoded");
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
}

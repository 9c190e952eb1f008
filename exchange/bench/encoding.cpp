// SPDX-License-Identifier: BSL-1.0
//
// What the wire costs: nanoseconds and bytes per derived message, from records to framed bytes and back.
//
// A sweep's 100 messages (ten fills of ten) go into two sessions' streams and the feed, as in the
// facility; `output` adds what it takes to hand them to a socket. Run it pinned, read medians:
//
//     taskset -c 1 exchange_encoding --benchmark_repetitions=15 --benchmark_report_aggregates_only=true
#include <exchange/codec/event_codec.hpp>
#include <exchange/codec/mold_receiver.hpp>
#include <exchange/codec/mold_sender.hpp>
#include <exchange/codec/soup_server.hpp>
#include <exchange/codec/soup_stream.hpp>

#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <vector>

namespace {

using namespace exchange;

/// One fill: its ten messages in the order of publication.
std::array<event, 10> fill(std::uint32_t number) {
    std::array<event, 10> out{};
    auto set = [&out, at = std::size_t{0}](auto member, auto record) mutable {
        out[at].*member = record;
        out[at++].kind = record.kind;
    };
    const order_id order{1000 + number};
    const trade_id traded{number};
    const instrument_id market{7};
    const session_id maker{1};
    const session_id taker{2};
    const account_id account{5};
    const client_sequence sequence{number + 1};
    set(&event::order_executed, order_executed{order, traded, 100, market, account, sequence, 10, 0,
                                               maker, order_side::sell, execution_role::maker});
    set(&event::order_executed, order_executed{order, traded, 100, market, account, sequence, 10,
                                               90, taker, order_side::buy, execution_role::taker});
    set(&event::trade, trade{traded, 100, market, 10, order_side::buy});
    set(&event::volume_update, volume_update{1000, market, number});
    set(&event::trade_capture_report,
        trade_capture_report{order, traded, 100, market, account, firm_id{1}, firm_id{2}, 10, taker,
                             order_side::buy, execution_role::taker});
    set(&event::trade_capture_report,
        trade_capture_report{order, traded, 100, market, account, firm_id{2}, firm_id{1}, 10, maker,
                             order_side::sell, execution_role::maker});
    set(&event::order_book_update,
        order_book_update{order, 100, market, 0, order_side::sell, book_action::erase});
    set(&event::price_level_update, price_level_update{100, 500, market, 50, order_side::sell});
    set(&event::market_statistics, market_statistics{90, 110, 80, 100, 1000, market, number});
    set(&event::top_of_book, top_of_book{99, 10, 101, 20, market, 1, 2});
    return out;
}

std::vector<event> sweep() {
    std::vector<event> all;
    for (std::uint32_t each = 0; each < 10; ++each)
        for (const event& one : fill(each)) all.push_back(one);
    return all;
}

struct wires {
    soup_stream sessions[2]{soup_stream{{.session = "S1"}}, soup_stream{{.session = "S2"}}};
    mold_sender public_feed{{.session = "FEED"}, gyre::time_point{}};

    soup_stream* session(session_id it) { return &sessions[number(it) - 1]; }
    mold_sender* feed() { return &public_feed; }
    soup_stream* administrator() { return nullptr; }

    /// As clients that keep up.
    void read_all() {
        for (soup_stream& each : sessions) each.reader_at(each.messages().next_sequence());
    }
};

void log_in(soup_server& server, const soup_stream& stream) {
    const auto login = format_soup_login({"u", "p", "", 0});
    static_cast<void>(server.on_packet({soup_type::login_request, login}, gyre::time_point{}));
    static_cast<void>(server.accept(stream, gyre::time_point{}));
}

std::size_t bytes_of_sweep(const std::vector<event>& events) {
    std::size_t total = 0;
    for (const event& each : events)
        visit(each, [&]<class Event>(const Event&) { total += message_bytes_of<Event>; });
    return total;
}

void count(benchmark::State& state, std::size_t messages, std::size_t bytes) {
    state.counters["ns_per_message"] = benchmark::Counter(
        static_cast<double>(messages) * 1e-9,
        benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
    state.counters["bytes_per_message"] =
        static_cast<double>(bytes) / static_cast<double>(messages);
}

void encode_sweep(benchmark::State& state) {
    const std::vector<event> events = sweep();
    wires to;
    out_sequence next = 1;
    for (auto _ : state) {
        encode_batch(event_batch{events, next, next, next, 0, true}, to);
        to.read_all();
        next += events.size();
        benchmark::ClobberMemory();
    }
    count(state, events.size(), bytes_of_sweep(events));
}
BENCHMARK(encode_sweep);

/// The same, and everything a driver needs for its writes: gathered buffers and datagram headers.
void encode_and_output_sweep(benchmark::State& state) {
    const std::vector<event> events = sweep();
    wires to;
    soup_server servers[2]{soup_server{{}, gyre::time_point{}},
                           soup_server{{}, gyre::time_point{}}};
    for (int each = 0; each < 2; ++each) log_in(servers[each], to.sessions[each]);
    out_sequence next = 1;
    for (auto _ : state) {
        encode_batch(event_batch{events, next, next, next, 0, true}, to);
        for (soup_server& server : servers) {
            const soup_output output = server.output();
            benchmark::DoNotOptimize(output.parts);
            server.sent(output.size(), gyre::time_point{});
        }
        to.read_all();
        while (const auto datagram = to.public_feed.next(gyre::time_point{}))
            benchmark::DoNotOptimize(datagram->messages.data());
        next += events.size();
    }
    count(state, events.size(), bytes_of_sweep(events));
}
BENCHMARK(encode_and_output_sweep);

/// A floor: each record and its stamp copied as they are.
void copy_sweep(benchmark::State& state) {
    const std::vector<event> events = sweep();
    std::vector<std::byte> ring(1 << 20);
    std::size_t at = 0;
    const std::size_t size = sizeof(event_stamp) + 56;
    benchmark::DoNotOptimize(ring.data());  // As if other code might read it.
    for (auto _ : state) {
        const event_batch batch{events, 1, 1, 1, 0, true};
        for (std::size_t each = 0; each < events.size(); ++each, at += size) {
            if (at + size > ring.size()) at = 0;
            const event_stamp stamp = batch.stamp(each);
            std::memcpy(ring.data() + at, &stamp, sizeof stamp);
            std::memcpy(ring.data() + at + sizeof stamp, &events[each], 56);
        }
        benchmark::ClobberMemory();
    }
    count(state, events.size(), size * events.size());
}
BENCHMARK(copy_sweep);

/// Fields of one kind at a time: what a message costs whose kind the branch predictor knows.
template <class Event>
void encode_one(benchmark::State& state) {
    std::vector<event> events(100);
    for (event& each : events) each.kind = Event::kind;
    if constexpr (requires(Event it) { it.session; })
        for (event& each : events) each.order_executed.session = session_id{1};
    wires to;
    for (auto _ : state) {
        encode_batch(event_batch{events, 1, 1, 1, 0, true}, to);
        benchmark::ClobberMemory();
    }
    count(state, events.size(), events.size() * message_bytes_of<Event>);
}
BENCHMARK(encode_one<order_executed>);
BENCHMARK(encode_one<top_of_book>);

void decode_enter_order(benchmark::State& state) {
    enter_order command{};
    command.client_seq = client_sequence{1};
    command.instrument = instrument_id{1};
    command.type = order_type::limit;
    command.tif = time_in_force::day;
    std::array<std::byte, message_bytes_of<enter_order>> bytes;
    encode(command, bytes);
    for (auto _ : state) {
        benchmark::DoNotOptimize(bytes);
        const auto fault = decode_client_command(
            bytes, session_id{1}, [](const auto& decoded) { benchmark::DoNotOptimize(&decoded); });
        benchmark::DoNotOptimize(fault);
    }
    count(state, 1, bytes.size());
}
BENCHMARK(decode_enter_order);

/// From datagrams to the listener's messages, in order and without loss.
void receive_feed(benchmark::State& state) {
    mold_sender sender{{.session = "FEED"}, gyre::time_point{}};
    mold_receiver receiver{{}, gyre::time_point{}};
    std::size_t bytes = 0;
    for (auto _ : state) {
        for (const event& each : fill(1)) {
            visit(each, [&]<class Event>(const Event& it) {
                constexpr std::size_t size = message_bytes_of<Event>;
                if constexpr (audience_of(Event::kind) == event_audience::public_feed) {
                    encode(it, {}, sender.prepare(size).template first<size>());
                    sender.commit(size);
                }
            });
        }
        const auto datagram = sender.next(gyre::time_point{});
        std::array<std::byte, 1400> wire;
        std::copy(datagram->header.begin(), datagram->header.end(), wire.begin());
        std::copy(datagram->messages.begin(), datagram->messages.end(),
                  wire.begin() + mold_header_bytes);
        static_cast<void>(
            receiver.on_packet(std::span{wire}.first(datagram->size()), gyre::time_point{}));
        while (const auto message = receiver.next())
            benchmark::DoNotOptimize(message->payload.data());
        bytes = datagram->size();
    }
    count(state, 6, bytes);
}
BENCHMARK(receive_feed);

}  // namespace

BENCHMARK_MAIN();

// SPDX-License-Identifier: BSL-1.0
//
// When a silent peer is given up, and that each kind of stream passes on what moves below it.
#include <gyre/stream/silence.hpp>

#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/counted_stream.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/stream/split.hpp>
#include <gyre/stream/stream_ref.hpp>
#include <gyre/stream/throttled_stream.hpp>

#include <support/harness.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// Waits until it is over; `traffic` is what the stream says after each wait.
template <class Traffic>
duration waited_for(silence_watch& silence, const Traffic& traffic) {
    duration total{};
    while (!silence.over() && total < 1h) {
        const duration wait = silence.patience();
        total += wait;
        silence.note(wait, traffic(total));
    }
    return total;
}

}  // namespace

TEST_CASE("a peer is given up after the limit, and an eighth later at most where bytes had moved") {
    silence_watch deaf{8s};
    silence_watch unlooked{8s};
    silence_watch slow{8s};

    CHECK(waited_for(deaf, [](duration) { return 0U; }) == 8s);
    CHECK(waited_for(unlooked, [](duration) { return 500U; }) == 8s + 125ms);
    const duration ended =
        waited_for(slow, [](duration at) { return static_cast<std::uint64_t>(at / 5s); });
    CHECK(ended >= 1h);
    silence_watch late{8s};
    CHECK(waited_for(late, [](duration at) { return at > 5s ? 2U : 1U; }) < 5s + 9s);
}

TEST_CASE("bytes that an operation has transferred keep a peer, and no limit is never over") {
    const memory_stream none;
    silence_watch silence{1s};
    silence.count(900ms, false, none);
    silence.count(900ms, true, none);
    silence.count(900ms, false, none);
    CHECK_FALSE(silence.over());
    silence.count(100ms, false, none);
    CHECK(silence.over());

    silence_watch unlimited{duration::max()};
    unlimited.count(duration::max(), false, none);
    CHECK_FALSE(unlimited.over());
    CHECK(unlimited.patience() == duration::max());
    silence_watch impatient{0s};
    CHECK(impatient.over());
    CHECK(impatient.patience() > 0s);
}

TEST_CASE("traffic of a stream is that of the stream below it") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{100};
        stream_ref refers{pipe.first};
        counted_stream counts{refers};
        throttled_stream throttles_it{counts, throttles{}};
        any_stream of_any_kind{std::move(throttles_it)};
        stream_halves<any_stream> halves = split(std::move(of_any_kind));
        std::array<std::byte, 100> space;

        const auto put = co_await halves.writes.write_some(bytes_of("some bytes"));
        CHECK(put.value() == 10);
        CHECK(traffic_of(halves.writes) == 0);
        const auto got = co_await pipe.second.read_some(space);
        CHECK(got.value() == 10);

        CHECK(traffic_of(pipe.first) == 10);
        CHECK(traffic_of(refers) == 10);
        CHECK(traffic_of(halves.writes) == 10);
        CHECK(traffic_of(halves.reads) == 10);
        CHECK(traffic_of(write_half<any_stream>{}) == 0);
        CHECK(traffic_of(any_stream{}) == 0);
        struct knows_of_none {};
        CHECK(traffic_of(knows_of_none{}) == 0);
    });
}

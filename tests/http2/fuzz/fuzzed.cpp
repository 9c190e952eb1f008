// SPDX-License-Identifier: BSL-1.0
#include <http2/fuzz/fuzzed.hpp>

#include <gyre/base/check.hpp>
#include <http2/engine_ends.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace gyre::testing {
namespace {

using http2::breach;

constexpr time_point now{std::chrono::hours{1}};

struct told {
    std::string log;
    std::string said;
    breach why = breach::none;
};

struct settings {
    explicit settings(unsigned bits) noexcept
        : prelude{(bits & 1) != 0}, answers{(bits & 2) != 0}, consumes{(bits & 4) != 0} {
        options.head_bytes_max = (bits & 8) != 0 ? 150 : 64 * 1024;
        options.memory_max = (bits & 16) != 0 ? 64 * 1024 : 1024 * 1024;
        options.streams_max = (bits & 32) != 0 ? 2 : 100;
    }

    http2::engine_options options;
    bool prelude;  // What a peer says first is said.
    bool answers;
    bool consumes;
};

std::string all_that_is_said(engine_end& by) {
    std::string said;
    for (int rounds = 0; by.wire.produce(said, said.size() + 1, now); ++rounds) {
        ensures(rounds < 100'000, "an engine comes to an end of what it says");
    }
    return said;
}

void ask(engine_end& by) {
    add_head(by.wire, "GET", "/");
    by.ask();
    add_head(by.wire, "POST", "/");
    by.ask("a body", true);
}

// What an engine hears of `bytes` in pieces of `step`.
told hear(http2::role we, const settings& how, const_buffer bytes, std::size_t step) {
    http2::engine_options options = how.options;
    options.we = we;
    engine_end end{options};
    end.answers = how.answers;
    end.consumes = how.consumes;
    end.wire.begin(now);
    if (we == http2::role::client) ask(end);
    static_cast<void>(all_that_is_said(end));
    if (how.prelude) {
        const std::string first =
            (we == http2::role::server ? greeting() : frame_of(frame::settings, 0, 0)) +
            frame_of(frame::settings, ack, 0);
        end.wire.receive(bytes_of(first), now);
    }
    while (!bytes.empty()) {
        const std::size_t size = std::min(step, bytes.size());
        // Of just that size, so that a sanitizer sees a read beyond them.
        const std::string piece{text_of(bytes.first(size))};
        end.wire.receive(bytes_of(piece), now);
        bytes = bytes.subspan(size);
    }
    told got;
    got.said = all_that_is_said(end);
    got.log = std::move(end.log);
    got.why = end.wire.why();
    ensures(end.wire.memory().used_most() <= options.memory_max, "within its memory");
    if (got.why == breach::none) {
        end.wire.expire(time_point::max());
        static_cast<void>(all_that_is_said(end));
        return got;
    }
    // Nothing else of such a peer is heard, and nothing is left to be said.
    end.log.clear();
    end.wire.receive(bytes_of(frame_of(frame::ping, 0, 0, "12345678")), now);
    ensures(end.log.empty() && all_that_is_said(end).empty(), "an end is an end");
    return got;
}

void compare(http2::role we, const_buffer input) {
    if (input.size() < 2) return;
    const settings how{static_cast<unsigned>(input[0])};
    const std::size_t step = static_cast<std::size_t>(input[1]) + 1;
    const const_buffer bytes = input.subspan(2);
    const told whole = hear(we, how, bytes, std::max<std::size_t>(bytes.size(), 1));
    for (const std::size_t each : {step, std::size_t{1}}) {
        const told pieces = hear(we, how, bytes, each);
        // Once a peer goes, and nothing is open, what comes behind is heard only with the end.
        if (whole.log.find(" goaway ") != std::string::npos) {
            ensures(whole.log.starts_with(pieces.log), "a cut adds nothing");
            continue;
        }
        const bool fine = whole.why == breach::none;
        ensures(fine == (pieces.why == breach::none), "a cut neither makes a breach nor hides one");
        // A breach leaves out what came with it, which depends on the cut.
        if (!fine) continue;
        ensures(whole.log == pieces.log, "the same is heard however it is cut");
        ensures(whole.said == pieces.said, "the same is answered however it is cut");
    }
}

}  // namespace

void fuzz_server(const_buffer input) { compare(http2::role::server, input); }
void fuzz_client(const_buffer input) { compare(http2::role::client, input); }

}  // namespace gyre::testing

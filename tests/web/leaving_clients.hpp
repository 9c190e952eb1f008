// SPDX-License-Identifier: BSL-1.0
//
// Clients of event streams that come and go, as the tabs of browsers do: whatever speaks to them, descriptors
// and memory are those of the clients that are there.
//
// With GYRE_LEAVING_CLIENTS=50000, so many clients come, in slices of 1,000, and the test prints their cost.
// That takes a build without sanitizers, and GLIBC_TUNABLES=glibc.malloc.tcache_count=0: mallinfo2(3) counts
// blocks that each thread's cache keeps as allocated. Those caches fill up for 100,000 handshakes.
#pragma once

#include <gyre/coro/this_task.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/tls/stream.hpp>
#include <support/harness.hpp>
#include <web/site.hpp>
#include <web/trust.hpp>

#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::testing {

// Streams of events that never come again, behind the first.
struct event_streams {
    [[nodiscard]] http::handler handler() {
        return [this](http::request&) -> task<http::response> {
            auto write = [this](http::body_writer to) { return stream(to); };
            co_return http::response{http::status::ok, http::produced_by(std::move(write))};
        };
    }
    task<io_result<>> stream(http::body_writer to) {
        ++open;
        static_cast<void>(co_await write_all(to, bytes_of(std::string_view{"data: first\n\n"})));
        static_cast<void>(co_await to.flush());
        const io_result<> slept = co_await sleep_for(std::chrono::hours{1});
        --open;
        co_return slept;
    }

    std::size_t open = 0;
};

// Clients of one slice, and what has them leave together.
struct crowd {
    std::size_t here = 0;
    std::size_t failed = 0;
    event all_leave;
};

/// How clients speak.
struct leaving_clients {
    const char* name;
    const char* protocol;  ///< Agreed on over TLS; null: without TLS.
    /// Counts itself in once an event came, and returns when all leave.
    task<> (*talk)(any_stream, crowd&);
};

// Every other one resets its connection.
inline task<> come_and_go(endpoint where, task<> (*talk)(any_stream, crowd&),
                          const tls::context& settings, bool resets, crowd& of) {
    io_result<stream_socket> connected = co_await stream_socket::connect(where);
    if (!connected.ok()) {
        ++of.failed;
        co_return;
    }
    stream_socket socket = connected.take();
    if (resets) static_cast<void>(socket.set_option(reset_on_close{{true}}));
    any_stream on{std::move(socket)};
    if (settings) {
        io_result<tls::stream> secured =
            co_await tls::connect(std::move(on), settings, "localhost");
        if (!secured.ok()) {
            ++of.failed;
            co_return;
        }
        on = any_stream{secured.take()};
    }
    co_await talk(std::move(on), of);
}

inline tls::context client_settings(const char* protocol) {
    tls::client_options asking;
    asking.system_authorities = false;
    asking.authorities = trust::get().root.certificate();
    asking.judged_at = certificate_day;
    asking.protocols = {protocol};
    return tls::context::client(std::move(asking)).take();
}

inline std::size_t resident_kib() {
    std::ifstream from{"/proc/self/statm"};
    std::size_t all = 0;
    std::size_t resident = 0;
    from >> all >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

// Bytes that are allocated. Resident memory grows for a while where threads allocate beside each other, and
// blocks of many sizes come and go: 1,000 handshakes at a time do both.
inline std::size_t allocated_kib() {
    const struct mallinfo2 of = ::mallinfo2();
    return (of.uordblks + of.hblkhd) / 1024;
}

template <class Happened>
task<bool> come_true_within(duration limit, Happened happened) {
    loop& home = co_await this_task::loop();
    const time_point until = deadline_after(home.read_clock(), limit);
    while (!happened() && home.read_clock() < until)
        static_cast<void>(co_await sleep_for(std::chrono::milliseconds{1}));
    co_return happened();
}

struct counts {
    std::size_t slices = 3;
    std::size_t clients = 20;
    bool prints = false;
    duration patience = std::chrono::minutes{1};
};

inline counts wanted() {
    counts made;
    if (const char* const all = std::getenv("GYRE_LEAVING_CLIENTS")) {
        made.clients = 1000;
        made.slices = std::strtoul(all, nullptr, 10) / made.clients;
        made.prints = true;
        const char* const tunables = std::getenv("GLIBC_TUNABLES");
        INFO("run with GLIBC_TUNABLES=glibc.malloc.tcache_count=0");
        REQUIRE(tunables != nullptr);
        REQUIRE(std::string_view{tunables}.find("tcache_count=0") != std::string_view::npos);
        made.patience = std::chrono::minutes{10};
    }
    return made;
}

// Descriptors that workers open when the first handshake needs them.
inline constexpr std::size_t beside_clients = 4;
// The first half of all clients fills the caches of frames and messages.
inline constexpr std::size_t grown_kib_max = 256;

inline task<> check_slices(io_context& io, leaving_clients how) {
    const counts these = wanted();
    event_streams streams;
    const tls::context settings =
        how.protocol == nullptr ? tls::context{} : client_settings(how.protocol);
    web::server_options options;
    if (how.protocol != nullptr) options.settings = trust::get().server;
    const auto body = [&](listening_site& at) -> task<> {
        const std::size_t descriptors = open_descriptors() + beside_clients;
        std::size_t warm_kib = 0;
        for (std::size_t slice = 0; slice < these.slices; ++slice) {
            crowd all;
            const auto clients = [&](task_group& group) -> task<> {
                for (std::size_t each = 0; each < these.clients; ++each) {
                    group.spawn(come_and_go(at.where, how.talk, settings, each % 2 == 1, all));
                }
                const bool came = co_await come_true_within(std::chrono::seconds{60}, [&] {
                    return all.here + all.failed == these.clients;
                });
                CHECK(came);
                CHECK(all.failed == 0);
                CHECK(streams.open == these.clients);
                all.all_leave.set();
            };
            co_await with_group(clients);
            const bool ended = co_await come_true_within(std::chrono::seconds{20},
                                                         [&] { return streams.open == 0; });
            CHECK(ended);
            const bool flat = co_await come_true_within(
                std::chrono::seconds{20}, [&] { return open_descriptors() <= descriptors; });
            CHECK(flat);
            const std::size_t now_kib = allocated_kib();
            const bool is_last = slice + 1 == these.slices;
            const bool is_half = slice + 1 == these.slices / 2;
            if (is_half) warm_kib = now_kib;
            if (these.prints && (slice == 0 || is_half || is_last)) {
                std::printf(
                    "%s on %s: %zu clients gone, %zu descriptors, %zu KiB allocated, %zu KiB "
                    "resident\n",
                    how.name, describe(io.backend().kind), (slice + 1) * these.clients,
                    open_descriptors(), now_kib, resident_kib());
                std::fflush(stdout);
            }
        }
        if (these.prints) CHECK(allocated_kib() <= warm_kib + grown_kib_max);
    };
    co_await with_site(io, streams.handler(), std::move(options), body);
}

/// The same on each backend.
inline void check_leaving(leaving_clients how) {
    const duration patience = wanted().patience;
    with_every_backend([how, patience](const io_context_options& options) {
        io_context io{options};
        bool ended = false;
        const auto note_end = [&ended](task_outcome<void> outcome) {
            outcome.get();
            ended = true;
        };
        launch(io, check_slices(io, how), note_end);
        io.run_for(patience);
        CHECK(ended);
    });
}

}  // namespace gyre::testing

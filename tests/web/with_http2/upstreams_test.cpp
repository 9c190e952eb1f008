// SPDX-License-Identifier: BSL-1.0
//
// `web::upstreams` over HTTP/2: what a stream's end says about a server, and what goes elsewhere.
#include <gyre/web/upstreams.hpp>

#include <gyre/stream/algorithms.hpp>
#include <support/harness.hpp>
#include <support/world.hpp>
#include <web/farm.hpp>
#include <web/with_http2/frame_server.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using web::client;
using web::upstreams;
using web::upstreams_options;

TEST_CASE("over HTTP/2: a body that its own producer breaks off says nothing about the server") {
    const auto run = [](io_context& io) -> task<> {
        const auto how = [](frame_peer& peer, std::size_t) -> task<> {
            static_cast<void>(co_await peer.greet());  // The client may be gone by then.
            static_cast<void>(co_await peer.hear(frame::unknown));
        };
        const auto body = [](const listening_site& site) -> task<> {
            client web{multiplexing()};
            upstreams_options options;
            options.failures_max = 1;
            upstreams to{web, {{web::url::parse(site.url("/", "https")).take()}}, options};
            for (const errc why : {errc::eof, errc::timed_out, errc::connection_reset}) {
                const auto write = [why](http::body_writer into) -> task<io_result<>> {
                    const io_result<std::size_t> put =
                        co_await write_all(into, bytes_of("some of it"));
                    CHECK(put.ok());
                    const io_result<> flushed = co_await into.flush();
                    CHECK(flushed.ok());
                    co_return why;
                };
                const answered got =
                    co_await ask(to, a(http::method::put, "/", http::produced_by(write)));
                CHECK(got.failed == why);
            }
            CHECK(to.counters(0).requests == 3);
            CHECK(to.counters(0).failures == 0);
            CHECK(to.available(0));
        };
        co_await with_frames(io, how, body);
    };
    everywhere(run);
}

TEST_CASE("over HTTP/2: a server that resets a stream while its body is sent has failed") {
    const auto run = [](io_context& io) -> task<> {
        const auto how = [](frame_peer& peer, std::size_t) -> task<> {
            const bool said = co_await peer.greet();
            CHECK(said);
            const std::uint32_t stream = co_await peer.next_request();
            static_cast<void>(co_await peer.hear(frame::data));
            static_cast<void>(co_await peer.reset(stream, 2));
            static_cast<void>(co_await peer.hear(frame::unknown));
        };
        const auto body = [](const listening_site& site) -> task<> {
            client web{multiplexing()};
            upstreams to{web, {{web::url::parse(site.url("/", "https")).take()}}};
            const answered got =
                co_await ask(to, a(http::method::put, "/", http::produced_by(write_for_ever)));
            CHECK(got.failed);
            CHECK(to.counters(0).failures == 1);
            CHECK(to.counters(0).in_flight == 0);
        };
        co_await with_frames(io, how, body);
    };
    everywhere(run);
}

TEST_CASE("over HTTP/2: what a server refuses goes to another one, whatever its method") {
    const auto run = [](io_context& io) -> task<> {
        std::size_t refused = 0;
        const auto refuse = [&refused](frame_peer& peer, std::size_t) -> task<> {
            const bool greeted = co_await peer.greet();
            CHECK(greeted);
            for (;;) {
                const std::uint32_t stream = co_await peer.next_request();
                if (stream == 0) co_return;
                ++refused;
                const bool said = co_await peer.reset(stream, 7);
                if (!said) co_return;
            }
        };
        const auto take = [](frame_peer& peer, std::size_t) -> task<> {
            const bool said = co_await peer.greet();
            CHECK(said);
            co_await peer.serve("taken");
        };
        const auto body = [&](const listening_site& refusing) -> task<> {
            const auto beside = [&](const listening_site& taking) -> task<> {
                client web{multiplexing()};
                upstreams to{web,
                             {{web::url::parse(refusing.url("/", "https")).take(), 1'000'000},
                              {web::url::parse(taking.url("/", "https")).take()}}};
                const answered got =
                    co_await ask(to, a(http::method::post, "/", std::string{"text"}));
                CHECK_FALSE(got.failed);
                CHECK(got.text == "taken");
                CHECK(got.from == 1);
                CHECK(refused == 6);
                CHECK(to.counters(0).failures == 1);
                CHECK(to.counters(0).repeated == 1);
            };
            co_await with_frames(io, take, beside);
        };
        co_await with_frames(io, refuse, body);
    };
    everywhere(run);
}

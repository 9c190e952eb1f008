// SPDX-License-Identifier: BSL-1.0
//
// What src/http/peer_watch.hpp promises: a client of HTTP/1 that leaves is noticed while a handler or a
// body's producer waits, over every transport; what it has sent ahead is answered, within bounds.
#include <gyre/http/serve_connection.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <http/fed_stream.hpp>
#include <support/harness.hpp>
#include <support/transports.hpp>

#include <string>
#include <string_view>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view get_slow = "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n";
// Longer than what a handler may wait for before its peer is watched.
constexpr duration http_watch_wait = 20ms;
constexpr std::string_view get_fast = "GET /fast HTTP/1.1\r\nHost: h\r\n\r\n";

// How a peer goes.
enum class leaving : std::uint8_t { in_order, by_reset };

void leave(stream_socket& peer, leaving how) {
    if (how == leaving::by_reset) {
        CHECK(peer.set_option(reset_on_close{true}).ok());
    }
    static_cast<void>(peer.close());
}

// A handler, or a producer, that waits until it is stopped; what it saw.
struct waiting_site {
    [[nodiscard]] http::handler handler() {
        return [this](http::request& what) -> task<http::response> {
            if (what.target() == "/fast") co_return http::response{http::status::ok, "fast"};
            if (what.target() == "/made") {
                auto write = [this, &what](http::body_writer to) { return produce(what, to); };
                co_return http::response{http::status::ok, http::produced_by(std::move(write))};
            }
            begun.set();
            saw = co_await sleep_for(wait);
            left = what.peer_left();
            co_return http::response{http::status::ok, "late"};
        };
    }
    task<io_result<>> produce(http::request& what, http::body_writer to) {
        static_cast<void>(co_await write_all(to, bytes_of(std::string_view{"first"})));
        static_cast<void>(co_await to.flush());
        begun.set();
        saw = co_await sleep_for(wait);
        left = what.peer_left();
        co_return saw;
    }

    event begun;
    duration wait = 10min;
    io_result<> saw;
    bool left = false;
};

// Serves one end while `talk(client)` has the other; how the server ended.
template <class Talk>
task<error> between(socket_pair ends, const http::handler& handle, const Talk& talk,
                    const http::connection_options& options = {}) {
    const http::connection_hooks hooks;
    io_result<> ended = errc::busy;
    const auto serves = [&]() -> task<> {
        ended = co_await with_timeout(
            20s,
            http::serve_connection(any_stream{std::move(ends.server)}, handle, options, hooks));
    };
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(serves);
        co_await talk(ends.client);
    };
    co_await with_group(body);
    co_return ended.error();
}

}  // namespace

TEST_CASE("a client that leaves stops the handler and the producer that wait for something else") {
    on_every_backend([](io_context& io) -> task<> {
        for (const std::string_view target : {"/slow", "/made"}) {
            for (const leaving how : {leaving::in_order, leaving::by_reset}) {
                waiting_site site;
                const auto talk = [&](stream_socket& client) -> task<> {
                    const std::string asked =
                        "GET " + std::string{target} + " HTTP/1.1\r\nHost: h\r\n\r\n";
                    static_cast<void>(co_await write_all(client, bytes_of(asked)));
                    static_cast<void>(co_await site.begun.wait());
                    leave(client, how);
                };
                const error ended = co_await between(connected_pair(io), site.handler(), talk);
                CAPTURE(target);
                CAPTURE(static_cast<int>(how));
                CHECK(site.saw.error() == errc::canceled);
                CHECK(site.left);
                CHECK(ended != errc::timed_out);
            }
        }
    });
}

TEST_CASE(
    "a peer that ends its direction has left, and what its handler answers is sent all the same") {
    on_every_transport([](io_context&) -> task<> {
        waiting_site site;
        traffic over;
        over.in = get_slow;

        const io_result<> ended = co_await serve_traffic(over, site.handler());

        CHECK(ended.ok());
        CHECK(site.saw.error() == errc::canceled);
        CHECK(site.left);
        CHECK(over.out.ends_with("late"));
    });
}

TEST_CASE("a peer that ends its direction waits for its answer where the server was told so") {
    on_every_transport([](io_context&) -> task<> {
        for (const std::string_view target : {"/slow", "/made"}) {
            waiting_site site;
            site.wait = 3 * http_watch_wait;
            traffic over;
            over.in = "GET " + std::string{target} + " HTTP/1.1\r\nHost: h\r\n\r\n";
            http::connection_options options;
            options.half_close = true;

            const io_result<> ended = co_await serve_traffic(over, site.handler(), options);

            CAPTURE(target);
            CHECK(ended.ok());
            CHECK(site.saw.ok());
            CHECK_FALSE(site.left);
        }
    });
}

TEST_CASE("a peer that waits for its answer may have a body that the handler reads late") {
    on_every_transport([](io_context&) -> task<> {
        for (const bool whole : {true, false}) {
            for (std::string body :
                 {"Content-Length: 9\r\n\r\n123456789",
                  "Transfer-Encoding: chunked\r\n\r\n9\r\n123456789\r\n0\r\n\r\n"}) {
                io_result<> waited;
                io_result<std::string> read;
                const http::handler handle = [&](http::request& what) -> task<http::response> {
                    waited = co_await sleep_for(3 * http_watch_wait);
                    read = co_await what.body.read_all(100);
                    co_return http::response{http::status::ok, "text/plain", "read"};
                };
                traffic over;
                if (!whole) body.pop_back();
                over.in = "POST / HTTP/1.1\r\nHost: h\r\n" + body;
                http::connection_options options;
                options.half_close = true;

                static_cast<void>(co_await serve_traffic(over, handle, options));

                CAPTURE(body);
                CHECK(waited.ok() == whole);
                CHECK(read.ok() == whole);
                CHECK(over.out.ends_with("read") == whole);
            }
        }
    });
}

TEST_CASE("what needs no wait is answered to a peer that has ended its direction") {
    on_every_transport([](io_context&) -> task<> {
        waiting_site site;
        traffic over;
        over.in = std::string{get_slow} + std::string{get_fast} + std::string{get_fast};

        const io_result<> ended = co_await serve_traffic(over, site.handler());

        CHECK(ended.ok());
        CHECK(over.out.find("late") < over.out.find("fast"));
        CHECK(over.out.ends_with("fast"));
        CHECK(over.out.find("fast") < over.out.rfind("fast"));
    });
}

TEST_CASE("a handler that ends soon costs no read") {
    on_every_backend([](io_context&) -> task<> {
        traffic over;
        over.in = get_slow;
        waiting_site site;
        site.wait = 1ns;
        http::connection_options options;
        std::size_t before = 0;
        const http::handler inner = site.handler();
        const http::handler handle = [&](http::request& what) -> task<http::response> {
            before = over.reads;
            http::response answer = co_await inner(what);
            CHECK(over.reads == before);
            co_return answer;
        };

        static_cast<void>(co_await serve_traffic(over, handle, options));

        CHECK(over.reads == before + 1);  // For the next request: the peer's end.
    });
}

TEST_CASE(
    "a peer that sends ahead while its handler waits is read up to a bound, and answered in "
    "order") {
    on_every_backend([](io_context&) -> task<> {
        constexpr std::size_t pipe_bytes = 500;
        constexpr std::size_t ahead_max = 256;
        memory_pipe pipe{pipe_bytes};
        waiting_site site;
        event go;
        const http::handler waits = [&](http::request& what) -> task<http::response> {
            if (what.target() == "/slow") {
                site.saw = co_await go.wait();
            }
            co_return http::response{http::status::ok, what.target()};
        };
        http::connection_options options;
        options.read_bytes_first = ahead_max;
        const http::connection_hooks hooks;
        std::size_t sent = 0;
        std::string heard;
        const auto says = [&]() -> task<> {
            static_cast<void>(co_await write_all(pipe.first, bytes_of(get_slow)));
            for (int at = 0; at < 100; ++at) {
                const io_result<std::size_t> put =
                    co_await write_all(pipe.first, bytes_of(get_fast));
                sent += put.value();
                if (!put.ok()) co_return;
            }
            pipe.first.shutdown_send();
        };
        const auto hears = [&]() -> task<> {
            std::string space(4096, '\0');
            for (;;) {
                const io_result<std::size_t> got = co_await pipe.first.read_some(space);
                heard.append(space, 0, got.value());
                if (!got.ok()) co_return;
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(says);
            group.spawn(hears);
            group.spawn([&]() -> task<> {
                static_cast<void>(co_await http::serve_connection(
                    any_stream{std::move(pipe.second)}, waits, options, hooks));
            });
            // Until it cannot say more.
            for (std::size_t before = SIZE_MAX; before != sent;) {
                before = sent;
                static_cast<void>(co_await sleep_for(3 * http_watch_wait));
            }
            CHECK(sent > pipe_bytes);
            CHECK(sent <= pipe_bytes + ahead_max);
            go.set();
        };
        co_await with_group(body);

        CHECK(site.saw.ok());
        std::size_t answers = 0;
        for (std::size_t at = heard.find("HTTP/1.1 200"); at != std::string::npos;
             at = heard.find("HTTP/1.1 200", at + 1)) {
            ++answers;
        }
        CHECK(answers == 101);
        CHECK(heard.find("/slow") < heard.find("/fast"));
    });
}

TEST_CASE("a body that comes while its handler waits for something else is read whole") {
    on_every_backend([](io_context& io) -> task<> {
        for (const bool chunked : {false, true}) {
            const std::string body_text(20'000, 'b');
            std::string got_text;
            const http::handler reads_late = [&](http::request& what) -> task<http::response> {
                static_cast<void>(co_await sleep_for(3 * http_watch_wait));
                const io_result<std::string> body = co_await what.body.read_all(1 << 20);
                CHECK(body.ok());
                got_text = body.value();
                static_cast<void>(co_await sleep_for(3 * http_watch_wait));
                co_return http::response{http::status::ok, "stored"};
            };
            std::string answer;
            const auto talk = [&](stream_socket& client) -> task<> {
                std::string asked = "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n";
                if (chunked) asked.append("Transfer-Encoding: chunked\r\n\r\n4e20\r\n");
                else asked.append("Content-Length: 20000\r\n\r\n");
                static_cast<void>(co_await write_all(client, bytes_of(asked)));
                for (std::size_t at = 0; at < body_text.size(); at += 1000) {
                    const std::string_view piece = std::string_view{body_text}.substr(at, 1000);
                    static_cast<void>(co_await write_all(client, bytes_of(piece)));
                    static_cast<void>(co_await sleep_for(4ms));
                }
                if (chunked) {
                    const std::string_view end = "\r\n0\r\n\r\n";
                    static_cast<void>(co_await write_all(client, bytes_of(end)));
                }
                std::string space(4096, '\0');
                for (;;) {
                    const io_result<std::size_t> got = co_await client.read_some(space);
                    answer.append(space, 0, got.value());
                    if (!got.ok()) break;
                }
                static_cast<void>(client.close());
            };
            const error ended = co_await between(connected_pair(io), reads_late, talk);
            CHECK_FALSE(ended);
            CHECK(got_text == body_text);
            CHECK(answer.ends_with("stored"));
        }
    });
}

TEST_CASE("a client that leaves within its body is noticed by who reads it, and by who does not") {
    on_every_backend([](io_context& io) -> task<> {
        for (const bool reads : {false, true}) {
            io_result<> saw;
            event begun;
            const http::handler handle = [&](http::request& what) -> task<http::response> {
                begun.set();
                if (reads) {
                    const io_result<std::string> body = co_await what.body.read_all(100);
                    saw = body.error();
                } else {
                    saw = co_await sleep_for(10min);
                }
                co_return http::response{http::status::ok};
            };
            http::connection_options options;
            options.half_close = true;  // Half of a request is not what it is for.
            const auto talk = [&](stream_socket& client) -> task<> {
                const std::string_view asked =
                    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhal";
                static_cast<void>(co_await write_all(client, bytes_of(asked)));
                static_cast<void>(co_await begun.wait());
                static_cast<void>(client.close());
            };
            const error ended = co_await between(connected_pair(io), handle, talk, options);
            CAPTURE(reads);
            CHECK(saw.error() == (reads ? errc::connection_reset : errc::canceled));
            CHECK(ended != errc::timed_out);
        }
    });
}

TEST_CASE("what a handler goes on with when it is stopped can wait for its client to leave") {
    on_every_backend([](io_context& io) -> task<> {
        io_result<> saw = errc::busy;
        event begun;
        const http::handler handle = [&](http::request& what) -> task<http::response> {
            begun.set();
            saw = co_await shielded(what.until_peer_left(), 20s);
            co_return http::response{http::status::ok};
        };
        const auto talk = [&](stream_socket& client) -> task<> {
            static_cast<void>(co_await write_all(client, bytes_of(get_slow)));
            static_cast<void>(co_await begun.wait());
            static_cast<void>(client.close());
        };
        static_cast<void>(co_await between(connected_pair(io), handle, talk));
        CHECK(saw.ok());
    });
}

TEST_CASE(
    "what a peer sends behind a request for another protocol while its handler waits is not lost") {
    on_every_backend([](io_context& io) -> task<> {
        std::string early;
        const http::handler handle = [&](http::request&) -> task<http::response> {
            static_cast<void>(co_await sleep_for(3 * http_watch_wait));
            http::response answer{http::status::switching_protocols};
            answer.fields.set("upgrade", "other");
            answer.upgrade = [&](http::upgraded_connection to) -> task<> {
                early = to.early;
                std::string space(100, '\0');
                while (early.size() < 5) {
                    const io_result<std::size_t> got = co_await to.stream.read_some(space);
                    if (!got.ok()) co_return;
                    early.append(space, 0, got.value());
                }
            };
            co_return answer;
        };
        const auto talk = [&](stream_socket& client) -> task<> {
            const std::string_view asked =
                "GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n";
            static_cast<void>(co_await write_all(client, bytes_of(asked)));
            static_cast<void>(co_await write_all(client, bytes_of(std::string_view{"early"})));
            std::string space(4096, '\0');
            for (;;) {
                const io_result<std::size_t> got = co_await client.read_some(space);
                if (!got.ok()) co_return;
            }
        };
        const error ended = co_await between(connected_pair(io), handle, talk);
        CHECK_FALSE(ended);
        CHECK(early == "early");
    });
}

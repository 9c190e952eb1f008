// SPDX-License-Identifier: BSL-1.0
//
// How connections over TLS end: a peer that waits for nothing reads an end (close_notify), whatever has ended
// the connection, and one that takes nothing is not waited for. RFC 8446, 6.1, and RFC 9112, 9.8.
#include <gyre/http/client_connection.hpp>
#include <gyre/http/serve_connection.hpp>
#include <gyre/web/server.hpp>

#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/tls/stream.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>
#include <tls/stream_pair.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view question = "GET / HTTP/1.1\r\nhost: h\r\n\r\n";

// A connection of HTTP/1 over TLS on a pipe, its server with limits that a test can wait for.
struct secure_site {
    explicit secure_site(http::handler with) : handle{std::move(with)} {
        options.linger_time_max = 20s;
    }

    task<> begin(task_group& in, std::size_t pipe_bytes = 100'000) {
        memory_pipe pipe{pipe_bytes};
        stream_pair pair = co_await shake_hands(std::move(pipe.first), std::move(pipe.second));
        client = std::move(pair.client);
        in.spawn(serve(std::move(pair.server)));
    }

    task<> serve(tls::stream on) {
        served = co_await http::serve_connection(any_stream{std::move(on)}, handle, options, hooks);
        over.set();
    }

    task<> say(std::string_view text) {
        const io_result<std::size_t> put = co_await write_all(client, bytes_of(text));
        CHECK(put.ok());
    }

    // All that the client gets, and how that ends.
    task<error> hear(std::string& all) {
        std::string space(4096, '\0');
        for (;;) {
            const io_result<std::size_t> got = co_await with_timeout(20s, client.read_some(space));
            if (!got.ok()) co_return got.error();
            all.append(space, 0, got.value());
        }
    }

    http::handler handle;
    http::connection_options options;
    http::connection_hooks hooks;
    tls::stream client;
    io_result<> served = errc::busy;
    event over;
};

task<http::response> answer_at_once(http::request&) {
    co_return http::response{http::status::ok, "text/plain", "whole"};
}

// What the client says, what then is asked of the server, and what comes of it.
void check_ending(const std::string& says, const http::handler& handle, stop_level asked,
                  errc expected, const std::function<void(secure_site&)>& prepare = {}) {
    on_every_backend([&](io_context&) -> task<> {
        secure_site site{handle};
        if (prepare) prepare(site);
        std::string got;
        error ended;
        io_result<> left;
        const auto body = [&](task_group& group) -> task<> {
            co_await site.begin(group);
            if (!says.empty()) co_await site.say(says);
            co_await settle();
            if (asked != stop_level::none) group.request(asked);
            left = co_await shielded(site.over.wait(), 10s);
        };
        co_await with_group(body);
        ended = co_await site.hear(got);

        CHECK(left.ok());  // Though the client has not answered.
        CHECK(ended == expected);
    });
}

}  // namespace

TEST_CASE(
    "over TLS: a connection that is drained, or stopped, or silent for too long, ends in order") {
    const auto is_quick = [](secure_site& site) {
        site.options.idle_time_max = site.options.head_time_max = 5ms;
    };
    const std::string said{question};
    for (const stop_level asked : {stop_level::drain, stop_level::stop}) {
        check_ending({}, answer_at_once, asked, errc::eof);
        check_ending(said, answer_at_once, asked, errc::eof);
    }
    check_ending({}, answer_at_once, stop_level::none, errc::eof, is_quick);
    check_ending(said, answer_at_once, stop_level::none, errc::eof, is_quick);
    check_ending("GET / HT", answer_at_once, stop_level::stop, errc::eof);
}

TEST_CASE("over TLS: a connection that is stopped in its handler ends in order") {
    const auto waits = [](http::request&) -> task<http::response> {
        static_cast<void>(co_await sleep_for(1h));
        co_return http::response{http::status::ok, "text/plain", "late"};
    };
    check_ending(std::string{question}, waits, stop_level::stop, errc::eof);
}

// RFC 9112, 9.8: what ends with the connection must not look whole.
TEST_CASE("over TLS: half of an answer without a length does not end in order") {
    const auto goes_on = [](http::body_writer to) -> task<io_result<>> {
        for (;;) {
            const auto put = co_await write_all(to, bytes_of(std::string_view{"more"}));
            if (!put.ok()) co_return put.error();
            const auto sent = co_await to.flush();
            if (!sent.ok()) co_return sent.error();
            const auto slept = co_await sleep_for(1h);
            if (!slept.ok()) co_return slept.error();
        }
    };
    const auto produces = [&](http::request&) -> task<http::response> {
        co_return http::response{http::status::ok, http::produced_by(goes_on)};
    };
    check_ending("GET / HTTP/1.0\r\n\r\n", produces, stop_level::stop, errc::tls_truncated);
    check_ending(std::string{question}, produces, stop_level::stop, errc::eof);
}

TEST_CASE("over TLS: a client that ends first is answered in kind") {
    on_every_backend([](io_context&) -> task<> {
        for (const std::string_view said : {std::string_view{}, question, question.substr(0, 9)}) {
            secure_site site{answer_at_once};
            io_result<> ended;
            const auto body = [&](task_group& group) -> task<> {
                co_await site.begin(group);
                if (!said.empty()) co_await site.say(said);
                ended = co_await site.client.finish();
            };
            co_await with_group(body);

            CAPTURE(said);
            CHECK_FALSE(ended.error());
        }
    });
}

namespace {

// From some moment on its writes fail, though the peer is there.
class failing_stream : public memory_stream {
public:
    failing_stream(memory_stream it, bool& fails) : memory_stream{std::move(it)}, fails_{&fails} {}

    [[nodiscard]] task<io_result<std::size_t>> write_some(const_buffer from) {
        io_result<std::size_t> put = error{errc::no_buffer_space, activity::write};
        if (!*fails_) put = co_await memory_stream::write_some(from);
        co_return put;
    }

private:
    bool* fails_;
};

}  // namespace

TEST_CASE("over TLS: a client's request tells why it could not be sent") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{100'000};
        bool fails = false;
        stream_pair pair = co_await shake_hands(
            any_stream{failing_stream{std::move(pipe.first), fails}}, std::move(pipe.second));
        secure_site site{answer_at_once};
        http::client_connection client{any_stream{std::move(pair.client)}};
        http::request asked{http::method::get, "/"};
        asked.set_authority("h");
        io_result<http::received_response> lost;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(site.serve(std::move(pair.server)));
            io_result<http::received_response> got = co_await client.send(asked);
            CHECK(got.ok());
            const http::received_response first = got.take();
            http::body_reader rest = first.body;
            const io_result<std::string> text = co_await rest.read_all(100);
            CHECK(text.value() == "whole");
            fails = true;
            lost = co_await client.send(asked);
        };
        co_await with_group(body);

        CHECK(lost.error() == errc::no_buffer_space);
        CHECK(lost.error().during() == activity::write);
    });
}

TEST_CASE("over TLS: a drain lets an idle connection's answer be taken that has been written") {
    on_every_backend([](io_context&) -> task<> {
        const auto answers = [](http::request&) -> task<http::response> {
            co_return http::response{http::status::ok, "text/plain", std::string(30'000, 'a')};
        };
        secure_site site{answers};
        std::string got;
        error ended;
        const auto body = [&](task_group& group) -> task<> {
            co_await site.begin(group, 1000);
            co_await site.say(question);
            co_await settle();
            group.request_drain();
            co_await settle();
            ended = co_await site.hear(got);
        };
        co_await with_group(body);

        CHECK(ended == errc::eof);
        CHECK(got.ends_with(std::string(30'000, 'a')));
    });
}

TEST_CASE("over TLS: a peer that takes nothing costs the time to linger, and after a stop less") {
    on_every_backend([](io_context& io) -> task<> {
        for (const stop_level asked : {stop_level::drain, stop_level::stop}) {
            const auto answers = [](http::request&) -> task<http::response> {
                co_return http::response{http::status::ok, "text/plain", std::string(30'000, 'a')};
            };
            secure_site site{answers};
            if (asked == stop_level::drain) site.options.linger_time_max = 20ms;
            io_result<> left;
            const time_point begun = io.read_clock();
            const auto server = [&](task_group& group) -> task<> {
                co_await site.begin(group, 1000);
                co_await site.say(question);
                co_await settle();
                group.request(asked);
                left = co_await shielded(site.over.wait(), 10s);
            };
            co_await with_group(server);

            CHECK(left.ok());
            CHECK(io.read_clock() - begun >= 20ms);
            std::string got;
            const error ended = co_await site.hear(got);
            CHECK(ended == errc::tls_truncated);
        }
    });
}

// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/answer_end.hpp promises over HTTP/1: each answer is told of once, with its bytes and end.
#include <gyre/http/answer_end.hpp>
#include <gyre/http/serve_connection.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <http/fed_stream.hpp>
#include <support/harness.hpp>
#include <support/transports.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

using kind = http::answer_end::kind;

task<io_result<>> write_five(http::body_writer to) {
    const io_result<std::size_t> put = co_await write_all(to, bytes_of(std::string_view{"12345"}));
    co_return put.error();
}
task<io_result<>> write_and_fail(http::body_writer to) {
    static_cast<void>(co_await write_five(to));
    co_return error{errc::no_buffer_space, activity::read};
}
task<io_result<>> fail(http::body_writer) {
    co_return error{errc::no_buffer_space, activity::read};
}
task<io_result<>> write_and_wait(http::body_writer to) {
    static_cast<void>(co_await write_five(to));
    const io_result<> slept = co_await sleep_for(1h);
    co_return slept;
}

// As of a server behind this one, whose connection broke.
task<io_result<>> write_and_break(http::body_writer to) {
    static_cast<void>(co_await write_five(to));
    co_return error{errc::connection_reset, activity::read};
}
task<io_result<>> wait_and_write(http::body_writer) {
    const io_result<> slept = co_await sleep_for(1h);
    co_return slept;
}
task<io_result<>> write_and_flush(http::body_writer to) {
    static_cast<void>(co_await write_five(to));
    const io_result<> flushed = co_await to.flush();
    co_return flushed;
}

task<http::response> answer(http::request& what) {
    const std::string_view wish = what.target();
    if (wish == "/handler-waits") {
        static_cast<void>(co_await sleep_for(1h));
        co_return http::response{http::status::bad_gateway, "text/plain", "stopped"};
    }
    if (wish == "/breaks") {
        co_return http::response{http::status::ok, http::produced_by(write_and_break)};
    }
    if (wish == "/waits-first") {
        co_return http::response{http::status::ok, http::produced_by(wait_and_write)};
    }
    if (wish == "/flushes") {
        co_return http::response{http::status::ok, http::produced_by(write_and_flush)};
    }
    if (wish == "/reads") {
        const io_result<std::string> all = co_await what.body.read_all(1000);
        if (!all.ok()) co_return http::response{http::status::bad_gateway, "text/plain", "cut"};
    }
    if (wish == "/produced") {
        co_return http::response{http::status::ok, http::produced_by(write_five)};
    }
    if (wish == "/fails") {
        co_return http::response{http::status::ok, http::produced_by(write_and_fail)};
    }
    if (wish == "/fails-at-once") {
        co_return http::response{http::status::ok, http::produced_by(fail)};
    }
    if (wish == "/waits") {
        co_return http::response{http::status::ok, http::produced_by(write_and_wait)};
    }
    if (wish == "/large") co_return http::response{http::status::ok, std::string(100'000, 'x')};
    co_return http::response{http::status::not_found, "text/plain", "none"};
}

// Asks for one thing, waits for ever, and takes nothing.
class deaf_stream {
public:
    explicit deaf_stream(std::string says) : says_{std::move(says)} {}

    [[nodiscard]] task<io_result<std::size_t>> read_some(read_space into) {
        const mutable_buffer space{into};
        const std::size_t size = std::min(space.size(), says_.size());
        if (size == 0) {
            const io_result<> slept = co_await sleep_for(1h);
            co_return slept.error();
        }
        std::memcpy(space.data(), says_.data(), size);
        says_.erase(0, size);
        co_return size;
    }
    [[nodiscard]] task<io_result<std::size_t>> write_some(const_buffer) {
        co_return error{errc::broken_pipe, activity::write};
    }
    void shutdown_send() noexcept {}

private:
    std::string says_;
};

}  // namespace

TEST_CASE("the end of each answer is told once: its status, its bytes, and how it ended") {
    struct row {
        std::string_view target;
        std::string_view by;
        http::status status;
        std::uint64_t bytes;
        kind how;
    };
    const std::vector<row> rows{
        {"/", "GET", http::status::not_found, 4, kind::complete},
        {"/", "HEAD", http::status::not_found, 0, kind::complete},
        {"/large", "GET", http::status::ok, 100'000, kind::complete},
        {"/produced", "GET", http::status::ok, 5, kind::complete},
        {"/produced", "HEAD", http::status::ok, 0, kind::complete},
        {"/fails", "GET", http::status::ok, 5, kind::cut},
        {"/breaks", "GET", http::status::ok, 5, kind::cut},
        {"/fails-at-once", "GET", http::status::internal_server_error, 0, kind::complete},
        {"/waits", "GET", http::status::ok, 5, kind::client_left},
        {"/waits-first", "GET", http::status::ok, 0, kind::client_left},
        {"/handler-waits", "GET", http::status::bad_gateway, 0, kind::client_left}};
    on_every_transport([&](io_context&) -> task<> {
        for (const row& each : rows) {
            std::vector<http::answer_end> told;
            std::string target;
            http::connection_hooks hooks;
            hooks.on_answered = [&](const http::request& what, const http::answer_end& end) {
                told.push_back(end);
                target = what.target();
            };
            traffic over;
            over.in = std::string{each.by} + " " + std::string{each.target} +
                      " HTTP/1.1\r\nHost: h\r\n\r\n";

            static_cast<void>(co_await serve_traffic(over, answer, {}, hooks));

            CAPTURE(each.target);
            CAPTURE(each.by);
            CHECK(told.size() == 1);
            if (told.size() != 1) continue;
            CHECK(told[0].status == each.status);
            CHECK(told[0].body_bytes == each.bytes);
            CHECK(told[0].how == each.how);
            CHECK(told[0].took >= 0s);
            CHECK((told[0].took >= 20ms) == (each.how == kind::client_left));
            CHECK(target == each.target);
        }
    });
}

TEST_CASE("a client that ends within its body has left, whatever the handler answers") {
    on_every_transport([&](io_context&) -> task<> {
        std::vector<http::answer_end> told;
        http::connection_hooks hooks;
        hooks.on_answered = [&](const http::request&, const http::answer_end& end) {
            told.push_back(end);
        };
        traffic over;
        over.in = "POST /reads HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n123";

        static_cast<void>(co_await serve_traffic(over, answer, {}, hooks));

        CHECK(told.size() == 1);
        if (told.size() == 1) CHECK(told[0].how == kind::client_left);
    });
}

TEST_CASE("a client that takes nothing of a produced body because it is gone has left") {
    on_every_backend([](io_context&) -> task<> {
        std::vector<http::answer_end> told;
        http::connection_hooks hooks;
        hooks.on_answered = [&](const http::request&, const http::answer_end& end) {
            told.push_back(end);
        };
        const http::handler handle = answer;
        const http::connection_options options;
        any_stream deaf{deaf_stream{"GET /flushes HTTP/1.1\r\nHost: h\r\n\r\n"}};

        static_cast<void>(co_await http::serve_connection(std::move(deaf), handle, options, hooks));

        CHECK(told.size() == 1);
        if (told.size() == 1) CHECK(told[0].how == kind::client_left);
    });
}

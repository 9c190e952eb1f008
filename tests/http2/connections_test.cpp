// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http2/serve_connection.hpp and client_connection.hpp promise of each other.
#include <gyre/http2/client_connection.hpp>
#include <gyre/http2/serve_connection.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <http2/ends.hpp>
#include <support/harness.hpp>

#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

TEST_CASE("http2: requests are answered, one after the other and at the same time") {
    on_every_backend([](io_context&) -> task<> {
        two_ends ends{echo};
        const auto talk = [&ends](task_group& group) -> task<> {
            ends.begin(group);
            io_result<http2::received_response> got = co_await ends.client.send(request_of("/a"));
            CHECK(got.ok());
            CHECK(got.value().status == http::status::ok);
            http2::received_response answer = got.take();
            const io_result<std::string> body = co_await answer.body.read_all(1000);
            CHECK(body.value() == "GET /a");

            int done = 0;
            for (int each = 0; each < 10; ++each) {
                group.spawn([&ends, &done, each]() -> task<> {
                    const std::string path = "/" + std::to_string(each);
                    io_result<http2::received_response> more = co_await ends.client.send(
                        request_of(path, http::method::post), std::string(each * 10'000, 'x'));
                    CHECK(more.ok());
                    http2::received_response it = more.take();
                    const io_result<std::string> text = co_await it.body.read_all(200'000);
                    CHECK(text.ok());
                    CHECK(text.value().size() == path.size() + 5 + (each > 0 ? 1 : 0) +
                                                     static_cast<std::size_t>(each) * 10'000);
                    ++done;
                });
            }
            while (done < 10) static_cast<void>(co_await sleep_for(1ms));
            ends.client.close();
        };
        co_await with_group(talk);
        CHECK(ends.served.ok());
        CHECK(ends.ran.ok());
    });
}

// SPDX-License-Identifier: BSL-1.0
//
// Clients of HTTP/2 that leave an event stream: see leaving_clients.hpp.
#include <web/leaving_clients.hpp>

#include <gyre/http2/client_connection.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> run_client(http2::client_connection& it) { static_cast<void>(co_await it.run()); }

task<> hear_one_event(any_stream on, crowd& of) {
    http2::client_connection client{std::move(on)};
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(run_client(client));
        http::request what{http::method::get, "/"};
        what.set_authority("h");
        io_result<http2::received_response> got = co_await client.send(what);
        std::array<char, 512> space{};
        io_result<std::size_t> heard = got.error();
        http2::received_response answer = got.take();
        if (heard.ok()) {
            heard = co_await answer.body.read_some(std::as_writable_bytes(std::span{space}));
        }
        if (heard.ok()) ++of.here;
        else ++of.failed;
        static_cast<void>(co_await of.all_leave.wait());
        group.request_stop();
    };
    co_await with_group(body);
}

}  // namespace

TEST_CASE("clients of event streams that leave cost nothing any more: HTTP/2 over TLS") {
    const leaving_clients multiplexed{"HTTP/2 over TLS", "h2", hear_one_event};
    check_leaving(multiplexed);
}

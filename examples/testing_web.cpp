// SPDX-License-Identifier: BSL-1.0
//
// Tests of a web service without a network: peers that go away, and peers that are slow, in no time.
//
// The service and its client are those of production; the machines, the network and the clock are a world's.
// docs/guide/testing.md explains it.
#include <gyre/gyre.hpp>
#include <gyre/http/authorization.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http/serve_connection.hpp>
#include <gyre/test/scripted_stream.hpp>
#include <gyre/test/world.hpp>
#include <gyre/web/client.hpp>
#include <gyre/web/server.hpp>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;
namespace http = gyre::http;
namespace web = gyre::web;

namespace {

gyre::task<http::response> show_price(http::request&) {
    const auto looked_up = co_await gyre::sleep_for(1s);
    if (!looked_up.ok()) co_return http::response{http::status::service_unavailable};
    co_return http::response{http::status::ok, "text/plain", http::static_text{"101"}};
}

http::handler service() {
    http::router routes;
    routes.add(http::method::get, "/price", show_price);
    const auto admits = [](std::string_view token) {
        return http::equal_in_constant_time(token, "s3cret");
    };
    return http::require_bearer("prices", admits)(std::move(routes).build());
}

// snippet: web_world
gyre::task<gyre::io_result<>> serve(gyre::endpoint local) {
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();
    web::server_options options;
    options.steps = web::handshake_steps::on_loop;  // Of TLS: a world has no worker threads.
    const auto ended = co_await web::serve_http(listening.take(), service(), options);
    co_return ended;
}

gyre::task<gyre::io_result<std::string>> ask_once(web::client& client, web::url where) {
    web::client_request what{http::method::get, std::move(where)};
    http::set_bearer_token(what.fields, "s3cret");
    auto got = co_await client.send(std::move(what));
    if (!got.ok()) co_return got.error();
    const web::client_response answer = got.take();
    if (answer.status != http::status::ok) co_return gyre::errc::permission_denied;
    auto text = co_await answer.text();
    co_return text;
}

gyre::task<std::string> ask(std::string where, int& tries) {
    const auto parsed = web::url::parse(where);
    web::client client;
    gyre::backoff retry;
    for (tries = 1;; ++tries) {
        auto text = co_await gyre::with_timeout(5s, ask_once(client, parsed.value()));
        if (text.ok()) co_return text.take();
        static_cast<void>(co_await retry.pause());
    }
}

bool a_connection_that_breaks_within_a_request_is_tried_again() {
    gyre::test::world world;
    gyre::test::machine& server = world.add("server");
    gyre::test::machine& client = world.add("client");
    gyre::test::link_options slow;
    slow.latency = 200ms;
    world.set_link(client, server, slow);
    world.start(server, serve(server.at(80)));
    const auto trouble = [&]() -> gyre::task<> {
        static_cast<void>(co_await gyre::sleep_for(1s));  // The handler is at work.
        server.break_connections();
        world.partition(client, server);
        static_cast<void>(co_await gyre::sleep_for(1min));
        world.heal(client, server);
    };
    world.start(client, trouble());

    int tries = 0;
    auto outcome = world.run(client, ask("http://server/price", tries));

    if (!outcome.ok()) std::printf("%s", outcome.text().c_str());
    return outcome.ok() && outcome.take() == "101" && tries > 2;
}
// end of snippet

// snippet: web_drain
bool a_request_that_has_begun_is_answered_behind_a_sigterm() {
    gyre::test::world world;
    gyre::test::machine& server = world.add("server");
    gyre::test::machine& client = world.add("client");
    const gyre::stop_handle program = world.start(server, serve(server.at(80)));
    const auto supervisor = [&]() -> gyre::task<> {
        static_cast<void>(co_await gyre::sleep_for(500ms));  // The handler is at work.
        program.request_drain();  // What a first SIGTERM does; request_stop() ends the grace.
    };
    world.start(server, supervisor());
    const auto began = world.now();

    int tries = 0;
    auto answer = world.run(client, ask("http://server/price", tries));
    const auto end = world.run();  // Until the server has ended as well.

    const bool in_order = end.ok() && world.open_descriptors() == 0 && world.now() - began < 2s;
    return answer.ok() && answer.take() == "101" && tries == 1 && in_order;
}
// end of snippet

// snippet: web_script
bool a_head_that_does_not_end_is_answered_with_408() {
    gyre::test::script peer;
    peer.gives("GET /price HT")
        .waits(15s)
        .expects("HTTP/1.1 408 Request Timeout\r\n")
        .takes(1, 1)
        .stays_silent();
    gyre::test::world world;
    gyre::test::machine& server = world.add("server");
    const http::handler handle = service();
    const http::connection_options options;
    const http::connection_hooks hooks;
    gyre::any_stream stream{gyre::test::scripted_stream{peer}};

    auto outcome =
        world.run(server, http::serve_connection(std::move(stream), handle, options, hooks));

    return outcome.ok() && outcome.take().error() == gyre::errc::timed_out && peer.ok();
}
// end of snippet

}  // namespace

int main() {
    const bool again = a_connection_that_breaks_within_a_request_is_tried_again();
    const bool finished = a_request_that_has_begun_is_answered_behind_a_sigterm();
    const bool answered = a_head_that_does_not_end_is_answered_with_408();
    std::printf("tried again: %s, finished: %s, answered: %s\n", again ? "yes" : "no",
                finished ? "yes" : "no", answered ? "yes" : "no");
    return again && finished && answered ? 0 : 1;
}

// SPDX-License-Identifier: BSL-1.0
//
// A stranger's program on gyre::web: a site of its own, and a client that visits it by URL.
#include <gyre/gyre.hpp>
#include <gyre/web/client.hpp>
#include <gyre/web/server.hpp>

#include <cstdio>
#include <string>
#include <utility>

namespace http = gyre::http;
namespace web = gyre::web;

gyre::task<http::response> greet(http::request& what) {
    co_return http::response{http::status::ok, "text/plain",
                             "hello from " + std::string{what.path()}};
}

gyre::task<> visit(std::string where) {
    web::client client;
    auto got = co_await client.get(where);
    if (!got.ok()) co_return;
    const web::client_response response = got.take();
    const auto text = co_await response.text();
    std::printf("%u: %s\n", http::number_of(response.status), text.value().c_str());
}

gyre::task<> both() {
    auto listening = co_await gyre::tcp_acceptor::listen(gyre::endpoint{gyre::ipv4::loopback(), 0});
    if (!listening.ok()) co_return;
    gyre::tcp_acceptor acceptor = listening.take();
    const auto bound = acceptor.local_endpoint();
    const std::string where = "http://" + bound.value().to_string() + "/there";
    const auto body = [&](gyre::task_group& group) -> gyre::task<> {
        group.spawn(web::serve_http(std::move(acceptor), greet));
        co_await visit(where);
        group.request_stop();
    };
    co_await gyre::with_group(body);
}

int main() { gyre::run(both()); }

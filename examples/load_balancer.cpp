// SPDX-License-Identifier: BSL-1.0
//
// A reverse proxy: each request goes to that of several servers that has less to do, and bodies stream.
//
//     load_balancer 127.0.0.1:8080 http://127.0.0.1:9001 http://127.0.0.1:9002
//
// A server that fails five times in a row, or whose `/` is not answered, gets no requests for a while.
// docs/guide/web.md explains.
#include <gyre/gyre.hpp>
#include <gyre/http/intermediary.hpp>
#include <gyre/web/server.hpp>
#include <gyre/web/upstreams.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
namespace http = gyre::http;
namespace web = gyre::web;

// The length that the answer to HEAD has named, which is that of an answer to GET: RFC 9110, 8.6.
std::optional<std::uint64_t> named_length(const http::fields& of) {
    const std::string_view text = of.value_or("content-length");
    std::uint64_t length = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), length);
    if (text.empty() || read.ptr != text.data() + text.size()) return std::nullopt;
    return length;
}

// snippet: relay
// Has the response, and with it the request in flight, until it has been passed on.
class relayed_body final : public http::body_producer {
public:
    relayed_body(web::upstream_response from, std::optional<std::uint64_t> size)
        : from_{std::move(from)}, size_{size} {}

    std::optional<std::uint64_t> size() const noexcept override { return size_; }
    gyre::task<gyre::io_result<>> write(http::body_writer to) override {
        return http::pass_on(from_.body, to);
    }

private:
    web::upstream_response from_;
    std::optional<std::uint64_t> size_;
};
// end of snippet

http::status status_for(gyre::error failed) {
    if (failed == gyre::errc::timed_out) return http::status::gateway_timeout;
    if (failed == gyre::errc::host_down) return http::status::service_unavailable;
    return http::status::bad_gateway;
}

// snippet: forward
gyre::task<http::response> forward(web::upstreams& servers, http::request& what) {
    const auto where = web::url::parse("http://any" + std::string{what.target()});
    if (!where.ok()) co_return http::response{http::status::bad_request};

    web::client_request asked{what.method_text(), where.value()};
    http::copy_end_to_end(what.fields, asked.fields);
    asked.fields.remove("content-length");
    asked.fields.set("host", what.authority());
    const auto peer = gyre::endpoint::parse(what.peer());
    if (peer.ok()) asked.fields.add("x-forwarded-for", peer.value().address().to_text());
    if (!what.body.ended()) {
        // The request lives until its answer has been sent, and the producer with the answer.
        asked.body = http::produced_by(
            [&what](http::body_writer to) { return http::pass_on(what.body, to); },
            what.body.size());
    }
    auto got = co_await servers.send(std::move(asked));
    if (!got.ok()) co_return http::response{status_for(got.error())};

    web::upstream_response from = got.take();
    http::response answer{from.status};
    const bool has_body = what.method() != http::method::head;
    const auto size = has_body ? from.body.size() : named_length(from.fields);
    http::copy_end_to_end(from.fields, answer.fields);
    answer.fields.remove("content-length");
    answer.body = {std::make_unique<relayed_body>(std::move(from), size)};
    co_return answer;
}
// end of snippet

gyre::task<gyre::io_result<>> load_balancer(gyre::endpoint local,
                                            std::vector<web::upstream> origins) {
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();
    auto acceptor = listening.take();
    const auto bound = acceptor.local_endpoint();
    if (!bound.ok()) co_return bound.error();
    std::printf("listening on %s\n", bound.value().to_string().c_str());
    std::fflush(stdout);

    // snippet: upstreams
    web::client_options options;
    options.connect_time_max = 2s;
    options.redirects_max = 0;   // They are the client's to follow,
    options.decompress = false;  // and codings its to choose.
    // No client waits for the answers of others: as many as the server takes.
    options.connections_max = options.connections_per_origin_max = 10'000;
    web::client client{options};
    web::upstreams servers{client, std::move(origins)};

    const auto body = [&](gyre::task_group& group) -> gyre::task<gyre::io_result<>> {
        group.spawn(servers.check());
        const auto handle = [&](http::request& what) { return forward(servers, what); };
        const auto ended = co_await web::serve_http(std::move(acceptor), handle);
        group.request_stop();
        co_return ended;
    };
    const auto ended = co_await gyre::with_group(body);
    // end of snippet
    for (std::size_t each = 0; each < servers.size(); ++each) {
        const auto& counted = servers.counters(each);
        std::printf("%s: %llu requests, %llu failures\n", servers.origin(each).authority().c_str(),
                    static_cast<unsigned long long>(counted.requests),
                    static_cast<unsigned long long>(counted.failures));
    }
    co_return ended;
}

int main(int argc, char** argv) {
    const auto local = gyre::endpoint::parse(argc > 2 ? argv[1] : "");
    std::vector<web::upstream> origins;
    for (int each = 2; each < argc; ++each) {
        auto origin = web::url::parse(argv[each]);
        if (origin.ok()) origins.emplace_back(origin.take());
    }
    if (!local.ok() || static_cast<int>(origins.size()) + 2 != argc) {
        std::fprintf(stderr, "usage: load_balancer ADDRESS:PORT URL...\n");
        return 2;
    }
    gyre::run_options options;
    options.grace = 5s;
    return gyre::run_until_signal(load_balancer(local.value(), std::move(origins)), options);
}

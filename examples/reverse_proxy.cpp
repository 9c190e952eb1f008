// SPDX-License-Identifier: BSL-1.0
//
// A server in front of another one: requests are passed on, bodies flow both ways, and each line of its log
// says how an answer has ended.
//
//     reverse_proxy 127.0.0.1:8080 http://127.0.0.1:9000
//
// A client may ask 50 times a second. One that leaves ends its request at the server behind as well. SIGTERM
// lets requests end that have begun. Without arguments it shows itself in a world.
// docs/guide/web.md explains.
#include <gyre/gyre.hpp>
#include <gyre/http/intermediary.hpp>
#include <gyre/http/request_limit.hpp>
#include <gyre/test/world.hpp>
#include <gyre/web/client.hpp>
#include <gyre/web/server.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;
namespace http = gyre::http;
namespace web = gyre::web;

// snippet: forward
class proxy {
public:
    explicit proxy(web::url behind) : behind_{std::move(behind)} {}

    gyre::task<http::response> forward(http::request& what) {
        web::client_request asked{what.method_text(), behind_.resolved(what.target()).take()};
        http::copy_end_to_end(what.fields, asked.fields);
        asked.fields.remove("host");
        asked.fields.remove("content-length");
        asked.fields.remove("expect");
        asked.fields.add("x-forwarded-for", what.peer());
        if (!what.body.ended()) {
            const auto sends = [&what](http::body_writer to) {
                return http::pass_on(what.body, to);
            };
            asked.body = http::produced_by(sends, what.body.size());
        }
        auto got = co_await gyre::with_timeout(30s, client_.send(std::move(asked)));
        const bool late = got.error() == gyre::errc::timed_out;
        if (late) co_return http::response{http::status::gateway_timeout};
        if (!got.ok()) co_return http::response{http::status::bad_gateway};

        // Until its body has been sent. One whose client leaves is let go of before, and given up so.
        const auto from = std::make_shared<web::client_response>(got.take());
        http::response answer{from->status};
        http::copy_end_to_end(from->fields, answer.fields);
        if (what.method() == http::method::head)
            co_return answer;  // With the length of an answer to GET.
        answer.fields.remove("content-length");
        const auto writes = [from](http::body_writer to) { return http::pass_on(from->body, to); };
        answer.body = http::produced_by(writes, from->body.size());
        co_return answer;
    }

private:
    static web::client_options as_they_are() {
        web::client_options options;
        options.decompress = false;  // The client chooses codings.
        options.redirects_max = 0;
        options.user_agent.clear();
        return options;
    }

    web::url behind_;
    web::client client_{as_they_are()};
};
// end of snippet

// snippet: log
std::string_view described(http::answer_end::kind how) {
    using kind = http::answer_end::kind;
    if (how == kind::complete) return "complete";
    return how == kind::client_left ? "the client left" : "cut";
}

void note(gyre::log_writer& log, const http::request& what, const http::answer_end& end) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(end.took);
    std::string line{what.peer()};
    line.append(" ").append(what.method_text()).append(" ").append(what.target());
    line.append(" ").append(std::to_string(http::number_of(end.status)));
    line.append(" ").append(std::to_string(end.body_bytes)).append(" bytes, ");
    line.append(std::to_string(ms.count())).append(" ms, ").append(described(end.how));
    log.write(line);
}
// end of snippet

// snippet: serve
gyre::task<gyre::io_result<>> reverse_proxy(gyre::endpoint local, web::url behind,
                                            gyre::log_writer& log) {
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();

    proxy to{std::move(behind)};
    http::request_limit_options often;  // For each address, unless a `key` says otherwise.
    often.requests = {50, 1s, 100};
    const http::handler forwards = [&to](http::request& what) { return to.forward(what); };
    const http::handler limited = http::limit_requests(often)(forwards);
    web::server_options options;
    options.on_answered = [&log](const http::request& what, const http::answer_end& end) {
        note(log, what, end);
    };
    const auto ended = co_await web::serve_http(listening.take(), limited, options);
    co_return ended;
}
// end of snippet

// The server behind: says what it was asked, or keeps its client waiting.
struct server_behind {
    int stopped = 0;

    gyre::task<http::response> answer(http::request& what) {
        if (what.target() == "/slow") {
            const auto slept = co_await gyre::sleep_for(1h);
            if (!slept.ok()) ++stopped;
        }
        const auto said = co_await what.body.read_all(1000);
        if (!said.ok()) co_return http::response{http::status::bad_request};
        const std::string secret{what.fields.value_or("x-secret", "none")};
        co_return http::response{http::status::ok, "text/plain", secret + " " + said.value()};
    }

    gyre::task<gyre::io_result<>> serve(gyre::endpoint local) {
        auto listening = co_await gyre::tcp_acceptor::listen(local);
        if (!listening.ok()) co_return listening.error();
        const http::handler answers = [this](http::request& what) { return answer(what); };
        const auto ended = co_await web::serve_http(listening.take(), answers);
        co_return ended;
    }
};

// Returns the answer to `request`; the client leaves after a second.
gyre::task<std::string> ask(std::string request) {
    auto connected = co_await gyre::connect_to("front", "80");
    if (!connected.ok()) co_return connected.error().message();
    auto front = connected.take();
    const auto sent = co_await gyre::write_all(front, gyre::bytes_of(request));
    if (!sent.ok()) co_return sent.error().message();
    const auto answer = co_await gyre::with_timeout(1s, gyre::read_all(front, 10'000));
    co_return answer.value();
}

bool works_in_a_world() {
    auto log = gyre::log_writer::open("/dev/null").take();
    server_behind other;
    gyre::test::world world;
    gyre::test::machine& behind = world.add("behind");
    gyre::test::machine& front = world.add("front");
    gyre::test::machine& client = world.add("client");
    world.start(behind, other.serve(behind.at(80)));
    world.start(front, reverse_proxy(front.at(80), web::url::parse("http://behind").value(), log));

    const std::string rest =
        " HTTP/1.1\r\nHost: front\r\nConnection: close, x-secret\r\n"
        "X-Secret: of this connection\r\n";
    auto post = world.run(client, ask("POST /" + rest + "Content-Length: 5\r\n\r\nhello"));
    auto head = world.run(client, ask("HEAD /" + rest + "\r\n"));
    auto slow = world.run(client, ask("GET /slow" + rest + "\r\n"));
    const auto later = world.run_for(1s);

    if (!post.ok() || !head.ok() || !slow.ok() || !later.ok()) {
        std::printf("%s%s%s", post.text().c_str(), head.text().c_str(), slow.text().c_str());
        return false;
    }
    const bool has_length = head.take().find("content-length: 5\r\n") != std::string::npos;
    return post.take().ends_with("\r\n\r\nnone hello") && has_length && slow.take().empty() &&
           other.stopped == 1;
}

gyre::task<gyre::io_result<>> run_proxy(gyre::endpoint local, web::url behind) {
    auto opened = gyre::log_writer::to_standard_error();
    if (!opened.ok()) co_return opened.error();
    gyre::log_writer log = opened.take();
    const auto ended = co_await reverse_proxy(local, std::move(behind), log);
    co_return ended;
}

int main(int count, char** arguments) {
    if (count == 1) {
        const bool works = works_in_a_world();
        std::puts(works ? "it passes on what it should" : "it does not");
        return works ? 0 : 1;
    }
    const auto local = gyre::endpoint::parse(arguments[1]);
    auto behind = web::url::parse(count == 3 ? arguments[2] : "");
    if (!local.ok() || !behind.ok()) {
        std::fprintf(stderr, "usage: reverse_proxy [ADDRESS:PORT URL]\n");
        return 2;
    }
    return gyre::run_until_signal(run_proxy(local.value(), behind.take()));
}

// SPDX-License-Identifier: BSL-1.0
//
// A small service over HTTP: notes that are listed, read, added and removed.
//
//     notes_server 127.0.0.1:8080
//     curl -d 'buy milk' 127.0.0.1:8080/notes
//     curl 127.0.0.1:8080/notes/1
//
// Each request is a line on standard error. SIGTERM ends the intake; answers that are under way are finished,
// and idle connections are closed.
#include <gyre/gyre.hpp>
#include <gyre/http/access_log.hpp>
#include <gyre/http/compression.hpp>
#include <gyre/http/metrics.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http/serve_connection.hpp>

#include <charconv>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;
namespace http = gyre::http;

// snippet: handlers
// What the service keeps. One loop, so no locks.
class notes {
public:
    gyre::task<http::response> list(http::request&) {
        std::string text;
        for (const auto& [number, note] : kept_) {
            text.append(std::to_string(number)).append(" ").append(note).append("\n");
        }
        co_return http::response{http::status::ok, "text/plain", std::move(text)};
    }

    gyre::task<http::response> show(http::request& what) {
        const auto found = kept_.find(number_in(what));
        if (found == kept_.end()) co_return http::response{http::status::not_found};
        co_return http::response{http::status::ok, "text/plain", found->second};
    }

    gyre::task<http::response> add(http::request& what) {
        auto [error, text] = co_await what.body.read_all(note_bytes_max);
        if (error == gyre::errc::limit_exceeded) {
            co_return http::response{http::status::content_too_large};
        }
        if (error) co_return http::response{http::status::bad_request};
        kept_.emplace(++last_, std::move(text));
        http::response answer{http::status::created};
        answer.fields.set("location", "/notes/" + std::to_string(last_));
        co_return answer;
    }

    gyre::task<http::response> remove(http::request& what) {
        const bool was_there = kept_.erase(number_in(what)) > 0;
        co_return http::response{was_there ? http::status::no_content : http::status::not_found};
    }

private:
    static constexpr std::size_t note_bytes_max = 4096;

    static unsigned number_in(const http::request& what) {
        const std::string text = what.parameter("number").value_or("");
        unsigned number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    }

    std::map<unsigned, std::string> kept_;
    unsigned last_ = 0;
};
// end of snippet

// snippet: middleware
// A client that changes something says who it is.
gyre::task<http::response> needs_a_name(http::request& what, const http::handler& next) {
    const bool reads = what.method() == http::method::get || what.method() == http::method::head;
    if (!reads && !what.fields.contains("x-name")) {
        co_return http::response{http::status::forbidden, "text/plain",
                                 http::static_text{"say who you are, in X-Name\n"}};
    }
    http::response answer = co_await next(what);
    answer.fields.set("cache-control", "no-store");
    co_return answer;
}

// No request waits for what the log is written to.
http::middleware logged_in(gyre::log_writer& log) {
    return http::access_log([&log](const http::access_record& of) {
        const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
        log.write(http::combined_log_line(of, now));
    });
}
// end of snippet

// snippet: routes
http::handler service(notes& kept, http::metrics& counted, gyre::log_writer& log) {
    using http::method;
    http::router routes;
    routes.add(method::get, "/notes", [&kept](http::request& what) { return kept.list(what); })
        .add(method::post, "/notes", [&kept](http::request& what) { return kept.add(what); })
        .add(method::get, "/notes/{number}",
             [&kept](http::request& what) { return kept.show(what); })
        .add(method::delete_resource, "/notes/{number}",
             [&kept](http::request& what) { return kept.remove(what); })
        .add(method::get, "/metrics", http::metrics_page(counted));

    // The last one stands outermost.
    http::handler serves = std::move(routes).build();
    serves = http::wrap(needs_a_name, std::move(serves));
    serves = http::compress_responses()(std::move(serves));
    serves = http::count_requests(counted)(std::move(serves));
    return logged_in(log)(std::move(serves));
}
// end of snippet

// snippet: server
// What all connections share.
struct site {
    explicit site(gyre::log_writer& log) : serves{service(kept, counted, log)} {}

    notes kept;
    http::metrics counted;
    http::handler serves;
    http::date_cache date;
    http::message_pool messages;
    http::connection_options options;
    http::connection_hooks hooks;
};

gyre::task<> talk(gyre::tcp_socket peer, const site& here) {
    http::connection_options options = here.options;
    if (const auto remote = peer.remote_endpoint(); remote.ok()) {
        options.peer = remote.value().to_string();
    }
    gyre::any_stream stream{std::move(peer)};
    static_cast<void>(
        co_await http::serve_connection(std::move(stream), here.serves, options, here.hooks));
}

gyre::task<gyre::io_result<>> notes_server(gyre::endpoint local) {
    auto opened = gyre::log_writer::to_standard_error();
    if (!opened.ok()) co_return opened.error();
    gyre::log_writer log = opened.take();
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();
    auto acceptor = listening.take();
    const auto bound = acceptor.local_endpoint();
    if (!bound.ok()) co_return bound.error();
    std::printf("listening on %s\n", bound.value().to_string().c_str());
    std::fflush(stdout);

    site here{log};
    here.hooks.date = &here.date;
    here.hooks.messages = &here.messages;
    here.options.idle_time_max = 30s;
    const auto session = [&here](gyre::tcp_socket peer) { return talk(std::move(peer), here); };
    const auto ended = co_await gyre::serve(std::move(acceptor), session);
    co_return ended;
}
// end of snippet

int main(int count, char** arguments) {
    const std::string_view text = count > 1 ? arguments[1] : "127.0.0.1:8080";
    const auto local = gyre::endpoint::parse(text);
    if (!local.ok()) {
        std::fprintf(stderr, "usage: notes_server [ADDRESS:PORT]\n");
        return 2;
    }
    return gyre::run_until_signal(notes_server(local.value()));
}

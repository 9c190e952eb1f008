// SPDX-License-Identifier: BSL-1.0
//
// A web server: the files of a directory, and notes that are read and written as JSON.
//
//     https_server 127.0.0.1:8443 /srv/www chain.pem key.pem
//
// Without a certificate it speaks plain HTTP. A certificate that is replaced is used for new connections at
// once; SIGTERM lets requests end that have begun. docs/guide/web.md explains.
#include <gyre/gyre.hpp>
#include <gyre/http/compression.hpp>
#include <gyre/http/router.hpp>
#include <gyre/web/pem_files.hpp>
#include <gyre/web/server.hpp>
#include <gyre/web/static_files.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
namespace http = gyre::http;
namespace web = gyre::web;
using nlohmann::json;

// One loop, so no locks.
struct notebook {
    static constexpr std::size_t notes_max = 1000;
    std::vector<std::string> notes;
};

http::response as_json(http::status code, const json& what) {
    // Text that is no UTF-8 is not worth an exception.
    return {code, "application/json",
            what.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"};
}

gyre::task<http::response> list_notes(const notebook& book) {
    co_return as_json(http::status::ok, book.notes);
}

// snippet: api
gyre::task<http::response> add_note(notebook& book, http::request& what) {
    auto [error, text] = co_await what.body.read_all(64 << 10);
    if (error) co_return http::response{http::status::content_too_large};

    const json note = json::parse(text, nullptr, false);
    if (!note.is_object() || !note.contains("text") || !note["text"].is_string()) {
        co_return as_json(http::status::bad_request, {{"error", "an object with a text"}});
    }
    if (book.notes.size() == notebook::notes_max) {
        co_return as_json(http::status::conflict, {{"error", "the book is full"}});
    }
    book.notes.push_back(note["text"]);
    const std::string where = "/api/notes/" + std::to_string(book.notes.size());
    http::response answer = as_json(http::status::created, {{"at", where}});
    answer.fields.set("location", where);
    co_return answer;
}
// end of snippet

gyre::task<http::response> show_note(const notebook& book, http::request& what) {
    const std::string number = what.parameter("number").value_or("");
    const auto at = std::strtoull(number.c_str(), nullptr, 10);
    if (at == 0 || at > book.notes.size()) co_return http::response{http::status::not_found};
    co_return as_json(http::status::ok, {{"text", book.notes[at - 1]}});
}

// snippet: routes
http::handler routes_of(notebook& book, const std::string& directory) {
    web::static_options files;
    files.precompressed = true;
    http::router routes;
    routes
        .add(http::method::get, "/api/notes", [&book](http::request&) { return list_notes(book); })
        .add(http::method::post, "/api/notes",
             [&book](http::request& what) { return add_note(book, what); })
        .add(http::method::get, "/api/notes/{number}",
             [&book](http::request& what) { return show_note(book, what); })
        .otherwise(web::static_files(directory, files));
    return http::compress_responses()(std::move(routes).build());
}
// end of snippet

gyre::task<gyre::io_result<>> site(gyre::endpoint local, std::string directory,
                                   std::vector<web::identity_files> certificates) {
    // snippet: limits
    gyre::peer_limit_options each;
    each.connections_max = 100;
    gyre::peer_limits peers{each};

    web::server_options options;
    options.intake.connections_max = 10'000;
    options.intake.peers = &peers;
    options.connection.head_time_max = 10s;
    options.connection.body_bytes_max = 1 << 20;
    options.drain_time_max = 10s;
    // end of snippet

    // snippet: certificates
    if (!certificates.empty()) {
        auto read = co_await web::read_identity(certificates.front());
        if (!read.ok()) co_return read.error();
        gyre::tls::server_options settings;
        settings.identities = {read.take()};
        settings.protocols = web::protocols_spoken();
        auto made = gyre::tls::context::server(std::move(settings));
        if (!made.ok()) co_return made.error();
        options.settings = made.take();
    }
    // end of snippet
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();
    auto acceptor = listening.take();
    const auto bound = acceptor.local_endpoint();
    if (!bound.ok()) co_return bound.error();
    std::printf("listening on %s\n", bound.value().to_string().c_str());
    std::fflush(stdout);

    notebook book;
    // snippet: serve
    const auto body = [&](gyre::task_group& group) -> gyre::task<gyre::io_result<>> {
        if (options.settings) {
            web::reload_options how;
            how.on_reload = [](gyre::io_result<> reloaded) {
                const std::string said = reloaded.error().message();
                std::printf("certificate: %s\n", reloaded.ok() ? "reloaded" : said.c_str());
                std::fflush(stdout);
            };
            group.spawn(web::reload_on_change(options.settings, certificates, how));
        }
        const auto ended =
            co_await web::serve_http(std::move(acceptor), routes_of(book, directory), options);
        group.request_stop();
        co_return ended;
    };
    const auto ended = co_await gyre::with_group(body);
    // end of snippet
    co_return ended;
}

int main(int count, char** arguments) {
    const auto local = gyre::endpoint::parse(count > 1 ? arguments[1] : "127.0.0.1:8080");
    if (!local.ok() || (count > 3 && count != 5)) {
        std::fprintf(stderr, "usage: https_server [ADDRESS:PORT [DIRECTORY [CHAIN KEY]]]\n");
        return 2;
    }
    std::vector<web::identity_files> certificates;
    if (count == 5) certificates.emplace_back(arguments[3], arguments[4]);
    gyre::run_options options;
    options.grace = 15s;
    return gyre::run_until_signal(site(local.value(), count > 2 ? arguments[2] : ".", certificates),
                                  options);
}

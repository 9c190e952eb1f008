// SPDX-License-Identifier: BSL-1.0
//
// Several servers that do as a test says, and a client of theirs: tests of `web::upstreams` are played on
// them.
#pragma once

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/web/upstreams.hpp>
#include <support/harness.hpp>
#include <support/world.hpp>
#include <web/site.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace gyre::testing {

inline task<io_result<>> write_for_ever(http::body_writer into) {
    const std::string text(64 << 10, 'e');
    for (;;) {
        const io_result<std::size_t> put = co_await write_all(into, bytes_of(text));
        if (!put.ok()) co_return put.error();
        // In a world no time passes meanwhile.
        const io_result<> slept = co_await sleep_for(std::chrono::milliseconds{1});
        if (!slept.ok()) co_return slept.error();
    }
}

/// One of the servers, which does as the test says.
struct replica {
    explicit replica(io_context& io) : on{io}, site{io} {}

    task<http::response> answer(http::request& what) {
        if (what.path() == "/health") {
            ++checked;
            if (silent) static_cast<void>(co_await sleep_for(std::chrono::hours{24}));
            http::response health{lives ? http::status::ok : http::status::internal_server_error};
            if (!health_text.empty()) health.body = health_text;
            if (health_is_endless) health.body = http::produced_by(write_for_ever);
            co_return health;
        }
        ++asked;
        io_result<std::string> body = co_await what.body.read_all(1 << 20);
        last_body = body.take();
        last_host = what.authority();
        if (holds) static_cast<void>(co_await let_go.wait());
        co_return http::response{status, "text/plain", std::string{what.target()}};
    }

    /// Listens again on its port if it was dead, and serves.
    task<> serve() {
        if (!site.acceptor.is_open()) {
            io_result<tcp_acceptor> again = tcp_acceptor::listen(on, site.where);
            CHECK(again.ok());
            site.acceptor = again.take();
        }
        const auto handle = [this](http::request& what) { return answer(what); };
        io_result<> ended;
        co_await note_serving(std::move(site.acceptor), handle, web::server_options{}, ended);
    }

    void die() { CHECK(site.acceptor.close().ok()); }

    [[nodiscard]] web::url url() const { return web::url::parse(site.url("/")).take(); }

    io_context& on;
    listening_site site;
    http::status status = http::status::ok;
    bool lives = true;
    bool silent = false;
    std::string health_text;
    bool health_is_endless = false;
    bool holds = false;
    event let_go;
    std::size_t asked = 0;
    std::size_t checked = 0;
    std::string last_body;
    std::string last_host;
};

/// Several servers, a client, and a group that serves.
class farm {
public:
    farm(io_context& io, std::size_t count) {
        for (std::size_t each = 0; each < count; ++each) all.emplace_back(io);
    }

    [[nodiscard]] std::vector<web::upstream> origins(
        std::vector<std::uint32_t> weights = {}) const {
        std::vector<web::upstream> made;
        for (const replica& each : all) {
            made.emplace_back(each.url(), made.size() < weights.size() ? weights[made.size()] : 1);
        }
        return made;
    }

    /// Serves those that are not dead while `body(group)` runs.
    template <class Body>
    task<> run(Body body) {
        const auto both = [&](task_group& group) -> task<> {
            for (replica& each : all) {
                if (each.site.acceptor.is_open()) group.spawn(each.serve());
            }
            co_await body(group);
            group.request_stop();
        };
        co_await with_group(both);
    }

    std::deque<replica> all;
    web::client web;
};

inline web::client_request a(http::method what, std::string target = "/",
                             http::response_body body = {}) {
    web::client_request made{what, web::url::parse("http://any" + target).take()};
    made.body = std::move(body);
    return made;
}

/// The outcome of one request; its response is gone.
struct answered {
    error failed;
    http::status status = http::status::ok;
    std::string text;
    std::size_t from = 99;
};

inline task<answered> ask(web::upstreams& to, web::client_request what) {
    answered got;
    io_result<web::upstream_response> came = co_await to.send(std::move(what));
    got.failed = came.error();
    if (!came.ok()) co_return got;
    const web::upstream_response response = came.take();
    got.status = response.status;
    got.from = response.from;
    io_result<std::string> text = co_await response.text();
    CHECK(text.ok());
    got.text = text.take();
    co_return got;
}

inline task<> ask_often(web::upstreams& to, std::size_t count) {
    for (std::size_t each = 0; each < count; ++each) {
        const answered got = co_await ask(to, a(http::method::get));
        const std::string why = got.failed.message();
        CAPTURE(why);
        CHECK_FALSE(got.failed);
    }
}

/// Reads a request's head from each connection, then closes it: the request may have been seen to.
inline task<> break_off(tcp_acceptor& from, std::size_t& met) {
    for (;;) {
        io_result<tcp_socket> accepted = co_await from.accept();
        if (!accepted.ok()) co_return;
        stream_socket peer = accepted.take();
        ++met;
        static_cast<void>(co_await read_head(peer));
    }
}

inline web::upstreams_options soon() {
    web::upstreams_options options;
    options.failures_max = 2;
    options.ejected_first = std::chrono::milliseconds{20};
    return options;
}

}  // namespace gyre::testing

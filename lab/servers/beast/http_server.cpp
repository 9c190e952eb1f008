// SPDX-License-Identifier: BSL-1.0
//
// The server of `http_server` on Boost.Beast, with coroutines on Asio as `asio_coroutine` spells them.
//
// One buffer and one parser's memory per connection. Beast writes each answer by itself: it has no way to
// gather those of requests that came together.
#include <lab/servers/asio_coroutine/server.hpp>
#include <lab/servers/web.hpp>

#include <boost/beast/core/flat_static_buffer.hpp>
#include <boost/beast/http.hpp>

#include <array>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

namespace {

using namespace asio_coroutine;
namespace http = boost::beast::http;

// Beast tells no date by itself.
std::string_view date_text() {
    thread_local std::time_t made = 0;
    thread_local std::array<char, 64> text{};
    thread_local std::size_t size = 0;
    std::timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != made) {
        std::tm parts{};
        ::gmtime_r(&now.tv_sec, &parts);
        size = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
        made = now.tv_sec;
    }
    return {text.data(), size};
}

std::string_view view_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

http::response<http::string_body> answer_to(const http::request<http::string_body>& asked) {
    const std::string_view target = view_of(asked.target());
    const std::string_view path = target.substr(0, target.find('?'));
    http::response<http::string_body> answer{http::status::ok, asked.version()};
    const std::string_view date = date_text();
    answer.set(http::field::date, {date.data(), date.size()});
    answer.set(http::field::content_type, path == "/json" ? "application/json" : "text/plain");
    answer.keep_alive(asked.keep_alive());
    if (path == "/text") {
        answer.body() = servers::hello;
    } else if (path == "/json") {
        answer.body() = servers::json_text();
    } else if (path == "/sum") {
        const std::size_t query = std::min(path.size() + 1, target.size());
        const auto [a, b] = servers::numbers_of(target.substr(query));
        answer.body() = std::to_string(a + b + servers::number_of(asked.body()));
    } else {
        answer.result(http::status::not_found);
    }
    answer.prepare_payload();
    return answer;
}

task answer(servers::stream peer, std::size_t) {
    boost::beast::flat_static_buffer<8'192> space;
    for (;;) {
        http::request<http::string_body> asked;
        const auto [ended, size] = co_await http::async_read(peer, space, asked, result_of);
        if (ended) co_return;
        http::response<http::string_body> answer = answer_to(asked);
        const auto [failed, sent] = co_await http::async_write(peer, answer, result_of);
        if (failed || answer.need_eof()) co_return;
    }
}

}  // namespace

int servers::serve_http_server(const job& wanted) { return serve<accept_all<answer>>(wanted); }

// SPDX-License-Identifier: BSL-1.0
//
// Names and values over TCP, a request and an answer a line; for telnet and scripts.
//
//     key_value_server 127.0.0.1:7002
//
// `set NAME VALUE`, `get NAME`, `drop NAME`. Requests may be sent without waiting for answers, which then
// come together. A client can make a line, a value, the number of values and the silence only so long.
#include <gyre/gyre.hpp>

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;

namespace {

constexpr std::size_t line_bytes_max = 1024;
constexpr std::size_t values_max = 100'000;

// Cuts the first word off `text`.
std::string_view take_word(std::string_view& text) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return word;
}

class store {
public:
    std::string answer(std::string_view request) {
        // A value must not end as a line does, or it could not be written as one.
        if (request.find('\r') != std::string_view::npos) return "what?";
        const std::string_view verb = take_word(request);
        const std::string_view name = take_word(request);
        if (name.empty()) return "what?";
        if (verb == "set") return set(name, request);
        const auto found = values_.find(name);
        if (verb != "get" && verb != "drop") return "what?";
        if (found == values_.end()) return "none";
        if (verb == "get") return "is " + found->second;
        values_.erase(found);
        return "ok";
    }

private:
    std::string set(std::string_view name, std::string_view value) {
        const auto found = values_.find(name);
        if (found != values_.end()) {
            found->second = value;
        } else if (values_.size() < values_max) {
            values_.emplace(name, value);
        } else {
            return "full";
        }
        return "ok";
    }

    std::map<std::string, std::string, std::less<>> values_;
};

// snippet: session
gyre::task<> session(gyre::tcp_socket client, store& values) {
    gyre::buffered_reader reader{client, {256, line_bytes_max + 2}};  // Grows if lines are long.
    gyre::buffered_writer writer{client, {256, 4 * line_bytes_max}};
    gyre::framed_reader requests{reader, gyre::lines_codec{line_bytes_max}};
    gyre::framed_writer answers{writer, gyre::lines_codec{}};
    for (;;) {
        const auto [error, request] =
            co_await gyre::with_timeout(5min, gyre::idle(requests.next()));
        std::string answer;
        if (error == gyre::errc::limit_exceeded) {
            requests.skip();
            answer = "too long";
        } else if (error) {
            co_return;  // The client left, was silent for too long, or we are stopping.
        } else {
            answer = values.answer(request);
        }

        const auto taken = co_await answers.write(gyre::bytes_of(answer));
        if (!taken.ok()) co_return;

        // While requests are there already, their answers are collected.
        if (gyre::text_of(reader.window()).find('\n') != std::string_view::npos) continue;
        const auto flushed = co_await answers.flush();
        if (!flushed.ok()) co_return;
    }
}
// end of snippet

gyre::task<gyre::io_result<>> key_value_server(gyre::endpoint local) {
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();

    auto acceptor = listening.take();
    const auto bound = acceptor.local_endpoint();
    if (!bound.ok()) co_return bound.error();
    std::printf("listening on %s\n", bound.value().to_string().c_str());
    std::fflush(stdout);

    store values;
    gyre::serve_options options;
    options.connections_max = 1000;
    const auto serve_one = [&values](gyre::tcp_socket client) {
        return session(std::move(client), values);
    };
    const auto ended = co_await gyre::serve(std::move(acceptor), serve_one, options);
    co_return ended;
}

}  // namespace

int main(int count, char** arguments) {
    const auto local = gyre::endpoint::parse(count > 1 ? arguments[1] : "127.0.0.1:7002");
    if (!local.ok()) {
        std::fprintf(stderr, "usage: key_value_server [ADDRESS:PORT]\n");
        return 2;
    }
    return gyre::run_until_signal(key_value_server(local.value()));
}

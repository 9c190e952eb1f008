// SPDX-License-Identifier: BSL-1.0
//
// What suites of conformance talk to: a server that sends messages back, and a client that does.
//
//     websocket_testee server 127.0.0.1:9001
//     websocket_testee client ws://127.0.0.1:9001 AGENT    (asks a fuzzing server for its cases)
//
// The requests are read by hand, so that what is judged is this layer alone.
#include <gyre/gyre.hpp>
#include <gyre/websocket/connection.hpp>

#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace gyre;
using namespace gyre::websocket;
using namespace std::chrono_literals;

constexpr std::size_t head_bytes_max = 16 * 1024;

// A request's or an answer's first line, and its fields.
struct head {
    head() = default;

    std::string first_line;
    std::vector<header_field> fields;
    std::string rest;  // What came behind it.
};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

head parsed_head(std::string_view text) {
    head made;
    made.first_line = text.substr(0, text.find("\r\n"));
    text.remove_prefix(made.first_line.size() + 2);
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find("\r\n"));
        text.remove_prefix(std::min(line.size() + 2, text.size()));
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        made.fields.push_back(
            {std::string{line.substr(0, colon)}, std::string{trimmed(line.substr(colon + 1))}});
    }
    return made;
}

task<io_result<head>> read_head(stream_socket& from) {
    buffered_reader<stream_socket> reader{from, head_bytes_max};
    const io_result<const_buffer> got = co_await with_timeout(10s, reader.read_until("\r\n\r\n"));
    if (!got.ok()) co_return got.error();
    head made = parsed_head(text_of(got.value()));
    reader.consume(got.value().size());
    made.rest = text_of(reader.window());
    co_return io_result<head>{std::move(made)};
}

std::string written(std::string first_line, const std::vector<header_field>& fields) {
    std::string text = std::move(first_line);
    for (const header_field& each : fields) {
        text.append("\r\n").append(each.name).append(": ").append(each.value);
    }
    return text.append("\r\n\r\n");
}

deflate_options deflating() {
    deflate_options made;
    made.our_context_kept = true;
    made.peer_context_kept = true;
    made.bytes_min = 0;
    return made;
}

connection_options generous() {
    connection_options made;
    made.limits.frame_bytes_max = std::uint64_t{32} << 20;
    made.limits.message_bytes_max = std::uint64_t{32} << 20;
    made.deflate = deflating();
    return made;
}

task<> echo(connection& on) {
    for (;;) {
        const io_result<message> got = co_await on.receive();
        if (!got.ok()) break;
        const io_result<> sent = co_await on.send(got.value().kind, got.value().bytes);
        if (!sent.ok()) break;
    }
    static_cast<void>(co_await on.close());
}

task<> serve_one(stream_socket peer) {
    io_result<head> got = co_await read_head(peer);
    if (!got.ok()) co_return;
    const head request = got.take();
    server_handshake_options options;
    options.origins = {"*"};
    options.deflate = deflating();
    const std::string method = request.first_line.substr(0, request.first_line.find(' '));
    const server_handshake answer = answer_handshake(method, request.fields, options);
    const std::string text =
        written("HTTP/1.1 " + std::to_string(answer.status) + " -", answer.fields);
    const io_result<std::size_t> sent = co_await write_all(peer, bytes_of(text));
    if (!sent.ok() || answer.failure != handshake_failure::none) co_return;
    connection on{any_stream{std::move(peer)}, role::server, answer.agreed, bytes_of(request.rest),
                  generous()};
    co_await echo(on);
}

task<io_result<>> serve_all(endpoint local) {
    auto listening = co_await tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();
    const auto session = [](stream_socket peer) { return serve_one(std::move(peer)); };
    const auto ended = co_await serve(listening.take(), session);
    co_return ended;
}

// A connection of its own for each question.
task<io_result<std::unique_ptr<connection>>> opened(endpoint server, std::string target) {
    auto connected = co_await stream_socket::connect(server);
    if (!connected.ok()) co_return connected.error();
    stream_socket peer = connected.take();
    client_handshake_options options;
    options.deflate = deflating();
    const client_handshake handshake{options};
    std::vector<header_field> fields = handshake.fields();
    fields.push_back({"Host", server.to_string()});
    const std::string text = written("GET " + target + " HTTP/1.1", fields);
    const io_result<std::size_t> sent = co_await write_all(peer, bytes_of(text));
    if (!sent.ok()) co_return sent.error();

    io_result<head> got = co_await read_head(peer);
    if (!got.ok()) co_return got.error();
    const head answer = got.take();
    unsigned status = 0;
    if (answer.first_line.size() >= 12) {
        const char* const digits = answer.first_line.data() + 9;
        std::from_chars(digits, digits + 3, status);
    }
    const client_handshake::outcome read = handshake.read_answer(status, answer.fields);
    if (read.failure != handshake_failure::none) {
        std::fprintf(stderr, "%s: %s\n", target.c_str(), describe(read.failure));
        co_return errc::protocol_error;
    }
    any_stream stream{std::move(peer)};
    auto made = std::make_unique<connection>(std::move(stream), role::client, read.agreed,
                                             bytes_of(answer.rest), generous());
    co_return io_result<std::unique_ptr<connection>>{std::move(made)};
}

task<int> case_count(endpoint server) {
    auto got = co_await opened(server, "/getCaseCount");
    if (!got.ok()) co_return 0;
    const std::unique_ptr<connection> on = got.take();
    const io_result<message> told = co_await on->receive();
    int count = 0;
    const std::string_view text = told.ok() ? told.value().text() : std::string_view{};
    std::from_chars(text.data(), text.data() + text.size(), count);
    static_cast<void>(co_await on->close());
    co_return count;
}

task<> run_one(endpoint server, std::string target) {
    auto got = co_await opened(server, std::move(target));
    if (!got.ok()) co_return;
    const std::unique_ptr<connection> on = got.take();
    co_await echo(*on);
}

task<io_result<>> run_cases(endpoint server, std::string agent) {
    const int count = co_await case_count(server);
    std::printf("%d cases\n", count);
    for (int each = 1; each <= count; ++each) {
        std::string target = "/runCase?case=" + std::to_string(each) + "&agent=" + agent;
        co_await run_one(server, std::move(target));
    }
    std::string target = "/updateReports?agent=" + agent;
    co_await run_one(server, std::move(target));
    co_return count > 0 ? error{} : error{errc::no_data};
}

}  // namespace

int main(int count, char** arguments) {
    const std::string_view mode = count > 2 ? arguments[1] : "";
    std::string_view address = count > 2 ? arguments[2] : "";
    if (address.starts_with("ws://")) address.remove_prefix(5);
    if (address.ends_with('/')) address.remove_suffix(1);
    const auto where = gyre::endpoint::parse(address);
    if (!where.ok() || (mode != "server" && mode != "client")) {
        std::fprintf(stderr, "usage: websocket_testee server|client ADDRESS:PORT [AGENT]\n");
        return 2;
    }
    if (mode == "server") return gyre::run_until_signal(serve_all(where.value()));
    return gyre::run_until_signal(run_cases(where.value(), count > 3 ? arguments[3] : "gyre"));
}

// SPDX-License-Identifier: BSL-1.0
//
// What the suites of protocols ask, and what is right.
#include <lab/servers/web.hpp>

#include <lab/servers/answers.hpp>

#include <charconv>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

namespace servers {
namespace {

std::string made_json() {
    std::string text = "{\"items\":[";
    for (int i = 1; i <= 12; ++i) {
        if (i > 1) text += ',';
        const std::string number = std::to_string(i);
        text += "{\"id\":" + number + ",\"name\":\"article " + number +
                "\",\"price\":" + std::to_string(i * 199) +
                ",\"stock\":" + std::to_string(1'000 - i * 7) + ",\"tags\":[\"new\",\"sold\"]}";
    }
    return text + "],\"count\":12}";
}

}  // namespace

const std::string& json_text() {
    static const std::string text = made_json();
    return text;
}

std::string content_of(std::size_t size) {
    constexpr std::size_t period = 251;  // Prime.
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('0' + i % period % 75);
    return text;
}

std::int64_t number_of(std::string_view text) noexcept {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

query_numbers numbers_of(std::string_view query) noexcept {
    query_numbers found;
    while (!query.empty()) {
        const std::string_view pair = query.substr(0, query.find('&'));
        query.remove_prefix(pair.size() == query.size() ? pair.size() : pair.size() + 1);
        if (pair.starts_with("a=")) found.a = number_of(pair.substr(2));
        if (pair.starts_with("b=")) found.b = number_of(pair.substr(2));
    }
    return found;
}

std::optional<bytes_request> next_bytes_request(std::string_view arrived) noexcept {
    const std::size_t end = arrived.find("\r\n\r\n");
    if (end == std::string_view::npos) return std::nullopt;
    bytes_request found;
    found.length = end + 4;
    const std::string_view request = arrived.substr(0, found.length);
    constexpr std::string_view begin = "GET /bytes/";
    if (request.starts_with(begin)) {
        found.bytes = static_cast<std::size_t>(number_of(request.substr(begin.size())));
    }
    found.closes = !stays_after(request);
    return found;
}

const std::string& bytes_answer(const bytes_request& asked) {
    thread_local std::map<std::pair<std::size_t, bool>, std::string> known;
    std::string& answer = known[{asked.bytes, asked.closes}];
    if (answer.empty()) {
        answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " +
                 std::to_string(asked.bytes) + (asked.closes ? "\r\nConnection: close" : "") +
                 "\r\n\r\n" + content_of(asked.bytes);
    }
    return answer;
}

std::optional<std::string> text_of_file(std::string_view path) {
    const std::ifstream file{std::string{path}, std::ios::binary};
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

}  // namespace servers

// SPDX-License-Identifier: BSL-1.0
//
// HTTP by hand, for the paths of web.hpp.
#include <lab/servers/web_answers.hpp>

#include <lab/servers/answers.hpp>
#include <lab/servers/web.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <ctime>

namespace servers {
namespace {

constexpr std::string_view end_of_head = "\r\n\r\n";
constexpr auto none = std::string_view::npos;

// "Date: ...\r\n", made anew each second.
std::string_view date_line() {
    thread_local std::time_t made = 0;
    thread_local std::array<char, 64> line{};
    thread_local std::size_t size = 0;
    std::timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != made) {
        std::tm parts{};
        ::gmtime_r(&now.tv_sec, &parts);
        size =
            std::strftime(line.data(), line.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
        made = now.tv_sec;
    }
    return {line.data(), size};
}

void append_number(std::string& to, std::int64_t value) {
    std::array<char, 24> digits;
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    to.append(digits.data(), end);
}

std::size_t body_size_of(std::string_view head) {
    for (const std::string_view name : {"\r\nContent-Length:", "\r\ncontent-length:"}) {
        const std::size_t at = head.find(name);
        if (at == none) continue;
        std::string_view value = head.substr(at + name.size());
        while (value.starts_with(' ')) value.remove_prefix(1);
        return static_cast<std::size_t>(number_of(value));
    }
    return 0;
}

}  // namespace

std::string_view web_answers::answer_to(std::string_view arrived) {
    if (closes_) return {};
    responses_.clear();
    const bool cut = !unfinished_.empty();
    if (cut) unfinished_.append(arrived);
    std::string_view rest = cut ? std::string_view{unfinished_} : arrived;
    while (!closes_ && !rest.empty()) {
        const std::size_t taken = answer_next(rest);
        if (taken == 0) break;
        rest.remove_prefix(taken);
    }
    if (rest.size() > request_bytes_max) closes_ = true;
    if (cut) {
        unfinished_.erase(0, unfinished_.size() - rest.size());
    } else if (!rest.empty()) {
        unfinished_.assign(rest);
    }
    return responses_;
}

// The length of the first request; 0 if it has not ended.
std::size_t web_answers::answer_next(std::string_view arrived) {
    const std::size_t end = arrived.find(end_of_head);
    if (end == none) return 0;
    const std::string_view head = arrived.substr(0, end + end_of_head.size());
    const std::size_t body_size = head.starts_with("POST") ? body_size_of(head) : 0;
    if (arrived.size() - head.size() < body_size) return 0;
    closes_ = !stays_after(head);
    const std::size_t begin = head.find(' ') + 1;
    answer(head.substr(begin, head.find(' ', begin) - begin),
           arrived.substr(head.size(), body_size));
    return head.size() + body_size;
}

void web_answers::answer(std::string_view target, std::string_view body) {
    const std::string_view path = target.substr(0, target.find('?'));
    std::string_view status = "200 OK";
    std::string_view type = "text/plain";
    std::string_view content;
    std::array<char, 24> digits;
    if (path == "/text") {
        content = hello;
    } else if (path == "/json") {
        type = "application/json";
        content = json_text();
    } else if (path == "/sum") {
        const query_numbers numbers =
            numbers_of(target.substr(std::min(path.size() + 1, target.size())));
        const std::int64_t sum = numbers.a + numbers.b + number_of(body);
        const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), sum);
        content = {digits.data(), static_cast<std::size_t>(end - digits.data())};
    } else {
        status = "404 Not Found";
    }
    responses_.append("HTTP/1.1 ").append(status).append("\r\n").append(date_line());
    if (closes_) responses_.append("Connection: close\r\n");
    responses_.append("Content-Type: ").append(type).append("\r\nContent-Length: ");
    append_number(responses_, static_cast<std::int64_t>(content.size()));
    responses_.append(end_of_head).append(content);
}

}  // namespace servers

// SPDX-License-Identifier: BSL-1.0
//
// As much of HTTP as all servers share: where a request ends, and what is said to it.
#include <lab/servers/answers.hpp>

#include <algorithm>

namespace servers {
namespace {

constexpr std::string_view end_of_request = "\r\n\r\n";
constexpr auto none = std::string_view::npos;

constexpr char lower(char letter) noexcept {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

// `wanted` is in lower case.
bool begins_with(std::string_view text, std::string_view wanted) noexcept {
    return text.size() >= wanted.size() &&
           std::ranges::equal(text.substr(0, wanted.size()), wanted, {}, lower);
}

bool holds(std::string_view text, std::string_view wanted) noexcept {
    return !std::ranges::search(text, wanted, {}, lower).empty();
}

}  // namespace

bool stays_after(std::string_view request) noexcept {
    std::size_t at = request.find("\r\n");
    bool stays = at == none || !request.substr(0, at).ends_with("HTTP/1.0");
    while (at != none) {
        const std::size_t begin = at + 2;
        at = request.find("\r\n", begin);
        const std::string_view line = request.substr(begin, at == none ? at : at - begin);
        constexpr std::string_view name = "connection:";
        if (!begins_with(line, name)) continue;
        if (holds(line.substr(name.size()), "close")) return false;
        if (holds(line.substr(name.size()), "keep-alive")) stays = true;
    }
    return stays;
}

std::string_view http_answers::answer_to(std::string_view arrived) {
    if (closes_) return {};
    const std::size_t end = arrived.find(end_of_request);
    const bool whole = unfinished_.empty() && arrived.size() <= request_bytes_max && end != none &&
                       end + end_of_request.size() == arrived.size();
    if (!whole) return answer_slowly(arrived);
    closes_ = !stays_after(arrived);
    return closes_ ? closing_response : staying_response;
}

std::string_view http_answers::answer_slowly(std::string_view arrived) {
    unfinished_.append(arrived);
    responses_.clear();
    std::size_t begin = 0;
    while (!closes_) {
        const std::size_t end = unfinished_.find(end_of_request, begin);
        if (end == none) break;
        const std::size_t next = end + end_of_request.size();
        closes_ = !stays_after(std::string_view{unfinished_}.substr(begin, next - begin));
        responses_ += closes_ ? closing_response : staying_response;
        begin = next;
    }
    unfinished_.erase(0, begin);
    if (unfinished_.size() > request_bytes_max) closes_ = true;
    return responses_;
}

}  // namespace servers

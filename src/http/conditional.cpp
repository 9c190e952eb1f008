// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/conditional.hpp>

#include <gyre/http/http_date.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gyre::http {
namespace {

// A mix of 64 bits by multiplication, eight bytes a step.
std::uint64_t hash_of(const_buffer content) noexcept {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    std::uint64_t hash = content.size() * odd;
    while (!content.empty()) {
        std::uint64_t word = 0;
        const std::size_t size = content.size() < sizeof word ? content.size() : sizeof word;
        std::memcpy(&word, content.data(), size);
        hash = (hash ^ word) * odd;
        hash ^= hash >> 29;
        content = content.subspan(size);
    }
    return hash * odd ^ hash >> 32;
}

std::string_view opaque(std::string_view tag) noexcept {
    return tag.starts_with("W/") ? tag.substr(2) : tag;
}

// RFC 9110, 8.8.3.2.
bool equal_weakly(std::string_view left, std::string_view right) noexcept {
    return opaque(left) == opaque(right);
}
bool equal_strongly(std::string_view left, std::string_view right) noexcept {
    return left == right && !left.starts_with("W/");
}

// Whether a field's list of tags has one that equals; `*` equals whatever there is.
template <class Equal>
bool any_equals(const fields& in, std::string_view name, std::string_view etag, Equal equal) {
    for (const field each : in) {
        if (!equal_without_case(each.name, name)) continue;
        if (each.value == "*") return true;
        list_elements tags{each.value};
        while (const auto tag = tags.next()) {
            if (!etag.empty() && equal(*tag, etag)) return true;
        }
    }
    return false;
}

task<response> with_conditions(request& what, const handler& next) {
    response answer = co_await next(what);
    const bool is_read = what.method() == method::get || what.method() == method::head;
    if (!is_read || answer.status != status::ok || answer.upgrade) co_return answer;
    if (!answer.fields.contains("etag") && answer.body.producer() == nullptr) {
        const const_buffer content = answer.body.bytes();
        // A handler that leaves the body of HEAD out has not shown what the tag would be of.
        if (!content.empty()) answer.fields.set("etag", etag_of(content));
    }
    validators resource;
    resource.etag = answer.fields.value_or("etag");
    resource.last_modified = parse_http_date(answer.fields.value_or("last-modified"));
    const std::optional<status> instead = judge_conditions(what, resource);
    if (!instead) co_return answer;

    answer.status = *instead;
    answer.body = {};
    answer.trailers.clear();
    // RFC 9110, 15.4.5: what describes content goes with content.
    answer.fields.remove("content-type");
    answer.fields.remove("content-encoding");
    answer.fields.remove("content-language");
    co_return answer;
}

}  // namespace

std::string etag_of(const_buffer content) {
    std::array<char, 16> digits;
    std::string tag{"\""};
    const auto append = [&](std::uint64_t number) {
        const auto* const end =
            std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
        tag.append(std::string_view{digits.data(), end});
    };
    append(content.size());
    tag.push_back('-');
    append(hash_of(content));
    tag.push_back('"');
    return tag;
}

// RFC 9110, 13.2.2: in this order.
std::optional<status> judge_conditions(const request& what, validators resource) {
    const fields& asked = what.fields;
    if (asked.contains("if-match")) {
        if (!any_equals(asked, "if-match", resource.etag, equal_strongly)) {
            return status::precondition_failed;
        }
    } else if (const auto since = parse_http_date(asked.value_or("if-unmodified-since"))) {
        if (resource.last_modified && *resource.last_modified > *since) {
            return status::precondition_failed;
        }
    }
    const bool is_read = what.method() == method::get || what.method() == method::head;
    if (asked.contains("if-none-match")) {
        if (any_equals(asked, "if-none-match", resource.etag, equal_weakly)) {
            return is_read ? status::not_modified : status::precondition_failed;
        }
    } else if (is_read) {
        const auto since = parse_http_date(asked.value_or("if-modified-since"));
        if (since && resource.last_modified && *resource.last_modified <= *since) {
            return status::not_modified;
        }
    }
    return std::nullopt;
}

bool range_still_holds(const request& what, validators resource) {
    const auto condition = what.fields.find("if-range");
    if (!condition) return true;
    if (condition->starts_with('"') || condition->starts_with("W/")) {
        return equal_strongly(*condition, resource.etag);
    }
    const auto when = parse_http_date(*condition);
    return when && resource.last_modified && *when == *resource.last_modified;
}

middleware conditional_requests() { return as_middleware(with_conditions); }

}  // namespace gyre::http

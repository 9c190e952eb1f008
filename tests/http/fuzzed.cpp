// SPDX-License-Identifier: BSL-1.0
#include <http/fuzzed.hpp>

#include <gyre/base/check.hpp>
#include <gyre/http/authorization.hpp>
#include <gyre/http/chunk_decoder.hpp>
#include <gyre/http/cookies.hpp>
#include <gyre/http/form.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/http_date.hpp>
#include <gyre/http/percent.hpp>
#include <gyre/http/serializer.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::testing {
namespace {

using namespace gyre::http;

std::string text_of_fields(const fields& these) {
    std::string all;
    for (const field each : these) {
        ensures(is_token(each.name) && is_field_value(each.value), "what was read can be sent");
        all.append(each.name).append(":").append(each.value).append("\n");
    }
    return all;
}

// Gives bytes one by one, from memory of just that size, so that a sanitizer sees a read beyond them.
template <class Parse>
head_progress bytewise(const_buffer bytes, const Parse& parse) {
    for (std::size_t seen = 0; seen <= bytes.size(); ++seen) {
        const std::vector<std::byte> window(bytes.begin(), bytes.begin() + static_cast<long>(seen));
        const head_progress progress = parse(const_buffer{window});
        if (progress != head_progress::incomplete) return progress;
    }
    return head_progress::incomplete;
}

// What `used` reads of a message is what a parser reads that has read none before.
template <class Message, class Parse>
void read_as_afresh(head_parser& used, const_buffer bytes, const Parse& parse) {
    Message seen;
    const head_progress progress = parse(used, bytes, seen);
    Message wanted;
    head_parser fresh;
    ensures(progress == parse(fresh, bytes, wanted) && used.why() == fresh.why(), "as afresh");
    if (progress != head_progress::complete) return;
    ensures(used.size() == fresh.size() && used.version() == fresh.version() &&
                used.keeps_alive() == fresh.keeps_alive() && used.upgrades() == fresh.upgrades() &&
                used.expects_continue() == fresh.expects_continue() &&
                used.framing().by == fresh.framing().by &&
                used.framing().length == fresh.framing().length,
            "the same message as afresh");
    ensures(text_of_fields(seen.fields) == text_of_fields(wanted.fields),
            "the same fields as afresh");
}

}  // namespace

void request_head(const_buffer bytes) {
    request whole;
    head_parser parser;
    const head_progress progress = parser.parse_request(bytes, whole);
    request by_byte;
    head_parser other;
    const head_progress same =
        bytewise(bytes, [&](const_buffer window) { return other.parse_request(window, by_byte); });
    ensures(progress == same && parser.why() == other.why(), "a split changes nothing");
    if (progress != head_progress::complete) return;

    ensures(parser.size() == other.size() && parser.size() <= bytes.size(), "the same end");
    ensures(parser.framing().by == other.framing().by &&
                parser.framing().length == other.framing().length,
            "the same body");
    const auto parse = [](head_parser& by, const_buffer window, request& into) {
        return by.parse_request(window, into);
    };
    read_as_afresh<request>(parser, bytes, parse);
    read_as_afresh<request>(parser, bytes.subspan(parser.size()), parse);
    const std::string fields_of_it = text_of_fields(whole.fields);
    ensures(fields_of_it == text_of_fields(by_byte.fields), "the same fields");
    ensures(is_sendable(whole), "what was read can be sent");
    std::string again;
    append_head(again, whole, {});
    request read_again;
    head_parser third{{1 << 20, 1 << 19, 1000}};
    ensures(third.parse_request(bytes_of(again), read_again) == head_progress::complete,
            "what was sent can be read");
    ensures(read_again.target() == whole.target() &&
                read_again.method_text() == whole.method_text() && third.size() == again.size(),
            "it is the same request, and only one");
}

void response_head(const_buffer bytes) {
    for (const method asked : {method::get, method::head, method::connect}) {
        response whole;
        head_parser parser;
        const head_progress progress = parser.parse_response(bytes, asked, whole);
        response by_byte;
        head_parser other;
        const head_progress same = bytewise(bytes, [&](const_buffer window) {
            return other.parse_response(window, asked, by_byte);
        });
        ensures(progress == same && parser.why() == other.why(), "a split changes nothing");
        if (progress != head_progress::complete) continue;
        ensures(parser.size() == other.size(), "the same end");
        ensures(text_of_fields(whole.fields) == text_of_fields(by_byte.fields), "the same fields");
        const auto parse = [asked](head_parser& by, const_buffer window, response& into) {
            return by.parse_response(window, asked, into);
        };
        read_as_afresh<response>(parser, bytes, parse);
        read_as_afresh<response>(parser, bytes.subspan(parser.size()), parse);
    }
}

void chunked_body(const_buffer bytes) {
    const auto decode = [bytes](std::size_t piece, std::string& body, fields& trailers) {
        chunk_decoder decoder;
        std::size_t at = 0;
        while (at < bytes.size()) {
            const chunk_decoder::step step =
                decoder.decode(bytes.subspan(at, std::min(piece, bytes.size() - at)), trailers);
            ensures(step.data.size() <= step.consumed, "data is of the input");
            body.append(gyre::text_of(step.data));
            at += step.consumed;
            if (step.consumed == 0) break;
        }
        ensures(decoder.why() == refusal::none || !decoder.ended(), "refused or ended");
        return std::pair{at, decoder.why()};
    };
    std::string whole;
    std::string by_byte;
    fields trailers;
    fields same_trailers;
    const auto ended = decode(SIZE_MAX, whole, trailers);
    const auto same = decode(1, by_byte, same_trailers);
    ensures(ended == same && whole == by_byte, "a split changes nothing");
    ensures(text_of_fields(trailers) == text_of_fields(same_trailers), "the same trailers");
}

void small_texts(const_buffer bytes) {
    const std::string_view text = gyre::text_of(bytes);
    const io_result<form> parsed = form::parse(text);
    if (parsed.ok()) {
        const io_result<form> again = form::parse(parsed.value().encoded());
        ensures(again.ok() && again.value().pairs().size() == parsed.value().pairs().size(),
                "a form is what it was");
    }
    const io_result<std::string> decoded = percent_decoded(text);
    if (decoded.ok()) {
        ensures(decoded.value().find('\0') == std::string::npos, "what is decoded has no NUL");
    }
    if (const auto plain = base64_decoded(text)) {
        ensures(base64_encoded(*plain) == text, "each text has one form");
    }
    if (const auto when = parse_http_date(text)) {
        const http_date_text written = format_http_date(*when);
        const std::string_view fixed{written.data(), written.size()};
        ensures(parse_http_date(fixed) == when, "each form means the same date");
        const bool is_fixed = text.size() == fixed.size() && text.find('-') == text.npos;
        ensures(!is_fixed || fixed.substr(0, 17) == text.substr(0, 17), "the same date");
    }
    static_cast<void>(parameter_of(text, "name"));
    fields of;
    of.add("cookie", text).add("authorization", text).add("list", text);
    static_cast<void>(cookie_value(of, "a"));
    static_cast<void>(basic_credentials_of(of));
    static_cast<void>(of.has_token("list", "close"));
}

}  // namespace gyre::testing

// SPDX-License-Identifier: BSL-1.0
#include <http2/fuzz/agreement.hpp>

#include <gyre/base/check.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/request_target.hpp>
#include <gyre/http/serializer.hpp>
#include <gyre/io/ip_address.hpp>
#include <gyre/web/url.hpp>
#include <http2/engine.hpp>
#include <http2/frames.hpp>
#include <http2/request_head.hpp>
#include <http2/response_head.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gyre::testing {
namespace {

using http::equal_without_case;
using named_values = std::vector<std::pair<std::string, std::string>>;

constexpr time_point now{std::chrono::hours{1}};
constexpr std::size_t lines_max = 40;

// -------- Input --------

struct asked_for {
    std::string method;
    std::string authority;
    std::string target;
    named_values fields;
};

std::string_view line_of(std::string_view& rest) noexcept {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
}

std::string_view without_blanks(std::string_view text) noexcept {
    constexpr std::string_view blanks = " \t";
    const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
    text.remove_prefix(first);
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

// Differences by design: HTTP/2 has its names in lower case (RFC 9113, 8.2.1), and no blanks around values
// (8.2.1), which HTTP/1 takes off (RFC 9112, 5.1). Both versions are given what both can have.
named_values fields_of(std::string_view lines) {
    named_values found;
    while (!lines.empty() && found.size() < lines_max) {
        const std::string_view line = line_of(lines);
        const std::size_t colon = std::min(line.find(':', 1), line.size());
        std::string name{line.substr(0, colon)};
        for (char& c : name) {
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
        }
        const std::string_view behind = line.substr(std::min(colon + 1, line.size()));
        found.emplace_back(std::move(name), without_blanks(behind));
    }
    return found;
}

// -------- Fields --------

bool any_of_fields(const named_values& those, std::initializer_list<std::string_view> names) {
    return std::ranges::any_of(those, [&names](const auto& each) {
        return std::ranges::find(names, each.first) != names.end();
    });
}

// RFC 9113, 8.2.2: HTTP/2 refuses what is about the connection, which HTTP/1 obeys.
bool is_about_connection(const named_values& those) {
    const bool asks = std::ranges::any_of(those, [](const auto& each) {
        return each.first == "te" && !equal_without_case(each.second, "trailers");
    });
    return asks || any_of_fields(those, {"connection", "keep-alive", "proxy-connection",
                                         "transfer-encoding", "upgrade"});
}

// As text: without Host, which HTTP/2 may leave out, and with cookies in one field (RFC 9113, 8.2.3).
std::string text_of_fields(const http::fields& those) {
    std::string all;
    std::string cookies;
    for (const http::field each : those) {
        if (equal_without_case(each.name, "host")) continue;
        if (equal_without_case(each.name, "cookie")) {
            if (!cookies.empty() && !each.value.empty()) cookies.append("; ");
            cookies.append(each.value);
        } else {
            all.append(each.name).append(":").append(each.value).append("\n");
        }
    }
    return all.append("cookie:").append(cookies);
}

// -------- What each version reads --------

struct heard {
    bool taken = false;
    http::refusal why = http::refusal::none;
    unsigned status = 0;
    std::string method;
    std::string target;
    std::string authority;
    std::string fields;

    void note(const http::request& it) {
        taken = true;
        method = it.method_text();
        target = it.target();
        authority = it.authority();
        fields = text_of_fields(it.fields);
    }
    [[nodiscard]] bool same_as(const heard& other) const {
        return method == other.method && target == other.target && authority == other.authority &&
               fields == other.fields && status == other.status;
    }
};

std::string lines_of(const named_values& fields) {
    std::string made;
    for (const auto& [name, value] : fields) made.append(name + ":" + value + "\r\n");
    return made.append("\r\n");
}

heard by_http1(const asked_for& it, std::string_view target, std::string_view host) {
    std::string text = it.method + " ";
    text.append(target).append(" HTTP/1.1\r\nhost:").append(host).append("\r\n");
    text.append(lines_of(it.fields));
    heard got;
    http::request read;
    http::head_parser parser;
    const http::head_progress progress = parser.parse_request(bytes_of(text), read);
    ensures(progress != http::head_progress::incomplete, "a head with an empty line is complete");
    got.why = parser.why();
    if (progress == http::head_progress::refused) return got;
    ensures(parser.size() == text.size(), "nothing within a head ends it");
    ensures(http::is_sendable(read), "what was read can be sent on");
    got.note(read);
    return got;
}

// RFC 7541, 5.1 and 6.2.3.
void append_text(std::string& to, std::string_view text) {
    std::size_t rest = text.size();
    to.push_back(static_cast<char>(std::min<std::size_t>(rest, 127)));
    if (rest >= 127) {
        for (rest -= 127; rest >= 128; rest /= 128) {
            to.push_back(static_cast<char>(rest % 128 | 0x80));
        }
        to.push_back(static_cast<char>(rest));
    }
    to.append(text);
}

std::string block_of_fields(const named_values& fields) {
    std::string block;
    for (const auto& [name, value] : fields) {
        block.push_back('\x10');
        append_text(block, name);
        append_text(block, value);
    }
    return block;
}

// Hears one head.
class head_listener final : public http2::engine_events {
public:
    explicit head_listener(http2::role we) : wire{options_of(we), *this} {
        wire.begin(now);
        if (we == http2::role::client) {
            wire.add(":method", "GET");
            wire.add(":scheme", "http");
            wire.add(":path", "/");
            wire.add(":authority", "h");
            ensures(wire.send_request(stream, true), "a request can be sent");
        }
        std::string said;
        static_cast<void>(wire.produce(said, SIZE_MAX, now));
        hear((we == http2::role::server ? std::string{preface} : std::string{}) +
             frame_of(frame::settings, 0, 0) + frame_of(frame::settings, ack, 0));
    }

    void hear(const std::string& bytes) { wire.receive(bytes_of(bytes), now); }

    http2::engine wire;
    http2::engine_stream stream;
    std::optional<named_values> fields;  // Once the head is whole.

private:
    static http2::engine_options options_of(http2::role we) {
        http2::engine_options made;
        made.we = we;
        return made;
    }

    http2::engine_stream* opens(std::int32_t) noexcept override { return &stream; }
    void field(http2::engine_stream&, std::string_view name,
               std::string_view value) noexcept override {
        coming_.emplace_back(name, value);
    }
    void head_ends(http2::engine_stream&, bool) noexcept override { fields = coming_; }
    void data(http2::engine_stream&, const_buffer) noexcept override {}
    void body_ends(http2::engine_stream&) noexcept override {}
    void closes(http2::engine_stream&, http2::error_code) noexcept override {}
    void stream_gone() noexcept override {}
    http2::pulled pull(http2::engine_stream&, mutable_buffer) noexcept override { return {}; }
    void settings_came() noexcept override {}
    void goaway_came(http2::error_code, std::int32_t) noexcept override {}
    void pong_came() noexcept override {}

    named_values coming_;
};

std::optional<named_values> by_engine(http2::role we, const named_values& fields) {
    head_listener listener{we};
    listener.hear(frame_of(frame::headers, end_headers, 1, block_of_fields(fields)));
    ensures(listener.wire.why() == http2::breach::none, "a head breaks its own stream at most");
    return std::move(listener.fields);
}

heard by_http2(const asked_for& it, std::string_view name_of_authority) {
    named_values fields{{":method", it.method}};
    const bool tunnels = it.method == "CONNECT";
    if (!tunnels) fields.emplace_back(":scheme", "http");
    if (!tunnels) fields.emplace_back(":path", it.target);
    fields.emplace_back(name_of_authority, it.authority);
    fields.insert(fields.end(), it.fields.begin(), it.fields.end());

    heard got;
    const std::optional<named_values> seen = by_engine(http2::role::server, fields);
    if (!seen) return got;
    http::request read;
    http2::request_head head;
    for (const auto& [name, value] : *seen) head.add(read, name, value);
    if (head.finish(read)) return got;
    ensures(http::is_sendable(read), "what was read can be sent on");
    got.note(read);
    return got;
}

// -------- What is compared --------

// Whether both versions can be given this head, and the same verdict is due.
bool is_comparable(const asked_for& it, const heard& first) {
    // RFC 9110, 9.1: of methods HTTP/1 knows those that llhttp does, and answers others with 501.
    if (first.why == http::refusal::method_unknown) return false;
    // RFC 9112, 3.2: Host may be empty; RFC 9113, 8.3.1: there is no empty :authority then.
    if (it.authority.empty()) return false;
    // RFC 9112, 3.2 refuses a second Host; RFC 9113, 8.3.1 lets one stand beside :authority.
    if (any_of_fields(it.fields, {"host"})) return false;
    // RFC 9113, 8.2.2.
    return !is_about_connection(it.fields);
}

void compare_versions(const asked_for& it, const heard& first) {
    const heard second = by_http2(it, ":authority");
    if (is_about_connection(it.fields)) ensures(!second.taken, "HTTP/2 is not about connections");
    if (!is_comparable(it, first)) return;
    ensures(first.taken == second.taken, "both versions take the same requests");
    ensures(!first.taken || first.same_as(second), "both versions read the same request");
    // RFC 9113, 8.5: a tunnel is to :authority alone.
    if (it.method == "CONNECT") return;
    const heard third = by_http2(it, "host");
    ensures(third.taken == second.taken && third.same_as(second), "Host says what :authority does");
}

// RFC 9112, 3.2.2: the absolute form, which web::url reads as well.
void compare_forms(const asked_for& it, const heard& first) {
    const bool is_path = it.target.starts_with('/') && it.method != "CONNECT";
    // Else the host ends before the authority does.
    const bool is_one_part = it.authority.find_first_of("/?#") == std::string::npos;
    if (!is_path || !is_one_part || it.authority.empty()) return;
    const std::string whole = "http://" + it.authority + it.target;
    const heard absolute = by_http1(it, whole, "h");
    if (first.why != http::refusal::method_unknown) {
        ensures(absolute.taken == first.taken, "the form of a target decides nothing");
        ensures(!first.taken || absolute.same_as(first), "each form means the same");
    }

    const io_result<web::url> read = web::url::parse(whole);
    ensures(!first.taken || read.ok(), "what a server takes, its forwarder can ask for");
    // RFC 3986, 3.5: a URL may have a fragment, which is no part of its target.
    if (!read.ok() || it.target.find('#') != std::string::npos) return;
    const web::url& where = read.value();
    ensures(where.target() == it.target, "a forwarder asks for what was asked for");
    const std::optional<http::authority_parts> parts = http::read_authority(it.authority);
    ensures(parts && equal_without_case(where.host(), parts->host), "of the same host");
    ensures(parts->port.empty() || std::to_string(where.port()) ==
                                       parts->port.substr(parts->port.find_first_not_of('0')),
            "on the same port");
    const io_result<web::url> again = web::url::parse(where.to_string());
    ensures(again.ok() && again.value() == where, "and a URL is what it says that it is");
}

// What clients send is what servers take.
void compare_sender(const asked_for& it, const heard& first) {
    http::request made;
    made.set_method(it.method);
    made.set_target(it.target);
    made.set_authority(it.authority);
    for (const auto& [name, value] : it.fields) made.fields.add(name, value);
    const bool sendable = http::is_sendable(made);
    ensures(!first.taken || sendable, "what servers take, clients can send");
    // Fields that clients make themselves are not sent; an expectation is the server's to judge.
    const bool framed = any_of_fields(it.fields, {"host", "content-length", "expect"});
    if (framed || is_about_connection(it.fields)) return;
    ensures(!sendable || first.taken || first.why == http::refusal::method_unknown,
            "what clients send, servers take");
}

// The library has two readers of IPv6 addresses, since protocols know no sockets.
void compare_addresses(std::string_view authority) {
    if (!authority.starts_with('[') || !authority.ends_with(']')) return;
    const std::string_view inside = authority.substr(1, authority.size() - 2);
    if (inside.find_first_of("]%") != std::string_view::npos) return;
    ensures(ipv6::parse(inside).ok() == http::is_authority(authority), "one grammar of IPv6");
}

constexpr std::array<std::string_view, 16> request_seeds{
    "GET\nh\n/admin#.png\na: b",
    "GET\nexample.org:8080\n/a%20b/../c;d?e=f&g=100%\naccept: */*\ncookie: a=1\ncookie: b=2",
    "POST\n[2001:db8::1]:443\n/?q={\"a\"}\\<>\ncontent-length: 5\nexpect: 100-continue",
    "OPTIONS\nh\n*",
    "CONNECT\nh:443\nh:443",
    "GET\nu@h\n/",
    "GET\nh\nhttp://i/p?q\nhost: h",
    "PUT\nh:\n/a\\..\\b\nte: trailers\nx:",
    "GET\nh%2f\n/%zz\nConnection: close\nTransfer-Encoding: chunked",
    "M-SEARCH\n[::ffff:192.0.2.1]\n//[]|^`{}\nupgrade: h2c",
    "get\nh\n/\n:path: /b\n:authority: i",
    "HEAD\nh:0\n/?\nexpect: tea\ncontent-length: 18446744073709551615",
    "DELETE\n\n/\nhost: h\nx: \x80\xff",
    "GET\nh\n/\ncookie: a=1\ncookie:\ncookie: b=2\ncookie:",
    "GET\nh\n/\x7f\nx y: z\n: empty\na: \x01",
    "PRI\nh\n/"};

constexpr std::array<std::string_view, 7> response_seeds{
    "200\na: b\ncontent-length: 5",
    "099\n",
    "304\ncontent-length: 5\netag: \"a\"",
    "101\nupgrade: x\nconnection: upgrade",
    "204\ncontent-length: 0\nset-cookie: a=b\nset-cookie: c=d",
    "999\nx y: z",
    "2 0\nx: \x80\x01"};

}  // namespace

void fuzz_request_agreement(const_buffer input) {
    std::string_view rest = gyre::text_of(input);
    asked_for it;
    it.method = line_of(rest);
    it.authority = without_blanks(line_of(rest));
    it.target = line_of(rest);
    it.fields = fields_of(rest);
    // RFC 9110, 9.3.6: a tunnel has no other target.
    if (it.method == "CONNECT") it.target = it.authority;

    const heard first = by_http1(it, it.target, it.authority);
    // An absolute form is HTTP/1's alone: RFC 9113, 8.3.1 has a field for each part.
    const bool is_absolute =
        first.taken && it.target.find("://") != std::string::npos && !it.target.starts_with('/');
    if (is_absolute) {
        ensures(!by_http2(it, ":authority").taken, "a path is no absolute form");
    } else {
        compare_versions(it, first);
        compare_forms(it, first);
    }
    compare_sender(it, first);
    compare_addresses(it.authority);
}

void fuzz_response_agreement(const_buffer input) {
    std::string_view rest = gyre::text_of(input);
    const std::string status{line_of(rest)};
    const named_values fields = fields_of(rest);

    heard first;
    const std::string text = "HTTP/1.1 " + status + " \r\n" + lines_of(fields);
    http::response read;
    http::head_parser parser;
    const http::head_progress progress =
        parser.parse_response(bytes_of(text), http::method::get, read);
    ensures(progress != http::head_progress::incomplete, "a head with an empty line is complete");
    first.taken = progress == http::head_progress::complete;
    if (first.taken) first.status = http::number_of(read.status);
    if (first.taken) first.fields = text_of_fields(read.fields);

    named_values all{{":status", status}};
    all.insert(all.end(), fields.begin(), fields.end());
    heard second;
    const std::optional<named_values> seen = by_engine(http2::role::client, all);
    http2::response_head head;
    if (seen) {
        for (const auto& [name, value] : *seen) head.add(name, value);
        second.taken = head.finish();
    }
    if (second.taken) second.status = http::number_of(head.status);
    if (second.taken) second.fields = text_of_fields(head.fields);

    if (is_about_connection(fields))
        return ensures(!second.taken, "HTTP/2 is not about connections");
    // RFC 9113, 8.6: there is no upgrade. HTTP/1 has a reason behind the status, and ends it at a blank.
    if (status == "101" || status.size() != 3) return ensures(!second.taken, "no status of HTTP/2");
    // RFC 9110, 8.6: a server must not send it there; HTTP/1 passes over it, nghttp2 takes it out or refuses.
    const bool bodiless = status.starts_with('1') || status == "204";
    if (bodiless && any_of_fields(fields, {"content-length"})) return;
    ensures(first.taken == second.taken, "both versions take the same responses");
    ensures(!first.taken || first.same_as(second), "both versions read the same response");
}

std::string_view request_agreement_seed(std::size_t which) noexcept {
    return request_seeds[which % request_seeds.size()];
}

std::string_view response_agreement_seed(std::size_t which) noexcept {
    return response_seeds[which % response_seeds.size()];
}

}  // namespace gyre::testing

// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/head_parser.hpp>

#include <gyre/base/check.hpp>
#include <gyre/http/request_target.hpp>
#include <http/text.hpp>

#include <llhttp.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

namespace gyre::http {
namespace {

bool is_visible(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

// Views of one part of the head, which llhttp may tell of piece by piece.
class part {
public:
    void add(const char* at, std::size_t length) noexcept {
        if (begin_ == nullptr) begin_ = at;
        end_ = at + length;
    }
    [[nodiscard]] std::string_view take() noexcept {
        if (begin_ == nullptr) return {};
        const std::string_view all{begin_, static_cast<std::size_t>(end_ - begin_)};
        begin_ = nullptr;
        return all;
    }

private:
    const char* begin_ = nullptr;
    const char* end_ = nullptr;
};

// What the fields of a message say about it.
struct message_facts {
    std::uint64_t length = 0;
    std::size_t lengths = 0;
    std::size_t hosts = 0;
    std::string_view host;
    bool host_sound = true;
    bool coded = false;
    bool chunked = false;
    bool coding_unknown = false;
    bool coding_misplaced = false;
    bool closes = false;
    bool keeps_alive = false;
    bool connection_upgrade = false;
    bool upgrade_named = false;
    bool expects_continue = false;
    bool expects_more = false;      // Something that there is not.
    refusal wrong = refusal::none;  // The first thing that a field got wrong.

    void refuse(refusal why) noexcept {
        if (wrong == refusal::none) wrong = why;
    }

    // RFC 9112, 6.3: a length that two readers could read differently is an attempt to smuggle.
    void note_length(std::string_view value) noexcept {
        ++lengths;
        const bool digits = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
            return c >= '0' && c <= '9';
        });
        const auto read = std::from_chars(value.data(), value.data() + value.size(), length);
        // Others count with a sign: beyond it they would read another length, or none.
        const bool fits = read.ec == std::errc{} && length <= INT64_MAX;
        if (!digits || !fits || lengths > 1) refuse(refusal::length_malformed);
    }

    // RFC 9112, 6.1: chunked is applied once, and last.
    void note_coding(std::string_view value) noexcept {
        coded = true;
        list_elements codings{value};
        while (const auto coding = codings.next()) {
            if (chunked) coding_misplaced = true;
            if (equal_without_case(*coding, "chunked")) chunked = true;
            else coding_unknown = true;
        }
    }

    // RFC 9112, 9.3.
    void note_connection(std::string_view value) noexcept {
        list_elements options{value};
        while (const auto option = options.next()) {
            if (equal_without_case(*option, "close")) closes = true;
            else if (equal_without_case(*option, "keep-alive")) keeps_alive = true;
            else if (equal_without_case(*option, "upgrade")) connection_upgrade = true;
        }
    }

    void note(std::string_view name, std::string_view value) noexcept {
        switch (name.size()) {
            case 4:
                if (equal_without_case(name, "host")) {
                    ++hosts;
                    host = value;
                    // RFC 9112, 3.2: empty, of a URL without an authority.
                    host_sound = value.empty() || is_authority(value);
                }
                break;
            case 6:
                // RFC 9110, 10.1.1: there is no other expectation.
                if (equal_without_case(name, "expect")) {
                    if (equal_without_case(value, "100-continue")) expects_continue = true;
                    else expects_more = true;
                }
                break;
            case 7:
                if (equal_without_case(name, "upgrade")) upgrade_named = true;
                break;
            case 10:
                if (equal_without_case(name, "connection")) note_connection(value);
                break;
            case 14:
                if (equal_without_case(name, "content-length")) note_length(value);
                break;
            case 17:
                if (equal_without_case(name, "transfer-encoding")) note_coding(value);
                break;
            default: break;
        }
    }
};

}  // namespace

// The fields of the last message. Peers repeat them byte for byte, and what was read of them once is right
// again: only the start line is read then.
struct known_fields {
    static constexpr std::size_t bytes_max = 1024;  // More is not kept.
    static constexpr unsigned misses_max = 8;       // In a row: each message has other fields.

    void remember(std::string_view its_text, const fields& its_fields,
                  const message_facts& its_facts) {
        if (its_text.size() > bytes_max || misses == misses_max) return;
        ++misses;
        text.assign(its_text);
        read.assign(its_fields);
        facts = its_facts;
        if (facts.hosts == 0) return;
        const auto at = static_cast<std::size_t>(facts.host.data() - its_text.data());
        facts.host = std::string_view{text}.substr(at, facts.host.size());
    }

    std::string text;  // With the empty line behind them.
    fields read;
    message_facts facts;  // Its views are of `text`.
    unsigned misses = 0;
};

struct head_parser::state {
    explicit state(head_limits bounds) noexcept : limits{bounds} {}

    [[nodiscard]] bool is_known(std::string_view window) noexcept;

    [[nodiscard]] head_progress find(std::string_view window) noexcept;
    [[nodiscard]] head_progress scan(std::string_view window) noexcept;
    [[nodiscard]] refusal check_line(std::string_view text) const noexcept;
    [[nodiscard]] refusal too_large() const noexcept {
        return line == skipped ? refusal::target_too_long : refusal::head_too_large;
    }
    [[nodiscard]] head_progress refuse(refusal because) noexcept {
        why = because;
        return head_progress::refused;
    }
    [[nodiscard]] head_progress settle(refusal because) noexcept;

    [[nodiscard]] refusal read(std::string_view head, llhttp_type_t type, http::fields& fields);
    [[nodiscard]] refusal read_all(std::string_view head, llhttp_type_t type, http::fields& fields);
    [[nodiscard]] refusal read_known(std::string_view start, llhttp_type_t type,
                                     http::fields& fields);
    [[nodiscard]] llhttp_errno_t execute(std::string_view text, llhttp_type_t type) noexcept;
    [[nodiscard]] refusal refusal_of(llhttp_errno_t code) const noexcept;
    void take_field();
    [[nodiscard]] refusal judge_request_line(std::string_view first) noexcept;
    [[nodiscard]] refusal judge_request(request& it);
    [[nodiscard]] refusal judge_target(request& it, std::string_view target);
    [[nodiscard]] refusal judge_status_line(std::string_view first) noexcept;
    [[nodiscard]] refusal judge_response(method asked) noexcept;
    [[nodiscard]] refusal judge_framing() noexcept;

    static state& of(llhttp_t* parser) noexcept { return *static_cast<state*>(parser->data); }

    head_limits limits;
    llhttp_t parser{};

    // The scan. Invariant: the lines in front of `line` have been checked.
    std::size_t skipped = 0;  // An empty line in front of the message.
    std::size_t line = 0;
    std::size_t searched = 0;
    refusal why = refusal::none;
    bool recognised = false;  // The message has the fields of the last one.

    // The message.
    http::fields* into = nullptr;
    part target;
    part name;
    part value;
    message_facts facts;
    known_fields known;

    // What is told.
    std::size_t size = 0;
    body_framing framing;
    http::version version = version::http_1_1;
    bool keeps_alive = false;
    bool expects_continue = false;
    bool upgrades = false;
};

head_progress head_parser::state::find(std::string_view window) noexcept {
    recognised = is_known(window);
    return recognised ? head_progress::complete : scan(window);
}

// RFC 9112, 2.2: a line ends with CR and LF. A recipient may take a bare LF, and then sees other lines than
// one that does not: it is refused. One empty line in front of a message is skipped.
head_progress head_parser::state::scan(std::string_view window) noexcept {
    if (line == 0 && window.starts_with("\r\n")) skipped = line = 2;
    if (line == skipped && window.size() > line) {
        const char first = window[line];
        const bool perhaps_empty_line = skipped == 0 && first == '\r';
        // Noise, or a TLS greeting: it may never have a line's end to wait for.
        if (!perhaps_empty_line && !is_token({&first, 1})) {
            return refuse(first == '\n' ? refusal::line_ending : refusal::start_line);
        }
    }
    searched = std::max(searched, line);
    for (;;) {
        const std::size_t feed = window.find('\n', searched);
        const std::size_t end = std::min(feed, window.size());
        if (end - skipped >= limits.bytes_max) return refuse(too_large());
        if (feed == std::string_view::npos) {
            searched = window.size();
            return head_progress::incomplete;
        }
        const std::string_view text = window.substr(line, end - line);
        if (text == "\r" && line > skipped) {
            size = end + 1;
            return head_progress::complete;
        }
        const refusal wrong = check_line(text);
        if (wrong != refusal::none) return refuse(wrong);
        line = searched = end + 1;
    }
}

bool head_parser::state::is_known(std::string_view window) noexcept {
    if (known.text.empty() || searched > 0) return false;
    const std::size_t feed = window.find('\n');
    if (feed == std::string_view::npos || !is_token(window.substr(0, 1))) return false;
    if (check_line(window.substr(0, feed)) != refusal::none) return false;
    if (!window.substr(feed + 1).starts_with(known.text)) return false;
    size = feed + 1 + known.text.size();
    return size <= limits.bytes_max;
}

refusal head_parser::state::check_line(std::string_view text) const noexcept {
    const std::size_t carriage_return = text.find('\r');
    if (carriage_return == std::string_view::npos || carriage_return + 1 != text.size()) {
        return refusal::line_ending;
    }
    if (text.find('\0') != std::string_view::npos) return refusal::null_byte;
    if (text.size() == 1) return refusal::start_line;
    // RFC 9112, 5.2: obsolete folding is refused.
    return is_blank(text.front()) ? refusal::folded_line : refusal::none;
}

head_progress head_parser::state::settle(refusal because) noexcept {
    if (because != refusal::none) return refuse(because);
    skipped = line = searched = 0;
    return head_progress::complete;
}

void head_parser::state::take_field() {
    const std::string_view its_name = name.take();
    const std::string_view its_value = trimmed(value.take());
    if (into->size() == limits.fields_max) return facts.refuse(refusal::fields_too_many);
    // llhttp has looked at them as well; what is added here may be sent on, so it is not taken on trust.
    if (!is_token(its_name) || !is_field_value(its_value)) {
        return facts.refuse(refusal::field_malformed);
    }
    into->add_checked(its_name, its_value);
    facts.note(its_name, its_value);
}

refusal head_parser::state::refusal_of(llhttp_errno_t code) const noexcept {
    switch (code) {
        case HPE_INVALID_METHOD:
        case HPE_INVALID_CONSTANT:
            return refusal::method_unknown;  // One of RTSP, where HTTP is said.
        case HPE_INVALID_URL: return refusal::target_malformed;
        case HPE_INVALID_VERSION: return refusal::version_unknown;
        case HPE_INVALID_HEADER_TOKEN:
        case HPE_UNEXPECTED_SPACE: return refusal::field_malformed;
        case HPE_CR_EXPECTED:
        case HPE_LF_EXPECTED: return refusal::line_ending;
        case HPE_INVALID_CONTENT_LENGTH:
        case HPE_UNEXPECTED_CONTENT_LENGTH:
            return facts.coded ? refusal::length_and_coding : refusal::length_malformed;
        case HPE_INVALID_TRANSFER_ENCODING:
            return facts.lengths > 0 ? refusal::length_and_coding : refusal::coding_malformed;
        default: return refusal::start_line;
    }
}

// llhttp reads start line and fields, and is stopped before it would read a body: bodies are read in place,
// by the handler that wants them.
llhttp_errno_t head_parser::state::execute(std::string_view text, llhttp_type_t type) noexcept {
    static const llhttp_settings_t settings = [] {
        llhttp_settings_t made;
        llhttp_settings_init(&made);
        made.on_url = [](llhttp_t* it, const char* at, std::size_t length) {
            of(it).target.add(at, length);
            return 0;
        };
        made.on_header_field = [](llhttp_t* it, const char* at, std::size_t length) {
            of(it).name.add(at, length);
            return 0;
        };
        made.on_header_value = [](llhttp_t* it, const char* at, std::size_t length) {
            of(it).value.add(at, length);
            return 0;
        };
        made.on_header_value_complete = [](llhttp_t* it) {
            of(it).take_field();
            return 0;
        };
        made.on_headers_complete = [](llhttp_t*) { return static_cast<int>(HPE_PAUSED); };
        return made;
    }();

    llhttp_init(&parser, type, &settings);
    // `judge_response` refuses a length beside a coding, but where both mean nothing.
    if (type == HTTP_RESPONSE) llhttp_set_lenient_chunked_length(&parser, 1);
    parser.data = this;
    target = name = value = {};
    return llhttp_execute(&parser, text.data(), text.size());
}

refusal head_parser::state::read_all(std::string_view head, llhttp_type_t type,
                                     http::fields& fields) {
    facts = {};
    into = &fields;
    const llhttp_errno_t code = execute(head, type);
    if (facts.wrong != refusal::none) return facts.wrong;
    return code == HPE_PAUSED ? refusal::none : refusal_of(code);
}

refusal head_parser::state::read_known(std::string_view start, llhttp_type_t type,
                                       http::fields& fields) {
    known.misses = 0;
    facts = known.facts;
    fields.assign(known.read);
    const llhttp_errno_t code = execute(start, type);
    return code == HPE_OK ? refusal::none : refusal_of(code);
}

refusal head_parser::state::read(std::string_view head, llhttp_type_t type, http::fields& fields) {
    const std::size_t start_bytes = head.find('\n') + 1;
    if (recognised) return read_known(head.substr(0, start_bytes), type, fields);
    const refusal wrong = read_all(head, type, fields);
    if (wrong == refusal::none) known.remember(head.substr(start_bytes), fields, facts);
    return wrong;
}

// RFC 9112, 3: exactly one space on either side of the target. llhttp skips more of them, and knows protocols
// that are not HTTP.
refusal head_parser::state::judge_request_line(std::string_view first) noexcept {
    const std::size_t before = first.find(' ');
    const std::size_t after = first.rfind(' ');
    if (before == std::string_view::npos || before == after) return refusal::start_line;
    const std::string_view protocol = first.substr(after + 1);
    if (!protocol.starts_with("HTTP/")) return refusal::start_line;
    if (protocol == "HTTP/1.1") version = version::http_1_1;
    else if (protocol == "HTTP/1.0") version = version::http_1_0;
    else return refusal::version_unknown;

    const std::string_view method = first.substr(0, before);
    // RFC 9113, 3.4: it begins the preface of HTTP/2, which is all that llhttp takes it for.
    if (method == "PRI") return refusal::method_unknown;
    const std::string_view between = first.substr(before + 1, after - before - 1);
    if (between.size() > limits.target_bytes_max) return refusal::target_too_long;
    if (!is_token(method)) return refusal::start_line;
    return is_visible(between) ? refusal::none : refusal::target_malformed;
}

// RFC 9112, 3.2: the four forms of a target.
refusal head_parser::state::judge_target(request& it, std::string_view asked) {
    const std::optional<target_parts> parts = read_target(it.method(), asked);
    if (!parts) return refusal::target_malformed;
    it.set_scheme(parts->scheme);
    it.set_authority(parts->authority);
    // RFC 9112, 3.2.1: an empty path is sent as a slash, and by OPTIONS as an asterisk.
    const std::string_view path = parts->path_and_query;
    if (parts->as == target_parts::form::authority) it.set_target(parts->authority);
    else if (path.empty()) it.set_target(it.method() == method::options ? "*" : "/");
    else if (path.starts_with('?')) it.set_target(std::string{"/"}.append(path));
    else it.set_target(path);
    return refusal::none;
}

refusal head_parser::state::judge_request(request& it) {
    // Of a response the field means nothing.
    if (facts.expects_more) return refusal::expectation_unknown;
    // RFC 9112, 3.2: one Host, except in HTTP/1.0.
    if (facts.hosts == 0 && version == version::http_1_1) return refusal::host_missing;
    if (facts.hosts > 1 || !facts.host_sound) return refusal::host_malformed;
    const refusal of_target = judge_target(it, target.take());
    if (of_target != refusal::none) return of_target;
    if (it.authority().empty()) it.set_authority(facts.host);

    const refusal of_framing = judge_framing();
    if (of_framing != refusal::none) return of_framing;
    if (framing.by == body_framing::kind::until_close) framing = {};
    const bool newest = version == version::http_1_1;
    // RFC 9110, 10.1.1: of HTTP/1.0 it is ignored.
    expects_continue = facts.expects_continue && newest && framing.by != body_framing::kind::none;
    // RFC 9110, 7.8: and so is this.
    upgrades = it.method() == method::connect ||
               (facts.connection_upgrade && facts.upgrade_named && newest);
    it.set_version(version);
    return refusal::none;
}

// RFC 9112, 6.3. A message without length and coding is `until_close`, which a request never is.
refusal head_parser::state::judge_framing() noexcept {
    keeps_alive = !facts.closes && (version == version::http_1_1 || facts.keeps_alive);
    framing = {};
    if (facts.coded) {
        if (facts.lengths > 0) return refusal::length_and_coding;
        if (version == version::http_1_0 || facts.coding_misplaced) {
            return refusal::coding_malformed;
        }
        if (facts.coding_unknown) return refusal::coding_unknown;
        if (!facts.chunked) return refusal::coding_malformed;
        framing.by = body_framing::kind::chunked;
    } else if (facts.lengths == 0) {
        framing.by = body_framing::kind::until_close;
    } else if (facts.length > 0) {
        framing = {body_framing::kind::length, facts.length};
    }
    return refusal::none;
}

// RFC 9112, 4.
refusal head_parser::state::judge_status_line(std::string_view first) noexcept {
    if (first.starts_with("HTTP/1.1 ")) version = version::http_1_1;
    else if (first.starts_with("HTTP/1.0 ")) version = version::http_1_0;
    else return first.starts_with("HTTP/") ? refusal::version_unknown : refusal::start_line;
    const std::string_view code = first.substr(9, 3);
    const bool digits =
        code.size() == 3 && code.front() >= '1' &&
        std::all_of(code.begin(), code.end(), [](char c) { return c >= '0' && c <= '9'; });
    const bool ends = first.size() == 12 || (first.size() > 12 && first[12] == ' ');
    return digits && ends ? refusal::none : refusal::start_line;
}

refusal head_parser::state::judge_response(method asked) noexcept {
    const auto code = static_cast<http::status>(parser.status_code);
    const bool tunnel = asked == method::connect && number_of(code) / 100 == 2;
    const refusal of_framing = judge_framing();
    // RFC 9110, 9.3.6: of a tunnel's opening, lengths and codings are ignored.
    if (of_framing != refusal::none && !tunnel) return of_framing;
    upgrades = tunnel || code == status::switching_protocols;
    // RFC 9112, 6.3: the first rules, which go before any length.
    if (asked == method::head || forbids_body(code) || tunnel) framing = {};
    if (framing.by == body_framing::kind::until_close) keeps_alive = false;
    expects_continue = false;
    return refusal::none;
}

head_parser::head_parser(head_limits limits) : state_{std::make_unique<state>(limits)} {}
head_parser::head_parser(head_parser&&) noexcept = default;
head_parser& head_parser::operator=(head_parser&&) noexcept = default;
head_parser::~head_parser() = default;

head_progress head_parser::parse_request(const_buffer window, request& into) {
    state& it = *state_;
    const std::string_view text = text_of(window);
    const head_progress progress = it.find(text);
    if (progress != head_progress::complete) return progress;

    into.clear();
    const std::string_view head = text.substr(it.skipped, it.size - it.skipped);
    const std::string_view first = head.substr(0, head.find('\r'));
    refusal wrong = it.judge_request_line(first);
    if (wrong == refusal::none) {
        into.set_method(first.substr(0, first.find(' ')));
        wrong = it.read(head, HTTP_REQUEST, into.fields);
    }
    if (wrong == refusal::none) wrong = it.judge_request(into);
    return it.settle(wrong);
}

head_progress head_parser::parse_response(const_buffer window, method asked, response& into) {
    state& it = *state_;
    const std::string_view text = text_of(window);
    const head_progress progress = it.find(text);
    if (progress != head_progress::complete) return progress;

    into.fields.clear();
    const std::string_view head = text.substr(it.skipped, it.size - it.skipped);
    refusal wrong = it.judge_status_line(head.substr(0, head.find('\r')));
    if (wrong == refusal::none) wrong = it.read(head, HTTP_RESPONSE, into.fields);
    if (wrong == refusal::none) {
        into.status = static_cast<http::status>(it.parser.status_code);
        wrong = it.judge_response(asked);
    }
    return it.settle(wrong);
}

void head_parser::reset() noexcept {
    state_->why = refusal::none;
    state_->skipped = state_->line = state_->searched = 0;
}

refusal head_parser::why() const noexcept { return state_->why; }
std::size_t head_parser::size() const noexcept { return state_->size; }
body_framing head_parser::framing() const noexcept { return state_->framing; }
http::version head_parser::version() const noexcept { return state_->version; }
bool head_parser::keeps_alive() const noexcept { return state_->keeps_alive; }
bool head_parser::expects_continue() const noexcept { return state_->expects_continue; }
bool head_parser::upgrades() const noexcept { return state_->upgrades; }

}  // namespace gyre::http

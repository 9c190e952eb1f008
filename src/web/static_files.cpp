// SPDX-License-Identifier: BSL-1.0
#include <gyre/web/static_files.hpp>

#include <gyre/http/compression.hpp>
#include <gyre/http/conditional.hpp>
#include <gyre/http/http_date.hpp>
#include <gyre/http/percent.hpp>
#include <gyre/io/file.hpp>
#include <gyre/io/file_system.hpp>
#include <web/byte_ranges.hpp>
#include <web/file_body.hpp>

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <memory>
#include <random>
#include <utility>

namespace gyre::web {
namespace {

using namespace std::chrono_literals;

// What a request's path names, below the directory; or why it names nothing.
struct named_file {
    std::string path;           // Relative, without a slash at its end; "" is the directory itself.
    bool is_directory = false;  // It ends with a slash.
};

// RFC 3986, 3.3: segments are taken apart first and decoded then, so an encoded slash separates nothing.
io_result<named_file> name_of_file(std::string_view path, const static_options& options) {
    if (!path.starts_with(options.prefix)) return errc::no_such_file;
    path.remove_prefix(options.prefix.size());
    if (!path.starts_with('/')) return errc::no_such_file;
    path.remove_prefix(1);
    named_file named;
    named.is_directory = path.empty();
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        const io_result<std::string> decoded = http::percent_decoded(path.substr(0, end));
        if (!decoded.ok()) return decoded.error();
        const std::string& segment = decoded.value();
        const bool leads_away = segment.empty() || segment == "." || segment == ".." ||
                                segment.find('/') != std::string::npos ||
                                segment.find('\0') != std::string::npos;
        if (leads_away) return errc::no_such_file;
        const bool is_well_known = named.path.empty() && segment == ".well-known";
        if (segment.starts_with('.') && !options.hidden_files && !is_well_known) {
            return errc::no_such_file;
        }
        if (!named.path.empty()) named.path.push_back('/');
        named.path.append(segment);
        named.is_directory = end + 1 == path.size();
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return named;
}

http::status status_of_failure(error failed) noexcept {
    if (failed == errc::malformed) return http::status::bad_request;
    if (failed == errc::permission_denied) return http::status::forbidden;
    if (failed == errc::process_descriptors_exhausted ||
        failed == errc::system_descriptors_exhausted || failed == errc::not_enough_memory) {
        return http::status::service_unavailable;
    }
    const bool absent = failed == errc::no_such_file || failed == errc::not_a_directory ||
                        failed == errc::across_devices || failed == errc::symbolic_link_loop ||
                        failed == errc::name_too_long ||
                        failed == errc::no_such_device_or_address ||
                        failed == errc::is_a_directory || failed == errc::invalid_argument;
    return absent ? http::status::not_found : http::status::internal_server_error;
}

http::response plain(http::status code) {
    std::string text{http::reason_of(code)};
    text.push_back('\n');
    return {code, "text/plain; charset=utf-8", std::move(text)};
}

struct opened_file {
    file it;
    file_status status;
    http::coding coded = http::coding::identity;
    std::string_view name;  // Whose content type it has.
};

void append_hex(std::string& to, std::uint64_t number) {
    std::array<char, 16> digits;
    const auto* const end =
        std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
    to.append(std::string_view{digits.data(), end});
}

// RFC 9110, 8.8.1: a file that was written a moment ago may be written again within one step of the clock
// that its time comes from, and its tag must not be strong.
std::string etag_of_file(const opened_file& of, std::chrono::system_clock::time_point now) {
    std::string tag;
    if (of.status.modified > now - 2s) tag.append("W/");
    tag.push_back('"');
    append_hex(tag, of.status.inode);
    tag.push_back('-');
    append_hex(tag, of.status.size);
    tag.push_back('-');
    append_hex(tag, static_cast<std::uint64_t>(of.status.modified.time_since_epoch().count()));
    if (of.coded != http::coding::identity) tag.append("-").append(http::name_of(of.coded));
    tag.push_back('"');
    return tag;
}

std::string content_range_of(byte_range of, std::uint64_t size) {
    return "bytes " + std::to_string(of.first) + "-" + std::to_string(of.first + of.size - 1) +
           "/" + std::to_string(size);
}

// The codings that a client likes better than none, the best first.
std::vector<http::coding> accepted_codings(const http::request& what) {
    std::vector<http::coding> accepted;
    const http::coding best = http::preferred_coding(what.fields);
    if (best == http::coding::identity) return accepted;
    accepted.push_back(best);
    // What it likes next: the same question without the answer.
    const std::string_view taken = http::name_of(best);
    http::fields rest;
    for (const http::field each : what.fields) {
        if (!http::equal_without_case(each.name, "accept-encoding")) continue;
        http::list_elements elements{each.value};
        while (const auto element = elements.next()) {
            const std::string_view name = element->substr(0, element->find_first_of("; \t"));
            if (!http::equal_without_case(name, taken)) rest.add("accept-encoding", *element);
        }
    }
    const http::coding second = http::preferred_coding(rest);
    if (second != http::coding::identity && second != best) accepted.push_back(second);
    return accepted;
}

class static_site {
public:
    static_site(std::string directory, static_options options)
        : root_{std::move(directory)}, options_{std::move(options)} {
        std::random_device source;
        boundary_ = (std::uint64_t{source()} << 32) | source();
    }

    [[nodiscard]] task<http::response> answer(http::request& what) const;

private:
    [[nodiscard]] task<io_result<>> open(directory& root, std::string path,
                                         const http::request& what, opened_file& into) const;
    [[nodiscard]] task<io_result<>> open_one(directory& root, std::string path,
                                             opened_file& into) const;
    [[nodiscard]] http::response answer_with(opened_file found, const http::request& what) const;
    [[nodiscard]] http::response parts_of(opened_file found, http::response head,
                                          const std::vector<byte_range>& ranges) const;
    [[nodiscard]] std::string_view type_of(std::string_view name) const {
        if (options_.content_type) {
            const std::string_view said = options_.content_type(name);
            if (!said.empty()) return said;
        }
        return content_type_of(name);
    }

    std::string root_;
    static_options options_;
    // What separates parts: the author of a file cannot know what it will be.
    mutable std::atomic<std::uint64_t> boundary_;
};

task<io_result<>> static_site::open_one(directory& root, std::string path,
                                        opened_file& into) const {
    io_result<file> opened = co_await root.open_beneath(path);
    if (opened.error() == errc::resource_unavailable) {
        // Directories were moved while it looked.
        opened = co_await root.open_beneath(std::move(path));
    }
    if (!opened.ok()) co_return opened.error();
    into.it = opened.take();
    const io_result<file_status> known = co_await into.it.status();
    if (!known.ok()) co_return known.error();
    into.status = known.value();
    co_return io_result<>{};
}

// The file, or what stands beside it for those who accept a coding.
task<io_result<>> static_site::open(directory& root, std::string path, const http::request& what,
                                    opened_file& into) const {
    if (options_.precompressed) {
        for (const http::coding each : accepted_codings(what)) {
            const char* const ending = each == http::coding::zstd ? ".zst" : ".gz";
            const io_result<> found = co_await open_one(root, path + ending, into);
            if (!found.ok() || into.status.kind != file_kind::regular) continue;
            into.coded = each;
            co_return found;
        }
    }
    const io_result<> found = co_await open_one(root, std::move(path), into);
    co_return found;
}

task<http::response> static_site::answer(http::request& what) const {
    const bool is_read = what.method() == http::method::get || what.method() == http::method::head;
    if (!is_read) {
        const bool asks = what.method() == http::method::options;
        http::response refusal{asks ? http::status::no_content : http::status::method_not_allowed};
        refusal.fields.set("allow", "GET, HEAD, OPTIONS");
        co_return refusal;
    }
    io_result<named_file> named = name_of_file(what.path(), options_);
    if (!named.ok()) co_return plain(status_of_failure(named.error()));
    const named_file it = named.take();

    io_result<directory> there = co_await directory::open(root_);
    if (!there.ok()) co_return plain(status_of_failure(there.error()));
    directory root = there.take();
    opened_file found;
    if (!it.is_directory) {
        const io_result<> opened = co_await open(root, it.path, what, found);
        if (!opened.ok()) co_return plain(status_of_failure(opened.error()));
        if (found.status.kind == file_kind::directory) {
            // As it was sent, so it is this path whatever it decodes to; it begins with one slash.
            std::string target{what.path()};
            target.push_back('/');
            if (!what.query().empty()) target.append("?").append(what.query());
            http::response moved = plain(http::status::moved_permanently);
            moved.fields.set("location", target);
            co_return moved;
        }
        found.name = it.path;
        if (found.status.kind != file_kind::regular) co_return plain(http::status::not_found);
        http::response answer = answer_with(std::move(found), what);
        co_return answer;
    }
    error failed = errc::no_such_file;
    for (const std::string& index : options_.index_files) {
        const std::string path = it.path.empty() ? index : it.path + "/" + index;
        const io_result<> opened = co_await open(root, path, what, found);
        if (opened.ok() && found.status.kind == file_kind::regular) {
            found.name = index;
            http::response answer = answer_with(std::move(found), what);
            co_return answer;
        }
        if (!opened.ok()) failed = opened.error();
    }
    co_return plain(status_of_failure(failed));
}

http::response static_site::answer_with(opened_file found, const http::request& what) const {
    const auto now = std::chrono::system_clock::now();
    const std::string etag = etag_of_file(found, now);
    const auto modified = std::chrono::floor<std::chrono::seconds>(found.status.modified);
    http::validators known;
    known.etag = etag;
    known.last_modified = modified;

    http::response answer;
    answer.fields.set("etag", etag);
    // RFC 9110, 8.8.2.1: not later than the answer itself. The time may be the first or the last that there
    // is, so nothing is reckoned with it.
    if (found.status.modified <= now) {
        const http::http_date_text date = http::format_http_date(modified);
        answer.fields.set("last-modified", std::string_view{date.data(), date.size()});
    }
    if (!options_.cache_control.empty()) {
        answer.fields.set("cache-control", options_.cache_control);
    }
    if (options_.precompressed) answer.fields.set("vary", "accept-encoding");

    const std::optional<http::status> instead = http::judge_conditions(what, known);
    if (instead) {
        answer.status = *instead;
        return answer;
    }
    const std::uint64_t size = found.status.size;
    answer.fields.set("accept-ranges", "bytes");
    answer.fields.set("x-content-type-options", "nosniff");
    if (found.coded != http::coding::identity) {
        answer.fields.set("content-encoding", http::name_of(found.coded));
    }
    // RFC 9110, 14.2: of GET only.
    const auto range = what.fields.find("range");
    if (range && what.fields.count("range") == 1 && what.method() == http::method::get &&
        http::range_still_holds(what, known)) {
        const wanted_ranges wanted = parse_ranges(*range, size, options_.ranges_max);
        if (wanted.what == wanted_ranges::verdict::none) {
            http::response refusal = plain(http::status::range_not_satisfiable);
            refusal.fields.set("content-range", "bytes */" + std::to_string(size));
            return refusal;
        }
        if (wanted.what == wanted_ranges::verdict::some) {
            return parts_of(std::move(found), std::move(answer), wanted.ranges);
        }
    }
    answer.fields.set("content-type", type_of(found.name));
    std::vector<file_body::part> all;
    all.push_back({{}, {0, size}});
    answer.body = http::response_body{
        std::make_unique<file_body>(std::move(found.it), std::move(all), std::string{})};
    return answer;
}

// RFC 9110, 15.3.7.
http::response static_site::parts_of(opened_file found, http::response head,
                                     const std::vector<byte_range>& ranges) const {
    head.status = http::status::partial_content;
    const std::uint64_t size = found.status.size;
    const std::string_view type = type_of(found.name);
    std::vector<file_body::part> parts;
    std::string behind;
    if (ranges.size() == 1) {
        head.fields.set("content-range", content_range_of(ranges.front(), size));
        head.fields.set("content-type", type);
        parts.push_back({{}, ranges.front()});
    } else {
        std::string boundary{"part-"};
        append_hex(boundary, boundary_.fetch_add(0x9e3779b97f4a7c15, std::memory_order_relaxed));
        head.fields.set("content-type", "multipart/byteranges; boundary=" + boundary);
        for (const byte_range each : ranges) {
            std::string before{parts.empty() ? "--" : "\r\n--"};
            before.append(boundary).append("\r\ncontent-type: ").append(type);
            before.append("\r\ncontent-range: ").append(content_range_of(each, size));
            before.append("\r\n\r\n");
            parts.push_back({std::move(before), each});
        }
        behind = "\r\n--" + boundary + "--\r\n";
    }
    head.body = http::response_body{
        std::make_unique<file_body>(std::move(found.it), std::move(parts), std::move(behind))};
    return head;
}

}  // namespace

http::handler static_files(std::string directory, static_options options) {
    const auto site = std::make_shared<static_site>(std::move(directory), std::move(options));
    return [site](http::request& what) { return site->answer(what); };
}

}  // namespace gyre::web

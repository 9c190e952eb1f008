// SPDX-License-Identifier: BSL-1.0
//
// Each part of the file: see page_config.hpp.
#include <exchange/web/page_config.hpp>

#include <exchange/management/json_section.hpp>
#include <exchange/management/json_syntax.hpp>
#include <exchange/management/text_file.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <utility>

namespace exchange {
namespace {

constexpr std::size_t processes_max = 64;

bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= 32 && std::ranges::all_of(text, [](unsigned char each) {
        return std::isalnum(each) != 0 || each == '_' || each == '-';
    });
}

void read_shown(json_section& in, page_config& into) {
    shown_process it;
    if (in.needs("name")) {
        in.read_string("name", it.name);
        if (!is_name(it.name))
            in.wrong("name", "expected 1 to 32 letters, digits, _ and -" + in.said("name"));
        else if (std::ranges::count(into.show, it.name, &shown_process::name) > 0)
            in.wrong("name", "another process has this name" + in.said("name"));
    }
    if (in.needs("admin")) in.read_endpoint("admin", it.admin);
    into.show.push_back(std::move(it));
}

// Whoever opens the page sees who trades; it has no login of its own for that.
bool is_loopback(const gyre::endpoint& it) {
    const std::string text = it.to_string();
    return text.starts_with("127.") || text.starts_with("[::1]");
}

}  // namespace

page_config_reading read_page_config(std::string_view text, const std::string& where) {
    page_config_reading made;
    const nlohmann::json whole = parse_json(text, made.errors);
    if (!made.errors.empty()) return made;
    page_config& it = made.value;
    json_section top{whole, "", made.errors};
    if (top.needs("at")) {
        top.read_endpoint("at", it.at);
        if (it.at.kind() != gyre::endpoint::family::none && !is_loopback(it.at))
            top.wrong("at", "expected a loopback address" + top.said("at"));
    }
    if (top.has("order_entry")) top.read_endpoint("order_entry", it.order_entry);
    if (top.has("market_data")) top.read_endpoint("market_data", it.market_data);
    if (top.has("operators")) top.read_endpoint("operators", it.operators);
    if (top.needs("page")) top.read_path("page", it.folder, where);
    top.for_each("processes", [&it](auto& in) { read_shown(in, it); });
    if (it.show.size() > processes_max) top.wrong("processes", "expected at most 64");
    top.read_milliseconds("poll_ms", it.poll_every);
    top.read("pages_max", it.pages_max, {1, 10'000});
    read_process(top, it.process);
    top.finish();
    return made;
}

page_config_reading load_page_config(const std::string& path) {
    const std::optional<std::string> text = read_text_file(path);
    if (text) return read_page_config(*text, std::filesystem::path{path}.parent_path());
    page_config_reading made;
    made.errors.push_back({"", "cannot be read"});
    return made;
}

}  // namespace exchange

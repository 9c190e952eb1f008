// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/supervisor_config.hpp>

#include <exchange/management/json_section.hpp>
#include <exchange/management/json_syntax.hpp>
#include <exchange/management/text_file.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace exchange {
namespace {

constexpr std::size_t children_max = 64;

[[nodiscard]] bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= 32 && std::ranges::all_of(text, [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '_';
    });
}

void read_name(json_section& in, const std::vector<supervised_child>& others, std::string& into) {
    if (in.needs("name")) in.read_string("name", into);
    if (!into.empty() && !is_name(into))
        in.wrong("name", "expected up to 32 of a to z, 0 to 9 and _" + in.said("name"));
    if (std::ranges::count(others, into, &supervised_child::name) > 0)
        in.wrong("name", "another child has this name" + in.said("name"));
}

void read_after(json_section& in, const std::vector<supervised_child>& others,
                std::vector<std::size_t>& into) {
    for (const std::string& each : in.texts("after")) {
        const auto found = std::ranges::find(others, each, &supervised_child::name);
        if (found == others.end())
            in.wrong("after", "expected children that stand before this one" + in.said("after"));
        else into.push_back(static_cast<std::size_t>(found - others.begin()));
    }
}

[[nodiscard]] bool is_known_place(const gyre::endpoint& at) {
    return at.kind() == gyre::endpoint::family::local || at.port() != 0;
}

void read_listen(json_section& in, const std::vector<supervised_child>& others,
                 std::vector<gyre::endpoint>& into) {
    for (const std::string& each : in.texts("listen")) {
        const auto at = gyre::endpoint::parse(each);
        if (!at.ok() || !is_known_place(at.value())) {
            in.wrong("listen",
                     "expected addresses with ports, since the child's configuration "
                     "names the same" +
                         in.said("listen"));
            continue;
        }
        const auto has_it = [&at](const supervised_child& it) {
            return std::ranges::count(it.listen, at.value()) > 0;
        };
        if (std::ranges::count(into, at.value()) > 0 || std::ranges::any_of(others, has_it))
            in.wrong("listen", "expected each address once" + in.said("listen"));
        into.push_back(at.value());
    }
}

void read_child(json_section& in, std::vector<supervised_child>& into) {
    supervised_child made;
    read_name(in, into, made.name);
    if (in.needs("program")) in.read_string("program", made.program);
    made.arguments = in.texts("arguments");
    read_after(in, into, made.after);
    read_listen(in, into, made.listen);
    unsigned replaceable = 0;
    in.read("replaceable", replaceable, {0, 1});
    made.replaceable = replaceable == 1;
    in.read_milliseconds("ready_within_ms", made.ready_within);
    in.read_milliseconds("drain_within_ms", made.drain_within);
    in.read_milliseconds("restart_after_ms", made.restart_after);
    in.read_milliseconds("restart_after_max_ms", made.restart_after_max);
    in.read_milliseconds("healthy_after_ms", made.healthy_after);
    in.read("failures_max", made.failures_max, {0, 1'000'000});
    if (made.restart_after_max < made.restart_after)
        in.wrong("restart_after_max_ms", "expected at least restart_after_ms");
    into.push_back(std::move(made));
}

}  // namespace

supervisor_config_reading read_supervisor_config(std::string_view text, const std::string& folder) {
    supervisor_config_reading made;
    const nlohmann::json whole = parse_json(text, made.errors);
    if (!made.errors.empty()) return made;
    made.value.folder = folder.empty() ? "." : folder;
    json_section top{whole, "", made.errors};
    if (top.needs("children"))
        top.for_each("children", [&](auto& in) { read_child(in, made.value.children); });
    if (made.errors.empty() && made.value.children.empty())
        top.wrong("children", "there is nothing to supervise");
    if (made.value.children.size() > children_max)
        top.wrong("children", "expected at most " + std::to_string(children_max));
    read_process(top, made.value.process, admin_commands::some);
    top.finish();
    return made;
}

supervisor_config_reading load_supervisor_config(const std::string& path) {
    const std::optional<std::string> text = read_text_file(path);
    if (text) return read_supervisor_config(*text, std::filesystem::path{path}.parent_path());
    supervisor_config_reading made;
    made.errors.push_back({"", "cannot be read"});
    return made;
}

}  // namespace exchange

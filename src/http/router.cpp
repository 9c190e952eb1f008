// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/router.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gyre::http {
namespace {

constexpr std::size_t methods = static_cast<std::size_t>(method::other) + 1;

// What the parameters of a path were, in order.
struct captured {
    std::array<std::string_view, request::parameters_max> texts;
    std::size_t count = 0;
};

// Where patterns end.
struct endpoint {
    std::vector<std::string> names;  // Of the parameters on the way here.
    std::array<handler, methods> by_method;
    handler by_any;

    [[nodiscard]] const handler* find(method by) const noexcept {
        const handler& own = by_method[static_cast<std::size_t>(by)];
        if (by != method::other && own) return &own;
        const handler& get = by_method[static_cast<std::size_t>(method::get)];
        if (by == method::head && get) return &get;
        return by_any ? &by_any : nullptr;
    }

    [[nodiscard]] std::string allowed() const {
        std::string list;
        for (std::size_t at = 0; at + 1 < methods; ++at) {
            const auto by = static_cast<method>(at);
            if (by != method::options && find(by) == nullptr) continue;
            if (!list.empty()) list.append(", ");
            list.append(name_of(by));
        }
        return list;
    }
};

// The segments of all patterns as a tree. A path visits each node at most once, so matching costs no more
// than the tree is large, however a peer chooses it.
struct node {
    std::vector<std::pair<std::string, std::unique_ptr<node>>> literals;
    std::unique_ptr<node> parameter;
    std::optional<endpoint> here;
    std::optional<endpoint> tail;

    [[nodiscard]] node& literal(std::string_view segment) {
        for (auto& [text, child] : literals) {
            if (text == segment) return *child;
        }
        return *literals.emplace_back(std::string{segment}, std::make_unique<node>()).second;
    }
};

// `rest` begins behind a slash; without a value nothing is left, not even an empty segment.
const endpoint* match(const node& at, std::optional<std::string_view> rest, captured& found) {
    if (!rest && at.here) return &*at.here;
    if (rest) {
        const std::size_t slash = rest->find('/');
        const std::string_view segment = rest->substr(0, slash);
        const std::optional<std::string_view> behind =
            slash == std::string_view::npos ? std::nullopt : std::optional{rest->substr(slash + 1)};
        for (const auto& [text, child] : at.literals) {
            if (text != segment) continue;
            if (const endpoint* const end = match(*child, behind, found)) return end;
        }
        if (at.parameter != nullptr && !segment.empty()) {
            found.texts[found.count++] = segment;
            if (const endpoint* const end = match(*at.parameter, behind, found)) return end;
            --found.count;
        }
    }
    if (!at.tail) return nullptr;
    found.texts[found.count++] = rest.value_or(std::string_view{});
    return &*at.tail;
}

task<response> answer_with(status code, std::string allowed) {
    response answer{code};
    if (!allowed.empty()) answer.fields.set("allow", allowed);
    co_return answer;
}

// Anything else in the braces is a pattern of some other router, such as "{path...}" or "{id:[0-9]+}".
bool is_parameter_name(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
    });
}

}  // namespace

struct router::state {
    node root;
    handler otherwise;

    [[nodiscard]] endpoint& at(std::string_view pattern);
    [[nodiscard]] task<response> answer(request& what) const;
};

endpoint& router::state::at(std::string_view pattern) {
    expects(pattern.starts_with('/'), "a pattern begins with a slash");
    expects(pattern.find_first_of("?#") == std::string_view::npos, "a pattern has no query");
    std::vector<std::string> names;
    node* place = &root;
    std::optional<std::string_view> rest = pattern.substr(1);
    std::optional<endpoint>* end = nullptr;
    while (rest && end == nullptr) {
        const std::size_t slash = rest->find('/');
        const std::string_view segment = rest->substr(0, slash);
        const bool last = slash == std::string_view::npos;
        if (!segment.starts_with('{')) {
            expects(segment.find_first_of("{}") == std::string_view::npos,
                    "a parameter is a whole segment");
            place = &place->literal(segment);
        } else {
            expects(segment.ends_with('}') && segment.size() > 2, "a parameter is {name}");
            std::string_view name = segment.substr(1, segment.size() - 2);
            const bool is_tail = name.ends_with('*');
            expects(!is_tail || last, "{name*} stands at the end of a pattern");
            if (is_tail) name.remove_suffix(1);
            expects(is_parameter_name(name), "a parameter's name has letters, digits, '_' and '-'");
            expects(std::find(names.begin(), names.end(), name) == names.end(),
                    "the parameters of a pattern have different names");
            names.emplace_back(name);
            expects(names.size() <= request::parameters_max, "a pattern has few parameters");
            if (is_tail) {
                end = &place->tail;
            } else {
                if (place->parameter == nullptr) place->parameter = std::make_unique<node>();
                place = place->parameter.get();
            }
        }
        if (last) rest.reset();
        else rest->remove_prefix(slash + 1);
    }
    if (end == nullptr) end = &place->here;
    if (!*end) {
        end->emplace();
        (*end)->names = std::move(names);
    } else {
        expects((*end)->names == names, "routes of one path name its parameters alike");
    }
    return **end;
}

task<response> router::state::answer(request& what) const {
    what.clear_parameters();
    captured found;
    const std::string_view path = what.path();
    const endpoint* const end =
        path.starts_with('/') ? match(root, path.substr(1), found) : nullptr;
    if (end == nullptr) {
        return otherwise ? otherwise(what) : answer_with(status::not_found, {});
    }
    const handler* const chosen = end->find(what.method());
    if (chosen == nullptr) {
        // RFC 9110, 15.5.6 and 9.3.7.
        return answer_with(
            what.method() == method::options ? status::no_content : status::method_not_allowed,
            end->allowed());
    }
    for (std::size_t at = 0; at < found.count; ++at) {
        what.add_parameter({end->names[at], found.texts[at]});
    }
    return (*chosen)(what);
}

router::router() : state_{std::make_shared<state>()} {}
router::router(router&&) noexcept = default;
router& router::operator=(router&&) noexcept = default;
router::~router() = default;

router& router::add(method by, std::string_view pattern, handler what) {
    expects(what != nullptr && by != method::other, "a route has a handler and a method");
    handler& place = state_->at(pattern).by_method[static_cast<std::size_t>(by)];
    expects(place == nullptr, "a route is added once");
    place = std::move(what);
    return *this;
}

router& router::add(std::string_view pattern, handler what) {
    expects(what != nullptr, "a route has a handler");
    handler& place = state_->at(pattern).by_any;
    expects(place == nullptr, "a route is added once");
    place = std::move(what);
    return *this;
}

router& router::otherwise(handler what) {
    state_->otherwise = std::move(what);
    return *this;
}

handler router::build() && {
    return [routes = std::shared_ptr<const state>{std::move(state_)}](request& what) {
        return routes->answer(what);
    };
}

}  // namespace gyre::http

// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/management/password_file.hpp>

#include <exchange/management/json_section.hpp>
#include <exchange/management/json_syntax.hpp>
#include <exchange/management/text_file.hpp>

#include <algorithm>
#include <cstdlib>

namespace exchange {
namespace {

void read_user(json_section& in, const std::optional<std::string>& otherwise,
               std::vector<client_user>& into) {
    client_user who;
    in.read_text("username", who.username);
    if (in.has("session")) in.read_id("session", who.session);
    if (!in.has("password") && otherwise) {
        if (const auto password = to_soup_password(*otherwise)) who.password = *password;
        else in.wrong("password", "the environment's EXCHANGE_PASSWORD is none that can be sent");
    } else {
        in.read_text("password", who.password);
    }
    if (!who.username.empty() && std::ranges::any_of(into, [&](const client_user& it) {
            return it.username == who.username;
        }))
        in.wrong("username", "another user has this name" + in.said("username"));
    into.push_back(who);
}

}  // namespace

std::optional<soup_password> to_soup_password(std::string_view text) noexcept {
    const bool printable =
        std::ranges::all_of(text, [](char it) { return it >= ' ' && it <= '~'; });
    const bool trimmed = !text.empty() && text.front() != ' ' && text.back() != ' ';
    constexpr std::size_t most = 10;
    if (!printable || !trimmed || text.size() > most) return std::nullopt;
    return soup_password{text};
}

passwords_reading read_passwords(std::string_view text,
                                 const std::optional<std::string>& otherwise) {
    passwords_reading made;
    const nlohmann::json whole = parse_json(text, made.errors);
    if (!made.errors.empty()) return made;
    json_section top{whole, "", made.errors};
    static_cast<void>(top.needs("users"));
    top.for_each("users", [&](auto& in) { read_user(in, otherwise, made.users); });
    top.finish();
    return made;
}

passwords_reading load_passwords(const std::string& path) {
    const std::optional<std::string> text = read_text_file(path);
    if (!text) return {.users = {}, .errors = {{"", "cannot be read"}}};
    passwords_reading made = read_passwords(*text, environment_password());
    made.open_to_others = is_open_to_others(path);
    return made;
}

std::optional<std::string> environment_password() {
    const char* const said = std::getenv("EXCHANGE_PASSWORD");
    return said == nullptr ? std::nullopt : std::optional<std::string>{said};
}

}  // namespace exchange

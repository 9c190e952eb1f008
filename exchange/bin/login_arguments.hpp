// SPDX-License-Identifier: BSL-1.0
//
// As whom a program logs in: what its command line and the environment say.
//
// Passwords stand on no command line, where everybody on the machine sees them.
#pragma once

#include <exchange/bin/command_line.hpp>
#include <exchange/management/password_file.hpp>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace exchange {

struct login_arguments {
    std::string credentials;  ///< A file of passwords.
    std::string user;         ///< Whom of them; empty: whoever comes first.
};

inline CLI::Option* add_credentials_option(CLI::App& options, login_arguments& it) {
    return options.add_option("--credentials", it.credentials,
                              "A file of user names and passwords, readable by its owner only");
}

/// Everybody in the file. What is wrong with it was said; that others can read it was said, too.
[[nodiscard]] inline std::optional<std::vector<client_user>> read_users(const char* program,
                                                                        const login_arguments& it) {
    const passwords_reading reading = load_passwords(it.credentials);
    if (!reading.errors.empty()) {
        static_cast<void>(complain(it.credentials, reading.errors));
        return std::nullopt;
    }
    if (reading.open_to_others)
        std::fprintf(stderr, "%s: warning: others than you can read %s\n", program,
                     it.credentials.c_str());
    return reading.users;
}

/// Who gives an operator's command; nobody if that cannot be told, which was said.
[[nodiscard]] inline std::optional<client_user> find_operator(const char* program,
                                                              const login_arguments& it) {
    if (it.credentials.empty()) {
        const std::optional<std::string> said = environment_password();
        const auto password = said ? to_soup_password(*said) : std::nullopt;
        if (!it.user.empty() && it.user.size() <= 6 && password)
            return client_user{std::string_view{it.user}, *password};
        std::fprintf(stderr,
                     "%s: expected --credentials FILE, or --user NAME and EXCHANGE_PASSWORD\n",
                     program);
        return std::nullopt;
    }
    const auto users = read_users(program, it);
    if (!users) return std::nullopt;
    // To log in as a trader would take the session from who trades in it.
    for (const client_user& each : *users)
        if (each.session == session_id::none &&
            (it.user.empty() || each.username.view() == it.user))
            return each;
    std::fprintf(stderr, "%s: %s has no operator%s%s: a user without a session\n", program,
                 it.credentials.c_str(), it.user.empty() ? "" : " ", it.user.c_str());
    return std::nullopt;
}

/// The first line of standard input, if it is a password that the protocol can carry; else it was said.
[[nodiscard]] inline std::optional<soup_password> read_password(const char* program) {
    std::string line;
    for (int each = std::getchar(); each != EOF && each != '\n'; each = std::getchar())
        line += static_cast<char>(each);
    const std::optional<soup_password> password = to_soup_password(line);
    if (!password)
        std::fprintf(stderr,
                     "%s: expected a password on standard input: 1 to 10 printable characters, "
                     "without a blank at either end\n",
                     program);
    return password;
}

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// What a supervisor has given a program that it starts: listeners, which are checked against the program's
// own configuration, and whether it is to take another one's place.
#pragma once

#include <exchange/management/config.hpp>
#include <exchange/net/application/inherited_listeners.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace exchange {

/// Takes over the listeners that this process was started with: none, if it was started alone.
///
/// @param  into    Is given them.
/// @param  places  Where the configuration says that the program listens.
/// @return What is wrong: an announcement that cannot be, or a listener at none of these places, whose
///         clients would wait for ever.
///
/// Threads:  once, before there are others: it changes the environment.
[[nodiscard]] std::optional<config_error> receive_listeners(inherited_listeners& into,
                                                            std::span<const gyre::endpoint> places);

/// The environment variable that is set for a process which is started beside another one of its child.
inline constexpr const char* replaces_variable = "EXCHANGE_REPLACES";

/// Is this process to take the place of one that works until this one is ready? Then it should not say so
/// before it can do that one's work. Forgets the announcement.
///
/// Threads:  as above.
[[nodiscard]] bool is_replacement();

/// What such a process is started with: this one's environment, and that word.
[[nodiscard]] std::vector<std::string> environment_of_replacement();

}  // namespace exchange

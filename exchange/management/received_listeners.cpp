// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/received_listeners.hpp>

#include <cstdlib>
#include <string>
#include <utility>

#include <unistd.h>

namespace exchange {

std::optional<config_error> receive_listeners(inherited_listeners& into,
                                              std::span<const gyre::endpoint> places) {
    auto received = inherited_listeners::receive();
    if (!received.ok())
        return config_error{"", "the listeners that LISTEN_FDS announces cannot be used: " +
                                    received.error().message()};
    into = received.take();
    if (const auto stranger = into.stranger_to(places))
        return config_error{"", "was started with a listener at " + stranger->to_string() +
                                    ", where nothing of this configuration listens"};
    return std::nullopt;
}

bool is_replacement() {
    const bool announced = std::getenv(replaces_variable) != nullptr;
    ::unsetenv(replaces_variable);
    return announced;
}

std::vector<std::string> environment_of_replacement() {
    std::vector<std::string> all{std::string{replaces_variable} + "=1"};
    for (char** each = environ; each != nullptr && *each != nullptr; ++each)
        all.emplace_back(*each);
    return all;
}

}  // namespace exchange

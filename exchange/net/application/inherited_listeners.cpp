// SPDX-License-Identifier: BSL-1.0
#include <exchange/net/application/inherited_listeners.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/inherited_descriptors.hpp>
#include <gyre/runtime/io_context.hpp>

#include <algorithm>
#include <utility>

namespace exchange {

gyre::io_result<inherited_listeners> inherited_listeners::receive() {
    // For this call alone: which loop will accept from them is not known yet, or is no loop of gyre.
    gyre::io_context_options options;
    options.backend = gyre::backend_choice::epoll;
    gyre::io_context on{options};
    if (const gyre::error failed = on.status()) return failed;
    auto taken = gyre::take_inherited_descriptors(on);
    if (!taken.ok()) return taken.error();
    inherited_listeners made;
    std::vector<gyre::inherited_descriptor> all = taken.take();
    for (gyre::inherited_descriptor& each : all) {
        auto listening = gyre::stream_acceptor::adopt(on, each.it.release());
        const auto [failed, at] = listening.local_endpoint();
        if (failed) return failed;
        made.all_.push_back({at, listening.release()});
    }
    return made;
}

int inherited_listeners::take(const gyre::endpoint& where) noexcept {
    const auto found = std::ranges::find(all_, where, &listener::at);
    if (found == all_.end()) return -1;
    const int number = found->number;
    all_.erase(found);
    return number;
}

std::optional<gyre::endpoint> inherited_listeners::stranger_to(
    std::span<const gyre::endpoint> places) const {
    for (const listener& each : all_)
        if (std::ranges::count(places, each.at) == 0) return each.at;
    return std::nullopt;
}

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// Turns of clients, and who gives way: see client_registry.hpp.
#include <exchange/server/client_registry.hpp>

#include <algorithm>

namespace exchange {
namespace {

constexpr std::size_t part_max = 256;

[[nodiscard]] bool leaves_before(const connected_client& left,
                                 const connected_client& right) noexcept {
    if (left.was_logged_in() != right.was_logged_in()) return right.was_logged_in();
    return left.accepted_at() < right.accepted_at();
}

}  // namespace

void client_registry::make_room() noexcept {
    connected_client* first = nullptr;
    clients_.for_each([&first](connected_client& each) {
        if (each.logged_in()) return;
        if (first == nullptr || leaves_before(each, *first)) first = &each;
    });
    if (first != nullptr) first->cut();
}

gyre::time_point client_registry::on_tick(gyre::time_point now, gyre::duration round) noexcept {
    const std::size_t parts = std::max<std::size_t>((size_ + part_max - 1) / part_max, 1);
    const gyre::duration step = round / static_cast<long>(parts);
    if (tick_ == gyre::time_point{}) tick_ = now;
    tick_ = std::max(tick_, now - round);  // Each client has one turn for several that were missed.
    for (std::size_t part = 0; tick_ <= now && part < parts; ++part, tick_ += step) {
        for (std::size_t each = std::min(part_max, size_); each > 0; --each) {
            connected_client& it = clients_.pop_front();
            clients_.push_back(it);
            it.on_timer(now);
        }
    }
    return std::max(tick_, now);
}

}  // namespace exchange

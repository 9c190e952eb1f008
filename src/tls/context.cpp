// SPDX-License-Identifier: BSL-1.0
#include <gyre/tls/context.hpp>

#include "tls/context_state.hpp"

#include <utility>

namespace gyre::tls {
namespace {

template <class Options>
io_result<std::shared_ptr<context_state>> make(Options options) {
    std::vector<identity> identities = std::move(options.identities);
    options.identities.clear();
    auto made = std::make_shared<context_state>(std::move(options));
    if (const error failed = made->check()) return failed;
    if (const error failed = made->use(identities)) return failed;
    return made;
}

}  // namespace

io_result<context> context::client(client_options options) {
    auto made = make(std::move(options));
    if (!made.ok()) return made.error();
    return context{made.take()};
}

io_result<context> context::server(server_options options) {
    auto made = make(std::move(options));
    if (!made.ok()) return made.error();
    return context{made.take()};
}

io_result<> context::reload(const std::vector<identity>& identities) {
    if (state_ == nullptr) return error{errc::closed, activity::configure};
    return state_->use(identities);
}

void context::rotate_ticket_key() {
    if (state_ != nullptr) state_->tickets().rotate();
}

}  // namespace gyre::tls

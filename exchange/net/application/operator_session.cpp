// SPDX-License-Identifier: BSL-1.0
//
// One connection after the other: see operator_session.hpp.
#include <exchange/net/application/operator_session.hpp>

#include <exchange/net/session/order_entry_session.hpp>

#include <utility>

namespace exchange {

void operator_session::open(const operator_user& who, std::uint32_t number,
                            order_entry_session& connection, const gyre::endpoint& peer,
                            const soup_stream_options& stream) {
    user_ = &who;
    number_ = number;
    peer_ = peer;
    stream_.emplace(stream);
    connection_ = &connection;
}

bool operator_session::detach() noexcept { return std::exchange(connection_, nullptr) != nullptr; }

void operator_session::let_go() noexcept {
    touched_list_.remove(*this);
    touched_ = false;
    stream_.reset();
    user_ = nullptr;
}

void operator_session::end() noexcept {
    if (free()) return;
    stream_->end();
    if (connection_ != nullptr) connection_->announce_output();
}

void operator_session::cut_if_outrun() noexcept {
    if (connection_ != nullptr && connection_->is_outrun(*stream_))
        connection_->cut(soup_ending::fell_behind);
}

void operator_session::announce_output() noexcept {
    touched_ = false;
    if (connection_ != nullptr) connection_->announce_output();
}

void operator_session::release_stream() noexcept {
    stream_->release();
    if (connection_ != nullptr) connection_->announce_output();
}

}  // namespace exchange

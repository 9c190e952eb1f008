// SPDX-License-Identifier: BSL-1.0
//
// Connections that come, write to their end, and go: see participant.hpp.
#include <exchange/net/application/participant.hpp>

#include <exchange/net/session/order_entry_session.hpp>

namespace exchange {

void participant::become(const credentials& who, const soup_stream_options& stream) {
    who_ = who;
    stream_.emplace(stream, pool_);
    removed_ = expected_ = false;
}

void participant::remove() noexcept {
    touched_list_.remove(*this);
    touched_ = false;
    removed_ = true;
    cut();
    expected_ = false;
}

void participant::cut() noexcept {
    order_entry_session* const connection = connection_;
    if (connection == nullptr) return;
    connection->cut(soup_ending::removed);
    connection->disconnected();
}

void participant::cut_who_is_outrun() noexcept {
    if (connection_ != nullptr && connection_->is_outrun(*stream_))
        connection_->cut(soup_ending::fell_behind);
    if (leaving_ != nullptr && leaving_->is_writing_stream() && leaving_->is_outrun(*stream_))
        leaving_->cut(soup_ending::fell_behind);
    stream_->reader_left();  // What is left of it has no reader.
}

void participant::attach(order_entry_session& connection, std::uint32_t epoch) noexcept {
    if (connection_ != nullptr) connection_->cut(soup_ending::replaced);
    // One that has ended and still writes to a participant that has come back elsewhere.
    if (leaving_ != nullptr && leaving_->is_writing_stream()) leaving_->cut(soup_ending::replaced);
    leaving_ = nullptr;
    connection_ = &connection;
    ++readers_;
    epoch_ = epoch;
    stream_->reader_at(connection.next_to_send());
    expected_ = true;
}

bool participant::detach(order_entry_session& connection) noexcept {
    if (connection_ != &connection) return false;
    connection_ = nullptr;
    leaving_ = &connection;
    const soup_ending why = connection.ending();
    expected_ = why != soup_ending::logged_out && why != soup_ending::session_ended;
    return true;
}

void participant::let_go(const order_entry_session& connection) noexcept {
    if (leaving_ == &connection) {
        leaving_ = nullptr;
        stream_->reader_left();
    }
    --readers_;
}

void participant::note_sent(const order_entry_session& connection) noexcept {
    if (connection_ != &connection && leaving_ != &connection) return;
    // Of who was outrun there is nothing to wait for.
    if (!connection.is_outrun(*stream_)) stream_->reader_at(connection.next_to_send());
}

void participant::end() noexcept {
    stream_->end();
    if (connection_ != nullptr) connection_->announce_output();
}

void participant::announce_output() noexcept {
    touched_ = false;
    if (connection_ != nullptr) connection_->announce_output();
}

void participant::release_stream() noexcept {
    stream_->release();
    if (connection_ != nullptr) connection_->announce_output();
}

}  // namespace exchange

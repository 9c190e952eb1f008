// SPDX-License-Identifier: BSL-1.0
//
// The thin side of a session: see exchange_client.hpp.
#include <exchange/client/exchange_client.hpp>

#include <exchange/client/session_text.hpp>
#include <exchange/client/trading_session.hpp>

#include <utility>

namespace exchange {
namespace {

using gyre::errc;
using gyre::io_result;

bool in_order(const exchange_client_options& it) {
    return fits_in_session(it.username, 6) && !it.username.empty() &&
           fits_in_session(it.password, 10) && fits_in_session(it.life, 10) && it.news_max > 0 &&
           it.unanswered_max >= mass_quote_entries_max && it.orders_max > 0 &&
           it.unsent_bytes_max >= 4096 && it.connect_within > gyre::duration::zero();
}

io_result<client_sequence> no_session() { return errc::closed; }

gyre::task<io_result<news>> no_news() { co_return errc::closed; }
gyre::task<io_result<>> no_room() { co_return errc::closed; }

}  // namespace

io_result<exchange_client> exchange_client::open(gyre::io_context& on,
                                                 const exchange_client_options& options) {
    if (!in_order(options)) return errc::invalid_argument;
    auto security = client_security(options.tls);
    if (!security.ok()) return security.error();
    auto made = std::make_shared<trading_session>(on, options);
    if (!made->start(on, options, security.take())) return errc::not_supported;
    return exchange_client{std::move(made)};
}

exchange_client::exchange_client(std::shared_ptr<trading_session> it) noexcept
    : it_{std::move(it)} {}

exchange_client& exchange_client::operator=(exchange_client&& other) noexcept {
    if (this == &other) return *this;
    if (it_ != nullptr) it_->abandon();
    it_ = std::move(other.it_);
    return *this;
}

exchange_client::~exchange_client() {
    if (it_ != nullptr) it_->abandon();
}

gyre::task<io_result<news>> exchange_client::next() {
    return it_ == nullptr ? no_news() : trading_session::next(it_);
}

bool exchange_client::try_next(news& into) { return it_ != nullptr && it_->try_next(into); }

io_result<client_sequence> exchange_client::enter(enter_order it) {
    return it_ == nullptr ? no_session() : it_->send(it);
}
io_result<client_sequence> exchange_client::enter(enter_advanced_order it) {
    return it_ == nullptr ? no_session() : it_->send(it);
}
io_result<client_sequence> exchange_client::amend(amend_order it) {
    return it_ == nullptr ? no_session() : it_->send(it);
}
io_result<client_sequence> exchange_client::amend(amend_stop it) {
    return it_ == nullptr ? no_session() : it_->send(it);
}
io_result<client_sequence> exchange_client::cancel(cancel_order it) {
    return it_ == nullptr ? no_session() : it_->send(it);
}
io_result<client_sequence> exchange_client::cancel(client_sequence order) {
    return cancel(cancel_order{session_id::none, client_sequence::none, {order_id::none, order}});
}
io_result<client_sequence> exchange_client::cancel(cancel_orders it) {
    return it_ == nullptr ? no_session() : it_->send(it);
}
io_result<client_sequence> exchange_client::quote(enter_quote it) {
    return it_ == nullptr ? no_session() : it_->send(it);
}
io_result<client_sequence> exchange_client::quote(const enter_quotes& it) {
    return it_ == nullptr ? no_session() : it_->send(it);
}
io_result<client_sequence> exchange_client::protect(set_protection it) {
    return it_ == nullptr ? no_session() : it_->send(it);
}

gyre::task<io_result<>> exchange_client::room(std::size_t commands) {
    return it_ == nullptr ? no_room() : trading_session::room(it_, commands);
}

bool exchange_client::log_out() noexcept { return it_ != nullptr && it_->log_out(); }

void exchange_client::stop() noexcept {
    if (it_ != nullptr) it_->stop();
}

const own_orders& exchange_client::orders() const noexcept {
    static const own_orders none{1};
    return it_ == nullptr ? none : it_->orders();
}

std::size_t exchange_client::unanswered() const noexcept {
    return it_ == nullptr ? 0 : it_->unanswered();
}

bool exchange_client::trading() const noexcept { return it_ != nullptr && it_->trading(); }

resume_point exchange_client::resume_at() const {
    if (it_ == nullptr) return {};
    const soup_login& at = it_->resume();
    return {std::string{at.session.view()}, at.sequence};
}

}  // namespace exchange

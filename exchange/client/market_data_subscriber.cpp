// SPDX-License-Identifier: BSL-1.0
//
// The thin side of a session: see market_data_subscriber.hpp.
#include <exchange/client/market_data_subscriber.hpp>

#include <exchange/client/session_text.hpp>
#include <exchange/client/subscriber_session.hpp>

#include <utility>

namespace exchange {
namespace {

using gyre::errc;
using gyre::io_result;

bool may_be_opened(const market_data_options& it) {
    return fits_in_session(it.username, 6) && !it.username.empty() &&
           fits_in_session(it.password, 10) && it.news_max > 0 && it.instruments_max > 0 &&
           it.levels_max > 0 && it.connect_within > gyre::duration::zero();
}

gyre::task<io_result<market_news>> no_market_news() { co_return errc::closed; }

}  // namespace

io_result<market_data_subscriber> market_data_subscriber::open(gyre::io_context& on,
                                                               const market_data_options& options) {
    if (!may_be_opened(options)) return errc::invalid_argument;
    auto security = client_security(options.tls);
    if (!security.ok()) return security.error();
    auto made = std::make_shared<subscriber_session>(options);
    if (!made->start(on, security.take())) return errc::not_supported;
    return market_data_subscriber{std::move(made)};
}

market_data_subscriber::market_data_subscriber(std::shared_ptr<subscriber_session> it) noexcept
    : it_{std::move(it)} {}

market_data_subscriber& market_data_subscriber::operator=(market_data_subscriber&& other) noexcept {
    if (this == &other) return *this;
    if (it_ != nullptr) it_->abandon();
    it_ = std::move(other.it_);
    return *this;
}

market_data_subscriber::~market_data_subscriber() {
    if (it_ != nullptr) it_->abandon();
}

io_result<std::uint32_t> market_data_subscriber::subscribe(const market_wish& what) {
    if (it_ == nullptr) return errc::closed;
    return it_->want(what);
}
io_result<std::uint32_t> market_data_subscriber::unsubscribe(instrument_id which) {
    if (it_ == nullptr) return errc::closed;
    return it_->want_no_more(which);
}

gyre::task<io_result<market_news>> market_data_subscriber::next() {
    return it_ == nullptr ? no_market_news() : subscriber_session::next(it_);
}
bool market_data_subscriber::try_next(market_news& into) {
    return it_ != nullptr && it_->try_next(into);
}

const followed_market* market_data_subscriber::find(instrument_id which) const noexcept {
    return it_ == nullptr ? nullptr : it_->books().find(which);
}
const std::map<instrument_id, followed_market>& market_data_subscriber::markets() const noexcept {
    static const std::map<instrument_id, followed_market> none;
    return it_ == nullptr ? none : it_->books().all();
}
bool market_data_subscriber::connected() const noexcept {
    return it_ != nullptr && it_->connected();
}
std::uint64_t market_data_subscriber::broken_books() const noexcept {
    return it_ == nullptr ? 0 : it_->broken_books();
}

bool market_data_subscriber::log_out() noexcept { return it_ != nullptr && it_->log_out(); }
void market_data_subscriber::stop() noexcept {
    if (it_ != nullptr) it_->stop();
}

}  // namespace exchange

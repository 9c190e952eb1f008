// SPDX-License-Identifier: BSL-1.0
#include <web/connection_pool.hpp>

#include <gyre/coro/this_task.hpp>
#include <gyre/sync/timeout.hpp>

#include <algorithm>
#include <iterator>

namespace gyre::web {
namespace {

// A reset or an end where an answer was due: what a server that has closed an idle connection looks like.
bool is_stale(error failed) noexcept {
    return failed == errc::connection_reset || failed == errc::broken_pipe || failed == errc::eof ||
           failed == errc::tls_truncated;
}

}  // namespace

connection_pool::idle_timer::idle_timer(connection_pool& owner) noexcept
    : timer{[](timer& it) noexcept {
          auto& self = static_cast<idle_timer&>(it);
          self.posted = true;
          self.of.home_->post(static_cast<work&>(self));
      }},
      work{[](work& it) noexcept {
          auto& self = static_cast<idle_timer&>(it);
          self.posted = false;
          self.of.end_overdue();
      }},
      of{owner} {}

// -------- Leases --------

connection_pool::lease::lease(lease&& other) noexcept
    : reused{other.reused},
      forwarded{other.forwarded},
      of_{std::exchange(other.of_, nullptr)},
      at_{other.at_},
      permits_{std::move(other.permits_)},
      connection_{std::move(other.connection_)},
      shared_{std::move(other.shared_)},
      stream_{std::move(other.stream_)},
      last_{other.last_} {}

connection_pool::lease& connection_pool::lease::operator=(lease&& other) noexcept {
    if (this == &other) return *this;
    give_back();
    reused = other.reused;
    forwarded = other.forwarded;
    of_ = std::exchange(other.of_, nullptr);
    at_ = other.at_;
    permits_ = std::move(other.permits_);
    connection_ = std::move(other.connection_);
    shared_ = std::move(other.shared_);
    stream_ = std::move(other.stream_);
    last_ = other.last_;
    return *this;
}

void connection_pool::lease::let_go() noexcept {
    stream_.reset();
    shared_.release();
    if (permits_) of_->rest(*this);
    permits_.release();
}

void connection_pool::lease::give_back() noexcept {
    if (of_ == nullptr) return;
    let_go();
    std::exchange(of_, nullptr)->leave(at_);
}

task<io_result<http::received_response>> connection_pool::lease::send(const http::request& what,
                                                                      http::response_body body,
                                                                      std::shared_ptr<void> keeps) {
    last_ = fate::unknown;
    shared_connection* const on = shared_.get();
    if (on == nullptr) {
        io_result<http::received_response> got = co_await connection_.send(what, std::move(body));
        if (!got.ok() && reused && !connection_.answered() && is_stale(got.error())) {
            last_ = fate::lost;
        }
        co_return got;
    }
    shared_.send();
    io_result<multiplexed_answer> got =
        co_await on->wire().send(what, std::move(body), std::move(keeps));
    multiplexed_answer answer = got.take();
    if (got.ok()) {
        stream_ = std::move(answer.stream);
        co_return io_result<http::received_response>{std::move(answer.head)};
    }
    // One that has refused a request would refuse others: they go elsewhere.
    if (answer.refused) on->retire();
    shared_.release();
    if (answer.unprocessed) last_ = fate::unprocessed;
    else if (reused && !answer.reset && is_stale(got.error())) last_ = fate::lost;
    co_return got.error();
}

// -------- Taking --------

task<io_result<connection_pool::lease>> connection_pool::take(const url& where) {
    if (home_ == nullptr) {
        loop& home = co_await this_task::loop();
        home_ = &home;
    }
    const bool by_proxy = connector_.goes_through_proxy(where);
    // What a proxy forwards may go over any connection to it.
    const bool forwarded = by_proxy && !where.is_secure();
    const std::string key = forwarded ? std::string{"proxy"}
                                      : (by_proxy ? "proxy " : "") + where.scheme() + "://" +
                                            where.authority_with_port();
    const auto [at, is_new] = places_.try_emplace(key, options_.connections_per_origin_max, all_);
    if (is_new) {
        at->second.self = at;
        at->second.may_share = connector_.may_multiplex(where);
    }
    ++at->second.users;
    lease it;
    it.of_ = this;
    it.at_ = at;
    it.forwarded = forwarded;
    const io_result<> settled = co_await settle(it, where);
    if (!settled.ok()) co_return settled.error();
    co_return io_result<lease>{std::move(it)};
}

task<io_result<>> connection_pool::renew(lease& it, const url& where) {
    it.connection_.close();
    const io_result<> settled = co_await settle(it, where);
    co_return settled;
}

task<io_result<>> connection_pool::settle(lease& it, const url& where) {
    place& here = it.at_->second;
    if (!it.permits_) {
        io_result<origin::turn_awaiter::turn> turn = co_await here.turn();
        if (!turn.ok()) co_return turn.error();
        origin::turn_awaiter::turn got = turn.take();
        it.shared_ = std::move(got.shared);
        it.reused = it.shared_.get() != nullptr;
        if (it.reused) co_return io_result<>{};
        it.permits_ = std::move(got.permits);
    }
    it.reused = true;
    if (shared_connection* const other = here.with_room()) {
        it.shared_ = shared_connection::claim{*other};
        it.permits_.release();
        co_return io_result<>{};
    }
    if (join_resting(it)) co_return io_result<>{};
    while (take_resting(it)) {
        const bool usable = co_await it.connection_.still_idle();
        if (usable) co_return io_result<>{};
    }
    it.reused = false;
    const io_result<> opened = co_await open(it, where);
    co_return opened;
}

task<io_result<>> connection_pool::open(lease& it, const url& where) {
    // Those under way are counted by permits, so one too many rests.
    while (idle_count_ > 0 && all_.available() < idle_count_) end_rest(resting_.begin());
    io_result<connector::connected> reached =
        co_await connector_.connect(where, connector::purpose::requests);
    connector::connected made = reached.take();
    place& here = it.at_->second;
    if (reached.error() != errc::canceled) here.may_share = made.multiplexes;
    if (reached.ok()) ++counters_.connections;
    if (reached.ok() && made.multiplexes) {
        auto shared = std::make_shared<shared_connection>(*this, here);
        ++here.users;
        it.shared_ = shared_connection::claim{*shared};
        shared->start(*home_, std::move(made.stream), options_.exchange, options_.streams_max);
        shared->permits = std::move(it.permits_);
        shared->permits.found_out();
    } else {
        if (reached.ok()) {
            it.connection_ = http::client_connection{std::move(made.stream), options_.exchange};
        }
        it.permits_.found_out();
    }
    co_return reached.error();
}

// -------- Resting --------

bool connection_pool::join_resting(lease& it) noexcept {
    end_overdue();
    for (;;) {
        const auto& here = it.at_->second.resting_here;
        const auto last = std::ranges::find_if(
            here, [](const rest_list::iterator& each) { return each->shared != nullptr; });
        if (last == here.end()) return false;
        const rest_list::iterator found = *last;
        if (found->shared->room() == 0) {
            end_rest(found);
            continue;
        }
        const std::shared_ptr<shared_connection> shared = std::move(found->shared);
        end_rest(found);
        it.shared_ = shared_connection::claim{*shared};
        shared->permits = std::move(it.permits_);
        shared->permits.found_out();
        return true;
    }
}

// The one that came last: the others may all be closed by now, and then no request has to find that out.
bool connection_pool::take_resting(lease& it) noexcept {
    end_overdue();
    auto& here = it.at_->second.resting_here;
    if (here.empty()) return false;
    const rest_list::iterator last = here.back();
    it.connection_ = std::move(last->connection);
    end_rest(last);
    return true;
}

void connection_pool::rest(lease& it) noexcept {
    if (closed_ || options_.idle_max == 0 || !it.connection_.reusable()) {
        it.connection_.close();
        return;
    }
    resting kept;
    kept.connection = std::move(it.connection_);
    kept.at = it.at_;
    rest(std::move(kept));
}

void connection_pool::comes_to_rest(shared_connection& it) noexcept {
    if (closed_ || options_.idle_max == 0 || !it.reusable()) return it.retire();
    resting kept;
    kept.shared = it.shared_from_this();
    kept.at = static_cast<place&>(it.at()).self;
    rest(std::move(kept));
    it.permits.release();
}

void connection_pool::rest(resting it) noexcept {
    while (idle_count_ >= options_.idle_max) end_rest(resting_.begin());
    const places::iterator at = it.at;
    it.until = deadline_after(home_->now(), options_.idle_time_max);
    resting_.push_back(std::move(it));
    const rest_list::iterator last = std::prev(resting_.end());
    at->second.resting_here.push_back(last);
    ++idle_count_;
    if (!timer_.armed() && last->until != never) home_->arm(timer_, last->until);
}

void connection_pool::end_rest(rest_list::iterator it) noexcept {
    const places::iterator at = it->at;
    if (it->shared != nullptr) it->shared->retire();
    at->second.resting_here.remove(it);
    resting_.erase(it);
    --idle_count_;
    if (at->second.users == 0 && at->second.resting_here.empty()) places_.erase(at);
}

void connection_pool::is_over(shared_connection& it) noexcept {
    place& here = static_cast<place&>(it.at());
    const auto rests = std::ranges::find_if(
        here.resting_here,
        [&it](const rest_list::iterator& each) { return each->shared.get() == &it; });
    if (rests != here.resting_here.end()) end_rest(*rests);
    leave(here.self);
}

void connection_pool::end_overdue() noexcept {
    const time_point now = home_->now();
    while (!resting_.empty() && resting_.front().until <= now) end_rest(resting_.begin());
    if (!resting_.empty() && !timer_.armed() && resting_.front().until != never) {
        home_->arm(timer_, resting_.front().until);
    }
}

void connection_pool::leave(places::iterator at) noexcept {
    if (--at->second.users == 0 && at->second.resting_here.empty()) places_.erase(at);
}

void connection_pool::close_idle() noexcept {
    while (!resting_.empty()) end_rest(resting_.begin());
}

void connection_pool::close() noexcept {
    closed_ = true;
    close_idle();
    if (home_ == nullptr) return;
    home_->disarm(timer_);
    if (std::exchange(timer_.posted, false)) home_->retract(timer_);
}

// There is no lease any more, but connections that have not ended yet.
connection_pool::~connection_pool() {
    close();
    for (auto& [key, each] : places_) {
        for (const std::shared_ptr<shared_connection>& shared : std::exchange(each.shared, {})) {
            shared->disown();
        }
    }
}

}  // namespace gyre::web

// SPDX-License-Identifier: BSL-1.0
#include <web/shared_connection.hpp>

#include <algorithm>

namespace gyre::web {

// -------- Permits --------

bool connection_budget::take(origin& of) noexcept {
    if (available_ > 0) {
        --available_;
        return true;
    }
    if (!of.linked()) waiting_.push_back(of);
    return false;
}

// Who was first gets it, and stands last if it wants more.
void connection_budget::give_back() noexcept {
    ++available_;
    while (available_ > 0 && !waiting_.empty()) waiting_.pop_front().serve();
}

connection_permits& connection_permits::operator=(connection_permits&& other) noexcept {
    if (this == &other) return *this;
    release();
    of_ = std::exchange(other.of_, nullptr);
    finds_out_ = std::exchange(other.finds_out_, false);
    return *this;
}

void connection_permits::found_out() noexcept {
    if (!std::exchange(finds_out_, false)) return;
    of_->finding_out = false;
    of_->serve();
}

void connection_permits::release() noexcept {
    origin* const of = std::exchange(of_, nullptr);
    if (of == nullptr) return;
    if (std::exchange(finds_out_, false)) of->finding_out = false;
    --of->connections;
    of->budget.give_back();
    of->serve();
}

// -------- Claims --------

shared_connection::claim& shared_connection::claim::operator=(claim&& other) noexcept {
    if (this == &other) return *this;
    release();
    on_ = std::move(other.on_);
    sent_ = std::exchange(other.sent_, false);
    return *this;
}

void shared_connection::claim::release() noexcept {
    const std::shared_ptr<shared_connection> on = std::move(on_);
    on_.reset();
    if (on != nullptr) on->request_gone(std::exchange(sent_, false));
}

void shared_connection::claim::send() noexcept {
    if (!std::exchange(sent_, true)) --on_->unsent_;
}

// -------- The connection --------

void shared_connection::start(loop& home, any_stream stream, const http::client_options& options,
                              std::size_t streams_max) {
    wire_ = make_multiplexed(std::move(stream), options, streams_max, [this] { changed(); });
    at_.shared.push_back(shared_from_this());
    home_ = &home;
    running_ = launch_in_background(context_of(home), keep(shared_from_this()), or_terminate{});
}

task<> shared_connection::keep(std::shared_ptr<shared_connection> it) {
    co_await it->wire_->run();
    it->end();
}

// Before its SETTINGS a server may allow one stream or thousands, and may be no server of HTTP/2 at all.
std::size_t shared_connection::room() const noexcept {
    if (!reusable()) return 0;
    const std::size_t free = wire_->room();
    const std::size_t known = wire_->settled() ? free : std::min<std::size_t>(free, 1);
    const std::size_t taken = wire_->settled() ? unsent_ : requests_;
    return known > taken ? known - taken : 0;
}

void shared_connection::retire() noexcept {
    retired_ = true;
    if (requests_ > 0 || over_) return;
    if (!ending_) ending_ = io_context::work_guard{context_of(*home_)};
    running_.request_stop();
}

void shared_connection::disown() noexcept {
    owner_ = nullptr;
    permits.release();
    retire();
}

void shared_connection::changed() noexcept {
    if (owner_ != nullptr) at_.serve();
}

void shared_connection::end() noexcept {
    const bool settled_before = wire_->settled();
    over_ = true;
    ending_ = {};
    shared_owner* const owner = std::exchange(owner_, nullptr);
    if (owner == nullptr) return;
    // What ends before it has begun is nothing to wait for.
    if (!settled_before) at_.may_share = false;
    std::erase_if(at_.shared, [this](const auto& each) { return each.get() == this; });
    permits.release();
    at_.serve();
    owner->is_over(*this);
}

void shared_connection::request_gone(bool sent) noexcept {
    if (!sent) --unsent_;
    --requests_;
    if (requests_ > 0) return changed();
    if (owner_ != nullptr) owner_->comes_to_rest(*this);
    else retire();
}

// -------- The origin --------

shared_connection* origin::with_room() const noexcept {
    for (const std::shared_ptr<shared_connection>& each : shared) {
        if (each->used() && each->room() > 0) return each.get();
    }
    return nullptr;
}

bool origin::knows_enough() const noexcept {
    if (!may_share) return true;
    // One that rests may be taken up before it has settled.
    return !finding_out && std::ranges::all_of(shared, [](const auto& each) {
        return each->settled() || !each->used();
    });
}

bool origin::grant(turn_awaiter& to) noexcept {
    if (shared_connection* const joined = with_room()) {
        to.got_.shared = shared_connection::claim{*joined};
        return true;
    }
    if (connections >= connections_max || !knows_enough() || !budget.take(*this)) return false;
    ++connections;
    finding_out = may_share;
    to.got_.permits = connection_permits{*this, may_share};
    return true;
}

void origin::serve() noexcept {
    while (!queue.empty() && grant(static_cast<turn_awaiter&>(queue.front()))) queue.wake_one();
}

bool origin::turn_awaiter::await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
    if (!stopped_before(*given) && of_.queue.empty() && of_.grant(*this)) {
        return go_on(handle, *given);
    }
    return wait_in(of_.queue, handle, *given);
}

io_result<origin::turn_awaiter::turn> origin::turn_awaiter::await_resume() noexcept {
    if (outcome()) return outcome();
    return std::move(got_);
}

}  // namespace gyre::web

// SPDX-License-Identifier: BSL-1.0
//
// The race of attempts: see include/gyre/io/connect_to.hpp.
#include <gyre/io/connect_to.hpp>

#include <gyre/base/check.hpp>
#include <gyre/io/destinations.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace gyre {
namespace {

/// What is known of the addresses and of the attempts, by which the next step is chosen.
class race final : public found_addresses {
public:
    race(io_context& on, connect_to_options options) noexcept
        : on_{on}, options_{std::move(options)} {
        const endpoint::family source = options_.socket.local.kind();
        if (options_.family == endpoint::family::none) options_.family = source;
    }

    [[nodiscard]] const connect_to_options& options() const noexcept { return options_; }

    // Of the addresses.

    void add(std::vector<endpoint> some) override {
        if (waiting_.empty()) known_at_ = on_.read_clock();
        waiting_.insert(waiting_.end(), some.begin(), some.end());
        waiting_ = in_order_of_preference(on_, waiting_);
        changed_.set();
    }
    void add_in_order(std::vector<endpoint> all) {
        waiting_ = std::move(all);
        resolving_ = false;
    }
    void resolved(io_result<> outcome) noexcept {
        resolving_ = false;
        name_failure_ = outcome.error();
        changed_.set();
    }

    // Of the attempts.

    /// The next one, which begins now; none if it is not time yet, and then the moment is in `until`.
    [[nodiscard]] std::optional<endpoint> next(time_point& until) {
        until = next_moment();
        const time_point now = on_.read_clock();
        if (until > now) return std::nullopt;
        const endpoint chosen = in_alternation(waiting_, last_family_).front();
        std::erase(waiting_, chosen);
        last_family_ = chosen.kind();
        next_at_ = deadline_after(now, options_.attempt_delay);
        ++running_;
        return chosen;
    }
    void ended(io_result<stream_socket> attempt) noexcept {
        --running_;
        if (attempt.ok()) {
            if (!winner_.is_open()) winner_ = attempt.take();
        } else {
            if (!failure_) failure_ = attempt.error();
            next_at_ = {};  // Who waits for it has waited enough.
        }
        changed_.set();
    }

    [[nodiscard]] bool won() const noexcept { return winner_.is_open(); }
    [[nodiscard]] stream_socket winner() noexcept { return std::move(winner_); }

    /// Nothing is under way that could win.
    [[nodiscard]] bool lost() const noexcept {
        return waiting_.empty() && !resolving_ && running_ == 0;
    }
    [[nodiscard]] error failure() const noexcept { return failure_ ? failure_ : name_failure_; }

    [[nodiscard]] auto change_until(time_point moment) noexcept {
        changed_.reset();
        return with_deadline(moment, changed_.wait());
    }

private:
    [[nodiscard]] time_point next_moment() const noexcept {
        if (waiting_.empty()) return never;
        if (last_family_ != endpoint::family::none) return next_at_;
        const bool only_v4 = std::ranges::all_of(
            waiting_, [](const endpoint& each) { return each.kind() == endpoint::family::v4; });
        if (!resolving_ || !only_v4) return {};
        return deadline_after(known_at_, options_.resolution_delay);
    }

    io_context& on_;
    connect_to_options options_;
    std::vector<endpoint> waiting_;  // The best first.
    time_point known_at_{};          // When the first of them came.
    time_point next_at_{};           // When the next attempt is due, if there has been one.
    endpoint::family last_family_ = endpoint::family::none;
    stream_socket winner_;
    error failure_;       // Of the first attempt that failed.
    error name_failure_;  // Of the resolver.
    int running_ = 0;
    bool resolving_ = true;
    event changed_;
};

task<> attempt(race& in, endpoint peer) {
    io_result<stream_socket> connected = co_await stream_socket::connect(peer, in.options().socket);
    in.ended(std::move(connected));
}

task<io_result<stream_socket>> run(race& it, task_group& group) {
    for (;;) {
        if (it.won()) co_return it.winner();
        if (it.lost()) co_return it.failure();
        time_point until;
        if (const std::optional<endpoint> peer = it.next(until)) {
            group.spawn(attempt(it, *peer));
            continue;
        }
        const io_result<> waited = co_await it.change_until(until);
        if (waited.error() == errc::canceled && !it.won()) co_return waited.error();
    }
}

task<> resolve_into(race& it, std::string host, std::string service) {
    const resolver names = it.options().names;
    const resolve_options wanted{it.options().family};
    const io_result<> outcome =
        co_await names.find(std::move(host), std::move(service), wanted, it);
    it.resolved(outcome);
}

// The limit and a stop do not know what they ended.
error of_connecting(error failed) noexcept {
    if (failed.during() != activity::unknown) return failed;
    return {failed.code(), activity::connect};
}

}  // namespace

task<io_result<stream_socket>> connect_to(std::string host, std::string service,
                                          connect_to_options options) {
    race it{*io_context::current(), std::move(options)};
    const auto body = [&](task_group& group) -> task<io_result<stream_socket>> {
        group.spawn(resolve_into(it, std::move(host), std::move(service)));
        return run(it, group);
    };
    const group_options leaving{group_mode::stop_on_exit};
    io_result<stream_socket> connected =
        co_await with_timeout(it.options().limit, with_group(body, leaving));
    if (connected.ok()) co_return connected.take();
    co_return of_connecting(connected.error());
}

task<io_result<stream_socket>> connect_to(std::string host, std::uint16_t port,
                                          connect_to_options options) {
    return connect_to(std::move(host), std::to_string(port), std::move(options));
}

task<io_result<stream_socket>> connect_to(std::vector<endpoint> peers, connect_to_options options) {
    expects(!peers.empty(), "an address to connect to");
    race it{*io_context::current(), std::move(options)};
    it.add_in_order(std::move(peers));
    const auto body = [&](task_group& group) { return run(it, group); };
    const group_options leaving{group_mode::stop_on_exit};
    io_result<stream_socket> connected =
        co_await with_timeout(it.options().limit, with_group(body, leaving));
    if (connected.ok()) co_return connected.take();
    co_return of_connecting(connected.error());
}

}  // namespace gyre

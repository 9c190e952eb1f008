// SPDX-License-Identifier: BSL-1.0
//
// The connection over which books are asked for: application/book_recovery.hpp says what, and this waits.
#pragma once

#include <exchange/net/application/book_recovery.hpp>
#include <exchange/net/session/order_entry_client.hpp>

#include <optional>
#include <span>
#include <utility>

namespace exchange {

/// @tparam  X  A side of the seam.
///
/// Threads:  that of its context.
/// Cost:     A connection, as long as this runs.
template <executor_traits X>
class book_recovery_client final : private order_entry_handler {
public:
    using task = typename X::template task<void>;

    /// @param  context  Borrowed; outlives this.
    /// @param  asks     Borrowed; outlives this.
    /// @param  options  Its user may ask about instruments and books, and has a stream that tells the life: a
    ///                  participant that does nothing else, or one for copies, and no operator.
    book_recovery_client(typename X::context& context, book_recovery& asks,
                         const order_entry_client_options& options)
        : context_{context}, asks_{asks}, options_{options}, rest_{context} {}
    book_recovery_client(const book_recovery_client&) = delete;
    book_recovery_client& operator=(const book_recovery_client&) = delete;

    /// Where the exchange is, if the options do not say it. Before `run`.
    void reach(const gyre::endpoint& exchange) noexcept { options_.exchange = exchange; }

    /// Asks, over a connection that is made again whenever it is lost. After a refused login as well, since
    /// the exchange may be told of the user later; such are counted.
    ///
    /// Errors:        none.
    /// Cancellation:  `stop`.
    /// Threads:       that of the context. Once.
    /// Cost:          frames for each connection.
    task run() {
        while (!stopped_) {
            client_.emplace(context_, options_, static_cast<order_entry_handler&>(*this));
            co_await client_->run();
            refused_ += client_->machine().ending() == soup_ending::rejected ? 1U : 0U;
            if (stopped_) break;
            const auto [ended] = co_await rest_.wait_until(
                gyre::deadline_after(X::now(context_), options_.reconnect_after_max));
            if (ended) break;  // Stopped, or the context ends.
        }
        client_.reset();
    }

    /// Asks what is due, if the exchange is in this life. In none, nothing is asked and no answer counts.
    void on_timer(const soup_session& life) noexcept {
        life_ = life;
        ask();
    }

    /// Logs out in order, so that the exchange does not wait for this user at its end, and asks no more.
    void leave() noexcept {
        stopped_ = true;
        rest_.cancel();
        if (client_ && !client_->log_out()) client_->stop();
    }

    void stop() noexcept {
        stopped_ = true;
        rest_.cancel();
        if (client_) client_->stop();
    }

    /// Is it logged in?
    [[nodiscard]] bool connected() const noexcept {
        return client_ && client_->machine().logged_in();
    }
    /// Behind `leave` or `stop`: has its connection ended, and all that was to be said on it been said?
    [[nodiscard]] bool over() const noexcept { return stopped_ && !client_; }
    /// Logins that were refused.
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

private:
    void logged_in() noexcept override {
        asks_.connect();
        ask();
    }
    void heard(std::uint64_t, std::span<const std::byte> message) noexcept override {
        if (!is_of_this_life()) return;
        asks_.hear(message, X::now(context_));
        ask();
    }
    void disconnected(soup_ending) noexcept override { asks_.disconnect(); }
    next_life life_ended(const soup_session&, const soup_session&) noexcept override {
        return next_life::join;
    }

    /// Pages of another life say nothing of the books that are heard.
    [[nodiscard]] bool is_of_this_life() const noexcept {
        return connected() && !life_.empty() && client_->machine().resume().session == life_;
    }
    void ask() noexcept {
        if (!is_of_this_life()) return;
        const std::span<const std::byte> question = asks_.question(X::now(context_));
        // What cannot be sent is asked again, as what is not answered.
        if (!question.empty()) static_cast<void>(client_->send(question));
    }

    typename X::context& context_;
    book_recovery& asks_;
    order_entry_client_options options_;
    typename X::timer rest_;  // Behind a refused login.
    std::optional<order_entry_client<X>> client_;
    soup_session life_{};
    std::uint64_t refused_ = 0;
    bool stopped_ = false;
};

}  // namespace exchange

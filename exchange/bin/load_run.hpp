// SPDX-License-Identifier: BSL-1.0
//
// All traders of the load generator together: when each one sends, and the report at the end.
#pragma once

#include <exchange/bin/feed_view.hpp>
#include <exchange/bin/load_client.hpp>
#include <exchange/management/config.hpp>
#include <exchange/management/password_file.hpp>
#include <exchange/net/session/feed_listener.hpp>

#include <deque>
#include <string>
#include <vector>

namespace exchange {

struct load_options {
    std::uint64_t messages = 10'000;
    std::uint64_t messages_per_second = 0;  ///< 0: whenever the window allows.
    std::size_t window = 64;
    std::uint64_t seed = 0;
    bool with_feed = true;
    bool clean = false;
    gyre::duration patience = std::chrono::seconds{10};
    order_mix_options mix{};
};

/// Fills in the markets that a configuration defines, or those of `wanted`.
///
/// @return  Empty; or what is missing.
[[nodiscard]] std::string find_markets(const config& in, const std::vector<std::uint32_t>& wanted,
                                       std::vector<traded_market>& into);

/// One run, on a loop of its own.
class load_run final : public feed_handler {
public:
    /// @param  context  Borrowed; outlives this.
    /// @param  where    Borrowed; outlives this.
    /// @param  users    Who trades: those that have a session.
    load_run(gyre::io_context& context, const config& where, std::vector<client_user> users,
             const load_options& how);

    /// Trades, compares, and says what there is to say.
    ///
    /// @return  The exit status.
    [[nodiscard]] int carry_out();

private:
    void heard(const mold_message& message) noexcept override;
    void missed(mold_gap gap) noexcept override { feed_lost_ += gap.last - gap.first; }
    void silent() noexcept override;
    void new_life(const mold_session&, const mold_session&) noexcept override {
        public_.begin_life();
    }

    gyre::task<> run();
    /// SIGINT or SIGTERM ends the trading in order, a second one the program at once.
    gyre::task<> obey_signals();
    gyre::task<bool> prepare();
    gyre::task<> trade_paced();
    gyre::task<> trade_unbounded();
    /// Whether to go on: not once a session has ended, or nothing could be sent for as long as our
    /// patience.
    [[nodiscard]] bool gets_on();
    gyre::task<> settle();
    gyre::task<> compare();
    void leave();
    void fail(std::string what, int status);
    void report();

    [[nodiscard]] gyre::time_point deadline() const noexcept;
    /// Has one of the traders send, if it can.
    [[nodiscard]] bool send_one();
    [[nodiscard]] bool has_more_to_send() const noexcept {
        return !asked_to_end_ && sent_ < how_.messages;
    }

    gyre::io_context& context_;
    const config& where_;
    std::vector<client_user> users_;
    load_options how_;
    order_mix mix_;
    gyre::event progress_;
    std::deque<load_client> traders_;
    feed_view public_;
    feed_listener<gyre_traits> feed_;
    std::size_t turn_ = 0;  // Whose turn it is.
    std::uint64_t sent_ = 0;
    gyre::time_point stuck_at_{};  // If nothing can be sent until then.
    std::uint64_t held_back_ = 0;  // Times that no client could send what was due.
    std::uint64_t feed_lost_ = 0;
    double seconds_ = 0;
    gyre_traits::signal_set signals_;
    bool asked_to_end_ = false;
    int status_ = 0;
    std::vector<std::string> complaints_;
};

}  // namespace exchange

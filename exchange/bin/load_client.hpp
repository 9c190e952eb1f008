// SPDX-License-Identifier: BSL-1.0
//
// One trader of the load generator: its session, its numbers, and its view of what it did.
//
// order_view.hpp judges what it hears and order_mix.hpp says what it does next; this prepares the session
// (a number that was not used before, no orders from an earlier run) and carries both.
#pragma once

#include <exchange/bin/order_mix.hpp>
#include <exchange/bin/order_view.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/net/session/order_entry_client.hpp>

#include <gyre/sync/timeout.hpp>

#include <string>

namespace exchange {

class load_client final : public order_entry_handler {
public:
    /// @param  context   Borrowed; outlives this, and ends its connection.
    /// @param  progress  Borrowed; set whenever something is heard.
    load_client(gyre::io_context& context, const order_entry_client_options& options,
                const define_session& session, gyre::event& progress)
        : client_{context, options, *this},
          account_{session.account},
          progress_{progress},
          name_{options.login.username.view()},
          view_{session.session} {
        gyre::launch(context, run(), gyre::or_terminate{});
    }

    /// Logs in, finds a number that is above all that the session has used, and cancels what an earlier run
    /// has left.
    ///
    /// @return  Empty; or why it cannot trade.
    ///
    /// Cancellation:  none but the deadline.
    /// Threads:       the context's.
    /// Cost:          a round trip for each 65,536 messages that the session has sent before.
    gyre::task<std::string> prepare(gyre::time_point deadline);

    /// Sends the next command of `mix`. False if there is no connection or no room at the moment.
    [[nodiscard]] bool trade(order_mix& mix);

    /// Cancels everything that rests.
    [[nodiscard]] bool cancel_all();

    /// Waits until everything is answered that ever will be.
    ///
    /// @return  Empty; or what is wrong with the connection.
    ///
    /// Cancellation, threads:  as `prepare`.
    /// Cost:                   a frame.
    gyre::task<std::string> settle(gyre::time_point deadline);

    /// Leaves, in order if it can be.
    void leave() noexcept {
        leaving_ = true;
        if (!client_.log_out()) client_.stop();
    }

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const order_view& view() const noexcept { return view_; }
    /// How often its connection was lost.
    [[nodiscard]] std::uint64_t losses() const noexcept { return losses_; }
    /// How many lives of the exchange it has been in.
    [[nodiscard]] std::uint64_t lives() const noexcept { return lives_; }
    [[nodiscard]] bool over() const noexcept { return over_; }

private:
    void logged_in() noexcept override { changed_.set(); }
    void heard(std::uint64_t sequence, std::span<const std::byte> message) noexcept override;
    void disconnected(soup_ending why) noexcept override;
    next_life life_ended(const soup_session&, const soup_session&) noexcept override;
    gyre::task<> run();

    /// Sends a cancel of nothing and waits for its refusal: behind that, all before it is known.
    gyre::task<std::string> fence(gyre::time_point deadline);
    template <command_record Command>
    [[nodiscard]] bool send(const Command& what);
    [[nodiscard]] std::string why_not() const;
    [[nodiscard]] static steady_ns now() noexcept;

    order_entry_client<gyre_traits> client_;
    account_id account_;
    gyre::event& progress_;
    gyre::event changed_;
    std::string name_;
    order_view view_;
    std::uint64_t next_ = 1;   // The number of the next message.
    std::uint64_t fence_ = 0;  // Of the fence that is waited for, or 0.
    reject_reason fenced_ = reject_reason::none;
    std::uint64_t losses_ = 0;
    std::uint64_t lives_ = 1;
    bool trading_ = false;  // What is heard before concerns an earlier run.
    bool leaving_ = false;
    bool over_ = false;
};

}  // namespace exchange

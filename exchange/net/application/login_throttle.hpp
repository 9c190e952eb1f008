// SPDX-License-Identifier: BSL-1.0
//
// How fast passwords may be tried: what a wrong one costs its sender, and all of them together the exchange.
//
// A wrong password is told late, and later each time, by user name and by peer; everything else goes on
// meanwhile. Who does not wait for that gains nothing: until it is told, no other try for the same name from
// the same host is checked. And since a password is hashed to be checked, there is a bound on checks per
// second: whoever is beyond it waits, in order, so that strangers cannot use up the processor. It reads no
// clock, and its tables do not grow: the oldest mistake is forgotten for a new one.
#pragma once

#include <exchange/codec/soup_packet.hpp>

#include <gyre/base/intrusive.hpp>
#include <gyre/base/time.hpp>
#include <gyre/io/endpoint.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace exchange {

struct login_throttle_options {
    gyre::duration delay_first = std::chrono::seconds{1};  ///< Twice as long for each that follows.
    gyre::duration delay_max = std::chrono::seconds{8};
    gyre::duration forget_after = std::chrono::minutes{1};  ///< Of the last mistake.
    std::size_t mistakes_max = 1024;  ///< Remembered, of user names and of peers each.
    std::size_t untold_max = 4096;    ///< Refusals that are not told yet: those of `delay_max`.
    std::uint32_t checks_per_second_max = 500;  ///< Of a hash, each: see `hashes_of_a_login`.
    std::uint32_t checks_at_once_max = 50;      ///< After a rest.
    std::size_t hashes_of_a_login =
        1;  ///< Where a user may have several secrets, all are compared.
};

/// A client whose password is not checked yet.
class waiting_login : public gyre::list_link<waiting_login> {
public:
    /// It is its turn.
    virtual void check_login(gyre::time_point now) noexcept = 0;

protected:
    ~waiting_login() { unlink(); }

private:
    friend class login_throttle;
    std::uint64_t pair_ = 0;         // The name and the host, as one number.
    gyre::time_point held_until_{};  // Not to be checked before.
};

/// Threads:  One at a time, as everything of its host.
/// Cost:     Memory is taken at construction. A login costs a walk over a table, a mistake one over those who
///           wait.
class login_throttle {
public:
    login_throttle(const login_throttle_options& options, gyre::time_point now);

    /// Has `login` checked: at once, or when it is its turn.
    void submit(waiting_login& login, const soup_username& name, const gyre::endpoint& peer,
                gyre::time_point now) noexcept;

    /// Has those checked whose turn it is: a few, so that nothing else has to wait for long.
    void on_timer(gyre::time_point now) noexcept;

    /// When `on_timer` is wanted next; `never` if no login waits.
    [[nodiscard]] gyre::time_point deadline() const noexcept {
        return waiting_.empty() ? held_due_ : next_check_;
    }

    /// Notes a wrong name or password.
    ///
    /// @return How late the client is to be told.
    [[nodiscard]] gyre::duration note_mistake(const soup_username& name, const gyre::endpoint& peer,
                                              gyre::time_point now) noexcept;

private:
    struct mistakes {
        std::uint64_t of = 0;  // A name, or a host; a hash where it does not fit.
        std::uint32_t count = 0;
        gyre::time_point last{};
    };
    using table = std::vector<mistakes>;

    static constexpr std::size_t hashes_a_call = 4;

    [[nodiscard]] bool take_turn(gyre::time_point now) noexcept;
    void hold(waiting_login& login, gyre::time_point until) noexcept;
    void let_wait_who_is_due(gyre::time_point now) noexcept;
    /// Until when no login of this name and host is checked.
    [[nodiscard]] gyre::time_point told_at(std::uint64_t pair) const noexcept;
    [[nodiscard]] static mistakes& find_or_make(table& in, std::size_t most, std::uint64_t whose,
                                                gyre::time_point now) noexcept;
    [[nodiscard]] gyre::duration note(table& in, std::uint64_t whose,
                                      gyre::time_point now) noexcept;

    login_throttle_options options_;
    gyre::list<waiting_login, waiting_login> waiting_;  // For their turn, in order.
    gyre::list<waiting_login, waiting_login> held_;     // For a refusal to be told.
    gyre::time_point held_due_ = gyre::never;           // Of none of those sooner.
    gyre::duration check_period_;
    gyre::duration credit_;        // For those that may come at once.
    gyre::time_point next_check_;  // When all that were begun are accounted for.
    table by_name_;
    table by_host_;
    table by_pair_;  // Of these, `last` is when the refusal is told.
};

}  // namespace exchange

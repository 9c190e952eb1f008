// SPDX-License-Identifier: BSL-1.0
//
// A listener of the public feed: joins its group, puts datagrams in order, and asks for what is missing.
//
// codec/mold_receiver.hpp knows what is missing and when to ask; this waits for it, on either side of
// the seam. The other end is transport/feed_publisher.hpp.
#pragma once

#include <exchange/codec/mold_receiver.hpp>
#include <exchange/net/executor_traits.hpp>

#include <string>
#include <utility>
#include <vector>

namespace exchange {

struct feed_listener_options {
    gyre::endpoint
        group;  ///< Where the feed goes; port 0, of an address of ours, lets the kernel choose.
    std::string interface;    ///< Through which a group is joined, such as "eth0". Empty: no group.
    gyre::endpoint requests;  ///< Who answers requests; `ask` may say it later.
    gyre::endpoint ask_from;  ///< Where requests are sent from; port 0 lets the kernel choose.
    mold_receiver_options receiver{};
    gyre::duration timer_tick =
        std::chrono::milliseconds{1};  ///< At least between two looks at time.
};

/// What a listener wants to hear. Called on the context's thread.
class feed_handler {
public:
    /// Each message once and in order. Borrowed during the call.
    virtual void heard(const mold_message& message) noexcept = 0;

    /// Messages are lost: all requests were in vain. The book is needed from here on: see book_page.hpp.
    virtual void missed(mold_gap) noexcept {}

    /// Not even a heartbeat has come for `mold_receiver_options::dead_after`, from the start or from the
    /// last one on: what is known of the market is old. Once for each such silence, which the next
    /// datagram ends.
    virtual void silent() noexcept {}

    /// The feed has ended, and all of it was heard.
    virtual void ended() noexcept {}

    /// The exchange has begun another life, and with it another feed. The book that is known is dead: what
    /// comes next is message 1 of the new one (or `mold_receiver_options::new_life_sequence`), which has
    /// nothing to do with it. What was missing of the old feed will not come. No listener can do without
    /// this, so each has to say what it does.
    ///
    /// mold_receiver.hpp says when another name is believed to be one.
    ///
    /// @param  ended  The name of the life that is over.
    /// @param  begun  That of the new one, which order entry has too (order_entry_handler::life_ended).
    virtual void new_life(const mold_session& ended, const mold_session& begun) noexcept = 0;

protected:
    ~feed_handler() = default;
};

/// @tparam  X  A side of the seam.
///
/// Threads:  that of its context.
/// Cost:     Memory is taken at construction.
template <executor_traits X>
class feed_listener {
public:
    using task = typename X::template task<void>;

    /// @param  handler  Borrowed; outlives this.
    feed_listener(typename X::context& context, const feed_listener_options& options,
                  feed_handler& handler)
        : context_{context},
          options_{options},
          handler_{handler},
          receiver_{options.receiver, X::now(context)},
          timer_{context},
          group_rest_{context},
          asking_rest_{context},
          datagram_(options.receiver.datagram_bytes_max + 1),
          answer_(options.receiver.datagram_bytes_max + 1) {}
    feed_listener(const feed_listener&) = delete;
    feed_listener& operator=(const feed_listener&) = delete;

    /// Opens its sockets and begins. After an error nothing has begun.
    [[nodiscard]] gyre::io_result<> start() {
        gyre::udp_options shared;
        // Several listeners of a host in one group. Without a group only one of them would hear, and the
        // kernel could choose a port that another has.
        shared.address_reused = !options_.interface.empty();
        auto [binding, group] = X::bind(context_, options_.group, shared);
        if (binding) return binding;
        auto [opening, asking] = X::bind(context_, options_.ask_from, {});
        if (opening) return opening;
        if (!options_.interface.empty()) {
            const auto [missing, through] = group.find_interface(options_.interface);
            if (missing) return missing;
            if (const auto [joining] = group.join(options_.group, through); joining) return joining;
        }
        auto [naming, local] = group.local_endpoint();
        if (naming) return naming;
        local_ = local;
        group_ = std::move(group);
        asking_ = std::move(asking);
        X::launch(context_, listen(group_, datagram_, group_rest_));
        X::launch(context_, listen(asking_, answer_, asking_rest_));
        X::launch(context_, keep_time());
        return {};
    }

    /// Who answers requests from here on.
    void ask(const gyre::endpoint& requests) noexcept { options_.requests = requests; }

    /// Ends it. The context runs out of work, and then this may be destroyed.
    void stop() noexcept {
        static_cast<void>(group_.close());
        static_cast<void>(asking_.close());
        timer_.cancel();
        group_rest_.cancel();
        asking_rest_.cancel();
    }

    /// Where it listens, once started.
    [[nodiscard]] const gyre::endpoint& local() const noexcept { return local_; }
    [[nodiscard]] const mold_receiver& receiver() const noexcept { return receiver_; }
    /// How often a receive has failed and was followed by a pause.
    [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }

private:
    static constexpr gyre::duration failure_pause = std::chrono::milliseconds{50};

    task listen(typename X::udp_socket& from, std::vector<std::byte>& buffer,
                typename X::timer& rest) {
        while (from.is_open()) {
            const auto [error, received] = co_await from.receive(buffer);
            if (error == gyre::errc::canceled) co_return;
            if (error == gyre::errc::connection_refused)
                continue;  // No publisher was there to ask.
            if (error) {   // No memory, a network that is down: as likely the next time.
                ++failures_;
                static_cast<void>(co_await rest.wait_until(X::now(context_) + failure_pause));
                continue;
            }
            const gyre::time_point now = X::now(context_);
            if (!received.truncated) take(std::span{buffer}.first(received.size), now);
            deliver();
            co_await ask_for_what_is_missing(now);
            note_silence(now);
            timer_.expire_at(std::min(timer_.deadline(), next_look()));
        }
    }

    task keep_time() {
        while (asking_.is_open()) {
            const auto [error] = co_await timer_.wait_until(
                std::max(next_look(), X::now(context_) + options_.timer_tick));
            if (error) co_return;
            co_await ask_for_what_is_missing(X::now(context_));
            note_silence(X::now(context_));
            if (!receiver_.stuck()) continue;
            if (const mold_gap lost = receiver_.give_up(); !lost.empty()) handler_.missed(lost);
            deliver();
        }
    }

    [[nodiscard]] gyre::time_point next_look() const noexcept {
        const bool told = told_end_ || told_silence_;
        return std::min(receiver_.deadline(), told ? gyre::never : receiver_.silent_at());
    }

    void note_silence(gyre::time_point now) noexcept {
        if (!receiver_.silent(now)) told_silence_ = false;
        else if (!told_end_ && !std::exchange(told_silence_, true)) handler_.silent();
    }

    task ask_for_what_is_missing(gyre::time_point now) {
        while (asking_.is_open()) {
            const auto request = receiver_.request(now);
            if (!request) co_return;
            const gyre::const_buffer bytes{*request};
            // If it is lost here or on the way, a later one asks for the same.
            static_cast<void>(co_await asking_.send_to({&bytes, 1}, options_.requests));
        }
    }

    void take(std::span<const std::byte> datagram, gyre::time_point now) noexcept {
        const mold_session before = receiver_.session();
        static_cast<void>(receiver_.on_packet(datagram, now));
        if (before.empty() || receiver_.session() == before) return;
        told_end_ = told_silence_ = false;
        handler_.new_life(before, receiver_.session());
    }

    void deliver() noexcept {
        while (const auto message = receiver_.next()) handler_.heard(*message);
        if (receiver_.ended() && !std::exchange(told_end_, true)) handler_.ended();
    }

    typename X::context& context_;
    feed_listener_options options_;
    feed_handler& handler_;
    mold_receiver receiver_;
    typename X::timer timer_;
    typename X::timer group_rest_;
    typename X::timer asking_rest_;
    typename X::udp_socket group_;
    typename X::udp_socket asking_;
    gyre::endpoint local_;
    std::vector<std::byte> datagram_;
    std::vector<std::byte> answer_;
    std::uint64_t failures_ = 0;
    bool told_end_ = false;
    bool told_silence_ = false;
};

}  // namespace exchange

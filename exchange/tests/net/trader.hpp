// SPDX-License-Identifier: BSL-1.0
//
// A client and a listener for tests of whole facilities: they keep what they hear, and can be waited for.
#pragma once

#include <exchange/net/session/feed_listener.hpp>
#include <exchange/net/session/order_entry_client.hpp>
#include <exchange/tests/net/socketless_client.hpp>
#include <exchange/tests/net/transport_of.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace exchange::testing {

/// What a client has heard, and a way to wait for more.
template <executor_traits X>
class ear {
public:
    using task = typename X::template task<void>;

    /// Waits until `enough()`; the harness ends a test that never gets there.
    template <class Condition>
    task until(Condition enough) {
        while (!enough()) {
            changed_.reset();
            static_cast<void>(co_await changed_.wait());
        }
    }

protected:
    void note_change() noexcept { changed_.set(); }

private:
    typename X::event changed_;
};

template <executor_traits X>
class trader final : public order_entry_handler, public ear<X> {
public:
    trader(typename X::context& context, const order_entry_client_options& options)
        : client{context, transport_of<X>::adapt(options), *this} {
        X::launch(context, run());
    }

    typename X::template task<void> in() {
        co_await this->until([this] { return client.machine().logged_in(); });
    }
    /// Waits until so many messages were heard in all.
    typename X::template task<void> heard_at_least(std::size_t count) {
        co_await this->until([this, count] { return messages.size() >= count; });
    }
    typename X::template task<void> gone() {
        co_await this->until([this] { return ended; });
    }

    template <command_record Command>
    void send(const Command& what) {
        std::vector<std::byte> bytes(message_bytes(what));
        encode(what, bytes);
        CHECK(client.send(bytes));
    }

    template <event_record Event>
    [[nodiscard]] std::vector<Event> heard_of() const {
        collector<Event> found;
        for (const heard_message& each : messages)
            static_cast<void>(decode_private_event(each.bytes, found));
        return found.taken;
    }

    order_entry_client<X, typename transport_of<X>::type> client;
    std::vector<heard_message> messages;
    std::uint64_t next_sequence = 1;
    std::vector<soup_session> lives;  ///< That have begun since it was logged in.
    next_life at_new_life = next_life::leave;
    int disconnects = 0;
    bool ended = false;

private:
    next_life life_ended(const soup_session&, const soup_session& next) noexcept override {
        lives.push_back(next);
        messages.clear();
        next_sequence = 1;
        this->note_change();
        return at_new_life;
    }
    void logged_in() noexcept override { this->note_change(); }
    void heard(std::uint64_t sequence, std::span<const std::byte> message) noexcept override {
        if (sequence != 0) CHECK(sequence == next_sequence++);  // Each once, none left out.
        messages.push_back({sequence != 0, {message.begin(), message.end()}});
        this->note_change();
    }
    void disconnected(soup_ending) noexcept override {
        ++disconnects;
        this->note_change();
    }
    typename X::template task<void> run() {
        co_await client.run();
        ended = true;
        this->note_change();
    }
};

template <executor_traits X>
class listener final : public feed_handler, public ear<X> {
public:
    listener(typename X::context& context, const feed_listener_options& options)
        : feed{context, options, *this} {}

    typename X::template task<void> heard_at_least(std::size_t count) {
        co_await this->until([this, count] { return messages.size() >= count; });
    }

    feed_listener<X> feed;
    std::vector<std::vector<std::byte>> messages;
    std::vector<std::uint64_t> sequences;  ///< Of each of them.
    std::vector<mold_session> lives;       ///< That have begun since it began to listen.
    std::uint64_t missing = 0;
    bool over = false;

private:
    void new_life(const mold_session&, const mold_session& begun) noexcept override {
        lives.push_back(begun);
        messages.clear();
        sequences.clear();
        over = false;
        this->note_change();
    }
    void heard(const mold_message& message) noexcept override {
        messages.emplace_back(message.payload.begin(), message.payload.end());
        sequences.push_back(message.sequence);
        this->note_change();
    }
    void missed(mold_gap gap) noexcept override { missing += gap.last - gap.first; }
    void ended() noexcept override {
        over = true;
        this->note_change();
    }
};

}  // namespace exchange::testing

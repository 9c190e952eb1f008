// SPDX-License-Identifier: BSL-1.0
//
// A client's session at a gateway or a distributor: packets are handed down to its machine, and what that
// has to say is pulled by the one coroutine that sends.
//
// The machine decides (session/gateway_client.hpp, market_data_client.hpp); this waits.
#pragma once

#include <exchange/net/session/client_link.hpp>
#include <exchange/server/client_registry.hpp>
#include <exchange/transport/packet_channel.hpp>

#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/timeout.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>

namespace exchange {

/// A client as a function of what comes in.
///
///   take(batch, now)    Takes packets. Those that it cannot use yet stay with it, borrowed.
///   proceed(now)        Uses packets that wait with it; called after it said `may_read`.
///   wants_packets()     True if it is through with what it took, and can use more.
///   output()            Bytes to be sent. Valid until `sent(size, now)`.
///   disconnected()      The connection is gone.
///   over(), ending()    The session is over, and why: send `output()` to its end, then end the channel.
///   on_timer(now)       Does what is due.
template <class Machine>
concept client_machine = std::constructible_from<Machine, typename Machine::host_type&,
                                                 client_link&, gyre::time_point> &&
                         requires(Machine& it, const Machine& same, const packet_batch& batch,
                                  gyre::time_point now, std::size_t size) {
                             it.take(batch, now);
                             it.proceed(now);
                             { same.wants_packets() } -> std::same_as<bool>;
                             { it.output() } -> std::same_as<std::span<const std::byte>>;
                             it.sent(size, now);
                             it.disconnected();
                             it.on_timer(now);
                             { same.over() } -> std::same_as<bool>;
                             { same.ending() } -> std::same_as<soup_ending>;
                             { same.logged_in() } -> std::same_as<bool>;
                             { same.was_logged_in() } -> std::same_as<bool>;
                         };

/// Threads:  the loop's.
/// Cost:     that of the machine; no allocation for a packet.
template <client_machine Machine>
class client_session final : public connected_client, private client_link {
public:
    /// @param  among   Registry that has it while it is here. Borrowed, as loop and host.
    /// @param  linger  Time for the client to read the last words.
    client_session(client_registry& among, gyre::io_context& on, typename Machine::host_type& host,
                   const gyre::endpoint& peer, gyre::duration linger)
        : connected_client{on.now()},
          among_{among},
          on_{on},
          peer_{peer},
          linger_{linger},
          machine_{host, *this, on.now()} {
        among_.enlist(*this);
    }
    ~client_session() { among_.dismiss(*this); }

    /// Serves the client, over the channel that `open` yields.
    ///
    /// @param  open  Yields `task<std::unique_ptr<packet_channel>>`; null without a connection.
    ///
    /// Errors:        none: a connection that is lost is an end like any other.
    /// Cancellation:  ends it, as `cut` does.
    template <class Open>
    [[nodiscard]] gyre::task<> serve(Open open) {
        std::unique_ptr<packet_channel> channel;
        const auto body = [&]() -> gyre::task<> {
            channel = co_await open();
            if (channel != nullptr) co_await run(*channel);
        };
        co_await run_until_cut(body);
        machine_.disconnected();
    }
    /// The same over a channel that is there. Borrowed.
    [[nodiscard]] gyre::task<> serve(packet_channel& channel) {
        const auto body = [&]() -> gyre::task<> { co_await run(channel); };
        co_await run_until_cut(body);
        machine_.disconnected();
    }

    [[nodiscard]] const Machine& machine() const noexcept { return machine_; }
    [[nodiscard]] bool logged_in() const noexcept override { return machine_.logged_in(); }
    [[nodiscard]] bool was_logged_in() const noexcept override { return machine_.was_logged_in(); }

    void on_timer(gyre::time_point now) noexcept override {
        if (!machine_.over()) return machine_.on_timer(now);
        over_since_ = std::min(over_since_, now);
        if (now >= gyre::deadline_after(over_since_, linger_)) cut();
    }

private:
    void has_output() noexcept override { has_output_.set(); }
    void may_read() noexcept override { may_read_.set(); }
    [[nodiscard]] gyre::endpoint peer() const noexcept override { return peer_; }
    [[nodiscard]] std::string_view transport() const noexcept override {
        return channel_ != nullptr ? channel_->name() : std::string_view{};
    }

    gyre::task<> run(packet_channel& channel) {
        channel_ = &channel;
        const auto both = [this](gyre::task_group& pair) -> gyre::task<> {
            pair.spawn(receive());
            co_await send();
            pair.request_stop();
        };
        co_await gyre::with_group(both);
        const bool by_us = machine_.over() && !peer_left_;
        machine_.disconnected();
        over_since_ = std::min(over_since_, on_.now());
        if (by_us) co_await channel.end(machine_.ending());
    }

    gyre::task<> receive() {
        while (!machine_.over()) {
            if (!machine_.wants_packets()) {
                may_read_.reset();
                const auto [ended] = co_await may_read_.wait();
                if (ended) co_return;
                machine_.proceed(on_.now());
                continue;
            }
            const gyre::io_result<packet_batch> got = co_await channel_->receive();
            if (!got.ok()) {
                peer_left_ = !machine_.over();
                machine_.disconnected();
                has_output_.set();
                co_return;
            }
            machine_.take(got.value(), on_.now());
        }
    }

    // Until the session is over and its last words are sent, or nothing can be sent.
    gyre::task<> send() {
        for (;;) {
            for (auto bytes = machine_.output(); !bytes.empty(); bytes = machine_.output()) {
                const gyre::io_result<std::size_t> sent = co_await channel_->send(bytes);
                if (!sent.ok()) {
                    peer_left_ = true;
                    co_return;
                }
                machine_.sent(sent.value(), on_.now());
            }
            if (machine_.over()) co_return;
            const auto [ended] = co_await has_output_.wait();
            if (ended) co_return;
            has_output_.reset();
        }
    }

    client_registry& among_;
    gyre::io_context& on_;
    gyre::endpoint peer_;
    gyre::duration linger_;
    packet_channel* channel_ = nullptr;
    gyre::event has_output_;
    gyre::event may_read_;
    gyre::time_point over_since_ = gyre::never;
    bool peer_left_ = false;  // Or nothing can be sent.
    Machine machine_;         // Behind all that it refers to.
};

}  // namespace exchange

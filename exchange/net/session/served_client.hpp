// SPDX-License-Identifier: BSL-1.0
//
// The two coroutines of a client of a gateway or a distributor, whatever carries its packets: one reads, one
// writes.
//
// The client's machine decides (gateway_client.hpp, market_data_client.hpp); this waits. Neither waits for
// another client: the reader for what is behind its machine at most, the writer for its own client.
#pragma once

#include <exchange/net/session/client_link.hpp>
#include <exchange/net/transport/frame_transport.hpp>
#include <exchange/net/transport/packet_stream.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace exchange {

/// A client as a function of what comes in.
///
///   take_packets(now)   Takes the packets that are here.
///   wants_bytes()       Is the reader to read? Else it waits until `may_read` is said.
///   output()            What is to be written. Stays valid until it is `sent(size, now)`.
///   disconnected()      The connection is gone.
///   over(), ending()    The session is over, and why: write `output()` to its end, then close.
///   on_timer(now)       Does what is due.
template <class Client>
concept client_machine =
    std::constructible_from<Client, typename Client::host_type&, client_link&, gyre::time_point> &&
    requires(Client& it, const Client& same, gyre::time_point now, std::size_t size) {
        it.take_packets(now);
        { same.wants_bytes() } -> std::same_as<bool>;
        { it.output() } -> std::same_as<std::span<const std::byte>>;
        it.sent(size, now);
        it.disconnected();
        it.on_timer(now);
        { same.over() } -> std::same_as<bool>;
        { same.ending() } -> std::same_as<soup_ending>;
        { same.logged_in() } -> std::same_as<bool>;
        { same.was_logged_in() } -> std::same_as<bool>;
    };

/// What connections share.
template <executor_traits X, client_machine Client>
struct served_clients_state {
    typename X::context& context;
    typename Client::host_type& host;
    transport_options transports;
    gyre::duration linger;
};

/// @tparam  X          A side of the seam.
/// @tparam  Client     Whose connection it is.
/// @tparam  Transport  What carries its packets.
///
/// Threads:  that of its context.
/// Cost:     Serves one connection after the other; the buffers are taken for each anew.
template <executor_traits X, client_machine Client, frame_transport<X> Transport = packet_stream<X>>
class served_client final : public client_link {
    static_assert(Transport::reliable && Transport::ordered,
                  "a session counts the messages of its connection");

public:
    using task = typename X::template task<void>;

    /// @param  shared  Borrowed; outlives this.
    explicit served_client(served_clients_state<X, Client>& shared)
        : shared_{shared}, packets_{shared.transports} {}
    served_client(const served_client&) = delete;
    served_client& operator=(const served_client&) = delete;

    /// Takes charge of a client, who is then to be served.
    void open(typename X::stream_socket socket) {
        packets_.open(std::move(socket));
        accepted_at_ = X::now(shared_.context);
        client_.emplace(shared_.host, *this, accepted_at_);
        over_since_ = gyre::never;
        finished_ = broken_ = end_said_ = false;
        has_output_.reset();
        may_read_.reset();
        writer_gone_.reset();
    }

    /// Serves it, until it or the exchange has had enough.
    ///
    /// Errors:        none: a connection that is lost is an end like any other.
    /// Cancellation:  `hang_up` ends it.
    /// Threads:       that of the context.
    /// Cost:          no allocation per message.
    task serve() {
        X::launch(shared_.context, write());
        co_await read();
        const bool ended_by_us = client_->over() && !broken_;
        client_->disconnected();
        finished_ = true;
        has_output_.set();
        over_since_ = std::min(over_since_, X::now(shared_.context));
        static_cast<void>(co_await writer_gone_.wait());  // It writes the last words.
        if (ended_by_us) co_await wait_for_the_end();
        client_.reset();
        packets_.close();
        packets_.release();
    }

    /// Is there a client, from `open` to the end of `serve`?
    [[nodiscard]] bool serving() const noexcept { return client_.has_value(); }
    [[nodiscard]] bool logged_in() const noexcept { return client_->logged_in(); }
    [[nodiscard]] bool was_logged_in() const noexcept { return client_->was_logged_in(); }
    [[nodiscard]] gyre::time_point accepted_at() const noexcept { return accepted_at_; }
    [[nodiscard]] const Client& client() const noexcept { return *client_; }

    /// Ends it now.
    void hang_up() noexcept {
        broken_ = true;
        packets_.cut();
        may_read_.set();
    }

    /// Does what is due.
    void on_timer(gyre::time_point now) noexcept {
        if (!client_->over()) return client_->on_timer(now);
        over_since_ = std::min(over_since_, now);
        if (now >= gyre::deadline_after(over_since_, shared_.linger)) hang_up();
    }

private:
    [[nodiscard]] soup_framed next_packet() noexcept override { return packets_.next(); }
    void has_output() noexcept override { has_output_.set(); }
    void may_read() noexcept override { may_read_.set(); }
    [[nodiscard]] gyre::endpoint peer() const noexcept override { return packets_.peer(); }
    [[nodiscard]] std::string_view transport() const noexcept override { return packets_.name(); }

    task read() {
        while (!client_->over() && !broken_) {
            client_->take_packets(X::now(shared_.context));
            if (packets_.owes()) has_output_.set();
            if (client_->over() || packets_.ended()) break;
            if (client_->wants_bytes()) {
                const auto [error, size] = co_await packets_.receive();
                if (error) break;
                packets_.received(size);
            } else {
                may_read_.reset();
                static_cast<void>(co_await may_read_.wait());
            }
        }
    }

    task write() {
        for (;;) {
            if (!finished_ && !has_output_.is_set()) static_cast<void>(co_await has_output_.wait());
            has_output_.reset();
            for (bool more = take_output(); more;) {
                const auto [error, size] = co_await packets_.send(output_);
                more = note_output(error, size);
            }
            if (finished_) break;
        }
        writer_gone_.set();
    }

    [[nodiscard]] bool take_output() noexcept {
        if (broken_) return false;
        output_.clear();
        output_.add(client_->output());
        if (packets_.ready(output_)) return true;
        if (!client_->over() || std::exchange(end_said_, true)) return false;
        packets_.finish(client_->ending());  // It reads the end behind our last words.
        return packets_.ready(output_);
    }
    [[nodiscard]] bool note_output(const gyre::error& error, std::size_t size) noexcept {
        if (error) {
            hang_up();
            return false;
        }
        client_->sent(packets_.sent(size), X::now(shared_.context));
        return take_output();
    }

    /// Lets the client read our last words: what it still sends is dropped until it closes, or for as long
    /// as `on_timer` allows. Closing at once would reset the connection, and destroy them.
    task wait_for_the_end() {
        for (;;) {
            const auto [error, size] = co_await packets_.discard();
            if (error) co_return;
            packets_.discarded(size);
        }
    }

    served_clients_state<X, Client>& shared_;
    Transport packets_;
    std::optional<Client> client_;
    soup_output output_;  // Being written.
    typename X::event has_output_;
    typename X::event may_read_;
    typename X::event writer_gone_;
    gyre::time_point accepted_at_{};
    gyre::time_point over_since_ = gyre::never;
    bool finished_ = false;  // The reader is done, and the writer shall be.
    bool broken_ = false;    // Nothing can be written, or shall be.
    bool end_said_ = false;  // The transport was told that nothing follows.
};

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// A client that sends whatever bytes a test wants, cut wherever it wants, and keeps the packets it hears.
//
// order_entry_client.hpp does as the protocol says; tests of what others may do need one that does not.
#pragma once

#include <exchange/codec/command_codec.hpp>
#include <exchange/codec/soup_framer.hpp>
#include <exchange/tests/net/trader.hpp>
#include <exchange/tests/net/transport_of.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>

#include <gyre/websocket/close_code.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace exchange::testing {

/// One packet as a client hears it.
struct heard_packet {
    soup_type type{};
    std::vector<std::byte> payload;

    [[nodiscard]] friend bool operator==(const heard_packet&, const heard_packet&) = default;
};

template <executor_traits X>
class raw_client : public ear<X> {
public:
    using task = typename X::template task<void>;

    explicit raw_client(typename X::context& on) : on_{on} {}

    task connect(gyre::endpoint where) {
        auto [error, socket] = co_await X::connect(on_, where);
        REQUIRE_FALSE(error);
        socket_ = std::move(socket);
        wire_.emplace(where);
        const std::vector<std::byte> first = wire_->first_words();
        co_await write_some(first);
        while (!wire_->open()) {
            const auto [lost, size] = co_await socket_.read_some(wire_->space());
            REQUIRE_FALSE(lost);
            wire_->received(size);
        }
        begin_to_listen();
    }

    // What `write` is to send.

    void say_bytes(std::span<const std::byte> bytes) {
        unsent.insert(unsent.end(), bytes.begin(), bytes.end());
    }
    void say(soup_type type, std::span<const std::byte> payload = {}) {
        std::array<std::byte, soup_header_bytes> header;
        write_soup_header(header, type, payload.size());
        say_bytes(header);
        say_bytes(payload);
    }
    void log_in(std::string_view name, std::uint64_t sequence = 1) {
        say(soup_type::login_request, format_soup_login(login_of(name, sequence)));
    }
    template <command_record Command>
    void say(const Command& what) {
        std::vector<std::byte> bytes(message_bytes(what));
        encode(what, bytes);
        say(soup_type::unsequenced, bytes);
    }

    /// Writes all of it as one piece.
    task write() {
        const std::vector<std::byte> bytes = wire_->encoded(unsent);
        unsent.clear();
        co_await write_some(bytes);
        if (last_) static_cast<void>(socket_.shutdown(gyre::shutdown_side::send));
    }

    /// Writes it byte for byte, each when the one before has been read.
    ///
    /// @param  reads  Yields how often the other side has read.
    template <class Count>
    task write_bytewise(Count reads) {
        typename X::timer timer{on_};
        const std::vector<std::byte> bytes = wire_->encoded(unsent);
        for (const std::byte& each : bytes) {
            const auto before = reads();
            co_await write_some({&each, 1});
            while (reads() == before) static_cast<void>(co_await timer.wait_until(X::now(on_)));
        }
        unsent.clear();
    }

    /// Waits until so many packets were heard in all, heartbeats aside.
    task hear(std::size_t packets) {
        co_await this->until([this, packets] { return heard.size() >= packets; });
    }

    /// Waits until nothing follows.
    task hear_the_end() {
        if (!listening_ && !ended) begin_to_listen();
        co_await this->until([this] { return ended; });
    }

    /// What arrives from here on waits in the kernel, but for what ends the read that is under way.
    void stop_reading() { deaf_ = true; }

    [[nodiscard]] int native_handle() noexcept { return socket_.native_handle(); }

    /// Before it goes out of scope.
    task leave() {
        static_cast<void>(socket_.close());
        co_await this->until([this] { return !listening_; });
    }

    /// The next `write` is the last; what the other side still says is heard.
    void finish_after_write() { last_ = true; }

    /// The text of the last packet, if it is for people.
    [[nodiscard]] std::string last_words() const {
        if (heard.empty() || heard.back().type != soup_type::debug) return {};
        const auto& text = heard.back().payload;
        return {reinterpret_cast<const char*>(text.data()), text.size()};
    }

    /// True if what came ends with the close frame of a WebSocket that has this number.
    [[nodiscard]] bool closed_with(gyre::websocket::close_code code) const {
        const auto number = static_cast<std::uint16_t>(code);
        const std::array<std::byte, 2> wanted{std::byte(number >> 8), std::byte(number & 0xff)};
        for (std::size_t at = wire.size() - std::min<std::size_t>(wire.size(), 127);
             at + 4 <= wire.size(); ++at)
            if (wire[at] == std::byte{0x88} && at + 2 + std::size_t(wire[at + 1]) == wire.size() &&
                std::equal(wanted.begin(), wanted.end(), wire.begin() + std::ptrdiff_t(at + 2)))
                return true;
        return false;
    }

    template <event_record Event>
    [[nodiscard]] std::vector<Event> heard_of() const {
        collector<Event> found;
        for (const heard_packet& each : heard)
            static_cast<void>(decode_private_event(each.payload, found));
        return found.taken;
    }
    [[nodiscard]] std::vector<message_rejected> refusals() const {
        refusal_collector found;
        for (const heard_packet& each : heard)
            if (each.type == soup_type::unsequenced)
                static_cast<void>(decode_private_event(each.payload, found));
        return found.taken;
    }

    std::vector<std::byte> unsent;
    std::vector<heard_packet> heard;
    std::vector<std::byte> wire;  ///< Everything that was read, as it came.
    bool ended = false;
    soup_ending nonsense = soup_ending::none;  ///< Why what follows cannot be cut into packets.

private:
    task write_some(gyre::const_buffer bytes) {
        while (!bytes.empty()) {
            const auto [error, size] = co_await socket_.write_some(bytes);
            if (error) break;  // The other side has had enough, which it has told the reader.
            bytes = bytes.subspan(size);
        }
    }
    void begin_to_listen() {
        listening_ = true;
        deaf_ = false;
        X::launch(on_, listen());
    }
    task listen() {
        while (!deaf_) {
            const std::span<std::byte> space = wire_->space();
            const auto [error, size] = co_await socket_.read_some(space);
            if (error) {
                ended = true;
                break;
            }
            wire.insert(wire.end(), space.begin(),
                        space.begin() + static_cast<std::ptrdiff_t>(size));
            wire_->received(size);
            take_packets();
            if (nonsense != soup_ending::none || wire_->ended()) {
                ended = true;
                break;
            }
            this->note_change();
        }
        listening_ = false;
        this->note_change();
    }
    void take_packets() {
        for (;;) {
            const soup_framed framed = wire_->next();
            nonsense = framed.ending;
            if (!framed.complete) return;
            if (framed.packet.type == soup_type::server_heartbeat) continue;
            heard.push_back(
                {framed.packet.type, {framed.packet.payload.begin(), framed.packet.payload.end()}});
        }
    }

    typename X::context& on_;
    typename X::stream_socket socket_;
    std::optional<typename transport_of<X>::wire> wire_;  // Of the connection.
    bool listening_ = false;
    bool deaf_ = false;
    bool last_ = false;
};

}  // namespace exchange::testing

// SPDX-License-Identifier: BSL-1.0
//
// What every frame transport promises (exchange/net/transport/frame_transport.hpp), on either side of the
// seam.
//
// Two ends of one transport talk over loopback, often with a relay between them that passes on a few bytes
// at a time. What they say are packets of a session, so that transports which change them can say them as
// well. websocket_laws.hpp has what is promised of WebSockets alone.
#pragma once

#include <exchange/codec/event_codec.hpp>
#include <exchange/net/transport/frame_transport.hpp>
#include <exchange/tests/net/law.hpp>
#include <exchange/tests/net/spoken_format.hpp>
#include <exchange/tests/net/spoken_security.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace exchange::testing {

struct carried_packet {
    soup_type type{};
    bytes payload;
    friend bool operator==(const carried_packet&, const carried_packet&) = default;
};

/// @tparam  Transport  A model of frame_transport: the server's.
/// @tparam  Client     The client's transport, if it is somebody else's.
template <class Side, class Transport, class Client = Transport>
struct transport_law : law<Side> {
    using base = law<Side>;
    using typename base::context;
    using typename base::event;
    using typename base::stream_socket;
    using X = typename base::X;
    template <class Result = void>
    using task = typename base::template task<Result>;
    static_assert(frame_transport<Transport, X> && Transport::reliable && Transport::ordered);

    static void packets_come_out_whole_and_in_order_wherever_bytes_are_cut() {
        for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{64}})
            base::hold([piece](context& on) -> task<> {
                pair ends{on};
                co_await ends.open_through_a_relay(on, piece);
                const bytes asked = of_a_client();
                const bytes answered = of_a_server(3);
                co_await ends.client.say(asked);
                co_await ends.server.say(answered);
                co_await ends.server.hear(packets_in(asked).size());
                co_await ends.client.hear(packets_in(answered).size());

                CHECK(ends.server.heard == packets_in(asked));
                CHECK(ends.client.heard == packets_in(answered));
                co_await ends.leave();
            });
    }

    static void a_batch_of_many_parts_comes_out_packet_by_packet() {
        base::hold([](context& on) -> task<> {
            pair ends{on};
            co_await ends.open(on);
            const bytes all = of_a_server(500);
            co_await ends.server.say(all, soup_output{}.parts.size());
            co_await ends.client.hear(packets_in(all).size());

            CHECK(ends.client.heard == packets_in(all));
            co_await ends.leave();
        });
    }

    /// Writes are partial then; who reads late misses nothing.
    static void a_peer_that_reads_late_misses_nothing() {
        base::hold([](context& on) -> task<> {
            pair ends{on};
            co_await ends.open(on, narrow::yes);
            const bytes all = of_a_server(3'000);
            const std::size_t first = packet_bytes(all);
            co_await ends.server.say(std::span{all}.first(first));
            co_await ends.client.hear(1);
            ends.client.deaf = true;
            event said;
            X::launch(on, say_and_tell(ends.server, std::span{all}.subspan(first), said));
            co_await base::settle(on);
            CHECK_FALSE(said.is_set());  // Its writer waits.
            co_await ends.client.stopped();
            CHECK(ends.client.heard.size() < 1'000);
            ends.client.listen();
            co_await ends.client.hear(packets_in(all).size());
            static_cast<void>(co_await said.wait());

            CHECK(ends.client.heard == packets_in(all));
            co_await ends.leave();
        });
    }

    static void who_is_told_the_end_has_heard_all_before_it() {
        base::hold([](context& on) -> task<> {
            pair ends{on};
            co_await ends.open(on);
            const bytes all = of_a_server(100);
            co_await ends.server.say(all);
            event finished;
            X::launch(on, finish_and_tell(ends.server, soup_ending::session_ended, finished));
            co_await ends.client.hear_the_end();
            CHECK(ends.client.heard == packets_in(all));
            // Where it is secured, an end that nobody has said is another one's doing.
            CHECK((spoken_security() == nullptr || ends.client.transport.ended()));
            co_await ends.client.leave();
            static_cast<void>(co_await finished.wait());
            co_await ends.server.leave();
        });
    }

    static void cutting_ends_both_waits() {
        base::hold([](context& on) -> task<> {
            pair ends{on};
            co_await ends.open(on);
            ends.server.transport.cut();
            co_await ends.server.hear_the_end();
            co_await ends.client.hear_the_end();
            CHECK(ends.client.heard.empty());
            co_await ends.leave();
        });
    }

    static void one_object_serves_one_connection_after_the_other() {
        base::hold([](context& on) -> task<> {
            pair ends{on};
            for (int round = 0; round < 3; ++round) {
                co_await ends.open(on);
                const bytes asked = of_a_client();
                co_await ends.client.say(asked);
                co_await ends.server.hear(packets_in(asked).size());
                CHECK(ends.server.heard == packets_in(asked));
                CHECK(ends.client.transport.opened());
                CHECK(ends.server.transport.opened());
                // A packet that is torn here is not the next connection's.
                co_await ends.leave();
            }
        });
    }

    static void bytes_that_nobody_sends_end_the_connection() {
        base::hold([](context& on) -> task<> {
            for (std::uint32_t seed = 0; seed < 8; ++seed) {
                auto made = co_await base::connect_pair(on);
                end server{on, options()};
                co_await server.open(std::move(made.far), soup_end::server);
                bytes noise = patterned(4096 + 4096 * std::size_t{seed});
                for (std::byte& each : noise) each ^= static_cast<std::byte>(seed * 37);
                gyre::const_buffer rest{noise};
                while (!rest.empty()) {
                    const auto [error, size] = co_await made.near.write_some(rest);
                    if (error) break;
                    rest = rest.subspan(size);
                }
                static_cast<void>(made.near.shutdown(gyre::shutdown_side::send));
                co_await server.hear_the_end();
                static_cast<void>(made.near.close());
                co_await server.leave();
            }
        });
    }

    // What other laws of transports are made of, too.

    [[nodiscard]] static transport_options options() {
        transport_options made;
        made.websocket.format = spoken_format;
        made.security = spoken_security();
        made.websocket.unsent_bytes_max = 8192;  // So that a peer that does not read is noticed.
        return made;
    }

    /// What a client says in a session: all kinds of packets.
    [[nodiscard]] static bytes of_a_client() {
        bytes all = framed(soup_type::login_request, format_soup_login(login_of("alice")));
        for (std::uint32_t each = 1; each <= 5; ++each) append(all, order(each));
        append(all, framed(soup_type::debug, gyre::bytes_of("for people")));
        append(all, framed(soup_type::client_heartbeat));
        append(all, framed(soup_type::logout_request));
        return all;
    }
    /// What it is told, with so many messages in its stream.
    [[nodiscard]] static bytes of_a_server(std::uint32_t messages) {
        bytes all = framed(soup_type::login_accepted, format_soup_acceptance({"DAY", 7}));
        for (std::uint32_t each = 1; each <= messages; ++each) {
            order_entered entered{};
            entered.order = order_id{each};
            entered.instrument = the_market;
            entered.account = account_id{1};
            entered.client_seq = client_sequence{each};
            entered.session = alice;
            entered.tif = time_in_force::day;
            std::array<std::byte, message_bytes_of<order_entered>> message;
            encode(entered, {out_sequence{each}, in_sequence{each}, 3, 4, true},
                   std::span{message});
            append(all, framed(soup_type::sequenced, message));
        }
        append(all, framed(soup_type::server_heartbeat));
        append(all, framed(soup_type::end_of_session));
        return all;
    }
    [[nodiscard]] static bytes order(std::uint32_t which) {
        const enter_order it = limit(client_sequence{which}, order_side::buy, which, 5);
        bytes message(message_bytes(it));
        encode(it, message);
        return framed(soup_type::unsequenced, message);
    }
    [[nodiscard]] static bytes framed(soup_type type, std::span<const std::byte> payload = {}) {
        bytes made(soup_header_bytes);
        write_soup_header(std::span{made}.template first<soup_header_bytes>(), type,
                          payload.size());
        made.insert(made.end(), payload.begin(), payload.end());
        return made;
    }
    [[nodiscard]] static std::size_t packet_bytes(std::span<const std::byte> wire) {
        return 2 + std::size_t{get_big_endian<std::uint16_t>(wire.template first<2>())};
    }
    [[nodiscard]] static std::vector<carried_packet> packets_in(std::span<const std::byte> wire) {
        std::vector<carried_packet> all;
        while (!wire.empty()) {
            const auto payload = wire.first(packet_bytes(wire)).subspan(soup_header_bytes);
            all.push_back({static_cast<soup_type>(wire[2]), {payload.begin(), payload.end()}});
            wire = wire.subspan(packet_bytes(wire));
        }
        return all;
    }

    /// A transport as a session's connection drives it.
    template <class Driven>
    struct end_of {
        end_of(context& on, const transport_options& how) : transport{how}, on_{on} {}

        task<> open(stream_socket socket, soup_end we) {
            transport.open(std::move(socket), we);
            heard.clear();
            why = soup_ending::none;
            over_ = closing_ = false;
            listen();
            if (we == soup_end::client) co_await write_what_is_owed();
        }
        void listen() {
            deaf = false;
            listening_ = true;
            X::launch(on_, read());
        }

        /// Says packets, as soon as it may, in outputs of so many parts of one packet each, or of one part.
        task<> say(std::span<const std::byte> packets, std::size_t parts_max = 1) {
            while (!over_ && (!packets.empty() || transport.owes())) {
                const soup_output output = output_of(packets, parts_max);
                if (writing_ || !transport.ready(output)) {
                    co_await change();
                    continue;
                }
                writing_ = true;
                const auto [error, size] = co_await transport.send(output);
                writing_ = false;
                if (error) break;
                CHECK(size > 0);
                packets = packets.subspan(transport.sent(size));
                changed_.set();
            }
        }
        task<> write_what_is_owed() {
            const soup_output nothing{};
            while (transport.owes()) {
                if (writing_) {
                    co_await change();
                    continue;
                }
                writing_ = true;
                const auto [error, size] = co_await transport.send(nothing);
                writing_ = false;
                if (error) break;
                CHECK(transport.sent(size) == 0);
                changed_.set();
            }
        }
        /// Says the end, and waits until the peer has left.
        task<> finish(soup_ending with) {
            closing_ = true;
            transport.finish(with);
            co_await write_what_is_owed();
            co_await hear_the_end();
        }

        task<> hear(std::size_t packets) {
            while (heard.size() < packets && !over_) co_await change();
            CHECK(heard.size() == packets);
        }
        task<> hear_the_end() {
            while (!over_) co_await change();
        }
        /// Waits until its reader has noticed that it is deaf.
        task<> stopped() {
            while (listening_) co_await change();
        }
        /// Cuts and closes, behind its reader.
        task<> leave() {
            if (transport.is_open()) transport.cut();
            co_await stopped();
            if (transport.is_open()) transport.close();
            transport.release();
        }

        Driven transport;
        std::vector<carried_packet> heard;
        soup_ending why = soup_ending::none;
        bool deaf = false;  ///< Its reader stops behind the next read, until `listen`.

    private:
        static soup_output output_of(std::span<const std::byte> packets, std::size_t parts_max) {
            soup_output made;
            if (parts_max == 1) {
                made.add(packets);
                return made;
            }
            while (!packets.empty() && made.count < parts_max) {
                made.add(packets.first(packet_bytes(packets)));
                packets = packets.subspan(packet_bytes(packets));
            }
            return made;
        }

        task<> change() {
            changed_.reset();
            static_cast<void>(co_await changed_.wait());
        }
        task<> read() {
            while (!deaf && !over_) {
                const auto [error, size] = co_await transport.receive();
                if (error) {
                    over_ = true;
                    break;
                }
                transport.received(size);
                if (closing_) {
                    co_await discard();
                    break;
                }
                take_packets();
                if (!writing_) co_await write_what_is_owed();
                over_ = why != soup_ending::none || transport.ended();
                changed_.set();
            }
            listening_ = false;
            changed_.set();
        }
        task<> discard() {
            while (!over_) {
                const auto [error, size] = co_await transport.discard();
                over_ = static_cast<bool>(error);
                if (!over_) transport.discarded(size);
            }
        }
        void take_packets() {
            for (;;) {
                const soup_framed next = transport.next();
                why = next.ending;
                if (!next.complete) return;
                heard.push_back(
                    {next.packet.type, {next.packet.payload.begin(), next.packet.payload.end()}});
            }
        }

        context& on_;
        event changed_;
        bool over_ = false;
        bool listening_ = false;
        bool writing_ = false;
        bool closing_ = false;
    };

    using end = end_of<Transport>;

    enum class narrow : bool { no, yes };

    /// A client's end and a server's.
    struct pair {
        explicit pair(context& on) : client{on, options()}, server{on, options()} {}

        task<> open(context& on, narrow how = narrow::no) {
            auto made = co_await base::connect_pair(on);
            if (how == narrow::yes) {
                CHECK(made.far.set_option(gyre::send_buffer{8192}).ok());
            }
            co_await server.open(std::move(made.far), soup_end::server);
            co_await client.open(std::move(made.near), soup_end::client);
        }
        task<> open_through_a_relay(context& on, std::size_t piece) {
            auto left = co_await base::connect_pair(on);
            auto right = co_await base::connect_pair(on);
            relays_.push_back(std::make_unique<relay>());
            relay& it = *relays_.back();
            it.left = std::move(left.far);
            it.right = std::move(right.near);
            X::launch(on, pass_on(it.left, it.right, piece, it.left_done));
            X::launch(on, pass_on(it.right, it.left, piece, it.right_done));
            co_await server.open(std::move(right.far), soup_end::server);
            co_await client.open(std::move(left.near), soup_end::client);
        }
        task<> leave() {
            co_await client.leave();
            co_await server.leave();
            for (const auto& each : relays_) {
                static_cast<void>(co_await each->left_done.wait());
                static_cast<void>(co_await each->right_done.wait());
            }
            relays_.clear();
        }

        end_of<Client> client;
        end server;

    private:
        struct relay {
            stream_socket left;
            stream_socket right;
            event left_done;
            event right_done;
        };
        std::vector<std::unique_ptr<relay>> relays_;
    };

protected:
    static task<> finish_and_tell(end& by, soup_ending why, event& finished) {
        co_await by.finish(why);
        finished.set();
    }

private:
    static void append(bytes& to, const bytes& more) {
        to.insert(to.end(), more.begin(), more.end());
    }
    static task<> say_and_tell(end& by, std::span<const std::byte> packets, event& said) {
        co_await by.say(packets);
        said.set();
    }
    static task<> pass_on(stream_socket& from, stream_socket& to, std::size_t piece, event& done) {
        std::array<std::byte, 64> space;
        for (bool open = true; open;) {
            const auto [error, size] = co_await from.read_some(std::span{space}.first(piece));
            if (error) break;
            gyre::const_buffer rest = gyre::const_buffer{space}.first(size);
            while (open && !rest.empty()) {
                const auto [lost, count] = co_await to.write_some(rest);
                open = !lost;
                rest = rest.subspan(count);
            }
        }
        static_cast<void>(to.shutdown(gyre::shutdown_side::both));
        done.set();
    }
};

}  // namespace exchange::testing

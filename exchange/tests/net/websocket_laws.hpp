// SPDX-License-Identifier: BSL-1.0
//
// What a server's WebSocket promises to clients that do as they like, on either side of the seam.
//
// The client is a bare socket that sends frames made by hand, so that a law about one library's server
// does not rest on the same library's client. transport_laws.hpp has what holds for all transports.
#pragma once

#include <exchange/tests/net/transport_laws.hpp>
#include <exchange/tests/net/websocket_side.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace exchange::testing {

template <class Side, class Transport>
struct websocket_law : transport_law<Side, Transport> {
    using base = transport_law<Side, Transport>;
    using typename base::context;
    using typename base::event;
    using typename base::stream_socket;
    using X = typename base::X;
    using server_end = typename base::end;
    template <class Result = void>
    using task = typename base::template task<Result>;
    using opcode = gyre::websocket::frame_opcode;

    static void each_format_is_agreed_on_by_its_name() {
        for (const auto& [name, frame, packet] :
             {std::tuple{"exchange.sbe.v1", client_frame(opcode::binary, gyre::bytes_of("R")),
                         soup_type::client_heartbeat},
              std::tuple{"exchange.json.v1", client_text(R"({"message":"logout"})"),
                         soup_type::logout_request}})
            base::hold([name, frame, packet](context& on) -> task<> {
                client it{on};
                co_await it.come(on, request(name));
                CHECK(it.said.find("HTTP/1.1 101 ") == 0);
                CHECK(it.said.find(std::string{name} + "\r\n") != std::string::npos);
                co_await it.say(frame);
                co_await it.server.hear(1);
                CHECK(it.server.heard[0].type == packet);
                co_await it.leave();
            });
    }

    static void who_asks_for_something_else_is_refused_by_http() {
        const auto check = [](std::string asked, std::string_view status) {
            base::hold([asked, status](context& on) -> task<> {
                client it{on};
                co_await it.come(on, asked);
                co_await it.hear_until("\r\n\r\n");
                CHECK(it.said.find("HTTP/1.1 " + std::string{status}) == 0);
                it.hang_up();
                co_await it.server.hear_the_end();
                CHECK(it.server.heard.empty());
                co_await it.leave();
            });
        };
        check(request("chat"), "400");
        std::string elsewhere = request("exchange.sbe.v1");
        elsewhere.replace(0, 19, "GET /somewhere/else/v1");
        check(elsewhere, "404");
        check("GET /order-entry/v1 HTTP/1.1\r\nHost: here\r\n\r\n", "426");
    }

    static void a_flood_of_pings_is_survived_and_the_last_one_is_answered() {
        base::hold([](context& on) -> task<> {
            client it{on};
            co_await it.come(on, request("exchange.sbe.v1"));
            bytes flood;
            for (int each = 1; each <= 2'000; ++each)
                append(flood, client_frame(opcode::ping, gyre::bytes_of(std::to_string(each))));
            append(flood, client_frame(opcode::binary, gyre::bytes_of("R")));
            event sent;
            X::launch(on, say_and_tell(it, flood, sent));
            co_await it.hear_until("2000");
            static_cast<void>(co_await sent.wait());
            co_await it.server.hear(1);
            CHECK(it.server.heard.size() == 1);
            co_await it.leave();
        });
    }

    static void a_client_that_closes_is_answered_with_its_number() {
        base::hold([](context& on) -> task<> {
            client it{on};
            co_await it.come(on, request("exchange.sbe.v1"));
            co_await it.say(client_frame(opcode::binary, gyre::bytes_of("R")));
            co_await it.say(client_frame(opcode::close, gyre::bytes_of("\x03\xe8")));
            co_await it.hear_until("\x88\x02\x03\xe8");
            it.hang_up();
            co_await it.server.hear_the_end();
            CHECK(it.server.heard.size() == 1);
            co_await it.leave();
        });
    }

    static void a_server_closes_with_the_reason_and_waits_for_the_answer() {
        base::hold([](context& on) -> task<> {
            client it{on};
            co_await it.come(on, request("exchange.sbe.v1"));
            co_await it.say(client_frame(opcode::binary, gyre::bytes_of("R")));
            co_await it.server.hear(1);
            event closed;
            X::launch(on, base::finish_and_tell(it.server, soup_ending::fell_behind, closed));
            co_await it.hear_until(std::string{"\x03\xf0"} +
                                   std::string{describe(soup_ending::fell_behind)});
            co_await base::settle(on);
            CHECK_FALSE(closed.is_set());
            co_await it.say(client_frame(opcode::close, gyre::bytes_of("\x03\xf0")));
            co_await it.hear_the_end();  // The server goes first.
            it.hang_up();
            static_cast<void>(co_await closed.wait());
            co_await it.leave();
        });
    }

    static void a_peer_that_never_answers_a_close_is_cut_off_by_who_waits() {
        base::hold([](context& on) -> task<> {
            client it{on};
            co_await it.come(on, request("exchange.sbe.v1"));
            co_await it.say(client_frame(opcode::binary, gyre::bytes_of("R")));
            co_await it.server.hear(1);
            event closed;
            X::launch(on, base::finish_and_tell(it.server, soup_ending::fell_behind, closed));
            co_await it.hear_until(describe(soup_ending::fell_behind));
            co_await base::settle(on);
            CHECK_FALSE(closed.is_set());
            it.server.transport.cut();
            static_cast<void>(co_await closed.wait());
            co_await it.leave();
        });
    }

    static void frames_that_must_not_be_end_the_session() {
        const std::string unmasked{"\x82\x01R"};
        const std::string reserved{"\xf2\x80"};
        const std::string continuation{"\x80\x80\x01\x02\x03\x04", 6};
        for (const std::string& each : {unmasked, reserved, continuation})
            base::hold([each](context& on) -> task<> {
                client it{on};
                co_await it.come(on, request("exchange.sbe.v1"));
                bytes wrong;
                append(wrong, {gyre::bytes_of(each).begin(), gyre::bytes_of(each).end()});
                append(wrong, client_frame(opcode::binary, gyre::bytes_of("R")));
                co_await it.say(wrong);
                static_cast<void>(it.finish());
                co_await it.server.hear_the_end();
                CHECK(it.server.heard.empty());
                co_await it.leave();
            });
    }

private:
    static std::string request(std::string_view subprotocol) {
        return "GET /order-entry/v1 HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: "
               "Upgrade\r\n"
               "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
               "Sec-WebSocket-Protocol: " +
               std::string{subprotocol} + "\r\n\r\n";
    }
    static void append(bytes& to, const bytes& more) {
        to.insert(to.end(), more.begin(), more.end());
    }

    /// A server's end, and the bare socket of its client.
    struct client {
        explicit client(context& on) : server{on, base::options()} {}

        /// Connects, asks, and reads what is said to that.
        task<> come(context& on, std::string asked) {
            auto made = co_await base::connect_pair(on);
            socket_ = std::move(made.near);
            co_await server.open(std::move(made.far), soup_end::server);
            const bytes first{gyre::bytes_of(asked).begin(), gyre::bytes_of(asked).end()};
            co_await say(first);
            if (asked.find("exchange.") != std::string::npos) co_await hear_until("\r\n\r\n");
        }
        task<> say(const bytes& what) {
            gyre::const_buffer rest{what};
            while (!rest.empty()) {
                const auto [error, size] = co_await socket_.write_some(rest);
                if (error) break;
                rest = rest.subspan(size);
            }
        }
        /// Reads until it has been said.
        task<> hear_until(std::string_view what) {
            while (!over_ && said.find(what) == std::string::npos) co_await hear();
            CHECK(said.find(what) != std::string::npos);
        }
        task<> hear_the_end() {
            while (!over_) co_await hear();
        }
        gyre::io_result<> finish() { return socket_.shutdown(gyre::shutdown_side::send); }
        void hang_up() { static_cast<void>(socket_.close()); }
        task<> leave() {
            if (socket_.is_open()) hang_up();
            co_await server.leave();
        }

        server_end server;
        std::string said;

    private:
        task<> hear() {
            std::array<std::byte, 4096> space;
            const auto [error, size] = co_await socket_.read_some(space);
            over_ = static_cast<bool>(error);
            said.append(reinterpret_cast<const char*>(space.data()), size);
        }

        stream_socket socket_;
        bool over_ = false;
    };

    static task<> say_and_tell(client& by, const bytes& what, event& said) {
        co_await by.say(what);
        said.set();
    }
};

}  // namespace exchange::testing

// SPDX-License-Identifier: BSL-1.0
//
// Two listeners of one server, and the clients that make room at each.
#include <exchange/server/client_server.hpp>

#include <gyre/base/buffer.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/sync/task_group.hpp>

#include <support/harness.hpp>
#include <support/settle.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

using namespace exchange;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct patient_host {
    struct options_type {
        struct {
            gyre::duration login_within = 10s;
        } sessions;
    };
    [[nodiscard]] const options_type& options() const noexcept { return how; }

    options_type how;
};

/// A client that says nothing and never logs in.
class stranger_machine {
public:
    using host_type = patient_host;

    stranger_machine(patient_host&, client_link&, gyre::time_point) noexcept {}
    void take(const packet_batch&, gyre::time_point) noexcept {}
    void proceed(gyre::time_point) noexcept {}
    [[nodiscard]] bool wants_packets() const noexcept { return true; }
    [[nodiscard]] std::span<const std::byte> output() noexcept { return {}; }
    void sent(std::size_t, gyre::time_point) noexcept {}
    void disconnected() noexcept { over_ = true; }
    void on_timer(gyre::time_point) noexcept {}
    [[nodiscard]] bool over() const noexcept { return over_; }
    [[nodiscard]] soup_ending ending() const noexcept { return soup_ending::none; }
    [[nodiscard]] bool logged_in() const noexcept { return false; }
    [[nodiscard]] bool was_logged_in() const noexcept { return false; }

private:
    bool over_ = false;
};

using stranger_server = client_server<stranger_machine>;

[[nodiscard]] client_server_options two_places_at_each() {
    client_server_options how;
    how.tcp = gyre::endpoint::parse("127.0.0.1:0").value();
    how.websocket = how.tcp;
    how.connections_max = 2;
    how.timer_tick = 1ms;
    return how;
}

/// Waits until the server closes one of its clients.
gyre::task<> wait_for_end(gyre::stream_socket& of) {
    std::array<std::byte, 64> space{};
    const gyre::io_result<std::size_t> got = co_await of.read_some(gyre::mutable_buffer{space});
    CHECK(!got.ok());
}

/// Sends one more client to `full` than it has places, beside one client at `other`.
///
/// @param  left  Sessions of clients afterwards, at both.
gyre::task<> check_room_is_made_at(stranger_server& server, gyre::endpoint full,
                                   gyre::endpoint other, std::size_t left) {
    const auto [unreached, bystander] = co_await gyre::stream_socket::connect(other);
    REQUIRE(!unreached);
    co_await settle();
    std::vector<gyre::stream_socket> crowd;
    for (int each = 0; each < 3; ++each) {
        auto [failed, client] = co_await gyre::stream_socket::connect(full);
        REQUIRE(!failed);
        crowd.push_back(std::move(client));
        co_await settle();
    }
    co_await wait_for_end(crowd.front());
    co_await settle();
    CHECK(server.clients() == left);
}

gyre::task<> with_server(gyre::io_context& on,
                         const std::function<gyre::task<>(stranger_server&)>& test) {
    patient_host host;
    stranger_server server{host, two_places_at_each()};
    REQUIRE(server.listen(on).ok());
    const auto body = [&](gyre::task_group& group) -> gyre::task<> {
        group.spawn(server.serve());
        co_await test(server);
        group.request_stop();
    };
    co_await gyre::with_group(body);
}

}  // namespace

TEST_CASE("client server: a crowd at the listener of WebSocket cuts no client of TCP") {
    on_every_backend([](gyre::io_context& on) -> gyre::task<> {
        const auto test = [](stranger_server& server) {
            return check_room_is_made_at(server, server.websocket(), server.tcp(), 1);
        };
        co_await with_server(on, test);
    });
}

TEST_CASE("client server: a full listener of TCP cuts the client that came first") {
    on_every_backend([](gyre::io_context& on) -> gyre::task<> {
        const auto test = [](stranger_server& server) {
            return check_room_is_made_at(server, server.tcp(), server.websocket(), 2);
        };
        co_await with_server(on, test);
    });
}

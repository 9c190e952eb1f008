// SPDX-License-Identifier: BSL-1.0
//
// Turns of clients that are connected, and the one that gives way where all places are taken.
#include <exchange/server/client_registry.hpp>

#include <gyre/sync/event.hpp>
#include <gyre/sync/task_group.hpp>

#include <support/harness.hpp>
#include <support/settle.hpp>

#include <deque>
#include <vector>

using namespace exchange;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr gyre::time_point day_start{1h};

/// A client as a test describes it, which stays until it is cut.
class described_client final : public connected_client {
public:
    described_client(client_registry& among, gyre::duration age)
        : connected_client{day_start - age}, among_{among} {
        among_.enlist(*this);
    }
    ~described_client() { among_.dismiss(*this); }

    gyre::task<> stay() {
        const auto body = [this]() -> gyre::task<> { static_cast<void>(co_await never_.wait()); };
        co_await run_until_cut(body);
        gone = true;
    }

    void on_timer(gyre::time_point) noexcept override { ++ticks; }
    [[nodiscard]] bool logged_in() const noexcept override { return in; }
    [[nodiscard]] bool was_logged_in() const noexcept override { return in || once_in; }

    bool in = false;
    bool once_in = false;
    bool gone = false;
    int ticks = 0;

private:
    client_registry& among_;
    gyre::event never_;
};

/// Two participants, a client that reads why it is logged in no more, and a stranger, by age.
struct crowd {
    crowd() {
        for (const gyre::duration age : {4s, 3s, 2s, 1s}) clients.emplace_back(all, age);
        clients[0].in = clients[1].in = true;
        clients[2].once_in = true;
    }

    client_registry all;
    std::deque<described_client> clients;
};

/// Checks which clients are gone after `make_room`.
///
/// @param  expected  Places in the crowd.
gyre::task<> check_gives_way(crowd& it, std::vector<std::size_t> expected) {
    const auto body = [&](gyre::task_group& group) -> gyre::task<> {
        for (described_client& each : it.clients) group.spawn(each.stay());
        co_await settle();
        it.all.make_room();
        co_await settle();
        std::vector<std::size_t> gone;
        for (std::size_t each = 0; each < it.clients.size(); ++each)
            if (it.clients[each].gone) gone.push_back(each);
        CHECK(gone == expected);
        group.request_stop();
    };
    co_await gyre::with_group(body);
}

}  // namespace

TEST_CASE("client registry: a stranger gives way before a client that reads its last words") {
    on_every_backend([](gyre::io_context&) -> gyre::task<> {
        crowd it;
        co_await check_gives_way(it, {3});
    });
}

TEST_CASE("client registry: of strangers the one that has been here longest gives way") {
    on_every_backend([](gyre::io_context&) -> gyre::task<> {
        crowd it;
        it.clients[2].once_in = false;
        co_await check_gives_way(it, {2});
    });
}

TEST_CASE("client registry: without strangers a client that is logged in no more gives way") {
    on_every_backend([](gyre::io_context&) -> gyre::task<> {
        crowd it;
        it.clients[3].in = true;
        co_await check_gives_way(it, {2});
    });
}

TEST_CASE("client registry: a client that is logged in never gives way") {
    on_every_backend([](gyre::io_context&) -> gyre::task<> {
        crowd it;
        for (described_client& each : it.clients) each.in = true;
        co_await check_gives_way(it, {});
    });
}

TEST_CASE("client registry: in each round each client has its turn, a part of them at a time") {
    client_registry all;
    std::deque<described_client> clients;
    for (int each = 0; each < 1'000; ++each) clients.emplace_back(all, 1s);
    gyre::time_point next = day_start;
    int before = 0;
    int calls = 0;
    for (; next < day_start + 1s; ++calls) {
        next = all.on_tick(next, 1s);
        int ticks = 0;
        for (const described_client& each : clients) ticks += each.ticks;
        CHECK(ticks - before <= 256);
        before = ticks;
    }
    CHECK(calls == 4);
    for (const described_client& each : clients) CHECK(each.ticks >= 1);
    CHECK(before <= 1'024);
}

TEST_CASE("client registry: a client that leaves has no turn, and the others keep theirs") {
    client_registry all;
    described_client stays{all, 2s};
    {
        const described_client leaves{all, 1s};
        CHECK(all.size() == 2);
    }
    CHECK(all.size() == 1);
    static_cast<void>(all.on_tick(day_start, 1s));
    CHECK(stays.ticks == 1);
}

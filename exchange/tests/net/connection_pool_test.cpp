// SPDX-License-Identifier: BSL-1.0
//
// Who has to make room when all connections are taken.
#include <exchange/net/application/connection_pool.hpp>

#include <exchange/tests/net/socketless_client.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;

namespace {

/// What a connection knows of its client, as a test says it.
struct fake_client {
    bool present = false;
    bool now_logged_in = false;
    bool once_logged_in = false;
    gyre::time_point since{};
    int hung_up = 0;
    int ticks = 0;

    /// @param  where  Finds the fakes again.
    explicit fake_client(std::vector<fake_client*>& where) { where.push_back(this); }

    [[nodiscard]] bool serving() const { return present; }
    [[nodiscard]] bool logged_in() const { return now_logged_in; }
    [[nodiscard]] bool was_logged_in() const { return once_logged_in; }
    [[nodiscard]] gyre::time_point accepted_at() const { return since; }
    void hang_up() { ++hung_up; }
    void on_timer(gyre::time_point) { ++ticks; }
};

/// Four connections, all taken: by two participants, one that is told why it has to go, and a stranger.
struct crowd {
    crowd() {
        gyre::time_point arrival = day_start;
        for (int each = 0; each < 4; ++each) {
            fake_client* const found = pool.find();
            REQUIRE(found != nullptr);
            found->present = true;
            found->since = arrival += 1s;
        }
        for (const std::size_t each : {0U, 1U})
            clients[each]->now_logged_in = clients[each]->once_logged_in = true;
        clients[2]->once_logged_in = true;
    }

    [[nodiscard]] std::vector<int> hung_up() const {
        std::vector<int> all;
        for (const fake_client* const each : clients) all.push_back(each->hung_up);
        return all;
    }

    std::vector<fake_client*> clients;
    connection_pool<fake_client> pool{clients, 4};
};

}  // namespace

TEST_CASE("a connection is made when there are more clients than ever before, and used again") {
    std::vector<fake_client*> made;
    connection_pool<fake_client> pool{made, 4};
    CHECK(made.empty());

    fake_client* const first = pool.find();
    CHECK(pool.find() == first);  // It was not taken.
    CHECK(made.size() == 1);
    first->present = true;
    CHECK(pool.find() != first);
    CHECK(made.size() == 2);
    first->present = false;
    CHECK(pool.find() == first);
}

TEST_CASE("a connection that is free is found, and no client has to leave") {
    crowd it;
    it.clients[3]->present = false;
    CHECK(it.pool.find() == it.clients[3]);
    CHECK(it.hung_up() == std::vector{0, 0, 0, 0});
}

TEST_CASE(
    "who never logged in leaves before who is being told its last words, though it came later") {
    crowd it;
    CHECK(it.pool.find() == nullptr);
    CHECK(it.hung_up() == std::vector{0, 0, 0, 1});
}

TEST_CASE("of those who never logged in, the one that has been there longest leaves") {
    crowd it;
    it.clients[2]->once_logged_in = false;
    CHECK(it.pool.find() == nullptr);
    CHECK(it.hung_up() == std::vector{0, 0, 1, 0});
}

TEST_CASE("where only participants were, one that is logged in no more leaves") {
    crowd it;
    it.clients[3]->now_logged_in = it.clients[3]->once_logged_in = true;
    CHECK(it.pool.find() == nullptr);
    CHECK(it.hung_up() == std::vector{0, 0, 1, 0});
}

TEST_CASE("a client that is logged in never has to leave") {
    crowd it;
    for (fake_client* const each : it.clients) each->now_logged_in = each->once_logged_in = true;
    CHECK(it.pool.find() == nullptr);
    CHECK(it.hung_up() == std::vector{0, 0, 0, 0});
}

TEST_CASE("of many connections a part has its turn at a time, and each once in a round") {
    std::vector<fake_client*> clients;
    connection_pool<fake_client> pool{clients, 2'000};
    CHECK(pool.parts() == 1);
    pool.on_timer(day_start);
    for (int each = 0; each < 1'000; ++each) pool.find()->present = true;
    clients[7]->present = false;
    CHECK(pool.parts() == 4);
    const auto ticks = [&] {
        int all = 0;
        for (const fake_client* const each : clients) all += each->ticks;
        return all;
    };

    int before = 0;
    for (std::size_t part = 0; part < pool.parts(); ++part, before = ticks()) {
        pool.on_timer(day_start);
        CHECK(ticks() > before);
        CHECK(ticks() - before <= 256);
    }
    for (const fake_client* const each : clients) CHECK(each->ticks == (each->present ? 1 : 0));
    pool.on_timer(day_start);
    CHECK(clients[0]->ticks == 2);
}

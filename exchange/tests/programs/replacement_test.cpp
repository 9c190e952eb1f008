// SPDX-License-Identifier: BSL-1.0
//
// A gateway is replaced while clients come: none is refused a connection, and all are let in.
#include <exchange/tests/programs/supervised_exchange.hpp>

#include <exchange/codec/soup_client.hpp>
#include <exchange/codec/soup_framer.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/tests/support/plain_http.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <deque>
#include <fstream>
#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;
using gyre::task;

namespace {

constexpr unsigned replacements = 5;
constexpr std::uint64_t logins_between = 20;  // Of each newcomer, from one replacement to the next.

supervised_options replaceable(const std::string& backend) {
    supervised_options made;
    made.backend = backend;
    made.held = true;
    // Traders that were here are waited for at the end.
    made.facility = [](nlohmann::json& it) { it["timing"]["drain_within_ms"] = 200; };
    return made;
}

/// A client that connects, logs in and leaves, again and again.
class newcomer {
public:
    newcomer(gyre::io_context& on, const std::string& where, std::string name)
        : on_{on}, where_{gyre::endpoint::parse(where).value()}, name_{std::move(name)} {}

    void begin() { gyre::launch(on_, come_and_go(), gyre::or_terminate{}); }
    void end() { over_ = true; }
    [[nodiscard]] bool gone() const { return gone_; }

    std::uint64_t connects = 0;
    std::uint64_t refused = 0;  ///< Connections that were not made, for whatever reason.
    std::uint64_t logins = 0;
    std::uint64_t sent_away = 0;  ///< Connections that ended before the login was answered.
    std::uint64_t rejected = 0;   ///< Logins that were wrong.

private:
    task<> come_and_go() {
        while (!over_) {
            ++connects;
            auto [error, socket] = co_await gyre::stream_socket::connect(where_);
            if (error) ++refused;
            else co_await log_in(socket);
        }
        gone_ = true;
    }

    task<> log_in(gyre::stream_socket& by) {
        soup_client machine{{}, {std::string_view{name_}, "secret", {}, 0}, on_.now()};
        machine.connect(on_.now());
        soup_framer framer;
        const soup_output output = machine.output();
        for (const std::span<const std::byte> part : output.buffers()) {
            const auto written = co_await gyre::write_all(by, gyre::const_buffer{part});
            if (!written.ok()) {
                ++sent_away;
                co_return;
            }
        }
        machine.sent(output.size(), on_.now());
        for (;;) {
            const auto [error, bytes] = co_await by.read_some(framer.space());
            if (error) {
                ++sent_away;
                co_return;
            }
            framer.received(bytes);
            for (soup_framed next = framer.next(); next.complete; next = framer.next()) {
                static_cast<void>(machine.on_packet(next.packet, on_.now()));
                if (next.packet.type == soup_type::login_rejected) ++rejected;
                if (next.packet.type == soup_type::login_accepted) ++logins;
            }
            if (machine.logged_in() || machine.ending() != soup_ending::none) co_return;
        }
    }

    gyre::io_context& on_;
    gyre::endpoint where_;
    std::string name_;
    bool over_ = false;
    bool gone_ = false;
};

/// Newcomers at a gateway that is replaced again and again.
class rolling_scene {
public:
    explicit rolling_scene(const std::string& backend) : exchange{replaceable(backend)} {
        for (const char* const name : {"alice", "bob", "carol"})
            newcomers.emplace_back(on, exchange.through_gateway(), name).begin();
        gyre::launch(on, conduct(), gyre::or_terminate{});
        on.run();
    }

    [[nodiscard]] std::uint64_t sum(std::uint64_t newcomer::* of) const {
        std::uint64_t made = 0;
        for (const newcomer& each : newcomers) made += each.*of;
        return made;
    }

    gyre::io_context on;
    supervised_exchange exchange;
    std::deque<newcomer> newcomers;
    std::string stuck;  ///< What did not come about in time.

private:
    task<> conduct() {
        for (unsigned round = 1; round <= replacements && stuck.empty(); ++round) {
            co_await until_more_logins();
            CHECK(exchange.command("replace", "gateway") == 202);
            co_await until("a generation has taken the place of the one before",
                           [&] { return exchange.is_settled("gateway", round + 1); });
        }
        co_await until_more_logins();
        for (newcomer& each : newcomers) each.end();
        co_await until("newcomers have gone",
                       [this] { return std::ranges::all_of(newcomers, &newcomer::gone); });
    }

    task<> until_more_logins() {
        std::vector<std::uint64_t> wanted;
        for (const newcomer& each : newcomers) wanted.push_back(each.logins + logins_between);
        co_await until("each newcomer was let in", [&] {
            for (std::size_t each = 0; each < newcomers.size(); ++each)
                if (newcomers[each].logins < wanted[each]) return false;
            return true;
        });
    }

    template <class Condition>
    task<> until(const char* what, Condition holds) {
        const gyre::time_point limit = on.now() + gyre::testing::patience;
        while (stuck.empty() && !holds()) {
            if (on.now() >= limit) stuck = what;
            static_cast<void>(co_await gyre::sleep_for(2ms));
        }
    }
};

}  // namespace

TEST_CASE("replacement: while a gateway is replaced no connection is refused, and all log in") {
    for (const std::string& backend : backends()) {
        CAPTURE(backend);
        rolling_scene it{backend};
        CHECK(it.stuck == "");
        CHECK(it.sum(&newcomer::refused) == 0);
        CHECK(it.sum(&newcomer::rejected) == 0);
        for (const newcomer& each : it.newcomers)
            CHECK(each.logins >= (replacements + 1) * logins_between);
        MESSAGE(backend, ": ", it.sum(&newcomer::connects), " connects, ",
                it.sum(&newcomer::refused), " refused, ", it.sum(&newcomer::logins), " logins, ",
                it.sum(&newcomer::sent_away), " sent away, ", replacements, " replacements");

        it.exchange.it().send(SIGTERM);
        const std::string text = it.exchange.rest();
        CHECK(it.exchange.it().wait() == 0);
        const std::vector<std::string> story = story_in(text);
        const auto count = [&story](const char* what) { return std::ranges::count(story, what); };
        CHECK_MESSAGE(count("child_replaced gateway") == replacements, text);
        CHECK(count("child_started gateway") == replacements + 1);
        CHECK(count("child_killed gateway") == 0);
        CHECK(count("replacement_failed gateway") == 0);
        CHECK(count("child_backing_off gateway") == 0);
    }
}

TEST_CASE("replacement: a generation that cannot do the work is no replacement, and that is said") {
    supervised_options how = replaceable("gyre_epoll");
    how.gateway_ready_within = 3s;
    supervised_exchange all{how};
    const int pid = all.child("gateway")["pid"];
    const std::string good = gyre::testing::text_of_file(all.gateway_config());
    const auto replace_with = [&](const std::string& text) {
        std::ofstream{all.gateway_config()} << text;
        CHECK(all.command("replace", "gateway") == 202);
    };
    const auto expect_the_old_one = [&](unsigned starts) {
        while (!all.is_settled("gateway", starts)) {
        }
        CHECK(all.child("gateway")["pid"] == pid);
    };
    replace_with("{}");
    expect_the_old_one(2);
    // One that would not listen where clients come.
    nlohmann::json elsewhere = nlohmann::json::parse(good);
    elsewhere["order_entry"]["at"] = own_place();
    replace_with(elsewhere.dump());
    expect_the_old_one(3);
    // One that the facility does not know never becomes ready. Meanwhile there is no other replacement.
    nlohmann::json stranger = nlohmann::json::parse(good);
    stranger["facility"]["name"] = "gw7";
    replace_with(stranger.dump());
    CHECK(all.command("replace", "gateway") == 409);
    CHECK(all.command("restart", "gateway") == 409);
    nlohmann::json beside;
    while (beside.is_null()) beside = all.child("gateway")["beside"];
    CHECK(beside["state"] == "starting");
    expect_the_old_one(4);

    std::ofstream{all.gateway_config()} << good;
    const auto [ended, report] = all.load({"--orders", "500", "--seed", "1"});
    CHECK_MESSAGE(ended == 0, report);
    all.it().send(SIGTERM);
    const std::string text = all.rest();
    CHECK(all.it().wait() == 0);
    const std::vector<std::string> story = story_in(text);
    CHECK_MESSAGE(std::ranges::count(story, "replacement_failed gateway") == 3, text);
    CHECK(std::ranges::count(story, "child_killed gateway") == 1);
    CHECK(std::ranges::count(story, "child_replaced gateway") == 0);
    CHECK(text.find("where nothing of this configuration listens") != std::string::npos);
}

TEST_CASE("replacement: commands name a child that is there, and that may be replaced") {
    supervised_options how = replaceable("gyre_epoll");
    how.gateway = [](nlohmann::json& it) { it["admin"]["at"] = "127.0.0.1:0"; };
    supervised_exchange all{how};
    CHECK(all.command("replace", "facility") == 409);
    CHECK(all.command("replace", "nobody") == 404);
    CHECK(all.command("end", "gateway") == 404);
    const nlohmann::json gateway = all.child("gateway");
    CHECK(ask(port_of(gateway["admin"]), "GET /ready").status == 200);
    CHECK(gateway["since_ms"] < 600'000);
    CHECK_FALSE(all.child("facility").contains("admin"));

    CHECK(all.command("restart", "gateway") == 202);
    while (!all.is_settled("gateway", 2)) {
    }
    CHECK(all.child("gateway")["failures"] == 0);
    CHECK(all.child("gateway")["pid"] != gateway["pid"]);
}

TEST_CASE(
    "replacement: the next process takes the place of the admin port, too, where that is named") {
    const std::string place = own_place();
    supervised_options how = replaceable("gyre_epoll");
    how.gateway = [&place](nlohmann::json& it) { it["admin"]["at"] = place; };
    supervised_exchange all{how};
    const nlohmann::json before = all.child("gateway");
    CHECK(before["admin"] == place);
    CHECK(all.command("replace", "gateway") == 202);
    while (!all.is_settled("gateway", 2)) {
    }
    const nlohmann::json after = all.child("gateway");
    CHECK(after["pid"] != before["pid"]);
    CHECK(after["admin"] == place);
    // The old one has ended, so from soon on the new one answers.
    nlohmann::json told;
    const auto limit = std::chrono::steady_clock::now() + gyre::testing::patience;
    while (told.is_null() && std::chrono::steady_clock::now() < limit) {
        if (!listens(port_of(place))) continue;
        told = nlohmann::json::parse(ask(port_of(place), "GET /status").body);
    }
    CHECK(told["pid"] == after["pid"]);
}

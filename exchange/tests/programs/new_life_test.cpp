// SPDX-License-Identifier: BSL-1.0
//
// A facility that is killed and started again on the same ports: nobody takes one life for the other.
#include <exchange/net/application/life_name.hpp>
#include <exchange/net/application/sequencer_clock.hpp>
#include <exchange/tests/programs/running_exchange.hpp>
#include <exchange/tests/programs/survivor.hpp>

#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;
using gyre::task;
using gyre::testing::program;

namespace {

constexpr std::uint16_t crowd = 64;
constexpr std::uint16_t latecomers = 8;     // Who are away while the exchange dies and lives again.
constexpr std::uint64_t heard_enough = 30;  // By each client, of each life.

std::string name_of(std::uint16_t member) { return "c" + std::to_string(member); }

/// Who the crowd is, for the facility; all have one password, and so may have one hash.
const written_config& credentials_of_crowd() {
    static const written_config file{[] {
        nlohmann::json it = nlohmann::json::parse(
            gyre::testing::text_of_file(EXCHANGE_SAMPLE_FOLDER "/credentials.json"), nullptr, true,
            true);
        const nlohmann::json hash = it["participants"][0]["hash"];
        it["participants"] = nlohmann::json::array();
        for (std::uint16_t member = 1; member <= crowd; ++member)
            it["participants"].push_back(
                {{"username", name_of(member)}, {"hash", hash}, {"session", member}});
        return it.dump(1);
    }()};
    return file;
}

/// The same, for its programs.
std::string passwords_of_crowd() {
    return sample_passwords([](nlohmann::json& it) {
        it["users"] = {{{"username", "ops"}, {"password", "operator"}}};
        for (std::uint16_t member = 1; member <= crowd; ++member)
            it["users"].push_back(
                {{"username", name_of(member)}, {"password", "secret"}, {"session", member}});
    });
}

/// A crowd of participants, and times that fit a test.
void crowded(nlohmann::json& it) {
    it["order_entry"]["connections_max"] = 2 * crowd;
    it["timing"] = {{"heartbeat_after_ms", 100}, {"tick_ms", 20}, {"drain_within_ms", 5000}};
    it["credentials_file"] = credentials_of_crowd().path();
    it["accounts"] = nlohmann::json::array();
    it["sessions"] = nlohmann::json::array();
    for (std::uint16_t member = 1; member <= crowd; ++member) {
        it["accounts"].push_back({{"id", member}, {"firm", member}});
        it["sessions"].push_back({{"id", member}, {"account", member}});
    }
}

gyre::endpoint endpoint_of(const std::string& text) { return gyre::endpoint::parse(text).value(); }

order_entry_client_options client_of(const running_exchange& exchange, std::uint16_t member) {
    order_entry_client_options options;
    options.exchange = endpoint_of(exchange.order_entry());
    const std::string name = name_of(member);
    options.login = {std::string_view{name}, "secret", {}, 1};
    options.reconnect_after_max = 50ms;
    return options;
}

feed_listener_options listener_of(const running_exchange& exchange) {
    const config how = load_config(exchange.config_path()).value;
    feed_listener_options options;
    options.group = how.facility.feed;
    options.interface = how.facility.feed_interface;
    options.ask_from = {gyre::ipv4::loopback(), 0};
    options.requests = endpoint_of(exchange.requests());
    options.receiver.new_life_after = 300ms;
    options.receiver.datagrams_held_max = 4096;
    return options;
}

/// The crowd, a listener, and the exchange that is killed under them.
class crash_scene {
public:
    explicit crash_scene(const std::string& backend)
        : exchange{backend, crowded, passwords_of_crowd()} {
        listener.emplace(on, listener_of(exchange));
        REQUIRE(listener->feed.start().ok());
        for (std::uint16_t member = 1; member <= crowd; ++member)
            clients.emplace_back(on, client_of(exchange, member)).come();
        for (std::uint16_t member = 1; member <= latecomers; ++member)
            stand_ins.emplace_back(on, client_of(exchange, member));
        gyre::launch(on, conduct(), gyre::or_terminate{});
        on.run();
    }

    gyre::io_context on;
    running_exchange exchange;
    std::deque<survivor> clients;
    std::deque<survivor> stand_ins;
    std::optional<surviving_listener> listener;
    std::string first_life;
    std::string stuck;  ///< What did not come about in time.

private:
    task<> conduct() {
        first_life = exchange.life();
        co_await trade_until("all have traded", [this] {
            return std::ranges::all_of(
                clients, [](const survivor& each) { return each.watch.of_old >= heard_enough; });
        });
        for (std::uint16_t each = 0; each < latecomers; ++each) clients[each].go();

        exchange.kill();
        co_await trade_until("connections have been refused", [until = on.now() + 300ms, this] {
            return on.now() >= until && !std::ranges::any_of(clients, &survivor::is_in);
        });
        const timestamp_ns restart = wall_time();
        for (survivor& each : clients) each.watch.begun = restart;
        for (survivor& each : stand_ins) each.watch.begun = restart;
        listener->watch.begun = restart;
        exchange.start_again();

        co_await send_the_latecomers();
        co_await trade_until("all have traded again", [this] {
            return listener->watch.of_new >= heard_enough &&
                   std::ranges::all_of(clients, [](const survivor& each) {
                       return each.watch.of_new >= heard_enough;
                   });
        });
        for (survivor& each : clients) each.go();
        static_cast<void>(co_await gyre::sleep_for(100ms));  // What the feed has still to tell.
        listener->feed.stop();
    }

    /// They come when the new life has told their sessions more than they have heard of the old one: a
    /// resume that the numbers alone would allow.
    task<> send_the_latecomers() {
        for (survivor& each : stand_ins) {
            each.watch.told = true;  // It knows of no other life.
            each.come();
        }
        co_await trade_until("the stand-ins have heard enough", [this] {
            for (std::size_t each = 0; each < latecomers; ++each)
                if (stand_ins[each].next_sequence < clients[each].next_sequence + heard_enough)
                    return false;
            return true;
        });
        for (survivor& each : stand_ins) each.go();
        co_await trade_until("the stand-ins are gone, and those for whom they stood in", [this] {
            return std::ranges::all_of(stand_ins, &survivor::is_away) &&
                   std::all_of(clients.begin(), clients.begin() + latecomers,
                               [](const survivor& each) { return each.is_away(); });
        });
        if (!stuck.empty()) co_return;  // They may be there still.
        for (std::uint16_t each = 0; each < latecomers; ++each) clients[each].come();
    }

    template <class Condition>
    task<> trade_until(const char* what, Condition holds) {
        const gyre::time_point limit = on.now() + gyre::testing::patience;
        while (stuck.empty() && !holds()) {
            if (on.now() >= limit) stuck = what;
            for (survivor& each : clients) each.trade();
            for (survivor& each : stand_ins) each.trade();
            static_cast<void>(co_await gyre::sleep_for(2ms));
        }
    }
};

void check_watch(const life_watch& it, const crash_scene& scene) {
    CHECK(it.spliced == 0);
    CHECK(it.told);
    CHECK(it.told_again == 0);
    CHECK(it.ended == scene.first_life);
    CHECK(it.next == scene.exchange.life());
    CHECK(it.of_old >= heard_enough);
    CHECK(it.of_new >= heard_enough);
}

}  // namespace

TEST_CASE("nobody takes the life behind a crash for the one before it") {
    for (const std::string& backend : backends()) {
        CAPTURE(backend);
        const crash_scene scene{backend};
        CHECK(scene.stuck == "");
        CHECK(scene.first_life < scene.exchange.life());

        std::uint64_t of_old = 0;
        std::uint64_t of_new = 0;
        for (const survivor& each : scene.clients) {
            check_watch(each.watch, scene);
            CHECK(each.out_of_order == 0);
            CHECK(each.unreadable == 0);
            of_old += each.watch.of_old;
            of_new += each.watch.of_new;
        }
        check_watch(scene.listener->watch, scene);
        CHECK(scene.listener->missing == 0);
        CHECK(scene.listener->view.lives() == 2);
        CHECK(scene.listener->view.misplaced() == 0);
        CHECK(scene.listener->view.unreadable() == 0);
        MESSAGE(backend, ": ", crowd, " clients heard ", of_old, " messages of the old life and ",
                of_new, " of the new one, the listener ", scene.listener->watch.of_old, " and ",
                scene.listener->watch.of_new);
    }
}

TEST_CASE("a load goes on through a crash, and everything agrees in the new life") {
    running_exchange it{backends().front(), crowded, passwords_of_crowd()};
    const std::string first_life = it.life();
    program load = it.start_load({"--orders", "6000", "--rate", "2000", "--seed", "1"});
    while (it.ctl({"show", "book", "1"}).text.find("\nbid ") == std::string::npos) {
    }

    it.kill();
    it.start_again();
    const auto [status, text] = outcome_of(load);

    CHECK(first_life < it.life());
    CHECK_MESSAGE(status == 0, text);
    CHECK_MESSAGE(text.find("everything agrees") != std::string::npos, text);
    CHECK_MESSAGE(text.find("lives of the exchange: 2 to traders, 2 in the feed; messages of "
                            "another one 0\n") != std::string::npos,
                  text);
}

TEST_CASE("the operator finds the exchange that was started again, without what it had defined") {
    running_exchange it{"gyre_epoll"};
    const std::vector<std::string> words{"define", "product", "3", "--multiplier", "5"};
    CHECK(it.ctl(words).status == 0);
    CHECK(it.ctl(words).text == "refused: define_product 3: already_defined\n");
    it.kill();

    program waiting{EXCHANGE_EXCHANGE_CTL, it.ctl_words({"--timeout", "60", "define", "product",
                                                         "3", "--multiplier", "5"})};
    it.start_again();

    CHECK(outcome_of(waiting).status == 0);
}

TEST_CASE("who is ready has a name that nobody who begins now can have") {
    for (int round = 0; round < 10; ++round) {
        running_exchange it{"gyre_epoll"};
        CHECK(it.life() < std::string{life_name(wall_time()).view()});
    }
}

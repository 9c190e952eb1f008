// SPDX-License-Identifier: BSL-1.0
//
// Processes of an exchange are killed, one after the other, under clients that trade through a gateway.
//
// Afterwards each client must know what the exchange knows: its open orders, and what it holds. Nothing it
// has sent is answered twice, and the supervisor's log tells what has happened. EXCHANGE_KILLS_CLIENTS says
// how many clients there are, if not 64.
#include <exchange/client/exchange_client.hpp>

#include <exchange/tests/programs/supervised_exchange.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;
using gyre::task;

namespace {

/// What happens to a child, and what that means for the clients.
struct blow {
    const char* child;
    enum class kind : std::uint8_t { kill, replace } what;
    bool ends_life;     ///< Is what was traded before gone?
    bool cuts_clients;  ///< Do all of them lose their connections?
};

// Another child of the exchange is one more line here, and one more child in supervised_exchange.
constexpr std::array blows{
    blow{"gateway", blow::kind::kill, false, true},
    blow{"facility", blow::kind::kill, true, true},
    blow{"distributor", blow::kind::kill, false, false},
    blow{"gateway", blow::kind::replace, false, true},
    blow{"gateway", blow::kind::kill, false, true},
    blow{"facility", blow::kind::kill, true, true},
};
constexpr std::uint64_t answers_between = 40;  // To each client.

std::uint16_t clients_wanted() {
    const char* const text = std::getenv("EXCHANGE_KILLS_CLIENTS");
    return static_cast<std::uint16_t>(text != nullptr ? std::clamp(std::atoi(text), 1, 999) : 64);
}

std::string name_of(std::uint16_t member) { return "c" + std::to_string(member); }

/// An open order, as either side knows it.
using known_order =
    std::tuple<std::uint64_t, std::string, std::int64_t, std::uint64_t, std::uint64_t>;
/// By session and number.
using known_orders = std::map<std::pair<std::uint32_t, std::uint32_t>, known_order>;
using known_positions = std::map<std::uint32_t, std::int64_t>;  ///< Of each session's account.

known_order order_of(std::uint64_t order, order_side side, std::int64_t price, std::uint64_t open,
                     std::uint64_t executed) {
    return {order, side == order_side::buy ? "buy" : "sell", price, open, executed};
}

/// A client that trades whenever it can.
class trading_client {
public:
    trading_client(gyre::io_context& on, const std::string& where, std::uint16_t member,
                   std::uint64_t seed)
        : on_{on}, dice_{seed + member}, member_{member} {
        exchange_client_options options;
        options.exchange = gyre::endpoint::parse(where).value();
        options.username = name_of(member);
        options.password = "secret";
        options.reconnect_after_max = 100ms;
        auto opened = exchange_client::open(on, options);
        REQUIRE(opened.ok());
        client_ = opened.take();
        gyre::launch(on_, listen(), gyre::or_terminate{});
        gyre::launch(on_, trade(), gyre::or_terminate{});
    }

    void rest(bool rests) { rests_ = rests; }
    void stop() { client_.stop(); }
    [[nodiscard]] bool trading() const { return client_.trading(); }
    /// Is nothing of it under way? Once it rests.
    [[nodiscard]] bool quiet() const {
        return rests_ && client_.trading() && client_.unanswered() == 0;
    }
    [[nodiscard]] bool over() const { return over_ == 2; }

    void tell(known_orders& to) const {
        client_.orders().for_each([&](const working_order& it) {
            to[{member_, number(it.client_seq)}] =
                order_of(number(it.order), it.side, it.price, it.open, it.executed);
        });
    }
    void tell(known_positions& to) const {
        if (position_ != 0) to[member_] = position_;
    }

    std::uint64_t answers = 0;         ///< The first word on each order that it has sent.
    std::uint64_t answered_twice = 0;  ///< Entered twice, or entered and refused or lost, ...
    std::uint64_t never_sent = 0;      ///< Words on what it has not sent.
    std::uint64_t unanswered = 0;      ///< Sent in a life that did not end, without a word.
    std::uint64_t lost = 0;            ///< Told to be lost.
    std::uint64_t losses = 0;          ///< Of the connection.
    std::uint64_t lives = 0;           ///< That it was told of beside the first.

    /// All are quiet, and what was told has been heard: what has no answer now gets none.
    void settle() { unanswered += orders_without_word(); }
    [[nodiscard]] std::uint64_t orders_without_word() const {
        return static_cast<std::uint64_t>(std::ranges::count_if(
            sent_, [](const auto& each) { return each.second == fate::unknown; }));
    }

private:
    task<> trade() {
        for (;;) {
            const auto room = co_await client_.room(2);
            if (!room.ok()) break;
            if (!rests_ && caught_up_) act();
            static_cast<void>(co_await gyre::sleep_for(std::chrono::milliseconds{1 + dice_() % 4}));
        }
        ++over_;
    }

    void act() {
        std::optional<client_sequence> one;
        if (client_.orders().size() > 10)
            client_.orders().for_each([&](const working_order& it) {
                if (!one || it.client_seq < *one) one = it.client_seq;
            });
        if (one) {
            static_cast<void>(client_.cancel(*one));
            return;
        }
        enter_order it{};
        it.instrument = instrument_id{1};
        it.side = dice_() % 2 == 0 ? order_side::buy : order_side::sell;
        it.type = order_type::limit;
        it.tif = time_in_force::good_till_cancel;
        it.price = 950 + static_cast<price_ticks>(dice_() % 100);
        it.quantity = 1 + dice_() % 5;
        const auto sent = client_.enter(it);
        if (sent.ok()) CHECK(sent_.emplace(sent.value(), fate::unknown).second);
    }

    task<> listen() {
        for (;;) {
            const auto told = co_await client_.next();
            if (!told.ok()) break;
            std::visit([this](const auto& it) { hear(it); }, told.value().what);
        }
        ++over_;
    }

    /// What is known of an order that was sent.
    enum class fate : std::uint8_t {
        unknown,
        done,     ///< It was executed at once, or cancelled, and is not told to rest.
        entered,  ///< It was told to rest.
        none,     ///< It was refused, or lost.
    };
    void learn(client_sequence it, fate next) {
        const auto found = sent_.find(it);
        if (found == sent_.end()) {
            ++never_sent;
            return;
        }
        fate& now = found->second;
        if (now == fate::unknown) ++answers;
        // What has an answer is not entered again, nor refused; of what is void nothing follows.
        const bool again = next == fate::entered ? now == fate::entered : next == fate::none;
        if ((now != fate::unknown && again) || now == fate::none) ++answered_twice;
        now = std::max(now, next);
    }
    void hear(const order_entered& it) { learn(it.client_seq, fate::entered); }
    void hear(const order_cancelled& it) { learn(it.client_seq, fate::done); }
    void hear(const order_rejected& it) {
        if (sent_.contains(it.client_seq)) learn(it.client_seq, fate::none);  // Else of a cancel.
    }
    void hear(const message_rejected& it) {
        if (sent_.contains(it.client_seq)) learn(it.client_seq, fate::none);
    }
    void hear(const command_lost& it) {
        if (it.command != command_kind::enter_order) return;
        ++lost;
        learn(it.client_seq, fate::none);
    }
    void hear(const order_executed& it) {
        learn(it.client_seq, fate::done);
        const auto quantity = static_cast<std::int64_t>(it.quantity);
        position_ += it.side == order_side::buy ? quantity : -quantity;
    }
    void hear(const caught_up&) { caught_up_ = true; }
    void hear(const connection_lost&) {
        ++losses;
        caught_up_ = false;
    }
    void hear(const life_changed&) {
        ++lives;
        sent_.clear();
        position_ = 0;
    }
    void hear(const auto&) {}

    gyre::io_context& on_;
    std::mt19937_64 dice_;
    std::uint16_t member_;
    exchange_client client_;
    std::map<client_sequence, fate> sent_;  // Orders of this life.
    std::int64_t position_ = 0;
    bool rests_ = false;
    bool caught_up_ = false;  // As it has heard.
    int over_ = 0;            // Of both coroutines.
};

/// An exchange for a crowd of so many.
class crowd_settings {
public:
    explicit crowd_settings(std::uint16_t count)
        : count_{count}, credentials_{sample_of("credentials.json", [this](nlohmann::json& it) {
              const nlohmann::json hash = it["participants"][0]["hash"];
              nlohmann::json crowd = members([&](std::uint16_t each) {
                  return nlohmann::json{
                      {"username", name_of(each)}, {"hash", hash}, {"session", each}};
              });
              for (nlohmann::json each : it["participants"])
                  if (each["username"] == "mdist") {
                      each["session"] = count_ + 1;
                      crowd.push_back(each);
                  }
              it["participants"] = crowd;
          })} {}

    [[nodiscard]] supervised_options options(const std::string& backend) const {
        supervised_options made;
        made.backend = backend;
        made.held = true;
        made.distributor = true;
        made.facility = [this](nlohmann::json& it) {
            it["timing"] = {{"heartbeat_after_ms", 1000}, {"drain_within_ms", 500}};
            it["credentials_file"] = credentials_.path();
            it["accounts"] = members(
                [](std::uint16_t each) { return nlohmann::json{{"id", each}, {"firm", each}}; });
            it["accounts"].push_back({{"id", count_ + 1}, {"firm", count_ + 1}});
            it["sessions"] = members(
                [](std::uint16_t each) { return nlohmann::json{{"id", each}, {"account", each}}; });
            it["sessions"].push_back({{"id", count_ + 1}, {"account", count_ + 1}});
        };
        made.gateway = [](nlohmann::json& it) { it["accounts"] = nlohmann::json::array(); };
        made.gateway_credentials =
            sample_of("gateway_credentials.json", [this](nlohmann::json& it) {
                const nlohmann::json hash = it["users"][0]["hash"];
                it["users"] = members([&](std::uint16_t each) {
                    return nlohmann::json{
                        {"username", name_of(each)}, {"hash", hash}, {"account", each}};
                });
            });
        return made;
    }

private:
    template <class Make>
    [[nodiscard]] nlohmann::json members(const Make& make) const {
        nlohmann::json made = nlohmann::json::array();
        for (std::uint16_t each = 1; each <= count_; ++each) made.push_back(make(each));
        return made;
    }

    std::uint16_t count_;
    written_config credentials_;
};

class scene_of_blows {
public:
    scene_of_blows(const std::string& backend, std::uint16_t count, std::uint64_t seed)
        : settings{count}, exchange{settings.options(backend)} {
        for (std::uint16_t each = 1; each <= count; ++each)
            clients.emplace_back(on, exchange.through_gateway(), each, seed);
        gyre::launch(on, conduct(), gyre::or_terminate{});
        on.run();
    }

    [[nodiscard]] std::uint64_t sum(std::uint64_t trading_client::* of) const {
        std::uint64_t made = 0;
        for (const trading_client& each : clients) made += each.*of;
        return made;
    }

    gyre::io_context on;
    crowd_settings settings;
    supervised_exchange exchange;
    std::deque<trading_client> clients;
    std::string stuck;                ///< What did not come about in time.
    std::uint64_t orders_agreed = 0;  ///< Open orders that both sides knew, after all blows.

private:
    task<> conduct() {
        std::map<std::string, unsigned> starts;
        for (const blow& each : blows) starts[each.child] = 1;
        for (const blow& each : blows) {
            co_await until_traded();
            co_await strike(each, ++starts[each.child]);
            co_await until("all clients trade again", [this] {
                return std::ranges::all_of(clients, &trading_client::trading);
            });
            co_await compare(each);
            if (!stuck.empty()) break;
        }
        for (trading_client& each : clients) each.stop();
        while (!std::ranges::all_of(clients, &trading_client::over))
            static_cast<void>(co_await gyre::sleep_for(2ms));
    }

    task<> until_traded() {
        std::vector<std::uint64_t> wanted;
        for (const trading_client& each : clients) wanted.push_back(each.answers + answers_between);
        co_await until("all clients have traded", [&] {
            for (std::size_t each = 0; each < clients.size(); ++each)
                if (clients[each].answers < wanted[each]) return false;
            return true;
        });
    }

    task<> strike(const blow& how, unsigned starts) {
        INFO(how.child);
        if (how.what == blow::kind::replace) CHECK(exchange.command("replace", how.child) == 202);
        else REQUIRE(::kill(exchange.child(how.child)["pid"], SIGKILL) == 0);
        co_await until("another one is ready in its place",
                       [&] { return exchange.is_settled(how.child, starts); });
    }

    /// What clients know, beside what the exchange knows.
    task<> compare(const blow& last) {
        for (trading_client& each : clients) each.rest(true);
        co_await until("all is quiet",
                       [this] { return std::ranges::all_of(clients, &trading_client::quiet); });
        if (!stuck.empty()) co_return;
        // What was answered just now may still wait to be heard.
        co_await until("all views agree", [this] {
            known_orders of_clients;
            for (const trading_client& each : clients) each.tell(of_clients);
            known_positions held;
            for (const trading_client& each : clients) each.tell(held);
            const bool words_heard = std::ranges::all_of(
                clients, [](const trading_client& it) { return it.orders_without_word() == 0; });
            return words_heard && of_clients == orders_of_exchange() &&
                   held == positions_of_exchange();
        });
        known_orders of_clients;
        for (const trading_client& each : clients) each.tell(of_clients);
        INFO(last.child);
        CHECK(of_clients == orders_of_exchange());
        orders_agreed += of_clients.size();
        for (trading_client& each : clients) {
            each.settle();
            each.rest(false);
        }
    }

    [[nodiscard]] nlohmann::json shown(const char* what) const {
        const auto [status, text] = exchange.ctl({"show", what, "--json"});
        REQUIRE_MESSAGE(status == 0, text);
        return nlohmann::json::parse(text)[what];
    }
    [[nodiscard]] known_orders orders_of_exchange() const {
        known_orders made;
        for (const nlohmann::json& each : shown("orders"))
            made[{each["session"], std::stoul(each["client_seq"].get<std::string>())}] = {
                std::stoull(each["order"].get<std::string>()), each["side"], each["price"],
                each["open"], each["executed"]};
        return made;
    }
    [[nodiscard]] known_positions positions_of_exchange() const {
        known_positions made;
        for (const nlohmann::json& each : shown("positions"))
            made[each["account"]] = each["position"];
        return made;
    }

    template <class Condition>
    task<> until(const char* what, Condition holds) {
        const gyre::time_point limit = on.now() + gyre::testing::patience;
        while (stuck.empty() && !holds()) {
            if (on.now() >= limit) stuck = what;
            static_cast<void>(co_await gyre::sleep_for(5ms));
        }
    }
};

/// The events of a child in the order in which they must come; others may be between.
bool tells(const std::vector<std::string>& story, const std::vector<std::string>& wanted) {
    auto at = story.begin();
    for (const std::string& each : wanted) {
        at = std::find(at, story.end(), each);
        if (at == story.end()) return false;
        ++at;
    }
    return true;
}

std::vector<std::string> wanted_story() {
    std::vector<std::string> made;
    for (const blow& each : blows) {
        const std::string name = each.child;
        if (each.what == blow::kind::replace) {
            for (const char* const event : {"child_replacing ", "child_started ", "child_ready ",
                                            "child_replaced ", "child_draining ", "child_ended "})
                made.push_back(event + name);
        } else {
            for (const char* const event :
                 {"child_ended ", "child_backing_off ", "child_started ", "child_ready "})
                made.push_back(event + name);
        }
    }
    return made;
}

}  // namespace

TEST_CASE("kills: whatever is killed under trading clients, they know what the exchange knows") {
    const std::uint64_t seed = std::random_device{}();
    CAPTURE(seed);
    const auto lives_ended = static_cast<std::uint64_t>(
        std::ranges::count_if(blows, [](const blow& each) { return each.ends_life; }));
    const auto cuts = static_cast<std::uint64_t>(
        std::ranges::count_if(blows, [](const blow& each) { return each.cuts_clients; }));
    for (const std::string& backend : backends()) {
        CAPTURE(backend);
        const std::uint16_t count = clients_wanted();
        scene_of_blows it{backend, count, seed};
        CHECK(it.stuck == "");
        CHECK(it.sum(&trading_client::answered_twice) == 0);
        CHECK(it.sum(&trading_client::never_sent) == 0);
        CHECK(it.sum(&trading_client::unanswered) == 0);
        for (const trading_client& each : it.clients) {
            CHECK(each.lives == lives_ended);
            CHECK(each.losses >= cuts);
        }
        CHECK(it.orders_agreed > 0);
        MESSAGE(backend, ": ", count, " clients, ", blows.size(), " blows, ",
                it.sum(&trading_client::answers), " answers, ", it.sum(&trading_client::lost),
                " commands told to be lost, ", it.sum(&trading_client::losses),
                " connections lost, ", it.orders_agreed, " open orders agreed");

        it.exchange.it().send(SIGTERM);
        const std::string text = it.exchange.rest();
        CHECK(it.exchange.it().wait() == 0);
        const std::vector<std::string> story = story_in(text);
        CHECK_MESSAGE(tells(story, wanted_story()), text);
        CHECK(text.find("killed by SIGKILL") != std::string::npos);
        CHECK(text.find("\"event\":\"link_replaced\"") != std::string::npos);
    }
}

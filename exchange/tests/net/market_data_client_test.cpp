// SPDX-License-Identifier: BSL-1.0
//
// A subscriber and its distributor without a socket: what is let in, what is told, and what waits for whom.
#include <exchange/net/session/market_data_client.hpp>

#include <exchange/codec/link_frame.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace exchange;
using namespace std::chrono_literals;

namespace {

constexpr instrument_id first{1};
constexpr instrument_id second{2};
const gyre::time_point begun = gyre::time_point{} + 1h;

/// A subscriber's connection, and what comes out of it.
class connection final : public client_link {
public:
    explicit connection(market_data_host& host) : machine{host, *this, begun} {}

    void say(soup_type type, std::span<const std::byte> payload = {}) {
        std::vector<std::byte>& packet = sent_.emplace_back(soup_header_bytes + payload.size());
        write_soup_header(std::span{packet}.first<soup_header_bytes>(), type, payload.size());
        std::ranges::copy(payload, packet.begin() + soup_header_bytes);
        hand_down();
    }
    void log_in(const char* user, const char* password, const char* session = "") {
        say(soup_type::login_request, format_soup_login({user, password, session, 1}));
    }
    template <class Record>
    void ask(const Record& it) {
        std::vector<std::byte> message(market_message_bytes_max);
        message.resize(encode_market(it, message));
        say(soup_type::unsequenced, message);
    }
    void want(instrument_id which, std::uint16_t depth = 0) {
        ask(subscribe{1, which, depth, true, true, true});
    }

    /// Reads what there is, as a peer that takes so many bytes at a time.
    void read(std::size_t piece = 1 << 20) {
        while (read_once(piece)) {
        }
    }
    bool read_once(std::size_t piece = 1 << 20) {
        const auto offered = machine.output();
        if (offered.empty()) return false;
        const std::size_t size = std::min(piece, offered.size());
        unread_.insert(unread_.end(), offered.begin(),
                       offered.begin() + static_cast<std::ptrdiff_t>(size));
        machine.sent(size, now);
        hear();
        return true;
    }

    void operator()(const subscribed& it) { granted.push_back(it); }
    void operator()(const subscription_refused& it) { refused.push_back(it.reason); }
    void operator()(const book_snapshot& it) {
        if (it.first) levels = 0;
        levels += it.count;
        state = it.state;
    }
    void operator()(const book_delta& it) {
        REQUIRE(state == it.previous);
        if (it.last) state = it.state;
        ++deltas;
    }
    void operator()(const trades_printed& it) {
        trades += it.count;
        dropped += it.dropped;
    }
    void operator()(const market_summary& it) { summary = it; }
    void operator()(const subscribe&) { ++strange; }
    void operator()(const unsubscribe&) { ++strange; }

    gyre::time_point now = begun;
    market_data_client machine;
    std::vector<subscribed> granted;
    std::vector<subscription_refusal> refused;
    std::optional<market_summary> summary;
    std::optional<std::uint64_t> state;
    std::optional<soup_acceptance> accepted;
    std::string said;      // As text for people.
    std::string rejected;  // The letter.
    std::size_t levels = 0;
    std::size_t deltas = 0;
    std::size_t trades = 0;
    std::uint64_t dropped = 0;
    int heartbeats = 0;
    int rejections = 0;
    int strange = 0;
    int woken = 0;

private:
    void hand_down() {
        machine.proceed(now);
        while (machine.wants_packets() && !sent_.empty()) {
            read_ = std::move(sent_.front());
            sent_.pop_front();
            std::span<const std::byte> rest = read_;
            const soup_framed framed = take_packet(rest);
            packet_ = framed.packet;
            machine.take({{&packet_, framed.complete ? 1U : 0U}, framed.ending}, now);
        }
    }
    void has_output() noexcept override { ++woken; }
    void may_read() noexcept override {}

    void hear() {
        std::span<const std::byte> rest = unread_;
        for (;;) {
            const soup_framed framed = take_packet(rest);
            if (!framed.complete) break;
            const auto payload = framed.packet.payload;
            const std::string text{reinterpret_cast<const char*>(payload.data()), payload.size()};
            switch (framed.packet.type) {
                case soup_type::login_accepted:
                    accepted = parse_soup_acceptance(payload).fields;
                    break;
                case soup_type::login_rejected: rejected = text; break;
                case soup_type::server_heartbeat: ++heartbeats; break;
                case soup_type::debug: said += text; break;
                default:
                    if (decode_market_message(payload, *this)) ++rejections;
            }
        }
        unread_.erase(unread_.begin(), unread_.end() - static_cast<std::ptrdiff_t>(rest.size()));
        REQUIRE(strange == 0);
    }

    std::deque<std::vector<std::byte>> sent_;
    std::vector<std::byte> read_;
    soup_packet packet_;
    std::vector<std::byte> unread_;
};

/// Books that are fed by the test, and their host.
class distributor {
public:
    explicit distributor(market_data_host_options how = opened(), std::size_t changes_max = 64)
        : books{{.changes_max = changes_max, .trades_max = 8}, true}, host{how, books, begun} {
        set(first, 1, 1);
        set(second, 1, 1);
        host.begin_life("LIFE1", begun);
    }
    static market_data_host_options opened() {
        market_data_host_options made;
        made.open = true;
        return made;
    }
    template <class Event>
    void say(const Event& it) {
        std::array<std::byte, message_bytes_of<Event>> bytes{};
        encode(it, event_stamp{}, std::span{bytes});
        REQUIRE_FALSE(books.hear(next++, bytes));
    }
    void set(instrument_id in, price_ticks price, std::uint32_t orders) {
        say(price_level_update{price, orders, in, orders, order_side::buy});
    }
    void print(instrument_id in) { say(trade{trade_id{next}, 7, in, 1, order_side::buy}); }

    market_books books;
    market_data_host host;
    std::uint64_t next = 1;
};

}  // namespace

TEST_CASE("market data: a subscriber is let in, subscribes, and is told what changes") {
    distributor all;
    connection it{all.host};
    it.log_in("anyone", "");
    it.read();
    REQUIRE(it.accepted);
    CHECK(it.accepted->session == "LIFE1");
    it.want(first);
    it.read();
    REQUIRE(it.granted.size() == 1);
    CHECK(it.levels == 1);
    REQUIRE(it.summary);
    CHECK(it.summary->instrument == first);
    const int woken = it.woken;
    all.set(first, 2, 1);
    all.set(second, 2, 1);
    all.print(first);
    all.host.changed();
    CHECK(it.woken == woken + 1);
    it.read();
    CHECK(it.deltas == 1);
    CHECK(it.trades == 1);
    it.ask(unsubscribe{2, first});
    it.read();
    REQUIRE(it.granted.size() == 2);
    CHECK_FALSE(it.granted[1].book);
    CHECK(it.machine.subscriptions() == 0);
    all.set(first, 3, 1);
    all.host.changed();
    it.read();
    CHECK(it.deltas == 1);
}

TEST_CASE("market data: all instruments are those that come later as well") {
    market_data_host_options how = distributor::opened();
    how.subscriptions_max = 1;  // Of those that are named.
    distributor all{how};
    connection it{all.host};
    it.log_in("anyone", "");
    it.want(first);
    it.want(instrument_id::none);
    it.read();
    CHECK(it.refused.empty());
    CHECK(it.machine.subscriptions() == 2);
    const int woken = it.woken;
    all.set(instrument_id{3}, 1, 1);
    all.host.changed();
    CHECK(it.woken == woken + 1);
    it.read();
    CHECK(it.machine.subscriptions() == 3);
    REQUIRE(it.summary);
    CHECK(it.summary->instrument == instrument_id{3});
    it.ask(unsubscribe{2, instrument_id{3}});
    it.read();
    CHECK(it.machine.subscriptions() == 2);  // It does not come back by itself.
    it.ask(unsubscribe{3, instrument_id::none});
    it.read();
    CHECK(it.machine.subscriptions() == 0);
    all.set(instrument_id{4}, 1, 1);
    all.host.changed();
    it.read();
    CHECK(it.machine.subscriptions() == 0);
    CHECK(it.summary->instrument == instrument_id{3});
}

TEST_CASE("market data: to subscribe to all of very many takes no search among them") {
    constexpr std::uint32_t many = 50'000;
    market_books books{{.instruments_max = many, .changes_max = 16, .trades_max = 1}, true};
    market_data_host host{distributor::opened(), books, begun};
    host.begin_life("LIFE1", begun);
    std::array<std::byte, message_bytes_of<phase_changed>> bytes{};
    for (std::uint32_t each = 1; each <= many; ++each) {
        encode(phase_changed{instrument_id{each}, market_phase::halted}, event_stamp{},
               std::span{bytes});
        REQUIRE_FALSE(books.hear(each, bytes));
    }
    connection it{host};
    it.log_in("anyone", "");
    const auto before = std::chrono::steady_clock::now();
    for (int each = 0; each < 10; ++each) it.want(instrument_id::none);
    CHECK(std::chrono::steady_clock::now() - before < 10s);
    CHECK(it.machine.subscriptions() == many);
}

TEST_CASE("market data: who reads a byte at a time is told the same") {
    distributor all;
    connection it{all.host};
    it.log_in("anyone", "");
    it.want(first);
    for (price_ticks price = 1; price < 50; ++price) {
        all.set(first, price, 1);
        all.host.changed();
        it.read(1);
    }
    CHECK(it.machine.unread_bytes() == 0);
    all.set(first, 60, 1);
    const std::size_t offered = it.machine.output().size();
    CHECK(it.machine.unread_bytes() == offered);
    it.machine.sent(1, it.now);
    CHECK(it.machine.unread_bytes() == offered - 1);
    CHECK(it.levels == 1);
    CHECK(it.deltas == 48);  // The first price is there already, and changes nothing that is told.
}

TEST_CASE("market data: what cannot be subscribed to is refused with a reason") {
    market_data_host_options how = distributor::opened();
    how.subscriptions_max = 1;
    distributor all{how};
    connection it{all.host};
    it.log_in("anyone", "");
    it.want(instrument_id{9});
    it.want(first, 33);
    it.ask(subscribe{1, first, 0, false, false, false});
    it.want(first);
    it.want(first, 5);  // In place of the one before.
    it.want(second);
    it.read();
    CHECK(it.refused ==
          std::vector{subscription_refusal::unknown_instrument, subscription_refusal::too_deep,
                      subscription_refusal::nothing_wanted, subscription_refusal::too_many});
    CHECK(it.granted.size() == 2);
    CHECK(it.machine.subscriptions() == 1);
    it.say(soup_type::unsequenced, std::vector<std::byte>(3));
    it.read();
    CHECK(it.rejections == 1);
    CHECK_FALSE(it.machine.over());
}

TEST_CASE(
    "market data: a password is asked for unless everybody may come in, and a wrong one is late") {
    market_data_host_options how;
    for (const char* const each : {"alice", "bob"})
        how.users.users.push_back({.username = each, .secrets = {"secret"}});
    how.logins.delay_first = 1s;
    distributor all{how};
    struct refusal_watcher final : login_watcher {
        void login_refused(const refused_login& it) noexcept override {
            told += std::string{it.user} + ':' + std::string{describe(it.why)} + ' ';
        }
        std::string told;
    } watches;
    all.host.be_watched(&watches);
    connection right{all.host};
    right.log_in("alice", "secret");
    right.read();
    CHECK(right.accepted);
    connection wrong{all.host};
    wrong.log_in("alice", "other");
    wrong.read();
    CHECK(wrong.rejected.empty());
    CHECK_FALSE(wrong.machine.wants_packets());
    wrong.now += 2s;
    wrong.machine.on_timer(wrong.now);
    wrong.read();
    CHECK(wrong.rejected == "A");
    CHECK(wrong.machine.over());
    connection early{all.host};
    early.say(soup_type::client_heartbeat);
    CHECK(early.machine.ending() == soup_ending::before_login);
    connection of_old{all.host};
    of_old.log_in("bob", "secret", "LIFE0");
    of_old.read();
    CHECK(of_old.rejected == "S");
    CHECK(all.host.counts().logins == 1);
    CHECK(all.host.counts().refused == 2);
    connection unknown{all.host};
    unknown.log_in("eve", "secret");
    CHECK(watches.told == "alice:wrong_password bob:other_life eve:unknown_user ");
    all.host.be_watched(nullptr);
}

TEST_CASE("market data: before there is a life a login waits, and another life ends who is in") {
    market_books books{{}, true};
    market_data_host host{distributor::opened(), books, begun};
    connection it{host};
    it.log_in("anyone", "");
    it.read();
    CHECK_FALSE(it.accepted);
    connection impatient{host};
    impatient.log_in("anyone", "");
    host.begin_life("LIFE1", begun);
    it.read();
    CHECK(it.accepted);
    host.begin_life("LIFE2", begun);
    CHECK(it.machine.ending() == soup_ending::life_ended);
    it.read();
    CHECK_FALSE(it.said.empty());

    market_data_host nowhere{distributor::opened(), books, begun};
    connection late{nowhere};
    late.log_in("anyone", "");
    late.machine.on_timer(begun + 30s);
    CHECK(late.machine.ending() == soup_ending::unreachable);
}

TEST_CASE(
    "market data: one that does not read has one filled buffer, costs nothing more, and is shed") {
    distributor all;
    connection idle{all.host};
    connection busy{all.host};
    for (connection* const each : {&idle, &busy}) {
        each->log_in("anyone", "");
        each->want(first);
        each->read();
    }
    all.set(first, 5, 1);
    static_cast<void>(idle.machine.output());  // The transport takes it, and no more.
    const std::size_t unread = idle.machine.unread_bytes();
    CHECK(unread > 0);
    std::mt19937_64 dice{1};
    for (int each = 0; each < 10'000; ++each) {
        all.set(first, static_cast<price_ticks>(dice() % 50),
                static_cast<std::uint32_t>(dice() % 3));
        if (each % 100 == 0) all.print(first);
        all.host.changed();
        static_cast<void>(idle.machine.output());
        busy.read();
        REQUIRE(idle.machine.unread_bytes() == unread);
    }
    CHECK(busy.dropped == 0);
    CHECK(busy.trades == 100);
    idle.machine.on_timer(begun + 1s);
    CHECK_FALSE(idle.machine.over());
    // It reads after all: the newest state, and how many trades it has missed.
    idle.read();
    CHECK(idle.state == busy.state);
    CHECK(idle.trades == 8);
    CHECK(idle.dropped == 92);
    CHECK(idle.machine.dropped() == 92);
    CHECK(all.host.counts().dropped == 92);
    all.set(first, 5, 9);
    static_cast<void>(idle.machine.output());
    // It is there, but takes nothing.
    for (int second_passed = 1; second_passed < 30; ++second_passed) {
        idle.now = begun + std::chrono::seconds{second_passed};
        idle.say(soup_type::client_heartbeat);
        idle.machine.on_timer(idle.now);
        REQUIRE_FALSE(idle.machine.over());
    }
    idle.now = begun + 31s;
    idle.say(soup_type::client_heartbeat);
    idle.machine.on_timer(idle.now);
    CHECK(idle.machine.ending() == soup_ending::fell_behind);
    CHECK(all.host.counts().shed == 1);
}

TEST_CASE(
    "market data: one that takes a byte now and then is not shed, nor one that waits for its "
    "refusal") {
    market_data_host_options how;
    how.users.users.push_back({.username = "alice", .secrets = {"secret"}});
    how.logins.delay_first = 20s;
    how.logins.delay_max = 20s;
    distributor all{how};
    connection slow{all.host};
    slow.log_in("alice", "secret");
    slow.read();
    slow.want(first);
    for (int times = 0; times < 5; ++times) {
        REQUIRE_FALSE(slow.machine.output().empty());
        slow.now += 20s;
        slow.say(soup_type::client_heartbeat);
        slow.machine.sent(1, slow.now);
        slow.machine.on_timer(slow.now);
        REQUIRE_FALSE(slow.machine.over());
    }
    connection wrong{all.host};
    wrong.log_in("alice", "other");
    for (int each = 0; each < 20; ++each) {
        REQUIRE_FALSE(wrong.machine.over());
        wrong.now += 1s;
        wrong.machine.on_timer(wrong.now);
    }
    CHECK(wrong.machine.ending() == soup_ending::rejected);
}

TEST_CASE("market data: heartbeats both ways, a silent peer, and ends in order") {
    distributor all;
    connection it{all.host};
    it.log_in("anyone", "");
    it.read();
    it.now = begun + 2s;
    it.machine.on_timer(it.now);
    it.read();
    CHECK(it.heartbeats == 1);
    it.machine.on_timer(begun + 16s);
    CHECK(it.machine.ending() == soup_ending::peer_silent);
    connection other{all.host};
    other.log_in("anyone", "");
    other.say(soup_type::logout_request);
    CHECK(other.machine.ending() == soup_ending::logged_out);
    connection confused{all.host};
    confused.log_in("anyone", "");
    confused.say(soup_type::sequenced);
    CHECK(confused.machine.ending() == soup_ending::wrong_direction);
    connection never{all.host};
    never.machine.on_timer(begun + 30s);
    CHECK(never.machine.ending() == soup_ending::login_timed_out);
}

TEST_CASE("market data: one whose password waits to be checked has as long as one that is silent") {
    market_data_host_options busy;
    busy.users.users.push_back({.username = "one", .secrets = {"secret"}});
    busy.logins.checks_per_second_max = busy.logins.checks_at_once_max = 1;
    distributor all{busy};
    connection it{all.host};
    it.log_in("one", "secret");
    connection other{all.host};
    other.log_in("one", "secret");
    other.read();
    REQUIRE_FALSE(other.accepted);

    other.machine.on_timer(begun + 30s);
    CHECK(other.machine.ending() == soup_ending::login_timed_out);
}

TEST_CASE("market data: who follows all may follow one anew, however many there are") {
    market_data_host_options how = distributor::opened();
    how.subscriptions_max = 1;
    distributor all{how};
    connection it{all.host};
    it.log_in("anyone", "");
    it.want(instrument_id::none);
    it.ask(unsubscribe{2, first});
    it.want(first);
    it.read();
    CHECK(it.refused.empty());
    CHECK(it.machine.subscriptions() == 2);
}

TEST_CASE("market data: a large book that is always another one does not keep the rest waiting") {
    constexpr price_ticks levels = 4 * told_levels_max;
    for (const bool begun_anew : {false, true}) {  // Or told what has changed, in parts.
        CAPTURE(begun_anew);
        market_data_host_options how = distributor::opened();
        how.unsent_bytes_max = market_message_bytes_max + soup_header_bytes;
        distributor all{how, std::size_t{begun_anew ? 64U : 1024U}};
        std::uint32_t orders = 0;
        const auto change = [&] {
            ++orders;
            for (price_ticks each = 1; each <= levels; ++each) all.set(first, each, orders);
        };
        change();
        connection it{all.host};
        it.log_in("anyone", "");
        it.ask(subscribe{1, first, 0, true, false, false});
        it.ask(subscribe{2, second, 0, false, true, false});
        it.read();
        CHECK(it.levels == levels);
        change();
        it.read_once();  // A part of the first.
        change();
        all.print(second);
        for (int turn = 0; turn < 8; ++turn) {
            it.read_once();
            change();
        }
        CHECK(it.trades == 1);
        // And it is told to its end once it is left in peace.
        it.read();
        CHECK(it.state == all.books.find(first)->version());
    }
}

TEST_CASE("market data: a large book is told to its end before the next one is begun") {
    market_data_host_options how = distributor::opened();
    how.unsent_bytes_max = market_message_bytes_max + soup_header_bytes;
    distributor all{how};
    constexpr price_ticks levels = 4 * told_levels_max;
    for (price_ticks each = 1; each <= levels; ++each) all.set(first, each, 1);
    connection it{all.host};
    it.log_in("anyone", "");
    it.ask(subscribe{1, first, 0, true, false, false});
    it.ask(subscribe{2, second, 0, false, false, true});
    while (it.levels < levels) {
        CHECK_FALSE(it.summary.has_value());
        it.read_once();
    }
    it.read();
    CHECK(it.summary.has_value());
}

TEST_CASE("market data: many instruments have their turns, also where there is little room") {
    market_data_host_options how = distributor::opened();
    how.unsent_bytes_max = market_message_bytes_max + soup_header_bytes;
    distributor all{how};
    for (std::uint32_t each = 3; each <= 40; ++each) all.set(instrument_id{each}, 1, 1);
    connection it{all.host};
    it.log_in("anyone", "");
    for (std::uint32_t each = 1; each <= 40; ++each) {
        it.want(instrument_id{each});
        it.read();
    }
    const std::size_t deltas = it.deltas;
    it.state.reset();
    std::size_t told = 0;
    for (std::uint32_t each = 1; each <= 40; ++each) all.print(instrument_id{each});
    while (!it.machine.output().empty()) {
        CHECK(it.machine.unread_bytes() <= how.unsent_bytes_max);
        it.read();
        ++told;
    }
    CHECK(it.trades == 40);
    CHECK(it.deltas == deltas);
    CHECK(told >= 1);
}

// SPDX-License-Identifier: BSL-1.0
//
// Whatever links do to a crowd of clients and to listeners, in the end all of them know what the exchange
// knows.
//
// One body for every pipeline. Three threads: the exchange, the network (bad_network.hpp), and the crowd
// with its listeners. For a while everything goes wrong, then nothing does any more, and when all
// have received everything the day ends and the views are compared. In the middle of it the exchange itself
// may crash and begin another life; then nothing may be left of the first one in any view.
#pragma once

#include <exchange/tests/links/bad_network.hpp>
#include <exchange/tests/links/facility_thread.hpp>
#include <exchange/tests/links/watcher.hpp>
#include <exchange/tests/links/wild_trader.hpp>

#include <support/harness.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <string>

namespace exchange::testing {

/// How long links are bad: EXCHANGE_LINKS_SECONDS, or as long as an ordinary test run allows.
[[nodiscard]] inline gyre::duration bad_weather() {
    const char* const given = std::getenv("EXCHANGE_LINKS_SECONDS");
    return std::chrono::milliseconds{given != nullptr ? 1000 * std::strtoll(given, nullptr, 10)
                                                      : 2000};
}

/// Where the two halves are, and what lies between.
struct bad_links_addresses {
    gyre::ipv4 exchange = gyre::ipv4::loopback();
    gyre::ipv4 crowd = gyre::ipv4::loopback();
    std::string exchange_network{};    ///< A network namespace's path; empty: ours.
    std::string exchange_interface{};  ///< Through which the feed leaves; only for a group.
    std::string crowd_interface{};     ///< Through which it comes; only for a group.
    gyre::endpoint feed_group{};       ///< Null: the feed goes to the relay alone.

    [[nodiscard]] bool has_group() const noexcept { return !crowd_interface.empty(); }
};

/// One mix of faults for each listener.
[[nodiscard]] inline std::vector<datagram_faults> listeners_weather() {
    return {{.drop_one_in = 20},
            {.duplicate_one_in = 4, .delay_one_in = 30},
            {.delay_one_in = 4, .delay_max = std::chrono::milliseconds{8}},
            {.burst_one_in = 400, .burst_max = 40},
            {.drop_one_in = 30, .burst_one_in = 800, .duplicate_one_in = 15, .delay_one_in = 10}};
}

/// @tparam  X         A side of the seam.
/// @tparam  Facility  A matching_facility, or what has its members.
template <executor_traits X, class Facility>
class bad_links_law {
public:
    using context = typename X::context;
    using task = typename X::template task<void>;

    static void all_views_equal_the_exchanges(const typename X::context_options& how,
                                              const bad_links_addresses& addresses = {}) {
        hold(how, addresses, crash::none);
    }
    static void all_views_equal_the_exchanges_after_a_crash(
        const typename X::context_options& how) {
        hold(how, {}, crash::in_bad_weather);
    }

private:
    enum class crash : bool { none, in_bad_weather };

    static void hold(const typename X::context_options& how, const bad_links_addresses& addresses,
                     crash crashes) {
        INFO("EXCHANGE_LINK_SEED=", link_seed());
        const std::size_t descriptors = gyre::testing::open_descriptors();
        {
            bad_links_law it{how, addresses, crashes};
            it.play();
            it.judge();
            if (std::getenv("EXCHANGE_LINKS_SECONDS") != nullptr) it.report();
        }
        CHECK(gyre::testing::open_descriptors() == descriptors);
    }

    bad_links_law(const typename X::context_options& how, const bad_links_addresses& addresses,
                  crash crashes)
        : how_{how},
          addresses_{addresses},
          crashes_{crashes},
          on_{how},
          network_{link_seed(), {}, listeners_weather()} {
        REQUIRE(
            network_.open(addresses.crowd, addresses.feed_group, addresses.crowd_interface).ok());
        begin_life("LIFE1", facility_rules());
        REQUIRE_FALSE(exchange_->status());
    }

    void begin_life(std::string_view name, const facility_options& options) {
        order_entry_host_options rules = crowd_rules();
        rules.stream.session = rules.feed.session = name;
        exchange_.emplace(how_, rules, options, addresses_.exchange_network);
    }
    /// Its connections break, nobody is told why, and another one stands where it was.
    void crash_and_begin_again() {
        facility_options options = facility_rules();
        options.order_entry = exchange_->order_entry();
        options.feed_requests = exchange_->feed_requests();
        begin_life("LIFE2", options);
        CHECK_FALSE(exchange_->status());
    }

    [[nodiscard]] facility_options facility_rules() const {
        facility_options options;
        options.order_entry = options.feed_from = options.feed_requests =
            gyre::endpoint{addresses_.exchange, 0};
        options.feed = network_.feed();
        options.feed_interface = addresses_.exchange_interface;
        options.connections_max = crowd_size + 12;  // A crowd that comes again needs a few more.
        options.sessions = impatient();
        options.timer_tick = std::chrono::milliseconds{20};
        options.linger = std::chrono::milliseconds{300};
        return options;
    }
    /// So that dead connections are found within the test.
    [[nodiscard]] static soup_options impatient() {
        soup_options options;
        options.heartbeat_after = std::chrono::milliseconds{200};
        options.dead_after = std::chrono::milliseconds{1200};
        options.login_within = std::chrono::seconds{1};
        return options;
    }

    void play() {
        populate();
        X::launch(on_, conduct());
        on_.run();
        exchange_->stop();
        network_.stop();
    }

    void populate() {
        std::vector<gyre::endpoint> listeners;
        for (std::size_t each = 0; each < listeners_weather().size(); ++each) {
            watch(gyre::endpoint{addresses_.crowd, 0}, network_.requests_of(each), {});
            listeners.push_back(watchers_.back().feed.local());
        }
        // One more hears the group itself, with nothing in between but the network.
        if (addresses_.has_group())
            watch(addresses_.feed_group, exchange_->feed_requests(), addresses_.crowd_interface);
        network_.begin({exchange_->order_entry(), exchange_->feed_requests()}, listeners);
        for (std::uint16_t member = 1; member <= crowd_size; ++member) {
            order_entry_client_options options;
            options.exchange = network_.order_entry();
            const std::string name = crowd_name(member);
            options.login.username = std::string_view{name};
            options.login.password = crowd_password;
            options.session = impatient();
            options.timer_tick = std::chrono::milliseconds{20};
            options.reconnect_after_max = std::chrono::milliseconds{100};
            traders_.emplace_back(on_, member, options, link_seed() * 1000 + member).begin();
        }
    }

    void watch(const gyre::endpoint& group, const gyre::endpoint& requests,
               const std::string& interface) {
        feed_listener_options options;
        options.group = group;
        options.interface = interface;
        options.ask_from = gyre::endpoint{addresses_.crowd, 0};
        options.requests = requests;
        options.receiver.requests_max = 100;
        options.receiver.new_life_after = std::chrono::milliseconds{500};
        watchers_.emplace_back(on_, options);
        REQUIRE(watchers_.back().feed.start().ok());
    }

    task conduct() {
        typename X::timer timer{on_};
        dice whom{link_seed()};
        gyre::time_point fair_again = X::now(on_) + bad_weather();
        gyre::time_point crash_at =
            crashes_ == crash::none ? gyre::never : X::now(on_) + bad_weather() / 2;
        const gyre::time_point latest = X::now(on_) + gyre::testing::patience;
        while (X::now(on_) < fair_again) {
            if (X::now(on_) >= crash_at && (half_have_been_in() || X::now(on_) >= latest)) {
                crash_at = gyre::never;
                crash_and_begin_again();
            }
            // On a machine that is busy the crowd may take a while to get in.
            if (crash_at != gyre::never) fair_again = X::now(on_) + bad_weather() / 2;
            static_cast<void>(
                co_await timer.wait_until(X::now(on_) + std::chrono::milliseconds{100}));
            hang_ups_ += traders_[whom.below(traders_.size())].hang_up() ? 1 : 0;
        }

        network_.calm();
        const gyre::time_point calm = X::now(on_);
        const gyre::time_point limit = calm + gyre::testing::patience;
        for (wild_trader<X>& each : traders_) each.finish();
        while (X::now(on_) < limit && !all_settled())
            static_cast<void>(
                co_await timer.wait_until(X::now(on_) + std::chrono::milliseconds{5}));
        settled_ = all_settled();
        settling_ = X::now(on_) - calm;
        exchange_->drain();
        while (X::now(on_) < limit && !all_over())
            static_cast<void>(
                co_await timer.wait_until(X::now(on_) + std::chrono::milliseconds{5}));
        over_ = all_over();
        ending_ = X::now(on_) - calm - settling_;
        for (wild_trader<X>& each : traders_) each.stop();
        for (watcher<X>& each : watchers_) each.feed.stop();
    }

    /// To others a crash is nothing.
    [[nodiscard]] bool half_have_been_in() const {
        return std::ranges::count_if(traders_, &wild_trader<X>::has_been_in) >=
               std::ptrdiff_t{crowd_size} / 2;
    }
    [[nodiscard]] bool all_settled() const {
        return std::ranges::all_of(traders_, &wild_trader<X>::is_settled);
    }
    [[nodiscard]] bool all_over() const {
        return std::ranges::all_of(traders_, &wild_trader<X>::is_gone) &&
               std::ranges::all_of(watchers_, &watcher<X>::over);
    }

    void judge() {
        CHECK(settled_);
        CHECK(over_);
        CHECK(exchange_->was_idle());
        for (const wild_trader<X>& each : traders_) judge_trader(each);
        for (std::size_t each = 0; each < watchers_.size(); ++each) judge_watcher(each);
        judge_conservation();
        judge_weather();
        judge_lives();
    }

    void judge_trader(const wild_trader<X>& it) {
        const auto member = static_cast<std::uint16_t>(1 + index_of(it));
        INFO("trader ", member);
        for (const std::string& each : it.blotter().complaints()) FAIL_CHECK(each);
        const participant& whose = exchange_->host().participants()[index_of(it)];
        CHECK(it.is_gone());
        CHECK(it.machine().ending() == soup_ending::session_ended);
        CHECK(it.next_sequence() == whose.stream().messages().next_sequence());
        CHECK(it.blotter().compare(market(), account_id{member}, crowd_holdings_max) == "");
    }

    void judge_watcher(std::size_t index) {
        INFO("listener ", index);
        const watcher<X>& it = watchers_[index];
        CHECK(it.complaint == "");
        CHECK(it.missing == 0);
        CHECK(it.next_sequence == exchange_->host().feed().messages().next_sequence());
        CHECK(it.book.compare_all(market()) == "");
    }

    /// Every message that was derived has been heard by whom it was for, if it was for anybody.
    void judge_conservation() {
        std::uint64_t heard = exchange_->host().feed().messages().next_sequence() - 1;
        for (const wild_trader<X>& each : traders_) heard += each.next_sequence() - 1;
        heard += exchange_->host().counts().answers;  // Of what no operator asked for.
        CHECK(heard == exchange_->host().market().published());
    }

    void judge_lives() {
        const std::uint64_t begun = crashes_ == crash::none ? 0 : 1;
        std::uint64_t told = 0;
        for (const wild_trader<X>& each : traders_) {
            CHECK(each.new_lives() <= begun);  // One that had not got in yet knew no life before.
            told += each.new_lives();
        }
        CHECK(told >= begun * crowd_size / 2);
        for (const watcher<X>& each : watchers_) CHECK(each.new_lives == begun);
    }

    /// A fault that never happened proves nothing.
    void judge_weather() {
        const stream_fault_counts& clients = network_.clients();
        CHECK(clients.connections > crowd_size);
        CHECK(clients.slices > 0);
        CHECK(clients.stalls > 0);
        CHECK(clients.freezes > 0);
        CHECK(clients.resets > 0);
        CHECK(clients.closes > 0);
        CHECK(clients.orphans > 0);
        CHECK(clients.strikes > 0);
        CHECK(hang_ups_ > 0);
        CHECK(trading().answered > 0);
        CHECK(trading().lost > 0);
        const datagram_fault_counts listeners = network_.listeners();
        CHECK(listeners.dropped > 0);
        CHECK(listeners.bursts > 0);
        CHECK(listeners.duplicated > 0);
        CHECK(listeners.overtaken > 0);
        CHECK(hearing().requests > 0);
        CHECK(hearing().held > 0);
        CHECK(hearing().duplicates > 0);
    }

    [[nodiscard]] blotter_counts trading() const {
        blotter_counts all;
        for (const wild_trader<X>& each : traders_) all += each.blotter().counts();
        return all;
    }
    [[nodiscard]] mold_counts hearing() const {
        mold_counts all;
        for (const watcher<X>& each : watchers_) {
            const mold_counts& its = each.feed.receiver().counts();
            all.requests += its.requests;
            all.held += its.held;
            all.duplicates += its.duplicates;
        }
        return all;
    }

    /// For a long run: what it was good for.
    void report() {
        const stream_fault_counts& clients = network_.clients();
        const datagram_fault_counts listeners = network_.listeners();
        const blotter_counts commands = trading();
        const mold_counts gaps = hearing();
        MESSAGE("EXCHANGE_LINK_SEED=", link_seed());
        MESSAGE("commands: ", commands.sent, " sent, ", commands.answered, " answered, ",
                commands.rejected, " of them refused, ", commands.lost, " lost with connections");
        MESSAGE("connections: ", clients.connections, ", ", clients.portions,
                " portions: ", clients.slices, " sliced, ", clients.stalls, " stalled, ",
                clients.freezes, " frozen, ", clients.resets, " reset, ", clients.closes,
                " closed, ", clients.orphans, " orphaned; ", clients.strikes, " strikes, ",
                hang_ups_, " hung up");
        MESSAGE("datagrams: ", listeners.taken, ": ", listeners.dropped, " dropped, ",
                listeners.bursts, " bursts, ", listeners.duplicated, " doubled, ",
                listeners.overtaken, " overtaken, ", listeners.crowded, " crowded out; ", gaps.held,
                " held, ", gaps.duplicates, " in vain, ", gaps.requests, " requests, ",
                exchange_->feed().answers, " answers");
        MESSAGE("exchange: ", exchange_->host().market().published(), " messages, ",
                market().memory.orders.in_use(), " orders rest, settled within ",
                settling_ / std::chrono::milliseconds{1}, " ms, ended within ",
                ending_ / std::chrono::milliseconds{1}, " ms");
    }

    [[nodiscard]] const venue& market() { return exchange_->host().market().state(); }
    [[nodiscard]] std::size_t index_of(const wild_trader<X>& it) const {
        std::size_t index = 0;
        while (&traders_[index] != &it) ++index;
        return index;
    }

    typename X::context_options how_;
    bad_links_addresses addresses_;
    crash crashes_;
    context on_;
    bad_network network_;
    std::optional<facility_thread<X, Facility>> exchange_;
    std::deque<wild_trader<X>> traders_;
    std::deque<watcher<X>> watchers_;
    gyre::duration settling_{};
    gyre::duration ending_{};
    std::uint64_t hang_ups_ = 0;
    bool settled_ = false;
    bool over_ = false;
};

}  // namespace exchange::testing

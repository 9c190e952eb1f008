// SPDX-License-Identifier: BSL-1.0
//
// Market data from end to end: an order that a trader sends to a facility, until the level that it makes has
// reached each subscriber of a distributor.
//
// Facility and distributor are the programs of exchange/bin, on the library that is measured; trader and
// subscribers are here, on a loop that never sleeps, the same for all. It plays one cell once and prints one
// line of JSON: repeating, interleaving and judging are the business of lab/run.py.
#include <exchange/bench/bench_subscriber.hpp>
#include <exchange/bench/facility_process.hpp>
#include <exchange/bench/loopback.hpp>
#include <exchange/bench/metric_list.hpp>
#include <exchange/bench/session_client.hpp>
#include <exchange/net/transport/websocket_packets.hpp>

#include <lab/kit/descriptor_limit.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace exchange::bench {
namespace {

using namespace std::chrono_literals;
using json = metric_list::json;

constexpr std::string_view suite_name = "exchange_market_data";
constexpr std::string_view tuning_name = "exchange_market_data_tuning";

struct market_data_cell {
    bool by_json = false;         ///< Over WebSocket; else SBE over TCP.
    std::size_t subscribers = 1;  ///< Silent ones included.
    std::size_t silent = 0;       ///< They ask for much and never read.
    unsigned rate = 500;          ///< Orders a second: fewer where there are many to be told.
    bool is_tuned = false;        ///< One to turn screws at.
};

constexpr std::array cells{
    market_data_cell{false, 1, 0, 500},   market_data_cell{false, 10, 0, 500},
    market_data_cell{false, 100, 0, 100}, market_data_cell{false, 100, 1, 100},
    market_data_cell{false, 1000, 0, 20}, market_data_cell{true, 1, 0, 500},
    market_data_cell{true, 10, 0, 500},   market_data_cell{true, 100, 0, 100, true},
    market_data_cell{true, 1000, 0, 20},  market_data_cell{true, 1000, 10, 20},
};

std::string name_of(const market_data_cell& it) {
    std::string made = (it.by_json ? "json_" : "tcp_") + std::to_string(it.subscribers);
    if (it.silent > 0) made += "_" + std::to_string(it.silent) + "_silent";
    return made;
}

std::string describe(const market_data_cell& it) {
    std::string made = std::to_string(it.subscribers) + " subscribers";
    if (it.silent > 0) made += " of whom " + std::to_string(it.silent) + " never read";
    return made + (it.by_json ? ", JSON over WebSocket, " : ", SBE over TCP, ") +
           std::to_string(it.rate) + " orders per second";
}

struct arguments {
    bool list = false;
    bool unpinned = false;
    std::string suite{suite_name};
    std::string name;
    std::string scale = "quick";
    std::string backend;
    std::string facility;
    std::string distributor;
    unsigned told_every_ms = 1;
    unsigned kernel_send_bytes = 64 * 1024;
};

std::string distributor_config(const arguments& how, std::uint16_t feed_port,
                               const facility_process& of) {
    const json made = {{"backend", how.backend},
                       {"feed",
                        {{"from", "127.0.0.1:" + std::to_string(feed_port)},
                         {"requests", of.requests().to_string()},
                         {"ask_from", "127.0.0.1:0"}}},
                       {"exchange", {{"at", of.order_entry().to_string()}, {"username", "mdist"}}},
                       {"subscribers",
                        {{"at", "127.0.0.1:0"},
                         {"websocket_at", "127.0.0.1:0"},
                         {"open_to_all", 1},
                         {"kernel_send_bytes", how.kernel_send_bytes},
                         {"connections_max", 4096}}},
                       {"timing", {{"told_every_ms", how.told_every_ms}}},
                       {"credentials_file", "credentials.json"}};
    return made.dump();
}

/// A port of UDP that was free a moment ago.
std::uint16_t free_port() {
    return ntohs(address_of(datagrams_at_loopback({htonl(INADDR_ANY)})).sin_port);
}

facility_setting facility_of(const arguments& how, two_processors cores) {
    facility_setting made;
    made.program = how.facility;
    made.backend = how.backend;
    made.processor = cores.served;
    made.users = {{"trader", 1}, {"mdist", 2}};
    made.feed_port = free_port();
    return made;
}

class market_data_run {
public:
    market_data_run(const market_data_cell& which, const arguments& how)
        : cell_{which}, how_{how}, facility_setting_{facility_of(how, cores_)} {
        stay_on_processor(cores_.load);
        login_trader();
        // The instrument is known once it was spoken of.
        for (std::size_t each = 0; each < of_order_.size(); ++each) trade(clock_now());
        wait_until([this] { return trader_->is_settled(); }, "an order was not answered");
        login_subscribers();
    }
    market_data_run(const market_data_run&) = delete;
    market_data_run& operator=(const market_data_run&) = delete;
    ~market_data_run() {
        trader_->leave();
        for (const auto& each : all_) each->leave();
        context_.run();
    }

    json play(gyre::duration warm_up, gyre::duration measured) {
        const std::size_t listening = cell_.subscribers - cell_.silent;
        trade_for(warm_up);
        wait_for(100ms);
        told_.late = {};
        const process_use before = distributor_.used();
        const double facility_before = facility_.used().processor_seconds;
        const std::uint64_t orders = trade_for(measured);
        const std::uint64_t wanted = orders * listening;
        const gyre::time_point sent = clock_now();
        wait_until([&] { return told_.late.count() >= wanted; }, "a level was never told");
        const bool saturated = clock_now() - sent > measured / 10;
        const process_use after = distributor_.used();
        const double facility_spent = facility_.used().processor_seconds - facility_before;
        wait_for(20ms);
        lab::require(told_.late.count() == wanted, "a level was told twice");

        metric_list made;
        made.add_latency(told_.late);
        const double spent = after.processor_seconds - before.processor_seconds;
        made.add("cpu", "ns/op", "lower", 1e9 * spent / static_cast<double>(wanted));
        made.add("facility_cpu", "ns/op", "lower",
                 1e9 * facility_spent / static_cast<double>(orders));
        made.add("memory", "MB", "lower", static_cast<double>(after.resident_bytes_most) / 1e6);
        made.add("told", "", "higher", static_cast<double>(wanted));
        made.add("saturated", "share", "lower", saturated ? 1 : 0);
        return made.values();
    }

    [[nodiscard]] json buckets() const {
        json made = json::array();
        told_.late.for_each_bucket(
            [&](std::uint64_t value, std::uint64_t count) { made.push_back({value, count}); });
        return made;
    }

private:
    static constexpr std::size_t logins_under_way = 128;
    static constexpr auto patience = 10s;

    [[nodiscard]] static gyre::time_point clock_now() { return std::chrono::steady_clock::now(); }
    // What is measured inherits its core.
    [[nodiscard]] two_processors on_served() const {
        const two_processors chosen = how_.unpinned ? two_processors{} : choose_processors();
        stay_on_processor(chosen.served);
        return chosen;
    }

    template <class Over>
    void wait_until(const Over& over, const char* what) {
        const gyre::time_point end = clock_now() + patience;
        while (!over()) {
            context_.poll();
            if (clock_now() > end) lab::fail(what);
        }
    }
    void wait_for(gyre::duration it) {
        const gyre::time_point end = clock_now() + it;
        while (clock_now() < end) context_.poll();
    }

    void login_trader() {
        order_entry_client_options trading;
        trading.exchange = facility_.order_entry();
        trading.login = {
            .username = "trader", .password = facility_process::password(), .session = {}};
        trader_ = std::make_unique<session_client>(context_, trading);
        wait_until([this] { return trader_->is_in(); }, "the trader was not let in");
    }

    void login_subscribers() {
        order_entry_client_options who;
        who.exchange =
            distributor_.endpoint_behind(cell_.by_json ? "websocket " : "ready: subscribers ");
        who.login = {.username = "s", .password = "s", .session = {}};
        who.websocket.format = session_format::json;
        who.websocket.path = "/market-data/v1";
        who.timer_tick = 500ms;  // Of so many, more would be the load.
        for (std::size_t in = 0; in < cell_.subscribers;) {
            while (all_.size() < std::min(cell_.subscribers, in + logins_under_way))
                all_.push_back(made_subscriber(who, all_.size() < cell_.silent));
            wait_until([&] { return all_[in]->is_in(); }, "a subscriber was not let in");
            while (in < all_.size() && all_[in]->is_in()) ++in;
        }
    }
    std::unique_ptr<bench_subscriber> made_subscriber(const order_entry_client_options& who,
                                                      bool silent) {
        using over_tcp = subscriber_over<packet_stream<gyre_traits>>;
        using over_websocket = subscriber_over<websocket_packets<gyre_traits>>;
        if (cell_.by_json) return std::make_unique<over_websocket>(context_, who, silent, told_);
        return std::make_unique<over_tcp>(context_, who, silent, told_);
    }

    /// One comes, and the oldest goes.
    void trade(gyre::time_point due) {
        const client_sequence mine = trader_->next();
        enter_order order{};
        order.instrument = instrument_id{1};
        order.side = order_side::buy;
        order.type = order_type::limit;
        order.tif = time_in_force::good_till_cancel;
        order.price = due_.note(sent_, due);
        order.quantity = 1;
        lab::require(trader_->send(order), "an order has no room");
        client_sequence& place = of_order_[sent_ % of_order_.size()];
        if (sent_ >= of_order_.size()) {
            const cancel_order oldest{
                session_id::none, client_sequence::none, {order_id::none, place}};
            lab::require(trader_->send(oldest), "an order has no room");
        }
        place = mine;
        ++sent_;
    }

    /// What is late is sent late, and still counts from when it was due.
    std::uint64_t trade_for(gyre::duration stage) {
        const gyre::time_point begin = clock_now() + 1ms;
        const auto orders = static_cast<std::uint64_t>(stage * cell_.rate / 1s);
        for (std::uint64_t each = 0; each < orders; ++each) {
            const gyre::time_point due = begin + gyre::duration{1s} * each / cell_.rate;
            while (clock_now() < due) context_.poll();
            trade(due);
        }
        return orders;
    }

    const market_data_cell& cell_;
    const arguments& how_;
    two_processors cores_ = on_served();
    facility_setting facility_setting_;
    facility_process facility_{facility_setting_};
    measured_process distributor_{
        how_.distributor,
        {{"distributor.json", distributor_config(how_, facility_setting_.feed_port, facility_)},
         {"credentials.json", R"({"exchange_password": "secret"})"}}};
    gyre::io_context context_;
    due_levels due_;
    told_levels told_{due_, {}};
    std::unique_ptr<session_client> trader_;
    std::vector<std::unique_ptr<bench_subscriber>> all_;
    /// Of the orders that stand: half a second's, so that a level outlives a pause of the host.
    std::vector<client_sequence> of_order_ =
        std::vector<client_sequence>(std::max(32U, cell_.rate / 2));
    std::uint64_t sent_ = 0;
};

void print_list(const arguments& given) {
    const bool is_tuning = given.suite == tuning_name;
    for (const market_data_cell& each : cells) {
        if (is_tuning && !each.is_tuned) continue;
        const json line = {{"suite", given.suite},
                           {"case", name_of(each)},
                           {"description", describe(each)},
                           {"threads", 2},
                           {"rounds_max", given.scale == "quick" ? 1 : 0},
                           {"turns", 1}};
        std::puts(line.dump().c_str());
    }
}

json report_of(const arguments& given) {
    const auto* const found = std::ranges::find(cells, given.name, name_of);
    lab::require(found != cells.end(), "exchange: no such case");
    market_data_run run{*found, given};
    const bool is_full = given.scale == "full";
    json metrics = run.play(is_full ? 300ms : 200ms, is_full ? 1500ms : 600ms);
    const bool is_gyre = given.backend.starts_with("gyre");
    return {{"suite", given.suite},
            {"case", given.name},
            {"contender", given.backend},
            {"library", is_gyre ? "gyre" : "Boost.Asio"},
            {"version", ""},
            {"backend", given.backend == "gyre_uring" ? "io_uring" : "epoll"},
            {"metrics", std::move(metrics)},
            {"latency_buckets", run.buckets()}};
}

int drive(int count, char** values) {
    CLI::App app{"Plays one cell of market data once and prints one line of JSON."};
    arguments given;
    app.add_flag("--list", given.list, "print every case of the suite, one line of JSON each");
    app.add_option("--suite", given.suite, "the suite")
        ->check(CLI::IsMember({std::string{suite_name}, std::string{tuning_name}}));
    app.add_option("--case", given.name, "a case of this suite; see --list");
    app.add_option("--scale", given.scale, "full takes longer")
        ->check(CLI::IsMember({"glance", "quick", "full"}));
    app.add_option("--backend", given.backend, "of facility and distributor, as they call it");
    app.add_option("--facility", given.facility, "the program");
    app.add_option("--distributor", given.distributor, "the program");
    app.add_flag("--unpinned", given.unpinned, "let the kernel choose cores");
    app.add_option("--told-every-ms", given.told_every_ms, "the distributor's told_every_ms");
    app.add_option("--kernel-send-bytes", given.kernel_send_bytes, "its kernel_send_bytes");
    bool counts_calls = false;
    app.add_flag("--count-system-calls", counts_calls, "counts none: other processes make them");
    CLI11_PARSE(app, count, values);
    if (given.list) {
        print_list(given);
        return 0;
    }
    lab::raise_descriptor_limit();
    std::puts(report_of(given).dump().c_str());
    return 0;
}

}  // namespace
}  // namespace exchange::bench

int main(int count, char** values) { return exchange::bench::drive(count, values); }

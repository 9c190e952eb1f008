// SPDX-License-Identifier: BSL-1.0
//
// What others notice of commands that concern a whole book of orders.
//
// An account fills a book, and then a fill-or-kill has to look at all of it, a sweep takes it, a mass cancel
// empties it. Meanwhile a few others trade, and a listener asks for messages again: its answers come from the
// loop in between two steps, so they tell how long the loop was held, while orders wait for a whole command.
#include <exchange/bench/facility_process.hpp>
#include <exchange/bench/loopback.hpp>
#include <exchange/bench/session_client.hpp>
#include <exchange/codec/mold_packet.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

using namespace exchange;
using namespace exchange::bench;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t owner = 0;  // Of the book. The taker is in its group, the sweeper is not.
constexpr std::size_t taker = 1;
constexpr std::size_t sweeper = 2;
constexpr std::size_t first_other = 3;
constexpr std::size_t others = 4;
constexpr price_ticks lowest = 1'000'000;
constexpr std::uint32_t orders_a_level = 100;
constexpr auto stage_length = 10s;
constexpr auto between_others = 500us;
constexpr auto between_probes = 1ms;

enter_order order_at(order_side side, price_ticks price, contracts quantity, time_in_force tif) {
    enter_order it{};
    it.instrument = instrument_id{1};
    it.side = side;
    it.type = order_type::limit;
    it.tif = tif;
    it.price = price;
    it.quantity = quantity;
    return it;
}

order_entry_client_options client_of(const facility_process& facility, const bench_user& who) {
    order_entry_client_options made;
    made.exchange = facility.order_entry();
    made.login = {.username = std::string_view{who.name},
                  .password = facility_process::password(),
                  .session = {}};
    return made;
}

std::uint64_t ns_since(std::chrono::steady_clock::time_point begun) {
    return static_cast<std::uint64_t>((std::chrono::steady_clock::now() - begun).count());
}

double us(const lab::histogram& of, double part) {
    return static_cast<double>(of.quantile(part)) / 1000;
}

/// A socket at a port of the kernel's choice.
gyre::udp_socket bound_to_loopback(gyre::io_context& on) {
    auto made = gyre::udp_socket::bind(on, gyre::endpoint{gyre::ipv4::loopback(), 0});
    if (!made.ok()) lab::fail("cannot bind a socket to 127.0.0.1");
    return made.take();
}

/// Those who trade beside, and who asks for the newest message of the feed again and again: on a loop of
/// their own, since those who give long commands have much to read.
class observers {
public:
    /// What they have noticed, in ns.
    struct waited {
        lab::histogram orders;   ///< Until the answer to an order.
        lab::histogram answers;  ///< Until the answer to a request.
    };

    [[nodiscard]] std::uint16_t feed_port() const { return feed_.local_endpoint().value().port(); }

    void begin(const facility_process& facility, const std::vector<bench_user>& users) {
        facility_ = &facility;
        for (std::size_t each = first_other; each < users.size(); ++each)
            clients_.push_back(
                std::make_unique<session_client>(context_, client_of(facility, users[each])));
        gyre::launch(context_, listen(), gyre::or_terminate{});
        gyre::launch(context_, trade(), gyre::or_terminate{});
        gyre::launch(context_, ask(), gyre::or_terminate{});
        thread_ = std::thread{[this] { context_.run(); }};
    }
    void end() {
        over_ = true;
        thread_.join();
    }

    /// They observe from here on, or rest. What they begin is brought to its end.
    void observe(bool on) {
        observing_ = on;
        while (!on && busy_ > 0) std::this_thread::sleep_for(100us);
    }
    /// While they rest.
    [[nodiscard]] waited& noticed() noexcept { return noticed_; }

private:
    gyre::task<> listen() {
        std::array<std::byte, 2048> datagram;
        for (;;) {
            const auto [failed, received, from] = co_await feed_.receive_from(datagram);
            if (failed) co_return;
            const mold_packet parsed = parse_mold_packet(std::span{datagram}.first(received.size));
            if (parsed.fault != mold_fault::none || parsed.header.count == mold_end_of_session)
                continue;
            if (parsed.header.count > 0) newest_ = parsed.header.sequence + parsed.header.count - 1;
        }
    }

    gyre::task<> ask() {
        std::array<std::byte, 2048> answer;
        while (!over_) {
            static_cast<void>(co_await gyre::sleep_for(between_probes));
            if (!observing_ || newest_ == 0) continue;
            ++busy_;
            const auto request =
                format_mold_header({std::string_view{facility_->life()}, newest_, 1});
            const auto sent = std::chrono::steady_clock::now();
            static_cast<void>(co_await asking_.send_to(request, facility_->requests()));
            const auto [late, taken, from] =
                co_await gyre::with_timeout(1s, asking_.receive_from(answer));
            // Else it was not kept any more, or not sent yet.
            if (!late) noticed_.answers.record(ns_since(sent));
            --busy_;
        }
        static_cast<void>(feed_.close());
        for (const auto& each : clients_) each->leave();
    }

    gyre::task<> trade() {
        for (std::size_t turn = 0; !over_; ++turn) {
            static_cast<void>(co_await gyre::sleep_for(between_others));
            session_client& it = *clients_[turn % others];
            if (!observing_ || !it.is_in() || !it.is_settled()) continue;
            ++busy_;
            const std::uint64_t number_of_it = number(it.next());
            if (number_of_it % 2 == 1)
                it.send(order_at(order_side::buy, static_cast<price_ticks>(1'000 + turn % others),
                                 1, time_in_force::good_till_cancel));
            else
                it.send(cancel_order{session_id::none,
                                     client_sequence::none,
                                     {order_id::none, client_sequence{number_of_it - 1}}});
            gyre::launch(context_, wait_for(it), gyre::or_terminate{});
        }
    }
    gyre::task<> wait_for(session_client& it) {
        while (!it.is_settled()) static_cast<void>(co_await gyre::sleep_for(100us));
        noticed_.orders.add(it.latencies());
        it.latencies() = {};
        --busy_;
    }

    gyre::io_context context_;
    gyre::udp_socket feed_{bound_to_loopback(context_)};
    gyre::udp_socket asking_{bound_to_loopback(context_)};
    const facility_process* facility_ = nullptr;
    std::vector<std::unique_ptr<session_client>> clients_;
    std::thread thread_;
    std::atomic<bool> observing_ = false;
    std::atomic<bool> over_ = false;
    std::atomic<int> busy_ = 0;  // What they have begun.
    std::uint64_t newest_ = 0;
    waited noticed_;
};

/// Who gives long commands, one after the other.
class long_commands {
public:
    long_commands(gyre::io_context& context, const facility_setting& how, std::uint32_t orders,
                  observers& beside)
        : facility_{how}, orders_{orders}, beside_{beside} {
        for (std::size_t each = 0; each < first_other; ++each)
            clients_.push_back(
                std::make_unique<session_client>(context, client_of(facility_, how.users[each])));
        beside_.begin(facility_, how.users);
    }

    gyre::task<> run() {
        for (const auto& each : clients_)
            while (!each->is_in()) static_cast<void>(co_await gyre::sleep_for(1ms));
        std::puts("in us; orders of others, answers to a listener, the commands themselves");
        std::printf("%-20s %30s %30s %30s\n", "", "orders: p50  p99  p99.9  max",
                    "answers: p50  p99  p99.9  max", "commands: number  p50  max");
        co_await measure("no book", [this] { return nothing(); });
        co_await fill();
        co_await measure("a book, no command", [this] { return nothing(); });
        co_await measure("fill-or-kill", [this] { return fill_or_kill(); });
        co_await measure("sweep", [this] { return sweep(); });
        co_await measure("mass cancel", [this] { return cancel_all(); });
        for (const auto& each : clients_) each->leave();
        beside_.end();
    }

private:
    gyre::task<> settle(std::size_t which) {
        while (!clients_[which]->is_settled()) static_cast<void>(co_await gyre::sleep_for(100us));
    }

    // As the book is wanted for the next command.
    gyre::task<> fill() {
        session_client& it = *clients_[owner];
        while (standing_ < orders_) {
            const auto price = lowest + static_cast<price_ticks>(standing_ / orders_a_level);
            const bool sent =
                it.unanswered() < 512 &&
                it.send(order_at(order_side::sell, price, 1, time_in_force::good_till_cancel));
            if (sent) ++standing_;
            else static_cast<void>(co_await gyre::sleep_for(50us));
        }
        co_await settle(owner);
    }

    template <class Command>
    gyre::task<> give(std::size_t by, Command what) {
        lab::require(clients_[by]->send(what), "no room for a command");
        co_await settle(by);
    }

    gyre::task<> nothing() { static_cast<void>(co_await gyre::sleep_for(100ms)); }

    // All orders are its group's, so it looks at each of them, and takes none.
    gyre::task<> fill_or_kill() {
        return give(taker, order_at(order_side::buy, 2 * lowest, 1, time_in_force::fill_or_kill));
    }
    gyre::task<> sweep() {
        co_await give(sweeper, order_at(order_side::buy, 2 * lowest, orders_,
                                        time_in_force::immediate_or_cancel));
        standing_ = 0;
    }
    gyre::task<> cancel_all() {
        co_await give(owner, cancel_orders{{}, {}, account_id{1}, {}, {}});
        standing_ = 0;
    }

    /// Gives commands, each with a pause behind it in which the book is filled again; that is not observed.
    template <class Command>
    gyre::task<> measure(const char* name, const Command& command) {
        observers::waited& noticed = beside_.noticed();
        noticed = {};
        lab::histogram own;
        const auto begun = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - begun < stage_length) {
            beside_.observe(true);
            static_cast<void>(co_await gyre::sleep_for(50ms));
            const auto given = std::chrono::steady_clock::now();
            co_await command();
            own.record(ns_since(given));
            static_cast<void>(co_await gyre::sleep_for(50ms));
            beside_.observe(false);
            if (standing_ > 0) continue;
            if (name != std::string_view{"no book"}) co_await fill();
        }
        const auto quantiles = [](const lab::histogram& of) {
            std::printf(" %6.0f %6.0f %8.0f %8.0f", us(of, 0.5), us(of, 0.99), us(of, 0.999),
                        us(of, 1));
        };
        std::printf("%-20s", name);
        quantiles(noticed.orders);
        quantiles(noticed.answers);
        std::printf(" %6llu %8.0f %8.0f\n", static_cast<unsigned long long>(own.count()),
                    us(own, 0.5), us(own, 1));
        std::fflush(stdout);
    }

    facility_process facility_;
    std::uint32_t orders_;
    observers& beside_;
    std::vector<std::unique_ptr<session_client>> clients_;
    std::uint32_t standing_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
    if (count < 2 || count > 4) {
        std::fputs("usage: exchange_long_commands MATCHING_FACILITY [BACKEND [ORDERS]]\n", stderr);
        return 2;
    }
    facility_setting how;
    how.program = arguments[1];
    if (count > 2) how.backend = arguments[2];
    const int orders = count > 3 ? std::atoi(arguments[3]) : 200'000;
    if (orders <= 0 || orders > 10'000'000) lab::fail("ORDERS is a number from 1 to 10000000");
    how.orders_max = static_cast<unsigned>(orders) + 1'000;
    how.users = {{"owner", 1}, {"taker", 2}, {"sweep", 3}};
    for (unsigned each = 1; each <= others; ++each)
        how.users.push_back({"user" + std::to_string(each), 3 + each});
    how.accounts_in_group = 2;
    stay_on_processor(0);
    gyre::io_context context;
    observers beside;
    how.feed_port = beside.feed_port();
    long_commands run{context, how, static_cast<std::uint32_t>(orders), beside};
    gyre::launch(context, run.run(), gyre::or_terminate{});
    context.run();
}

// SPDX-License-Identifier: BSL-1.0
//
// Thousands of sessions of which few trade: what they cost the facility in memory, idle and at work.
//
// Prints one line for each stage; all processor time is the facility's.
#include <exchange/bench/facility_process.hpp>
#include <exchange/bench/loopback.hpp>
#include <exchange/bench/session_client.hpp>

#include <lab/kit/descriptor_limit.hpp>

#include <gyre/sync/sleep.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string_view>

using namespace exchange;
using namespace exchange::bench;
using namespace std::chrono_literals;

namespace {

struct options {
    facility_setting facility{};
    std::size_t sessions = 10'000;
    std::size_t trading = 100;
    std::uint64_t rate = 10'000;  ///< Commands a second, of all who trade.
    gyre::duration stage = 10s;
};

constexpr double mebibyte = 1 << 20;

void say(const char* stage, const process_use& before, const process_use& after, double seconds) {
    std::printf("%s: %.1f s, processor %.1f %%, resident %.1f MiB\n", stage, seconds,
                100 * (after.processor_seconds - before.processor_seconds) / seconds,
                static_cast<double>(after.resident_bytes) / mebibyte);
    std::fflush(stdout);
}

class many_sessions {
public:
    many_sessions(gyre::io_context& context, const options& how)
        : context_{context}, how_{how}, facility_{how.facility} {}

    gyre::task<> run() {
        const process_use at_start = facility_.used();
        std::printf("ready after %.3f s, resident %.1f MiB\n", facility_.seconds_to_ready(),
                    static_cast<double>(at_start.resident_bytes) / mebibyte);
        co_await log_in();
        co_await stand_idle();
        co_await trade();
        for (const auto& each : clients_) each->leave();
    }

private:
    [[nodiscard]] static double seconds_since(gyre::time_point begun) {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    }

    // A window of logins is under way: a client whose login waits too long is cut off.
    gyre::task<> log_in() {
        constexpr std::size_t window = 256;
        const process_use before = facility_.used();
        const gyre::time_point begun = std::chrono::steady_clock::now();
        std::size_t in = 0;
        while (in < how_.sessions) {
            while (clients_.size() < std::min(how_.sessions, in + window)) {
                order_entry_client_options client;
                client.exchange = facility_.order_entry();
                const std::string_view name = how_.facility.users[clients_.size()].name;
                client.login = {
                    .username = name, .password = facility_process::password(), .session = {}};
                client.timer_tick = 500ms;  // Of so many, more would be the load.
                clients_.push_back(std::make_unique<session_client>(context_, client));
            }
            static_cast<void>(co_await gyre::sleep_for(1ms));
            while (in < clients_.size() && clients_[in]->is_in()) ++in;
        }
        const double took = seconds_since(begun);
        say("logging in", before, facility_.used(), took);
        std::printf("logins: %zu, %.0f a second\n", in, static_cast<double>(in) / took);
    }

    gyre::task<> stand_idle() {
        const process_use before = facility_.used();
        const gyre::time_point begun = std::chrono::steady_clock::now();
        static_cast<void>(co_await gyre::sleep_for(how_.stage));
        say("idle", before, facility_.used(), seconds_since(begun));
    }

    // Each enters an order far from the others' and cancels it.
    void send_one(std::size_t by) {
        session_client& it = *clients_[by];
        if (it.next() == client_sequence{1} || number(it.next()) % 2 == 1) {
            enter_order order{};
            order.instrument = instrument_id{1};
            order.side = order_side::buy;
            order.type = order_type::limit;
            order.tif = time_in_force::good_till_cancel;
            order.price = static_cast<price_ticks>(1'000 + by);
            order.quantity = 1;
            it.send(order);
        } else {
            it.send(cancel_order{session_id::none,
                                 client_sequence::none,
                                 {order_id::none, client_sequence{number(it.next()) - 1}}});
        }
    }

    gyre::task<> trade() {
        const process_use before = facility_.used();
        const gyre::time_point begun = std::chrono::steady_clock::now();
        std::uint64_t sent = 0;
        while (std::chrono::steady_clock::now() - begun < how_.stage) {
            const double due = seconds_since(begun) * static_cast<double>(how_.rate);
            for (; static_cast<double>(sent) < due; ++sent)
                send_one(static_cast<std::size_t>(sent % how_.trading));
            static_cast<void>(co_await gyre::sleep_for(100us));
        }
        const double took = seconds_since(begun);
        const process_use after = facility_.used();
        static_cast<void>(co_await gyre::sleep_for(100ms));
        lab::histogram all;
        for (const auto& each : clients_) {
            lab::require(each->is_settled(), "a command was not answered");
            all.add(each->latencies());
        }
        lab::require(all.count() == sent, "not as many answers as commands");
        say("trading", before, after, took);
        std::printf("commands: %llu, %.0f a second, answered after p50 %.1f us, p99 %.1f us\n",
                    static_cast<unsigned long long>(sent), static_cast<double>(sent) / took,
                    static_cast<double>(all.quantile(0.5)) / 1000,
                    static_cast<double>(all.quantile(0.99)) / 1000);
    }

    gyre::io_context& context_;
    const options& how_;
    facility_process facility_;
    std::vector<std::unique_ptr<session_client>> clients_;
};

[[noreturn]] void misuse() {
    std::fputs("usage: exchange_many_sessions MATCHING_FACILITY [BACKEND [SESSIONS [TRADING]]]\n",
               stderr);
    std::exit(2);
}

std::size_t number_of(std::string_view text) {
    std::size_t made = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), made);
    if (failure != std::errc{} || end != text.data() + text.size() || made == 0 || made > 60'000)
        misuse();
    return made;
}

}  // namespace

int main(int count, char** arguments) {
    options how;
    if (count < 2 || count > 5) misuse();
    how.facility.program = arguments[1];
    if (count > 2) how.facility.backend = arguments[2];
    if (count > 3) how.sessions = number_of(arguments[3]);
    if (count > 4) how.trading = number_of(arguments[4]);
    how.trading = std::min(how.trading, how.sessions);
    for (std::size_t each = 1; each <= how.sessions; ++each)
        how.facility.users.push_back({"u" + std::to_string(each), static_cast<unsigned>(each)});
    lab::raise_descriptor_limit();
    stay_on_processor(0);
    gyre::io_context context;
    many_sessions run{context, how};
    gyre::launch(context, run.run(), gyre::or_terminate{});
    context.run();
}

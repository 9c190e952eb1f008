// SPDX-License-Identifier: BSL-1.0
//
// A thousand subscribers of a distributor over WebSocket, in JSON, some of whom never read: what they cost
// it, and how late the others are told.
//
// A facility and a distributor run as processes; subscribers and the one who trades are here. Late is from
// the order that is sent to the level that is read. Rounds with silent subscribers and without are
// interleaved.
#include <exchange/bench/facility_process.hpp>
#include <exchange/bench/loopback.hpp>
#include <exchange/bench/session_client.hpp>
#include <exchange/codec/market_subscription_codec.hpp>
#include <exchange/net/transport/websocket_packets.hpp>

#include <exchange/management/password_hash.hpp>

#include <gyre/sync/sleep.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace exchange;
using namespace exchange::bench;
using namespace std::chrono_literals;

namespace {

struct options {
    facility_setting facility{};
    std::string distributor;
    std::size_t subscribers = 1'000;
    std::size_t silent = 10;  ///< Of these, in every second round.
    std::size_t rounds = 6;
    std::uint64_t rate = 10;  ///< Orders a second.
    gyre::duration stage = 10s;
};

constexpr double mebibyte = 1 << 20;
constexpr std::size_t orders_kept = 32;

/// When the order of each price was sent: prices come again only once the order before is long gone.
class sent_orders {
public:
    static constexpr price_ticks first_price = 1'000;

    [[nodiscard]] price_ticks note(std::uint64_t number) {
        const auto place = static_cast<std::size_t>(number % at_.size());
        at_[place] = std::chrono::steady_clock::now();
        return first_price + static_cast<price_ticks>(place);
    }
    [[nodiscard]] std::optional<std::chrono::nanoseconds> since(price_ticks price) const {
        const price_ticks place = price - first_price;
        if (place < 0 || place >= static_cast<price_ticks>(at_.size())) return std::nullopt;
        return std::chrono::steady_clock::now() - at_[static_cast<std::size_t>(place)];
    }

private:
    std::array<std::chrono::steady_clock::time_point, 4096> at_{};
};

class bench_subscriber final : public order_entry_handler {
public:
    bench_subscriber(gyre::io_context& context, const order_entry_client_options& how, bool silent,
                     const sent_orders& sent, lab::histogram& late)
        : client_{context, how, *this}, sent_{sent}, late_{late}, silent_{silent} {
        gyre::launch(context, run(), gyre::or_terminate{});
    }

    [[nodiscard]] bool is_in() const noexcept { return granted_; }
    [[nodiscard]] bool over() const noexcept { return over_; }
    void leave() noexcept {
        leaving_ = true;
        client_.stop();
    }

    void operator()(const subscribed&) {
        granted_ = true;
        if (silent_) client_.pause();
    }
    void operator()(const book_delta& it) { note(it); }
    void operator()(const auto&) {}

private:
    void note(const book_delta& it) {
        for (std::uint16_t each = 0; each < it.count; ++each) {
            if (it.levels[each].orders == 0) continue;
            if (const auto late = sent_.since(it.levels[each].price))
                late_.record(static_cast<std::uint64_t>(late->count()));
        }
    }
    void logged_in() noexcept override {
        // One that never reads has asked for much.
        const std::uint16_t depth = silent_ ? subscription_depth_max : 0;
        std::array<std::byte, message_bytes_of<subscribe>> bytes;
        static_cast<void>(
            encode_market(subscribe{1, instrument_id::none, depth, true, silent_, silent_}, bytes));
        lab::require(client_.send(bytes), "a subscription has no room");
    }
    void heard(std::uint64_t, std::span<const std::byte> message) noexcept override {
        static_cast<void>(decode_market_message(message, *this));
    }
    void disconnected(soup_ending why) noexcept override {
        if (!leaving_ && !silent_)
            lab::fail("a subscriber has lost its connection: " + std::string{describe(why)});
    }
    gyre::task<> run() {
        co_await client_.run();
        over_ = true;
    }

    order_entry_client<gyre_traits, websocket_packets<gyre_traits>> client_;
    const sent_orders& sent_;
    lab::histogram& late_;
    bool silent_;
    bool granted_ = false;
    bool leaving_ = false;
    bool over_ = false;
};

/// A port of UDP that was free a moment ago.
std::uint16_t free_port() {
    const int it = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    auto* const address = reinterpret_cast<sockaddr*>(&where);
    const bool named = ::bind(it, address, size) == 0 && ::getsockname(it, address, &size) == 0;
    ::close(it);
    lab::require(named, "there is no port for the feed");
    return ntohs(where.sin_port);
}

std::string distributor_config(const options& how, const facility_process& of) {
    return R"({"backend": ")" + how.facility.backend + R"(", "feed": {"from": "127.0.0.1:)" +
           std::to_string(how.facility.feed_port) + R"(", "requests": ")" +
           of.requests().to_string() + R"(", "ask_from": "127.0.0.1:0"},
"exchange": {"at": ")" +
           of.order_entry().to_string() + R"(", "username": "mdist"},
"subscribers": {"at": "127.0.0.1:0", "websocket_at": "127.0.0.1:0", "open_to_all": 1,
                "connections_max": 4096},
"credentials_file": "credentials.json"})";
}

class many_subscribers {
public:
    many_subscribers(gyre::io_context& context, const options& how)
        : context_{context},
          how_{how},
          facility_{how.facility},
          distributor_{how.distributor,
                       {{"distributor.json", distributor_config(how, facility_)},
                        {"credentials.json", R"({"exchange_password": "secret"})"}}} {}

    gyre::task<> run() {
        std::printf("ready: the distributor has %.1f MiB\n", resident());
        order_entry_client_options trading;
        trading.exchange = facility_.order_entry();
        trading.login = {
            .username = "trader", .password = facility_process::password(), .session = {}};
        trader_ = std::make_unique<session_client>(context_, trading);
        while (!trader_->is_in()) static_cast<void>(co_await gyre::sleep_for(1ms));
        // The instrument is known once it was spoken of.
        for (std::size_t each = 0; each < orders_kept; ++each) trade();
        for (std::size_t round = 0; round < how_.rounds; round += 2) {
            co_await listen(0);
            co_await listen(how_.silent);
        }
        trader_->leave();
    }

private:
    [[nodiscard]] double resident() const {
        return static_cast<double>(distributor_.used().resident_bytes) / mebibyte;
    }

    /// One comes, and the oldest goes.
    void trade() {
        if (sent_ >= orders_kept)
            trader_->send(cancel_order{session_id::none,
                                       client_sequence::none,
                                       {order_id::none, of_order_[sent_ % orders_kept]}});
        of_order_[sent_ % orders_kept] = trader_->next();
        enter_order order{};
        order.instrument = instrument_id{1};
        order.side = order_side::buy;
        order.type = order_type::limit;
        order.tif = time_in_force::good_till_cancel;
        order.price = orders_.note(sent_);
        order.quantity = 1;
        trader_->send(order);
        ++sent_;
    }

    gyre::task<> listen(std::size_t silent) {
        lab::histogram late;
        std::vector<std::unique_ptr<bench_subscriber>> all;
        order_entry_client_options who;
        who.exchange = distributor_.endpoint_behind("websocket ");
        who.login = {.username = "s", .password = "s", .session = {}};
        who.websocket.format = session_format::json;
        who.websocket.path = "/market-data/v1";
        who.timer_tick = 500ms;  // Of so many, more would be the load.
        // A window of logins is under way, as elsewhere.
        constexpr std::size_t window = 128;
        for (std::size_t in = 0; in < how_.subscribers;) {
            while (all.size() < std::min(how_.subscribers, in + window))
                all.push_back(std::make_unique<bench_subscriber>(context_, who, all.size() < silent,
                                                                 orders_, late));
            static_cast<void>(co_await gyre::sleep_for(1ms));
            while (in < all.size() && all[in]->is_in()) ++in;
        }
        static_cast<void>(co_await gyre::sleep_for(500ms));
        late = {};
        const process_use before = distributor_.used();
        const gyre::time_point begun = std::chrono::steady_clock::now();
        double most = 0;
        for (std::uint64_t made = 0; std::chrono::steady_clock::now() - begun < how_.stage;
             ++made) {
            trade();
            most = std::max(most, resident());
            const auto due = begun + std::chrono::nanoseconds{1s} * (made + 1) / how_.rate;
            static_cast<void>(co_await gyre::sleep_until(due));
        }
        static_cast<void>(co_await gyre::sleep_for(200ms));
        const double took =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
        const process_use after = distributor_.used();
        std::printf(
            "%zu subscribers, %zu silent: told %llu times, late p50 %.2f ms, p99 %.2f ms, "
            "processor %.1f %%, resident %.1f MiB at most\n",
            how_.subscribers, silent, static_cast<unsigned long long>(late.count()),
            static_cast<double>(late.quantile(0.5)) / 1e6,
            static_cast<double>(late.quantile(0.99)) / 1e6,
            100 * (after.processor_seconds - before.processor_seconds) / took, most);
        std::fflush(stdout);
        for (const auto& each : all) each->leave();
        for (const auto& each : all)
            while (!each->over()) static_cast<void>(co_await gyre::sleep_for(1ms));
    }

    gyre::io_context& context_;
    const options& how_;
    facility_process facility_;
    measured_process distributor_;
    std::unique_ptr<session_client> trader_;
    sent_orders orders_;
    std::array<client_sequence, orders_kept> of_order_{};
    std::uint64_t sent_ = 0;
};

[[noreturn]] void misuse() {
    std::fputs(
        "usage: exchange_many_subscribers MATCHING_FACILITY MARKET_DATA_DISTRIBUTOR [BACKEND "
        "[SUBSCRIBERS [SILENT [RATE]]]]\n",
        stderr);
    std::exit(2);
}

std::size_t number_of(std::string_view text) {
    std::size_t made = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), made);
    if (failure != std::errc{} || end != text.data() + text.size() || made > 20'000) misuse();
    return made;
}

}  // namespace

int main(int count, char** arguments) {
    options how;
    if (count < 3 || count > 7) misuse();
    how.facility.program = arguments[1];
    how.distributor = arguments[2];
    if (count > 3) how.facility.backend = arguments[3];
    if (count > 4) how.subscribers = number_of(arguments[4]);
    if (count > 5) how.silent = number_of(arguments[5]);
    if (count > 6) how.rate = std::max<std::size_t>(number_of(arguments[6]), 1);
    how.facility.users = {{"trader", 1}, {"mdist", 2}};
    how.facility.feed_port = free_port();
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    stay_on_processor(0);
    gyre::io_context context;
    many_subscribers run{context, how};
    gyre::launch(context, run.run(), gyre::or_terminate{});
    context.run();
}

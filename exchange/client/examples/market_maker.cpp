// SPDX-License-Identifier: BSL-1.0
//
// A market maker: quotes both sides of one market, and moves the quote against what it was filled with.
//
//     EXCHANGE_PASSWORD=secret market_maker 127.0.0.1:7001 alice 1 1000 [FILLS]
//
// The address is a facility's or a gateway's; then come user, instrument, and the price around which to
// quote. It ends when asked to (SIGTERM), or after so many fills.
#include <exchange/client/exchange_client.hpp>

#include <gyre/io/run.hpp>
#include <gyre/sync/timeout.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace exchange;

namespace {

constexpr price_ticks half_spread = 2;
constexpr contracts size = 10;

struct market_maker {
    exchange_client exchange;
    instrument_id instrument;
    price_ticks middle;
    std::uint64_t fills_left;

    /// Replaces the quote; what is not taken for lack of room is quoted with the next fill.
    void quote() {
        enter_quote it{};
        it.instrument = instrument;
        it.bid_price = middle - half_spread;
        it.ask_price = middle + half_spread;
        it.bid_quantity = it.ask_quantity = size;
        if (const auto sent = exchange.quote(it); !sent.ok())
            std::printf("not quoted: %s\n", sent.error().message().c_str());
    }

    void hear(const caught_up&) { quote(); }
    void hear(const order_executed& it) {
        const bool bought = it.side == order_side::buy;
        middle += bought ? -1 : 1;  // Whoever hits the bid may know something.
        std::printf("%s %u at %lld\n", bought ? "bought" : "sold", it.quantity,
                    static_cast<long long>(it.price));
        if (fills_left == 1) static_cast<void>(exchange.log_out());
        else if (exchange.trading()) quote();
        if (fills_left > 0) --fills_left;
    }
    void hear(const order_entered& it) {
        std::printf("quotes %u at %lld\n", it.open, static_cast<long long>(it.price));
    }
    void hear(const order_rejected& it) { std::printf("refused: %u\n", number(it.reason)); }
    void hear(const life_changed&) { std::puts("the exchange was started anew"); }
    void hear(const connection_lost&) { std::puts("connection lost"); }
    void hear(const unreachable& it) { std::printf("%s\n", it.why.message().c_str()); }
    void hear(const session_over& it) { std::printf("over: %s\n", describe(it.why)); }
    void hear(const auto&) {}
};

gyre::task<int> make_market(exchange_client_options options, instrument_id instrument,
                            price_ticks middle, std::uint64_t fills) {
    auto opened = exchange_client::open(*gyre::io_context::current(), options);
    if (!opened.ok()) {
        std::fprintf(stderr, "%s\n", opened.error().message().c_str());
        co_return 2;
    }
    market_maker maker{opened.take(), instrument, middle, fills};
    for (;;) {
        const auto told = co_await gyre::idle(maker.exchange.next());
        if (!told.ok()) co_return 0;  // A signal.
        std::visit([&maker](const auto& it) { maker.hear(it); }, told.value().what);
        std::fflush(stdout);
        if (const auto* over = told.value().as<session_over>())
            co_return over->why == session_end::logged_out ? 0 : 1;
    }
}

}  // namespace

int main(int count, char** words) {
    if (count < 5) {
        std::fputs("usage: market_maker ADDRESS USER INSTRUMENT PRICE [FILLS]\n", stderr);
        return 2;
    }
    const auto where = gyre::endpoint::parse(words[1]);
    if (!where.ok()) return 2;
    const char* const password = std::getenv("EXCHANGE_PASSWORD");
    exchange_client_options options;
    options.exchange = where.value();
    options.username = words[2];
    options.password = password == nullptr ? "" : password;
    const auto instrument = static_cast<instrument_id>(std::strtoul(words[3], nullptr, 10));
    const price_ticks middle = std::strtoll(words[4], nullptr, 10);
    const std::uint64_t fills = count > 5 ? std::strtoull(words[5], nullptr, 10) : 0;
    return gyre::run_until_signal(make_market(options, instrument, middle, fills));
}

// SPDX-License-Identifier: BSL-1.0
//
// A watcher: prints the top of each book whenever it is another one, and each trade.
//
//     EXCHANGE_PASSWORD=secret market_watch 127.0.0.1:7041 diana [--json] [--tls FILE] [INSTRUMENT]
//
// The address is a distributor's; it watches all markets, or one. With --json it speaks JSON over WebSocket,
// and with --tls its connection is secured, if the server's authority is in that file. It ends when asked to
// (SIGTERM).
#include <exchange/client/exchange_client.hpp>

#include <gyre/io/run.hpp>
#include <gyre/sync/timeout.hpp>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

using namespace exchange;

namespace {

struct market_watch {
    market_data_subscriber markets;
    std::map<instrument_id, std::string> printed;

    static std::string text_of(const told_level* best) {
        if (best == nullptr) return "-";
        return std::to_string(best->quantity) + " at " + std::to_string(best->price);
    }

    void hear(const book_changed& it) {
        const followed_market* const book = markets.find(it.instrument);
        if (book == nullptr) return;  // Of a life that is over.
        const std::string top = book->current() ? text_of(book->best(order_side::buy)) + " | " +
                                                      text_of(book->best(order_side::sell))
                                                : "not known";
        if (printed[it.instrument] == top) return;
        printed[it.instrument] = top;
        std::printf("%u: %s\n", number(it.instrument), top.c_str());
    }
    void hear(const market_trade& it) {
        std::printf("%u: %s%u at %" PRId64 "\n", number(it.instrument),
                    it.trade.busted ? "undone " : "traded ", it.trade.quantity, it.trade.price);
    }
    void hear(const trades_missed& it) {
        std::printf("%u: %" PRIu64 " trades missed\n", number(it.instrument), it.count);
    }
    void hear(const subscription_denied&) { std::puts("there is no such market"); }
    void hear(const life_changed&) {
        printed.clear();
        std::puts("the exchange was started anew");
    }
    void hear(const connection_lost&) { std::puts("connection lost"); }
    void hear(const unreachable& it) { std::printf("%s\n", it.why.message().c_str()); }
    void hear(const security_failed& it) {
        std::printf("%.*s\n", static_cast<int>(it.why.view().size()), it.why.view().data());
    }
    void hear(const session_over& it) { std::printf("over: %s\n", describe(it.why)); }
    void hear(const auto&) {}
};

gyre::task<int> watch(market_data_options options, instrument_id instrument) {
    auto opened = market_data_subscriber::open(*gyre::io_context::current(), options);
    if (!opened.ok()) {
        std::fprintf(stderr, "%s\n", opened.error().message().c_str());
        co_return 2;
    }
    market_watch it{opened.take(), {}};
    market_wish wish;
    wish.instrument = instrument;
    wish.depth = 1;
    wish.summary = false;
    if (!it.markets.subscribe(wish).ok()) co_return 2;
    for (;;) {
        const auto told = co_await gyre::idle(it.markets.next());
        if (!told.ok()) co_return 0;  // A signal.
        std::visit([&it](const auto& news) { it.hear(news); }, told.value().what);
        std::fflush(stdout);
        if (told.value().as<session_over>() != nullptr) co_return 1;
        if (told.value().as<subscription_denied>() != nullptr) co_return 1;
    }
}

}  // namespace

int main(int count, char** words) {
    if (count < 3) {
        std::fputs("usage: market_watch ADDRESS USER [--json] [--tls FILE] [INSTRUMENT]\n", stderr);
        return 2;
    }
    const auto where = gyre::endpoint::parse(words[1]);
    if (!where.ok()) return 2;
    const char* const password = std::getenv("EXCHANGE_PASSWORD");
    market_data_options options;
    options.distributor = where.value();
    options.username = words[2];
    options.password = password == nullptr ? "" : password;
    instrument_id instrument = instrument_id::none;
    for (int each = 3; each < count; ++each) {
        if (std::strcmp(words[each], "--json") == 0) {
            options.transport = client_transport::websocket_json;
        } else if (std::strcmp(words[each], "--tls") == 0 && each + 1 < count) {
            options.tls.wanted = true;
            options.tls.authorities_file = words[++each];
        } else {
            instrument = static_cast<instrument_id>(std::strtoul(words[each], nullptr, 10));
        }
    }
    return gyre::run_until_signal(watch(options, instrument));
}

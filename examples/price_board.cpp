// SPDX-License-Identifier: BSL-1.0
//
// Prices that come from a plain thread, a book that one loop keeps, and those on other loops who use them.
//
// What goes between threads here: quotes (shared_channel), questions and answers (oneshot), the latest price
// (watch), each trade (broadcast), permits (shared_semaphore), the end of all (latch).
#include <gyre/gyre.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <span>
#include <thread>
#include <utility>

struct quote {
    int instrument = 0;
    int price = 0;
};

// snippet: question
struct question {
    int instrument = 0;
    gyre::oneshot_sender<int> answer;
};
// end of snippet

struct board {
    gyre::shared_channel<quote> quotes{64};
    gyre::shared_channel<question> questions{8};
    gyre::watch<int> latest{0};
    gyre::broadcast<quote> trades{256};
    gyre::shared_semaphore reports{1};
    gyre::latch over{3};
};

// snippet: feed
// A plain thread: a library's, or one that reads from a device. It waits where there is no room.
void feed(board& of) {
    for (int each = 1; each <= 1000; ++each) {
        const auto sent = of.quotes.send_blocking(quote{each % 10, each});
        if (!sent.ok()) return;  // Closed: no reader is left.
    }
    of.quotes.close();
}
// end of snippet

// snippet: book
// The book belongs to this coroutine, so it needs no lock.
gyre::task<> keep_book(board& of) {
    std::map<int, int> prices;
    std::array<quote, 32> space;
    for (;;) {
        const auto [error, count] = co_await of.quotes.receive_many(space);
        if (error) break;  // Closed, and empty: each quote has been seen.
        for (const quote& each : std::span(space).first(count)) {
            prices[each.instrument] = each.price;
            of.trades.send(each);
        }
        of.latest.set(space[count - 1].price);
    }
    of.trades.close();
    of.latest.close();
    for (;;) {
        auto [error, asked] = co_await of.questions.receive();
        if (error) co_return;
        static_cast<void>(asked.answer.send(prices[asked.instrument]));  // Unless it has gone.
    }
}
// end of snippet

// snippet: ask
gyre::task<gyre::io_result<int>> ask(board& of, int instrument) {
    auto [answer, answered] = gyre::make_oneshot<int>();
    question asked{instrument, std::move(answer)};
    const auto sent = co_await of.questions.send(std::move(asked));
    if (!sent.ok()) co_return sent.error();
    co_return co_await answered.receive();
}
// end of snippet

// snippet: listen
// Each trade, or how many of them were missed: the sender never waits.
gyre::task<> count_trades(board& of, gyre::broadcast<quote>::receiver trades, std::uint64_t& seen) {
    for (;;) {
        const auto [error, trade, missed] = co_await trades.receive();
        if (error) break;
        seen += 1 + missed;
    }
    of.over.count_down();
}

// The latest price only: what was in between does not matter.
gyre::task<> follow_price(board& of, int& last) {
    gyre::watched_value<int> now;
    for (;;) {
        auto [error, next] = co_await of.latest.changed(now.version);
        if (error) break;
        now = std::move(next);
    }
    last = *now.value;
    of.over.count_down();
}
// end of snippet

// snippet: permits
// A printer that is one for all loops; the permit goes back when the block is left.
gyre::task<> report(board& of, int instrument) {
    const auto price = co_await ask(of, instrument);
    if (!price.ok()) co_return;
    auto permit = co_await of.reports.acquire();
    if (!permit.ok()) co_return;
    std::printf("instrument %d: %d\n", instrument, price.value());
}
// end of snippet

int main() {
    board of;
    std::uint64_t seen_here = 0;
    std::uint64_t seen_there = 0;
    int last = 0;
    gyre::io_pool_options two;
    two.threads = 2;
    gyre::io_pool pool{two};
    if (pool.status()) return 1;

    gyre::launch(pool[0], count_trades(of, of.trades.subscribe(), seen_here), gyre::or_terminate{});
    gyre::launch(pool[1], count_trades(of, of.trades.subscribe(), seen_there),
                 gyre::or_terminate{});
    gyre::launch(pool[1], follow_price(of, last), gyre::or_terminate{});
    gyre::launch(pool[0], keep_book(of), gyre::or_terminate{});
    std::thread source{feed, std::ref(of)};

    // snippet: outside
    // main runs no loop: it blocks, in the same queue as coroutines do.
    static_cast<void>(of.over.wait_blocking());
    std::printf("trades: %d and %d, last price: %d\n", static_cast<int>(seen_here),
                static_cast<int>(seen_there), last);

    auto [answer, answered] = gyre::make_oneshot<int>();
    static_cast<void>(of.questions.send_blocking({7, std::move(answer)}));
    const auto price = answered.receive_blocking();
    std::printf("instrument 7: %d\n", price.value());
    // end of snippet

    gyre::launch(pool, report(of, 3), [&of](gyre::task_outcome<void>) { of.questions.close(); });
    source.join();
    pool.wait();
    return 0;
}

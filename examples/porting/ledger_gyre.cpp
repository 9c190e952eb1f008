// SPDX-License-Identifier: BSL-1.0
//
// The strand of docs/guide/porting_from_asio.md ported: an object belongs to one loop of a pool, and
// others send messages to that loop.
#include <gyre/gyre.hpp>

#include <cstdio>

// snippet: strand
class ledger {
public:
    explicit ledger(gyre::io_context& home) : home_{home} {}

    // Any loop of the pool; the caller learns when it has happened.
    gyre::task<> deposit(long amount) { co_await gyre::on(home_, add(amount)); }
    long total() const { return total_; }

private:
    gyre::task<> add(long amount) {
        total_ += amount;
        co_return;
    }

    gyre::io_context& home_;
    long total_ = 0;  // On the loop `home_`, which is one thread.
};
// end of snippet

gyre::task<> deposit_often(ledger& into) {
    for (int time = 0; time < 1000; ++time) co_await into.deposit(5);
}

gyre::task<long> total_of(ledger& it) { co_return it.total(); }

gyre::task<long> run_ledger(gyre::io_pool& pool) {
    ledger it{pool[0]};
    co_await gyre::when_all(gyre::on(pool[0], deposit_often(it)),
                            gyre::on(pool[1], deposit_often(it)));
    const long total = co_await gyre::on(pool[0], total_of(it));
    co_return total;
}

int main() {
    gyre::io_pool_options options;
    options.threads = 2;
    gyre::io_pool pool{options};
    std::printf("%ld\n", gyre::run(run_ledger(pool)));
}

// SPDX-License-Identifier: BSL-1.0
//
// A program that hangs, as a deadlock in a larger one does, and tells at SIGUSR1 who waits for what.
//
// docs/guide/07_hanging.md explains it. Each of two transfers holds the account that the other one wants.
// SIGTERM ends it all the same.
// snippet: program
#include <gyre/gyre.hpp>

#include <csignal>
#include <cstdio>

using namespace std::chrono_literals;

struct account {
    int balance = 100;
    gyre::mutex lock;  // Held while a transfer waits for the bank's journal.
};

gyre::task<gyre::io_result<>> transfer(account& from, account& to, int amount) {
    const auto source = co_await from.lock.lock();
    if (!source.ok()) co_return source.error();
    const auto written = co_await gyre::sleep_for(10ms);  // The journal.
    if (!written.ok()) co_return written;
    const auto target = co_await to.lock.lock();
    if (!target.ok()) co_return target.error();
    from.balance -= amount;
    to.balance += amount;
    co_return gyre::io_result<>{};
}

gyre::task<> bank() {
    account ann;
    account bob;
    const auto body = [&](gyre::task_group& group) -> gyre::task<> {
        group.spawn(gyre::with_name("ann to bob", transfer(ann, bob, 10)));
        group.spawn(gyre::with_name("bob to ann", transfer(bob, ann, 20)));
        co_await group.join();
    };
    std::printf("transferring\n");
    std::fflush(stdout);
    co_await gyre::with_group(body);
    std::printf("ann has %d, bob has %d\n", ann.balance, bob.balance);
}

int main() {
    gyre::run_options options;
    options.grace = 0s;
    options.dump_signal = SIGUSR1;
    return gyre::run_until_signal(bank(), options);
}
// end of snippet

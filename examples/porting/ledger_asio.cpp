// SPDX-License-Identifier: BSL-1.0
//
// The strand of docs/guide/porting_from_asio.md as it is found: a context with several threads, and an
// object that must be used by one at a time.
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <cstdio>
#include <thread>
#include <vector>

namespace asio = boost::asio;

// snippet: strand
class ledger {
public:
    explicit ledger(asio::io_context& io) : line_{asio::make_strand(io)} {}

    // Any thread.
    void deposit(long amount) {
        asio::post(line_, [this, amount] { total_ += amount; });
    }
    long total() const { return total_; }

private:
    asio::strand<asio::io_context::executor_type> line_;
    long total_ = 0;  // On the strand.
};
// end of snippet

int main() {
    asio::io_context io;
    ledger it{io};
    {
        const auto busy = asio::make_work_guard(io);
        std::vector<std::jthread> depositors;
        for (int each = 0; each < 2; ++each) {
            depositors.emplace_back([&it] {
                for (int time = 0; time < 1000; ++time) it.deposit(5);
            });
        }
    }
    std::thread second{[&io] { io.run(); }};
    io.run();
    second.join();
    std::printf("%ld\n", it.total());
}

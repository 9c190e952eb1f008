// SPDX-License-Identifier: BSL-1.0
//
// A server on every processor that shares one table without a lock.
//
// Each line is a word; the answer is how often it has come, on whichever connection. Connections are
// spread over the loops of a pool by the kernel, the table by the words: a part of it lives on
// each loop, and is asked by a message.
#include <gyre/gyre.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>

using namespace std::chrono_literals;

constexpr std::size_t word_bytes_max = 64;

/// The words that fall to one loop. Touched by that loop only.
class word_counts {
public:
    std::uint64_t count(const std::string& word) { return ++counts_[word]; }
    [[nodiscard]] std::size_t words() const { return counts_.size(); }

private:
    std::map<std::string, std::uint64_t, std::less<>> counts_;
};

using shared_counts = gyre::sharded<word_counts>;

gyre::task<> answer(gyre::tcp_socket peer, shared_counts& counts) {
    gyre::buffered_reader reader{peer, word_bytes_max};
    for (;;) {
        auto [error, line] = co_await reader.read_until("\n");
        if (error) co_return;  // The peer has finished, a word was too long, or we are stopping.

        const std::string word{gyre::text_of(line)};
        reader.consume(line.size());
        const std::size_t home = std::hash<std::string>{}(word) % counts.size();
        const auto add = [&word](word_counts& here) { return here.count(word); };
        const std::uint64_t seen = co_await counts.at(home, add);

        const std::string reply = std::to_string(seen) + "\n";
        auto [failure, sent] = co_await gyre::write_all(peer, gyre::bytes_of(reply));
        if (failure) co_return;
    }
}

gyre::task<gyre::io_result<>> counting_server(gyre::io_pool& pool, gyre::endpoint local) {
    auto listening = gyre::listen_on_each(pool, local);
    if (!listening.ok()) co_return listening.error();

    auto acceptors = listening.take();
    const auto bound = acceptors.front().local_endpoint();
    if (!bound.ok()) co_return bound.error();
    std::printf("listening on %s\n", bound.value().to_string().c_str());
    std::fflush(stdout);

    const auto make = [](gyre::io_context&, std::size_t) { return word_counts{}; };
    shared_counts counts = co_await shared_counts::start(pool, make);
    const auto session = [&counts](gyre::tcp_socket peer) {
        return answer(std::move(peer), counts);
    };
    const auto ended = co_await gyre::serve(pool, std::move(acceptors), session);

    std::atomic<std::size_t> words = 0;
    const auto add_up = [&words](word_counts& here) { words += here.words(); };
    co_await counts.on_all(add_up);
    co_await counts.stop();
    std::printf("counted %zu different words\n", words.load());
    co_return ended;
}

int main(int count, char** arguments) {
    const auto local = gyre::endpoint::parse(count > 1 ? arguments[1] : "127.0.0.1:7001");
    if (!local.ok()) {
        std::fprintf(stderr, "usage: counting_pool [ADDRESS:PORT]\n");
        return 2;
    }
    gyre::io_pool pool;
    gyre::run_options options;
    options.grace = 1s;
    return gyre::run_until_signal(counting_server(pool, local.value()), options);
}

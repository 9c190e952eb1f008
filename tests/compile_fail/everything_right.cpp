// SPDX-License-Identifier: BSL-1.0
//
// What the programs beside this one do wrong, done right: it must compile with the same command, or
// their failing would mean nothing.
#include <gyre/coro/launch.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

struct whole {
    bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<>, const gyre::environment*) noexcept {}
    void await_resume() noexcept {}
};

gyre::task<int> answer();

gyre::task<int> ask_once(gyre::event& until) {
    whole it;
    co_await it;
    static_cast<void>(co_await until.wait());
    gyre::task<int> asked = answer();
    const int first = co_await std::move(asked);
    co_return first;
}

std::size_t progress(gyre::io_result<std::size_t> read) {
    if (read.ok()) return read.value();
    return 0;
}

// snippet: right_value
gyre::stream_socket keep(gyre::io_result<gyre::stream_socket>& accepted) { return accepted.take(); }
// end of snippet

// snippet: right_list
gyre::task<int> sum(std::vector<int> of);

gyre::task<int> sum_of_three() {
    std::vector<int> three{1, 2, 3};
    const int total = co_await sum(std::move(three));
    co_return total;
}
// end of snippet

gyre::stream_socket once(gyre::stream_socket&& it) { return std::move(it); }

gyre::const_buffer borrow(const std::string& text) { return gyre::bytes_of(text); }

// snippet: right_write
gyre::task<> send(gyre::stream_socket& peer, int number) {
    const std::string text = "number " + std::to_string(number);
    auto later = gyre::write_all(peer, gyre::bytes_of(text));
    static_cast<void>(co_await later);
    static_cast<void>(co_await gyre::write_all(peer, gyre::bytes_of("at once " + text)));
}
// end of snippet

void start(gyre::io_context& where, gyre::task<> it) {
    gyre::launch(where, std::move(it), gyre::or_terminate{});
}

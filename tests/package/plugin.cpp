// SPDX-License-Identifier: BSL-1.0
//
// A plug-in that runs a loop of its own: a task awaits another one, which waits for the kernel.
#include <gyre/gyre.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace {

gyre::task<gyre::io_result<std::size_t>> receive(gyre::tcp_socket& from) {
    std::array<std::byte, 16> space;
    auto [error, size] = co_await from.read_some(space);
    if (error) co_return error;
    co_return size;
}

gyre::task<gyre::io_result<std::size_t>> send(gyre::tcp_socket& to) {
    static_cast<void>(co_await gyre::yield());  // So that the other one waits by now.
    const std::array<std::byte, 3> bytes{};
    co_return co_await gyre::write_all(to, std::span{bytes});
}

gyre::task<std::size_t> talk() {
    auto& loop = co_await gyre::this_task::loop();
    auto made = gyre::tcp_socket::connected_pair(gyre::context_of(loop));
    if (!made.ok()) co_return 0;
    auto [error, one, other] = std::move(made);
    auto [received, sent] = co_await gyre::when_all(receive(other), send(one));
    co_return received.ok() && sent.ok() ? received.take() : 0;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] std::size_t bytes_received() { return gyre::run(talk()); }

// SPDX-License-Identifier: BSL-1.0
//
// The server of the suite as a user of Boost.Asio writes it with coroutines.
//
// Awaiting `deferred` operations needs no coroutine frame for each; asio_sockets.hpp has the rest of the
// configuration. That file and contenders/asio_coroutine.cpp cite the documentation.
#include <lab/baseline/requests.hpp>
#include <lab/baseline/seam.hpp>
#include <lab/contenders/asio_sockets.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>

#include <array>
#include <string_view>
#include <utility>

namespace {

namespace asio = boost::asio;

using asio_lab::stream;
using task = asio::awaitable<void, asio_lab::executor>;

constexpr auto result_of = asio::as_tuple(asio::deferred);

task serve_one(stream socket, baseline::workload answers) {
    std::array<char, 4096> space;
    baseline::request_scanner requests;
    while (!requests.closes()) {
        const auto [ended, size] = co_await socket.async_read_some(asio::buffer(space), result_of);
        if (ended) co_return;
        const std::string_view arrived{space.data(), size};
        const bool asked = answers == baseline::workload::http;
        std::string_view rest = asked ? requests.answer_to(arrived) : arrived;
        while (!rest.empty()) {
            const auto [failed, sent] =
                co_await socket.async_write_some(asio::buffer(rest), result_of);
            if (failed) co_return;
            rest.remove_prefix(sent);
        }
    }
}

task accept_all(asio_lab::acceptor from, baseline::workload answers) {
    for (;;) {
        auto [failed, accepted] = co_await from.async_accept(result_of);
        if (failed) continue;
        asio::co_spawn(from.get_executor(), serve_one(std::move(accepted), answers),
                       asio::detached);
    }
}

void serve(const baseline::job& wanted, lab::descriptor listener) {
    asio::io_context context{asio_lab::single_threaded};
    asio::co_spawn(context,
                   accept_all(asio_lab::adopt_listener(context, std::move(listener)), wanted.what),
                   asio::detached);
    context.run();
}

}  // namespace

int main(int count, char** arguments) {
    const baseline::identity about{"Boost.Asio", asio_lab::version(), {LAB_ASIO_BACKEND}};
    return baseline::run(count, arguments, about, serve);
}

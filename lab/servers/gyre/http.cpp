// SPDX-License-Identifier: BSL-1.0
//
// The server of `baseline`: a response to each request.
#include <lab/servers/answers.hpp>
#include <lab/servers/gyre/server.hpp>

#include <array>
#include <cstdio>
#include <span>

namespace {

gyre::task<> answer(gyre::tcp_socket peer, std::size_t) {
    std::array<std::byte, 512> space;
    servers::http_answers answers;
    while (!answers.closes()) {
        const auto [ended, size] = co_await peer.read_some(space);
        if (ended) co_return;
        const auto all = answers.answer_to(gyre::text_of(std::span{space}.first(size)));
        const auto [failed, sent] = co_await gyre::write_all(peer, gyre::bytes_of(all));
        if (failed) co_return;
    }
}

}  // namespace

int servers::serve_http(const job& wanted) { return serve(wanted, answer); }

// SPDX-License-Identifier: BSL-1.0
//
// The server of `baseline`: a response to each request.
#include <lab/servers/answers.hpp>
#include <lab/servers/asio_coroutine/server.hpp>

#include <string_view>
#include <vector>

namespace {

using namespace asio_coroutine;

task answer(servers::stream peer, std::size_t buffer_bytes) {
    std::vector<char> space(buffer_bytes);
    servers::http_answers answers;
    while (!answers.closes()) {
        const auto [ended, size] = co_await peer.async_read_some(asio::buffer(space), result_of);
        if (ended) co_return;
        std::string_view rest = answers.answer_to({space.data(), size});
        while (!rest.empty()) {
            const auto [failed, sent] =
                co_await peer.async_write_some(asio::buffer(rest), result_of);
            if (failed) co_return;
            rest.remove_prefix(sent);
        }
    }
}

}  // namespace

int servers::serve_http(const job& wanted) { return serve<accept_all<answer>>(wanted); }

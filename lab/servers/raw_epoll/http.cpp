// SPDX-License-Identifier: BSL-1.0
//
// The server of `baseline`: a response to each request.
#include <lab/servers/raw_epoll/server.hpp>

#include <lab/servers/answers.hpp>

int servers::serve_http(const job& wanted) {
    return serve_on_threads<raw_epoll::server<http_answers>>(wanted);
}

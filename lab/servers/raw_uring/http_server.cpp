// SPDX-License-Identifier: BSL-1.0
//
// The plain server of `http_server`: HTTP by hand.
#include <lab/servers/raw_uring/server.hpp>

#include <lab/servers/web_answers.hpp>

int servers::serve_http_server(const job& wanted) {
    return serve_on_threads<raw_uring::server<web_answers>>(wanted);
}

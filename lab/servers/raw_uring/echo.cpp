// SPDX-License-Identifier: BSL-1.0
//
// The echo server on plain io_uring: what comes on a connection goes back.
#include <lab/servers/raw_uring/server.hpp>

#include <lab/servers/answers.hpp>

int servers::serve_echo(const job& wanted) {
    return serve_on_threads<raw_uring::server<echo_answers>>(wanted);
}

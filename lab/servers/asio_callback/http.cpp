// SPDX-License-Identifier: BSL-1.0
//
// The server of `baseline`: a response to each request.
#include <lab/servers/asio_callback/server.hpp>

#include <lab/servers/answers.hpp>

int servers::serve_http(const job& wanted) { return asio_callback::serve<http_answers>(wanted); }

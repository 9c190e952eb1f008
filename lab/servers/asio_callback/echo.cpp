// SPDX-License-Identifier: BSL-1.0
//
// The echo server on Boost.Asio with completion handlers: what comes on a connection goes back.
#include <lab/servers/asio_callback/server.hpp>

#include <lab/servers/answers.hpp>

int servers::serve_echo(const job& wanted) { return asio_callback::serve<echo_answers>(wanted); }

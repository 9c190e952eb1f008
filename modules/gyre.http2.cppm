// SPDX-License-Identifier: BSL-1.0
//
// Written by tools/module.py --fix: what the reference lists.
module;
#include <gyre/http2/breach.hpp>
#include <gyre/http2/client_connection.hpp>
#include <gyre/http2/error_code.hpp>
#include <gyre/http2/limits.hpp>
#include <gyre/http2/serve_connection.hpp>

export module gyre.http2;
import gyre;

export namespace gyre::http2 {
using gyre::http2::breach;
using gyre::http2::describe;
using gyre::http2::code_for;
using gyre::http2::error_for;
using gyre::http2::client_options;
using gyre::http2::received_response;
using gyre::http2::client_connection;
using gyre::http2::error_code;
using gyre::http2::rate_limit;
using gyre::http2::flood_limits;
using gyre::http2::window_limits;
using gyre::http2::time_limits;
using gyre::http2::connection_options;
using gyre::http2::connection_hooks;
using gyre::http2::serve_connection;
}  // namespace gyre::http2

// SPDX-License-Identifier: BSL-1.0
//
// Written by tools/module.py --fix: what the reference lists.
module;
#include <gyre/tls/certificate.hpp>
#include <gyre/tls/context.hpp>
#include <gyre/tls/engine.hpp>
#include <gyre/tls/stream.hpp>

export module gyre.tls;
import gyre;

export namespace gyre::tls {
using gyre::tls::certificate;
using gyre::tls::version;
using gyre::tls::identity;
using gyre::tls::revocation;
using gyre::tls::server_check;
using gyre::tls::client_check;
using gyre::tls::common_options;
using gyre::tls::client_options;
using gyre::tls::server_options;
using gyre::tls::context;
using gyre::tls::exported_key;
using gyre::tls::engine;
using gyre::tls::offload;
using gyre::tls::stream_options;
using gyre::tls::stream;
using gyre::tls::stream_message_writer;
using gyre::tls::connect;
using gyre::tls::accept;
}  // namespace gyre::tls

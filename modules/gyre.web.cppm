// SPDX-License-Identifier: BSL-1.0
//
// Written by tools/module.py --fix: what the reference lists.
module;
#include <gyre/web/client.hpp>
#include <gyre/web/pem_files.hpp>
#include <gyre/web/server.hpp>
#include <gyre/web/static_files.hpp>
#include <gyre/web/upstreams.hpp>
#include <gyre/web/url.hpp>

export module gyre.web;
import gyre;

export namespace gyre::web {
using gyre::web::proxy;
using gyre::web::client_options;
using gyre::web::client_request;
using gyre::web::client_counters;
using gyre::web::client_response;
using gyre::web::client;
using gyre::web::identity_files;
using gyre::web::read_identity;
using gyre::web::reload_from;
using gyre::web::reload_options;
using gyre::web::reload_on_change;
using gyre::web::server_counters;
using gyre::web::handshake_steps;
using gyre::web::server_options;
using gyre::web::protocols_spoken;
using gyre::web::serve_http;
using gyre::web::static_options;
using gyre::web::content_type_of;
using gyre::web::static_files;
using gyre::web::upstream;
using gyre::web::upstreams_options;
using gyre::web::health_check;
using gyre::web::upstream_counters;
using gyre::web::upstream_response;
using gyre::web::upstreams;
using gyre::web::url;
}  // namespace gyre::web

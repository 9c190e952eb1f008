// SPDX-License-Identifier: BSL-1.0
//
// Written by tools/module.py --fix: what the reference lists.
module;
#include <gyre/websocket/close_code.hpp>
#include <gyre/websocket/connection.hpp>
#include <gyre/websocket/deflate.hpp>
#include <gyre/websocket/deflate_agreement.hpp>
#include <gyre/websocket/frame.hpp>
#include <gyre/websocket/frame_parser.hpp>
#include <gyre/websocket/handshake.hpp>
#include <gyre/websocket/header_lookup.hpp>
#include <gyre/websocket/hub.hpp>
#include <gyre/websocket/masking.hpp>
#include <gyre/websocket/message_buffer.hpp>
#include <gyre/websocket/open.hpp>
#include <gyre/websocket/prepared_message.hpp>
#include <gyre/websocket/upgrade.hpp>
#include <gyre/websocket/utf8.hpp>
#include <gyre/websocket/violation.hpp>

export module gyre.websocket;
import gyre;

export namespace gyre::websocket {
using gyre::websocket::close_code;
using gyre::websocket::may_travel;
using gyre::websocket::close_text_bytes_max;
using gyre::websocket::close_reason;
using gyre::websocket::connection_options;
using gyre::websocket::message;
using gyre::websocket::fragment;
using gyre::websocket::connection;
using gyre::websocket::message_writer;
using gyre::websocket::piece_end;
using gyre::websocket::deflater_settings;
using gyre::websocket::deflater;
using gyre::websocket::inflater;
using gyre::websocket::deflate_options;
using gyre::websocket::deflate_agreement;
using gyre::websocket::deflate_answer;
using gyre::websocket::answer_deflate_offers;
using gyre::websocket::deflate_offer;
using gyre::websocket::deflate_outcome;
using gyre::websocket::read_deflate_answer;
using gyre::websocket::role;
using gyre::websocket::message_kind;
using gyre::websocket::frame_opcode;
using gyre::websocket::control_bytes_max;
using gyre::websocket::frame_header_bytes_max;
using gyre::websocket::frame_header;
using gyre::websocket::encoded_header;
using gyre::websocket::parse_limits;
using gyre::websocket::parsed;
using gyre::websocket::frame_parser;
using gyre::websocket::agreement;
using gyre::websocket::handshake_failure;
using gyre::websocket::describe;
using gyre::websocket::server_handshake_options;
using gyre::websocket::server_handshake;
using gyre::websocket::answer_handshake;
using gyre::websocket::client_handshake_options;
using gyre::websocket::client_handshake;
using gyre::websocket::header_field;
using gyre::websocket::header_fields;
using gyre::websocket::header_lookup;
using gyre::websocket::slow_member;
using gyre::websocket::hub_options;
using gyre::websocket::hub_counters;
using gyre::websocket::hub;
using gyre::websocket::masking_key;
using gyre::websocket::mask;
using gyre::websocket::mask_copy;
using gyre::websocket::masking_keys;
using gyre::websocket::message_buffer;
using gyre::websocket::open_options;
using gyre::websocket::open_answer;
using gyre::websocket::open;
using gyre::websocket::window_sizes;
using gyre::websocket::prepared_message;
using gyre::websocket::frame_compressor;
using gyre::websocket::session;
using gyre::websocket::upgrade_options;
using gyre::websocket::upgrade;
using gyre::websocket::utf8_validator;
using gyre::websocket::is_utf8;
using gyre::websocket::violation;
using gyre::websocket::close_code_for;
using gyre::websocket::error_for;
}  // namespace gyre::websocket

// SPDX-License-Identifier: BSL-1.0
//
// The answer to bytes that are no command.
//
// What the core refuses, it refuses by an event of its own. This is for what never gets there: a gateway
// sends it beside the sequenced stream, so it is lost with the connection, as was what it answers.
#pragma once

#include <exchange/codec/sbe.hpp>
#include <exchange/core/types.hpp>

namespace exchange {

struct message_rejected {
    client_sequence client_seq;      ///< Of the refused message; none if it could not be read.
    std::uint16_t refused_template;  ///< Its template; 0 if it could not be read.
    std::uint16_t refused_field;     ///< The id of the field that is wrong; 0 if it is the whole.
    decode_error error;
};

}  // namespace exchange

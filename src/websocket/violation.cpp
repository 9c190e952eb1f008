// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/violation.hpp>

#include <gyre/base/check.hpp>

namespace gyre::websocket {

const char* describe(violation which) noexcept {
    switch (which) {
        case violation::none: return "no violation";
        case violation::reserved_bits: return "a reserved bit without an extension that uses it";
        case violation::reserved_opcode: return "a frame of a reserved opcode";
        case violation::fragmented_control: return "a control frame in fragments";
        case violation::long_control: return "a control frame of more than 125 bytes";
        case violation::stray_continuation: return "a continuation without a message";
        case violation::interrupted_message: return "a message before the end of the last one";
        case violation::missing_mask: return "a client's frame without a mask";
        case violation::unexpected_mask: return "a server's frame with a mask";
        case violation::wasteful_length: return "a length in more bytes than it needs";
        case violation::impossible_length: return "a length of 2^63 or more";
        case violation::large_frame: return "a frame larger than the limit";
        case violation::large_message: return "a message larger than the limit";
        case violation::text_not_utf8: return "a text that is not UTF-8";
        case violation::short_close: return "a close frame of one byte";
        case violation::forbidden_close_code:
            return "a close frame with a number that is never sent";
        case violation::close_text_not_utf8: return "a close frame with words that are not UTF-8";
        case violation::corrupt_deflate_data: return "compressed data that does not inflate";
        case violation::too_many_deflate_streams: return "a message in too many deflate streams";
    }
    return "unknown violation";
}

close_code close_code_for(violation which) noexcept {
    switch (which) {
        case violation::none: break;
        case violation::reserved_bits:
        case violation::reserved_opcode:
        case violation::fragmented_control:
        case violation::long_control:
        case violation::stray_continuation:
        case violation::interrupted_message:
        case violation::missing_mask:
        case violation::unexpected_mask:
        case violation::wasteful_length:
        case violation::impossible_length:
        case violation::short_close:
        case violation::forbidden_close_code: return close_code::protocol_error;
        case violation::large_frame:
        case violation::large_message: return close_code::message_too_big;
        case violation::text_not_utf8:
        case violation::close_text_not_utf8:
        case violation::corrupt_deflate_data: return close_code::invalid_payload;
        case violation::too_many_deflate_streams: return close_code::policy_violation;
    }
    fail_check("precondition", "only a violation has a close code");
}

error error_for(violation which) noexcept {
    if (which == violation::none) return {};
    switch (close_code_for(which)) {
        case close_code::message_too_big:
        case close_code::policy_violation: return {errc::limit_exceeded, activity::read};
        case close_code::invalid_payload: return {errc::malformed, activity::read};
        default: return {errc::protocol_error, activity::read};
    }
}

}  // namespace gyre::websocket

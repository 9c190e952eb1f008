// SPDX-License-Identifier: BSL-1.0
#include <gyre/http2/error_code.hpp>

namespace gyre::http2 {

const char* describe(error_code code) noexcept {
    switch (code) {
        case error_code::none: return "NO_ERROR";
        case error_code::protocol: return "PROTOCOL_ERROR";
        case error_code::internal: return "INTERNAL_ERROR";
        case error_code::flow_control: return "FLOW_CONTROL_ERROR";
        case error_code::settings_timeout: return "SETTINGS_TIMEOUT";
        case error_code::stream_closed: return "STREAM_CLOSED";
        case error_code::frame_size: return "FRAME_SIZE_ERROR";
        case error_code::refused_stream: return "REFUSED_STREAM";
        case error_code::cancel: return "CANCEL";
        case error_code::compression: return "COMPRESSION_ERROR";
        case error_code::connect: return "CONNECT_ERROR";
        case error_code::enhance_your_calm: return "ENHANCE_YOUR_CALM";
        case error_code::inadequate_security: return "INADEQUATE_SECURITY";
        case error_code::http_1_1_required: return "HTTP_1_1_REQUIRED";
    }
    return "unknown";
}

error error_for(error_code code) noexcept {
    switch (code) {
        case error_code::none:
        case error_code::cancel: return errc::connection_reset;
        case error_code::refused_stream: return errc::connection_refused;
        case error_code::enhance_your_calm: return errc::limit_exceeded;
        case error_code::http_1_1_required: return errc::protocol_not_supported;
        case error_code::inadequate_security: return errc::permission_denied;
        case error_code::protocol:
        case error_code::flow_control:
        case error_code::settings_timeout:
        case error_code::stream_closed:
        case error_code::frame_size:
        case error_code::compression: return errc::protocol_error;
        case error_code::internal:
        case error_code::connect: break;
    }
    // RFC 9113, 7: an unknown code is no reason for anything special.
    return errc::connection_aborted;
}

error_code code_for(error failed) noexcept {
    switch (failed.code()) {
        case errc::canceled:
        case errc::timed_out:
        case errc::limit_exceeded: return error_code::cancel;
        case errc::malformed: return error_code::protocol;
        default: return error_code::internal;
    }
}

}  // namespace gyre::http2

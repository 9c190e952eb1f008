// SPDX-License-Identifier: BSL-1.0
#include <gyre/http2/breach.hpp>

namespace gyre::http2 {

const char* describe(breach why) noexcept {
    switch (why) {
        case breach::none: return "nothing";
        case breach::protocol: return "frames that the protocol forbids";
        case breach::preface: return "no preface of HTTP/2";
        case breach::compression: return "a field block that cannot be decompressed";
        case breach::flow_control: return "more bytes than the window allows";
        case breach::frame_size: return "a frame of a size that it may not have";
        case breach::continuations: return "a field block in too many frames";
        case breach::head_size: return "a field block that is far too large";
        case breach::rapid_reset:
            return "streams opened and reset faster than requests were answered";
        case breach::refused_streams:
            return "streams opened beyond what was allowed, again and again";
        case breach::ping_flood: return "too many PING frames";
        case breach::settings_flood: return "too many SETTINGS";
        case breach::priority_flood: return "too many PRIORITY frames";
        case breach::window_flood: return "too many WINDOW_UPDATE frames for what was sent";
        case breach::empty_frames: return "too many frames without content";
        case breach::unknown_frames: return "too many frames of unknown kinds";
        case breach::stream_errors: return "too many streams with errors";
        case breach::output_queue: return "answers that the peer asks for and does not read";
        case breach::memory: return "more memory than one connection may have";
        case breach::head_too_slow:
            return "a field block, or the preface, that did not end in time";
        case breach::settings_too_slow: return "SETTINGS that were not acknowledged in time";
        case breach::silence: return "a peer that is silent, even to PING";
    }
    return "unknown";
}

error_code code_for(breach why) noexcept {
    switch (why) {
        case breach::none:
        case breach::silence: return error_code::none;
        case breach::protocol:
        case breach::preface: return error_code::protocol;
        case breach::compression: return error_code::compression;
        case breach::flow_control: return error_code::flow_control;
        case breach::frame_size: return error_code::frame_size;
        case breach::settings_too_slow: return error_code::settings_timeout;
        default: return error_code::enhance_your_calm;
    }
}

error error_for(breach why) noexcept {
    switch (why) {
        case breach::none: return {};
        case breach::protocol:
        case breach::preface:
        case breach::compression:
        case breach::flow_control:
        case breach::frame_size: return {errc::malformed, activity::read};
        case breach::head_too_slow:
        case breach::settings_too_slow:
        case breach::silence: return {errc::timed_out, activity::read};
        default: return {errc::limit_exceeded, activity::read};
    }
}

}  // namespace gyre::http2

// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/refusal.hpp>

namespace gyre::http {

const char* describe(refusal why) noexcept {
    switch (why) {
        case refusal::none: return "no refusal";
        case refusal::start_line: return "a malformed start line";
        case refusal::method_unknown: return "an unknown method";
        case refusal::target_malformed: return "a malformed target";
        case refusal::target_too_long: return "a target that is too long";
        case refusal::version_unknown: return "an unknown version of HTTP";
        case refusal::line_ending: return "a line that does not end with CR and LF";
        case refusal::folded_line: return "a folded line";
        case refusal::null_byte: return "a null byte in the head";
        case refusal::field_malformed: return "a malformed field";
        case refusal::head_too_large: return "a head that is too large";
        case refusal::fields_too_many: return "too many fields";
        case refusal::host_missing: return "no Host";
        case refusal::host_malformed: return "a malformed Host, or more than one";
        case refusal::length_malformed: return "a malformed Content-Length, or more than one";
        case refusal::length_and_coding: return "Content-Length beside Transfer-Encoding";
        case refusal::coding_unknown: return "an unknown transfer coding";
        case refusal::coding_malformed: return "a misplaced transfer coding";
        case refusal::body_too_large: return "a body that is too large";
        case refusal::chunk_size: return "a malformed chunk size";
        case refusal::chunk_framing: return "a chunk that does not end where it should";
        case refusal::chunk_extensions: return "chunk extensions that are too long";
        case refusal::trailers_malformed: return "malformed trailers";
        case refusal::trailers_too_large: return "trailers that are too large";
        case refusal::expectation_unknown: return "an unknown expectation";
    }
    return "an unknown refusal";
}

status status_for(refusal why) noexcept {
    switch (why) {
        case refusal::none: return status::ok;
        case refusal::method_unknown:
        case refusal::coding_unknown: return status::not_implemented;
        case refusal::target_too_long: return status::uri_too_long;
        case refusal::version_unknown: return status::version_not_supported;
        case refusal::head_too_large:
        case refusal::fields_too_many:
        case refusal::trailers_too_large: return status::header_fields_too_large;
        case refusal::body_too_large: return status::content_too_large;
        case refusal::expectation_unknown: return status::expectation_failed;
        default: return status::bad_request;
    }
}

error error_for(refusal why) noexcept {
    switch (why) {
        case refusal::none: return {};
        case refusal::target_too_long:
        case refusal::head_too_large:
        case refusal::fields_too_many:
        case refusal::body_too_large:
        case refusal::chunk_extensions:
        case refusal::trailers_too_large: return {errc::limit_exceeded, activity::read};
        default: return {errc::malformed, activity::read};
    }
}

}  // namespace gyre::http

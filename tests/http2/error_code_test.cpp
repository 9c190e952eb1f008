// SPDX-License-Identifier: BSL-1.0
#include <gyre/http2/error_code.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using namespace gyre;
using http2::error_code;

namespace {

struct row {
    error_code code;
    std::string name;
    errc means;
};

// RFC 9113, 7.
const row rows[] = {
    {error_code::none, "NO_ERROR", errc::connection_reset},
    {error_code::protocol, "PROTOCOL_ERROR", errc::protocol_error},
    {error_code::internal, "INTERNAL_ERROR", errc::connection_aborted},
    {error_code::flow_control, "FLOW_CONTROL_ERROR", errc::protocol_error},
    {error_code::settings_timeout, "SETTINGS_TIMEOUT", errc::protocol_error},
    {error_code::stream_closed, "STREAM_CLOSED", errc::protocol_error},
    {error_code::frame_size, "FRAME_SIZE_ERROR", errc::protocol_error},
    {error_code::refused_stream, "REFUSED_STREAM", errc::connection_refused},
    {error_code::cancel, "CANCEL", errc::connection_reset},
    {error_code::compression, "COMPRESSION_ERROR", errc::protocol_error},
    {error_code::connect, "CONNECT_ERROR", errc::connection_aborted},
    {error_code::enhance_your_calm, "ENHANCE_YOUR_CALM", errc::limit_exceeded},
    {error_code::inadequate_security, "INADEQUATE_SECURITY", errc::permission_denied},
    {error_code::http_1_1_required, "HTTP_1_1_REQUIRED", errc::protocol_not_supported},
};

}  // namespace

TEST_CASE("http2: each code has its number and its name, and is an error of ours") {
    std::uint32_t number = 0;
    for (const row& each : rows) {
        CAPTURE(each.name);
        CHECK(static_cast<std::uint32_t>(each.code) == number++);
        CHECK(http2::describe(each.code) == each.name);
        CHECK(http2::error_for(each.code) == each.means);
    }
}

TEST_CASE("http2: a code that nobody knows is no reason for anything special") {
    // RFC 9113, 7.
    for (const std::uint32_t number : {0xeU, 0x1234U, 0xffff'ffffU}) {
        const auto unknown = static_cast<error_code>(number);
        CHECK(http2::describe(unknown) == std::string{"unknown"});
        CHECK(http2::error_for(unknown) == errc::connection_aborted);
    }
}

TEST_CASE(
    "http2: a stream on which something failed is reset with a code that says whose fault it is") {
    CHECK(http2::code_for(errc::canceled) == error_code::cancel);
    CHECK(http2::code_for(errc::timed_out) == error_code::cancel);
    CHECK(http2::code_for(errc::limit_exceeded) == error_code::cancel);
    CHECK(http2::code_for(errc::malformed) == error_code::protocol);
    CHECK(http2::code_for(errc::broken_pipe) == error_code::internal);
    CHECK(http2::code_for(errc::no_such_file) == error_code::internal);
}

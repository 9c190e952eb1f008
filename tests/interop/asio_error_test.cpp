// SPDX-License-Identifier: BSL-1.0
//
// What gyre/interop/asio_error.hpp promises: the same failure under its name on the other side.
#include <gyre/interop/asio_error.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <system_error>

using namespace gyre;
namespace asio = boost::asio;

TEST_CASE("no failure is no failure on either side") {
    CHECK_FALSE(from_asio_error({}));
    CHECK_FALSE(to_asio_error({}));
}

TEST_CASE("a system's error keeps its number both ways") {
    const boost::system::error_code refused = asio::error::connection_refused;
    CHECK(from_asio_error(refused) == errc::connection_refused);
    CHECK(to_asio_error(errc::connection_refused) == refused);
    CHECK(from_asio_error(make_error_code(boost::system::errc::broken_pipe)) == errc::broken_pipe);
}

TEST_CASE("cancellation and the end of a stream are Asio's own over there, and ours here") {
    CHECK(from_asio_error(asio::error::operation_aborted) == errc::canceled);
    CHECK(to_asio_error(errc::canceled) == asio::error::operation_aborted);
    CHECK(from_asio_error(asio::error::eof) == errc::eof);
    CHECK(to_asio_error(errc::eof) == asio::error::eof);
}

TEST_CASE("a search that ended at the limit of its buffer has exceeded a limit") {
    CHECK(from_asio_error(asio::error::not_found) == errc::limit_exceeded);
}

TEST_CASE("codes that only gyre has travel through Asio and come back") {
    for (const errc each : {errc::timed_out, errc::closed, errc::limit_exceeded, errc::malformed}) {
        const boost::system::error_code there = to_asio_error(each);
        CHECK(there.message() == describe(each));
        CHECK(from_asio_error(there) == each);
    }
}

TEST_CASE(
    "Asio prints a code that only gyre has with its name, and compares it as the standard does") {
    const boost::system::error_code late = to_asio_error(errc::timed_out);
    const boost::system::error_code closed = to_asio_error(errc::closed);
    std::ostringstream text;
    text << closed;

    CHECK(text.str() == "gyre:" + std::to_string(static_cast<int>(errc::closed)));
    CHECK(std::string{closed.category().name()} == "gyre");
    CHECK(late == boost::system::errc::timed_out);
    CHECK(late != boost::system::errc::operation_canceled);
    CHECK(closed == to_asio_error(errc::closed));
    CHECK(std::error_code{late} == std::errc::timed_out);
    CHECK(from_asio_error(std::error_code{closed}) == errc::closed);
    CHECK(from_asio_error(to_error_code(errc::closed)) == errc::closed);
}

TEST_CASE(
    "a failure of a category that gyre does not know is foreign, and not mistaken for errno") {
    const boost::system::error_code not_found = asio::error::host_not_found;
    CHECK(not_found.value() == EPERM);  // Of another category: here it would mean something else.
    CHECK(from_asio_error(not_found) == errc::foreign);
}

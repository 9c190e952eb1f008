// SPDX-License-Identifier: BSL-1.0
//
// What gyre/base/error_code.hpp promises: the way across to code that speaks std::error_code.
#include <gyre/base/error_code.hpp>

#include <doctest/doctest.h>

#include <ostream>
#include <string_view>

using namespace gyre;

TEST_CASE("no error converts to a false std::error_code") {
    CHECK_FALSE(to_error_code(error{}));
    CHECK(to_error_code(errc::eof));
}

TEST_CASE("errno values compare equal to the standard's conditions") {
    CHECK(to_error_code(errc::connection_refused) == std::errc::connection_refused);
    CHECK(to_error_code(errc::broken_pipe) == std::errc::broken_pipe);
    CHECK(to_error_code(errc::broken_pipe) != std::errc::connection_reset);
    CHECK(to_error_code(errc::connection_timed_out) == std::errc::timed_out);
}

TEST_CASE("our cancellation and our time-out mean what the standard calls by these names") {
    CHECK(to_error_code(errc::canceled) == std::errc::operation_canceled);
    CHECK(to_error_code(errc::timed_out) == std::errc::timed_out);
}

TEST_CASE("codes that only we have equal no condition of the standard") {
    const std::error_code end = to_error_code(errc::eof);

    CHECK(end.default_error_condition().category() == error_category());
    CHECK(end != std::errc::broken_pipe);
    CHECK(end.message() == "end of stream");
}

TEST_CASE("all gyre errors have the one category") {
    CHECK(&to_error_code(errc::eof).category() == &error_category());
    CHECK(&to_error_code(errc::broken_pipe).category() == &error_category());
    CHECK(std::string_view{error_category().name()} == "gyre");
}

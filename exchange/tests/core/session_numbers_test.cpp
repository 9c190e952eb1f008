// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/session_numbers.hpp promises: each session counts for itself, upward, and not too fast.
#include <exchange/core/session_numbers.hpp>

#include <doctest/doctest.h>

using namespace exchange;

namespace {

constexpr session_id one{1}, last{9};

}  // namespace

TEST_CASE("a number is admitted once, and moves no other session's") {
    session_numbers it{9};

    CHECK(it.admit(one, client_sequence{5}) == reject_reason::none);
    CHECK(it.admit(one, client_sequence{5}) == reject_reason::duplicate_client_sequence);
    CHECK(it.admit(one, client_sequence{4}) == reject_reason::duplicate_client_sequence);
    CHECK(it.admit(last, client_sequence{4}) == reject_reason::none);
    CHECK(it.last(one) == client_sequence{5});
    CHECK(it.last(last) == client_sequence{4});
}

TEST_CASE("no number is none, and one too far ahead does not count") {
    session_numbers it{9};

    CHECK(it.admit(one, client_sequence::none) == reject_reason::duplicate_client_sequence);
    CHECK(it.admit(one, client_sequence{client_sequence_jump_max + 1}) ==
          reject_reason::client_sequence_too_far);
    CHECK(it.admit(one, client_sequence{~std::uint64_t{0}}) ==
          reject_reason::client_sequence_too_far);
    CHECK(it.last(one) == client_sequence::none);
    CHECK(it.admit(one, client_sequence{client_sequence_jump_max}) == reject_reason::none);
}

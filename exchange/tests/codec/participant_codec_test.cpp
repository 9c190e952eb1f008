// SPDX-License-Identifier: BSL-1.0
//
// Changes of who may log in, there and back, and bytes that are none.
#include <exchange/codec/participant_codec.hpp>

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>
#include <type_traits>

using namespace exchange;

namespace {

template <class Record>
std::array<std::byte, message_bytes_of<Record>> bytes_of(const Record& it) {
    std::array<std::byte, message_bytes_of<Record>> made;
    encode(it, made);
    return made;
}

}  // namespace

TEST_CASE("a definition and a removal come back as they were") {
    const std::string hash(75, 'h');
    bool defined = false;
    bool removed = false;
    const auto read = [&](const auto& it) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(it)>, define_participant>) {
            defined = true;
            CHECK(text_of(it.username) == "carol");
            CHECK(text_of(it.hash) == hash);
            CHECK(it.session == session_id{3});
            CHECK(it.action == definition_action::change);
        } else {
            removed = true;
            CHECK(text_of(it.username) == "dora");
        }
    };
    CHECK_FALSE(decode_participant_change(
        bytes_of(define_participant{to_field<6>("carol"), to_field<128>(hash), session_id{3},
                                    definition_action::change}),
        read));
    CHECK_FALSE(decode_participant_change(bytes_of(remove_participant{to_field<6>("dora")}), read));
    CHECK(defined);
    CHECK(removed);
}

TEST_CASE("an answer comes back as it was, and is no change") {
    const participant_changed answer{to_field<6>("carol"), participant_outcome::session_taken};
    std::optional<participant_changed> read;
    const auto take = [&read](const participant_changed& it) { read = it; };
    CHECK_FALSE(decode_participant_answer(bytes_of(answer), take));
    CHECK(read == answer);
    CHECK(decode_participant_change(bytes_of(answer), [](const auto&) {
              FAIL("no change");
          }).error == decode_error::unexpected_message);
    CHECK(
        decode_participant_answer(bytes_of(remove_participant{to_field<6>("dora")}), take).error ==
        decode_error::unexpected_message);
}

TEST_CASE("a torn change is none, and neither is another message") {
    const auto whole =
        bytes_of(define_participant{to_field<6>("carol"), to_field<128>("hash"), session_id{3}});
    const auto never = [](const auto&) { FAIL("it is not whole"); };
    for (std::size_t size = 0; size < whole.size(); ++size)
        CHECK(decode_participant_change(std::span{whole}.first(size), never));
    std::array<std::byte, message_bytes_of<set_phase>> other;
    encode(set_phase{instrument_id{1}, market_phase::halted}, std::span<std::byte>{other});
    CHECK(decode_participant_change(other, never).error == decode_error::unexpected_message);
}

TEST_CASE("text that is longer than its field is cut, and what cannot be printed is none") {
    CHECK(text_of(to_field<6>("operator")) == "operat");
    CHECK(text_of(to_field<6>("")) == "");
    CHECK_FALSE(text_of(to_field<6>("a\n")));
}

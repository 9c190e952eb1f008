// SPDX-License-Identifier: BSL-1.0
//
// What becomes of commands without an answer, as exchange/client/sent_commands.hpp promises.
#include <exchange/client/sent_commands.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace exchange;

namespace {

void send(sent_commands& to, std::uint64_t seq, std::uint64_t message = 0) {
    to.sent(client_sequence{seq}, command_kind::enter_order,
            client_sequence{message == 0 ? seq : message});
}

std::vector<std::uint64_t> lost(sent_commands& from) {
    std::vector<std::uint64_t> numbers;
    from.settle([&](client_sequence it, command_kind) { numbers.push_back(number(it)); });
    return numbers;
}

}  // namespace

TEST_CASE("sent commands: an answer closes its command, in whatever order") {
    sent_commands sent{4};
    send(sent, 10);
    send(sent, 12);
    send(sent, 13);

    sent.answered(client_sequence{12});
    sent.answered(client_sequence{12});
    sent.answered(client_sequence{11});

    CHECK(sent.unanswered() == 2);
    CHECK(sent.waits_for(client_sequence{10}));
    CHECK_FALSE(sent.waits_for(client_sequence{12}));
    CHECK_FALSE(sent.waits_for(client_sequence{99}));
    sent.answered(client_sequence{10});
    sent.answered(client_sequence{13});
    CHECK(sent.unanswered() == 0);
    CHECK(sent.has_room(4));
}

TEST_CASE("sent commands: only what was sent before a connection was lost can be lost with it") {
    sent_commands sent{8};
    send(sent, 1);
    send(sent, 2);
    send(sent, 3);
    sent.answered(client_sequence{2});

    sent.doubt();
    send(sent, 5);

    CHECK(lost(sent) == std::vector<std::uint64_t>{1, 3});
    CHECK(sent.unanswered() == 1);
    CHECK(sent.waits_for(client_sequence{5}));
    CHECK(lost(sent).empty());
}

TEST_CASE("sent commands: room is bounded by the oldest that is unanswered") {
    sent_commands sent{3};
    send(sent, 1);
    send(sent, 2);
    send(sent, 3);
    CHECK_FALSE(sent.has_room(1));

    sent.answered(client_sequence{2});
    CHECK_FALSE(sent.has_room(1));
    sent.answered(client_sequence{1});
    CHECK(sent.has_room(2));
    CHECK_FALSE(sent.has_room(3));
    send(sent, 7);  // Around the end of the ring.
    send(sent, 8);
    sent.answered(client_sequence{8});
    CHECK(sent.unanswered() == 2);
}

TEST_CASE("sent commands: a message that is refused takes all of its commands along") {
    sent_commands sent{8};
    send(sent, 1);
    send(sent, 2, 2);
    send(sent, 3, 2);
    send(sent, 4, 2);
    send(sent, 5);

    sent.refused(client_sequence{2});

    CHECK(sent.unanswered() == 2);
    CHECK(sent.waits_for(client_sequence{1}));
    CHECK(sent.waits_for(client_sequence{5}));
    sent.clear();
    CHECK(sent.unanswered() == 0);
}

// SPDX-License-Identifier: BSL-1.0
//
// Every contender's claim to have done the work is checked by payloads.hpp, so that is checked
// here: that it accepts what was sent in whatever pieces it arrives, and nothing else.
#include <lab/kit/payloads.hpp>

#include <lab/tests/fails.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

// Moves at most `step` bytes from one stream to the other.
std::size_t move_some(lab::outgoing_stream& from, lab::incoming_stream& to, std::size_t step) {
    const auto bytes = from.next();
    const auto space = to.space();
    const std::size_t size = std::min({bytes.size(), space.size(), step});
    std::copy_n(bytes.begin(), size, space.begin());
    from.sent(size);
    to.received(size);
    return size;
}

// Feeds `text` in pieces of `step` bytes; returns how many messages were complete.
int feed(lab::http_inbox& inbox, std::string_view text, std::size_t step) {
    int complete = 0;
    while (!text.empty()) {
        const auto piece = lab::bytes_of(text.substr(0, step));
        std::copy(piece.begin(), piece.end(), inbox.space().begin());
        complete += inbox.received(piece.size()) ? 1 : 0;
        text.remove_prefix(piece.size());
    }
    return complete;
}

}  // namespace

TEST_CASE("a stream arrives whole, whatever the pieces and however many phases") {
    for (const std::size_t step : {1, 7, 100, 1000, 1024, 5000}) {
        CAPTURE(step);
        lab::outgoing_stream outgoing{1024};
        lab::incoming_stream incoming{1024};

        for (const std::uint64_t size : {10'000, 1, 4'093, 1'024}) {
            outgoing.begin(size);
            incoming.begin(size, lab::verification::every_byte);
            while (move_some(outgoing, incoming, step) > 0) continue;

            CHECK(incoming.amount() == size);
            CHECK(outgoing.next().empty());
        }
    }
}

TEST_CASE("one wrong byte in a stream ends the run") {
    lab::outgoing_stream outgoing{64};
    lab::incoming_stream incoming{64};
    outgoing.begin(64);
    incoming.begin(64, lab::verification::every_byte);
    std::copy_n(outgoing.next().begin(), 64, incoming.space().begin());
    incoming.space()[32] ^= std::byte{1};

    CHECK(fails([&] { incoming.received(64); }));
}

TEST_CASE("a block sent twice ends the run even if only edges are checked") {
    lab::outgoing_stream outgoing{64};
    lab::incoming_stream incoming{64};
    outgoing.begin(256);
    incoming.begin(256, lab::verification::edges);
    std::copy_n(outgoing.next().begin(), 64, incoming.space().begin());
    incoming.received(64);  // Without outgoing.sent().
    std::copy_n(outgoing.next().begin(), 64, incoming.space().begin());

    CHECK(fails([&] { incoming.received(64); }));
}

TEST_CASE("no two pings in a row are equal, even of one byte") {
    for (const std::size_t size : {1, 64, 1024}) {
        CAPTURE(size);
        lab::ping ping{size};
        const auto first = ping.next();
        std::copy(first.begin(), first.end(), ping.reply_space().begin());
        ping.check_reply();

        const auto second = ping.next();
        CHECK_FALSE(std::ranges::equal(second, ping.reply_space()));
        CHECK(fails([&] { ping.check_reply(); }));
    }
}

TEST_CASE("a message is complete at its last byte, whatever the pieces") {
    for (const std::string_view message : {lab::http_request, lab::http_response}) {
        for (std::size_t step = 1; step <= message.size(); ++step) {
            CAPTURE(step);
            lab::http_inbox inbox{message};

            CHECK(feed(inbox, message.substr(0, message.size() - 1), step) == 0);
            CHECK(feed(inbox, message.substr(message.size() - 1), 1) == 1);
            CHECK(feed(inbox, message, step) == 1);
        }
    }
}

TEST_CASE("a message with a wrong body ends the run") {
    std::string wrong{lab::http_response};
    wrong.back() = '?';
    lab::http_inbox inbox{lab::http_response};

    CHECK(fails([&] { feed(inbox, wrong, wrong.size()); }));
}

TEST_CASE("bytes may arrive in any order, but all of them must") {
    lab::byte_tally tally;
    const auto first = tally.next();
    const auto second = tally.next();

    tally.received(second);
    CHECK(fails([&] { tally.check(); }));

    tally.received(first);
    tally.check();
}

TEST_CASE("a byte that was changed, or came twice, ends the run") {
    lab::byte_tally tally;
    const auto first = tally.next();
    static_cast<void>(tally.next());
    tally.received(first);

    tally.received(first);

    CHECK(fails([&] { tally.check(); }));
}

TEST_CASE("numbers come in the order of their sender, and each once") {
    using lab::number_tally;
    number_tally tally{2};
    tally.received(number_tally::number(1, 0));
    tally.received(number_tally::number(0, 0));
    tally.received(number_tally::number(1, 1));

    CHECK(tally.next_of(0) == 1);
    CHECK(tally.next_of(1) == 2);
    CHECK(fails([&] { tally.received(number_tally::number(1, 1)); }));
    CHECK(fails([&] { tally.received(number_tally::number(0, 2)); }));
    CHECK(fails([&] { tally.received(number_tally::number(2, 0)); }));
}

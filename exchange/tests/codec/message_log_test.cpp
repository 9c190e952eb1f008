// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/message_log.hpp promises, compared with plain lists of strings.
#include <exchange/codec/message_log.hpp>

#include <codec/dice.hpp>
#include <codec/packets.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

// A segment holds four messages of twelve bytes, with four each for where they end.
constexpr message_log_options small{.kept_bytes_max = 1'000,
                                    .kept_messages_max = 100,
                                    .unread_bytes_max = 3 * 64,
                                    .message_bytes_max = 20,
                                    .prefix_bytes = 2,
                                    .first_sequence = 1,
                                    .segment_bytes = 64};
constexpr std::size_t in_segment = 4;

void append(message_log& log, std::string_view text) {
    const std::span<std::byte> space = log.prepare(text.size());
    std::ranges::copy(bytes_of(text), space.begin());
    const std::span<std::byte> framed = log.commit(text.size());
    framed[0] = framed[1] = std::byte{'.'};
}

/// Messages of ten letters.
void append_letters(message_log& log, std::size_t messages) {
    for (; messages > 0; --messages)
        append(log, std::string(10, static_cast<char>('a' + log.next_sequence() % 26)));
}

/// All that is held, run by run.
std::string whole(const message_log& log) {
    std::string text;
    for (std::uint64_t at = log.first_sequence(); log.holds(at);) {
        const message_run run = log.run_from(at);
        REQUIRE(run.messages > 0);
        text += text_of(run.bytes);
        at += run.messages;
    }
    return text;
}

}  // namespace

TEST_CASE("a message is found by its number, with its prefix") {
    message_log log{small};

    append(log, "one");
    append(log, "two");

    CHECK(text_of(log.framed(1)) == "..one");
    CHECK(text_of(log.framed(2)) == "..two");
    CHECK(log.next_sequence() == 3);
    CHECK(log.bytes() == 10);
    CHECK_FALSE(log.holds(0));
    CHECK_FALSE(log.holds(3));
}

TEST_CASE("an empty log holds nothing and no segment, whatever its first number") {
    message_log_options late = small;
    late.first_sequence = 1'000'000'000'000;
    message_log log{late};

    CHECK(log.first_sequence() == log.next_sequence());
    CHECK(log.segments() == 0);
    CHECK_FALSE(log.holds(late.first_sequence));
    append(log, "x");
    CHECK(log.segments() == 1);
    CHECK(text_of(log.framed(late.first_sequence)) == "..x");
    CHECK(log.run_from(late.first_sequence).messages == 1);
}

TEST_CASE("without a reader a log keeps as many bytes as it shall, to the last one") {
    message_log_options options = small;
    options.kept_bytes_max = 30;
    message_log log{options};

    for (const char* text : {"message1", "message2", "message3"}) append(log, text);
    CHECK(log.first_sequence() == 1);
    append(log, "message4");

    CHECK(log.first_sequence() == 2);
    CHECK(whole(log) == "..message2..message3..message4");
    for (const char* text : {"message5", "x"}) append(log, text);
    CHECK(log.first_sequence() == 4);  // Two of ten bytes go for three.
    CHECK(whole(log) == "..message4..message5..x");
}

TEST_CASE("without a reader a log keeps as many messages as it shall") {
    message_log_options options = small;
    options.kept_messages_max = 8;
    message_log log{options};

    for (int each = 0; each < 8; ++each) append(log, "ab");
    CHECK(log.first_sequence() == 1);
    append(log, "ab");

    CHECK(log.first_sequence() == 2);
    CHECK(log.next_sequence() == 10);
}

TEST_CASE("an evicted message stays evicted when what evicted it is not committed") {
    message_log_options options = small;
    options.kept_messages_max = 3;
    message_log log{options};
    append_letters(log, 3);

    static_cast<void>(log.prepare(20));
    static_cast<void>(log.prepare(20));

    CHECK(log.first_sequence() == 2);
    CHECK(log.next_sequence() == 4);
    CHECK(text_of(log.framed(2)) == ".." + std::string(10, 'c'));
}

TEST_CASE("a message may turn out smaller than the room prepared for it") {
    message_log log{small};
    const std::span<std::byte> space = log.prepare(20);
    space[0] = std::byte{'s'};

    const auto framed = log.commit(1);

    CHECK(framed.size() == 3);
    CHECK(log.framed(1).size() == 3);
}

TEST_CASE("a run ends at either limit, and is empty if its first message is over one") {
    message_log log{small};
    for (const char* each : {"aa", "bb", "cc"}) append(log, each);

    CHECK(log.run_from(1, 64, 64).messages == 3);
    CHECK(text_of(log.run_from(1, 8, 64).bytes) == "..aa..bb");
    CHECK(log.run_from(1, 11, 64).messages == 2);
    CHECK(log.run_from(2, 64, 1).messages == 1);
    CHECK(log.run_from(2, 3, 64).messages == 0);
}

TEST_CASE("a run ends with its segment, and the next one goes on behind it") {
    message_log log{small};
    append_letters(log, 2 * in_segment + 1);

    CHECK(log.segments() == 3);
    CHECK(log.run_from(1).messages == in_segment);
    CHECK(log.run_from(2).messages == in_segment - 1);
    CHECK(log.run_from(3, 1'000, 1'000).messages == in_segment - 2);
    CHECK(log.run_from(1 + in_segment).messages == in_segment);
    CHECK(log.run_from(1 + 2 * in_segment).messages == 1);
    CHECK(text_of(log.framed(in_segment)) == ".." + std::string(10, 'e'));
    CHECK(text_of(log.framed(in_segment + 1)) == ".." + std::string(10, 'f'));
}

TEST_CASE("what the reader has not got is not evicted, though it is more than is kept") {
    message_log_options options = small;
    options.kept_messages_max = 2;
    options.kept_bytes_max = 30;
    message_log log{options};
    append_letters(log, 3);
    CHECK(log.first_sequence() == 2);

    log.reader_at(2);
    append_letters(log, 2 * in_segment);

    CHECK(log.first_sequence() == 2);
    CHECK_FALSE(log.outrun());
}

TEST_CASE(
    "what the reader has got is evicted as far as it is more than is kept, and segments go back") {
    segment_pool pool{{.bytes_max = 10 * 64, .segment_bytes = 64}};
    message_log_options options = small;
    options.kept_messages_max = 2;
    options.unread_bytes_max = 10 * 64;
    message_log log{options, pool};
    log.reader_at(1);
    append_letters(log, 3 * in_segment + 1);
    CHECK(pool.in_use() == 4);

    log.reader_at(8);
    CHECK(log.first_sequence() == 6);
    CHECK(pool.in_use() == 3);
    log.reader_at(log.next_sequence());
    CHECK(log.first_sequence() == 12);
    CHECK(pool.in_use() == 2);
}

TEST_CASE("when the reader leaves, only what is kept stays") {
    message_log_options options = small;
    options.kept_messages_max = 2;
    message_log log{options};
    log.reader_at(1);
    append_letters(log, 9);

    log.reader_left();

    CHECK(log.first_sequence() == 8);
    append_letters(log, 1);
    CHECK(log.first_sequence() == 9);
}

TEST_CASE("at its limit a log uses its oldest segment again, and its reader is outrun") {
    message_log log{small};
    log.reader_at(1);
    append_letters(log, 3 * in_segment);
    CHECK(log.first_sequence() == 1);
    CHECK_FALSE(log.outrun());

    append_letters(log, 1);

    CHECK(log.segments() == 3);
    CHECK(log.first_sequence() == 1 + in_segment);
    CHECK(log.outrun());
    log.reader_at(log.first_sequence());
    CHECK_FALSE(log.outrun());
}

TEST_CASE("what the reader has got goes before it is outrun") {
    message_log log{small};
    log.reader_at(1);
    append_letters(log, in_segment);
    log.reader_at(1 + in_segment);  // All of it is kept.

    append_letters(log, 2 * in_segment);
    CHECK(log.first_sequence() == 1);
    append_letters(log, in_segment);
    CHECK(log.first_sequence() == 1 + in_segment);
    CHECK_FALSE(log.outrun());
    append_letters(log, 1);
    CHECK(log.outrun());
}

TEST_CASE("the bytes of an evicted message stay until the prepared room is written into") {
    message_log log{small};
    log.reader_at(1);
    append_letters(log, 3 * in_segment);
    const message_run oldest = log.run_from(1);
    const std::string before = text_of(oldest.bytes);

    const std::span<std::byte> room = log.prepare(10);

    CHECK(log.outrun());
    CHECK(text_of(oldest.bytes) == before);
    room[0] = std::byte{'!'};
    CHECK(text_of(oldest.bytes) != before);  // It is the same memory.
}

TEST_CASE("who wants more of a pool that is used up loses its own oldest, and nobody else's") {
    segment_pool pool{{.bytes_max = 5 * 64, .segment_bytes = 64}};
    message_log_options options = small;
    options.unread_bytes_max = 10 * 64;
    message_log first{options, pool};
    message_log second{options, pool};
    first.reader_at(1);
    second.reader_at(1);
    append_letters(first, 3 * in_segment);
    CHECK_FALSE(first.outrun());
    append_letters(first, 1);
    CHECK(first.outrun());  // The last two segments are the second log's.
    first.reader_at(first.first_sequence());
    const std::string held = whole(first);

    append_letters(second, 2 * in_segment);
    CHECK_FALSE(second.outrun());
    append_letters(second, 1);

    CHECK(second.outrun());
    CHECK(second.first_sequence() == 1 + in_segment);
    CHECK(whole(second).starts_with(".." + std::string(10, 'f')));
    CHECK(whole(first) == held);
    CHECK_FALSE(first.outrun());

    first.reader_at(first.next_sequence());
    first.reader_left();
    CHECK(pool.in_use() == 5);  // All of it is kept.
    append_letters(second, 3);
    CHECK(second.first_sequence() == 1 + in_segment);
}

TEST_CASE("a log gives all segments back when it goes") {
    segment_pool pool{{.bytes_max = 5 * 64, .segment_bytes = 64}};
    {
        message_log log{small, pool};
        append_letters(log, 3 * in_segment);
        CHECK(pool.in_use() == 3);
        const message_log idle{small, pool};
        CHECK(pool.in_use() == 3);
    }
    CHECK(pool.in_use() == 0);
}

TEST_CASE(
    "a reader is crowded if more than a quarter of what is kept waits, by number or by size") {
    message_log_options options = small;
    options.kept_messages_max = 8;
    message_log log{options};
    append_letters(log, 3);
    CHECK_FALSE(log.crowded());  // There is no reader.
    log.reader_at(1);
    CHECK(log.crowded());
    log.reader_at(2);
    CHECK_FALSE(log.crowded());

    options = small;
    options.kept_bytes_max = 4 * 24;
    message_log by_size{options};
    by_size.reader_at(1);
    append_letters(by_size, 2);
    CHECK_FALSE(by_size.crowded());
    append(by_size, "");
    CHECK(by_size.crowded());
}

TEST_CASE("an outrun reader is crowded until it is told where to go on") {
    message_log log{small};
    log.reader_at(1);
    append_letters(log, 3 * in_segment + 1);
    CHECK(log.crowded());
    log.reader_at(log.next_sequence());
    CHECK_FALSE(log.crowded());
}

namespace {

/// A log, and what it should hold.
struct watched_log {
    watched_log(const message_log_options& options, segment_pool& pool)
        : options{options}, pool{pool}, log{options, pool}, first{options.first_sequence} {}

    void add(const std::string& text) {
        append(log, text);
        list.push_back(".." + text);
        if (!reader) trim(next());
        note_what_went();
    }
    /// Whatever is gone beyond what was to go went since there was no more memory; or it made room without a
    /// reader, for what was not committed.
    void note_what_went() {
        if (reader && log.first_sequence() > first) {
            CHECK((pool.in_use() + promised() >= pool.capacity() ||
                   (log.segments() + 1) * pool.segment_bytes() > options.unread_bytes_max));
        }
        lose_up_to(log.first_sequence());
        check();
    }
    void read_to(std::uint64_t sequence) {
        log.reader_at(sequence);
        reader = sequence;
        trim(sequence);
        check();
    }
    void leave() {
        log.reader_left();
        reader.reset();
        trim(next());
        check();
    }

    [[nodiscard]] std::uint64_t next() const { return first + list.size(); }
    [[nodiscard]] std::size_t promised() const { return *promised_to_all; }

    void lose_up_to(std::uint64_t sequence) {
        for (; first < sequence; ++first) list.pop_front();
    }
    /// What is behind `sequence` and more than is kept goes.
    void trim(std::uint64_t sequence) {
        const auto behind = [&] {
            std::size_t bytes = 0;
            for (std::uint64_t at = first; at < sequence; ++at) bytes += list[at - first].size();
            return bytes;
        };
        while (first < sequence &&
               (sequence - first > options.kept_messages_max || behind() > options.kept_bytes_max))
            lose_up_to(first + 1);
    }
    void check() const {
        REQUIRE(log.first_sequence() == first);
        REQUIRE(log.next_sequence() == next());
        REQUIRE(log.outrun() == (reader && *reader < first));
        std::string expected;
        for (const std::string& each : list) expected += each;
        REQUIRE(whole(log) == expected);
        REQUIRE(log.bytes() == expected.size());
        REQUIRE(log.segments() * pool.segment_bytes() <=
                std::max(options.unread_bytes_max, 2 * pool.segment_bytes()));
    }

    message_log_options options;
    segment_pool& pool;
    message_log log;
    std::deque<std::string> list;
    std::uint64_t first;
    std::optional<std::uint64_t> reader;
    const std::size_t* promised_to_all = nullptr;
};

}  // namespace

TEST_CASE("logs that share a pool agree with lists, whatever is written, read and left") {
    const std::uint64_t seed = seed_of_run();
    INFO("EXCHANGE_SEED=", seed);
    dice random{seed};
    for (int round = 0; round < 60; ++round) {
        segment_pool pool{{.bytes_max = (6 + random.below(9)) * 64, .segment_bytes = 64}};
        std::vector<std::unique_ptr<watched_log>> logs;
        std::size_t promised = 0;
        for (int each = 0; each < 3; ++each) {
            message_log_options options = small;
            options.kept_bytes_max = 22 + random.below(200);
            options.kept_messages_max = 1 + random.below(30);
            options.unread_bytes_max = random.below(10) * 64;
            options.first_sequence = random.chance(2) ? 1 : random.any() >> 8;
            logs.push_back(std::make_unique<watched_log>(options, pool));
            logs.back()->promised_to_all = &promised;
        }
        for (int each = 0; each < 400; ++each) {
            watched_log& it = *logs[random.below(logs.size())];
            promised = 0;
            for (const auto& other : logs)
                promised += segment_pool::for_sure -
                            std::min(other->log.segments(), segment_pool::for_sure);
            const std::uint64_t first = it.log.first_sequence();
            switch (random.below(12)) {
                case 0: it.leave(); break;
                case 1: it.read_to(first + random.below(it.list.size() + 1)); break;
                case 2: it.read_to(it.next()); break;
                case 3:
                    static_cast<void>(it.log.prepare(random.below(21)));
                    it.note_what_went();
                    break;
                default: it.add(std::string(random.below(21), static_cast<char>('a' + each % 26)));
            }
            if (!it.list.empty()) {
                const std::uint64_t at = it.first + random.below(it.list.size());
                CHECK(text_of(it.log.framed(at)) == it.list[at - it.first]);
            }
        }
    }
}

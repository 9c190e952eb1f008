// SPDX-License-Identifier: BSL-1.0
//
// What gyre/stream/outbox.hpp promises to the code that uses it.
#include <gyre/stream/outbox.hpp>

#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <stream/scripted_stream.hpp>
#include <support/waiting_laws.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

shared_bytes message(std::string_view text) { return shared_bytes::copy_of(bytes_of(text)); }

outbox_options bounds(std::size_t bytes, std::size_t messages,
                      slow_consumer when_full = slow_consumer::wait) {
    outbox_options made;
    made.bytes_max = bytes;
    made.messages_max = messages;
    made.when_full = when_full;
    return made;
}

template <class Stream>
task<> note_written(outbox& from, Stream& to, io_result<>& outcome) {
    outcome = co_await write_from(from, to);
}

task<> note_sent(outbox& to, shared_bytes what, io_result<>& outcome) {
    outcome = co_await to.send(std::move(what));
}

// What the stream got of all that is queued.
task<std::string> written_of(outbox& from) {
    sink to{1'000'000};
    from.close();
    const io_result<> written = co_await write_from(from, to);
    CHECK(written.ok());
    co_return to.text;
}

task<std::string> read_all(memory_stream& from) {
    std::string text;
    std::array<std::byte, 64> space{};
    for (;;) {
        const io_result<std::size_t> got = co_await from.read_some(space);
        if (!got.ok()) co_return text;
        text += text_of(std::span{space}.first(got.value()));
    }
}

struct waits_for_room_in_outbox : needs_no_loop {
    static constexpr const char* name = "outbox send, full";
    explicit waits_for_room_in_outbox(io_context& io) : needs_no_loop{io} {
        REQUIRE(it.try_send(message("x")).ok());
    }

    auto wait() { return it.send(message("y")); }
    void wake() {
        outbox::writing writer{it};
        REQUIRE(writer.gather().size() == 1);
        CHECK_FALSE(writer.wrote(1));
    }

    outbox it{bounds(1, 8)};
};

struct waits_for_messages : needs_no_loop {
    static constexpr const char* name = "messages in an outbox";
    using needs_no_loop::needs_no_loop;

    auto wait() { return writer.next(); }
    void wake() { REQUIRE(it.try_send(message("x")).ok()); }

    outbox it;
    outbox::writing writer{it};
};

}  // namespace

TEST_CASE("a wait for room in an outbox, and one for its messages, obey the laws of waiting") {
    for (const waiting_subject& each :
         {subject<waits_for_room_in_outbox>(), subject<waits_for_messages>()}) {
        check_stopped_before_start(each);
        check_stopped_while_pending(each);
        check_woken_then_stopped(each);
        check_stopped_then_woken(each);
        check_drain_ignored(each);
    }
}

TEST_CASE("messages are written in their order, whatever pieces the stream takes") {
    on_every_backend([](io_context&) -> task<> {
        for (const std::size_t piece : {1, 3, 7, 1000}) {
            outbox box;
            sink to{piece};
            std::string expected;
            for (int each = 0; each < 50; ++each) {
                const std::string text = "message " + std::to_string(each) + ";";
                expected += text;
                REQUIRE(box.try_send(message(text)).ok());
            }
            box.close();

            const io_result<> written = co_await write_from(box, to);

            CHECK(written.ok());
            CHECK(to.text == expected);
            CHECK(box.counters().written == 50);
            CHECK(box.queued_bytes() == 0);
            CHECK(box.queued_messages() == 0);
        }
    });
}

TEST_CASE("a socket is given sixteen messages in one write") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = connected_pair(io);
        outbox box;
        std::string expected;
        for (int each = 0; each < 64; ++each) {
            REQUIRE(box.try_send(message("0123456789")).ok());
            expected += "0123456789";
        }
        box.close();

        const io_result<> written = co_await write_from(box, pair.client);
        std::string received(expected.size(), '\0');
        const io_result<std::size_t> got = co_await read_exactly(pair.server, received);

        CHECK(written.ok());
        CHECK(got.ok());
        CHECK(received == expected);
        CHECK(box.counters().writes == 4);
    });
}

TEST_CASE("a writer waits for messages, and ends when the outbox is closed and empty") {
    on_every_backend([](io_context&) -> task<> {
        outbox box;
        sink to{100};
        io_result<> outcome{errc::malformed};
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_written(box, to, outcome));
            co_await settle();
            CHECK(box.try_send(message("a")).ok());
            co_await settle();
            CHECK(to.text == "a");
            CHECK(box.try_send(message("b")).ok());
            co_await settle();
            CHECK(outcome.error() == errc::malformed);
            box.close();
            CHECK(box.try_send(message("c")).error() == errc::closed);
            co_await settle();
            CHECK(outcome.ok());
        };

        co_await with_group(body);

        CHECK(to.text == "ab");
    });
}

TEST_CASE("under back-pressure a sender waits for room, in its turn, and nothing is lost") {
    on_every_backend([](io_context&) -> task<> {
        outbox box{bounds(10, 100)};
        memory_pipe pipe{4};
        std::string received;
        std::string expected;
        const auto produce = [&]() -> task<> {
            for (int each = 0; each < 200; ++each) {
                const std::string text = std::to_string(each) + ",";
                expected += text;
                const io_result<> sent = co_await box.send(message(text));
                CHECK(sent.ok());
                CHECK(box.queued_bytes() <= 10);
            }
            box.close();
        };
        io_result<> outcome{errc::malformed};
        const auto write = [&]() -> task<> {
            outcome = co_await write_from(box, pipe.first);
            pipe.first.close();
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(produce());
            group.spawn(write());
            received = co_await read_all(pipe.second);
        };

        co_await with_group(body);

        CHECK(outcome.ok());
        CHECK(received == expected);
        CHECK(box.counters().queued_bytes_max <= 10);
        CHECK(box.counters().dropped == 0);
    });
}

TEST_CASE("a sender does not overtake one that waits, even where it wants less") {
    on_every_backend([](io_context&) -> task<> {
        outbox box{bounds(4, 100)};
        io_result<> large{errc::malformed};
        io_result<> small{errc::malformed};
        std::string text;
        const auto body = [&](task_group& group) -> task<> {
            CHECK(box.try_send(message("abc")).ok());
            group.spawn(note_sent(box, message("de"), large));
            co_await settle();
            CHECK(box.try_send(message("!")).error() == errc::resource_unavailable);
            group.spawn(note_sent(box, message("f"), small));
            co_await settle();
            CHECK(small.error() == errc::malformed);

            sink to{100};
            const io_result<> partly = co_await with_timeout(1ms, write_from(box, to));
            CHECK(partly.error() == errc::timed_out);
            text = to.text;
        };

        co_await with_group(body);

        CHECK(large.ok());
        CHECK(small.ok());
        CHECK(text == "abcdef");
    });
}

TEST_CASE("a sender that is stopped while it waits keeps its message, and lets smaller ones pass") {
    on_every_backend([](io_context&) -> task<> {
        outbox box{bounds(4, 100)};
        const shared_bytes kept = message("xyz");
        CHECK(box.try_send(message("abc")).ok());
        io_result<> small{errc::malformed};
        std::string text;
        const auto body = [&](task_group& group) -> task<> {
            const auto impatient = [&]() -> task<> {
                const io_result<> sent = co_await with_timeout(1ms, box.send(kept));
                CHECK(sent.error() == errc::timed_out);
            };
            group.spawn(impatient());
            co_await yield();
            group.spawn(note_sent(box, message("d"), small));
            co_await group.join();
        };
        co_await with_group(body);
        CHECK(small.ok());
        CHECK(text_of(kept.bytes()) == "xyz");

        text = co_await written_of(box);

        CHECK(text == "abcd");
    });
}

TEST_CASE("the oldest messages make room where that is the policy, and are counted") {
    on_every_backend([](io_context&) -> task<> {
        outbox box{bounds(1000, 3, slow_consumer::drop_oldest)};
        for (const char* each : {"a", "b", "c", "d", "e"}) CHECK(box.try_send(message(each)).ok());
        CHECK(box.queued_messages() == 3);

        const std::string text = co_await written_of(box);

        CHECK(text == "cde");
        CHECK(box.counters().dropped == 2);

        outbox by_bytes{bounds(6, 100, slow_consumer::drop_oldest)};
        for (const char* each : {"aa", "bb", "cc", "dddd"}) {
            CHECK(by_bytes.try_send(message(each)).ok());
            CHECK(by_bytes.queued_bytes() <= 6);
        }
        const std::string rest = co_await written_of(by_bytes);

        CHECK(rest == "ccdddd");
        CHECK(by_bytes.counters().dropped == 2);
    });
}

TEST_CASE("what is being written is never dropped: messages stay whole") {
    on_every_backend([](io_context&) -> task<> {
        outbox box{bounds(12, 100, slow_consumer::drop_oldest)};
        memory_pipe pipe{1};
        io_result<> outcome{errc::malformed};
        std::string received;
        const auto body = [&](task_group& group) -> task<> {
            const auto write = [&]() -> task<> {
                outcome = co_await write_from(box, pipe.first);
                pipe.first.close();
            };
            group.spawn(write());
            CHECK(box.try_send(message("[one]")).ok());
            co_await settle();  // A byte of it is written, and the rest waits.
            for (const char* each : {"[two]", "[three]", "[four]", "[longest]"}) {
                CHECK(box.try_send(message(each)).ok());
                CHECK(box.queued_bytes() <= 12);
            }
            box.close();
            received = co_await read_all(pipe.second);
        };

        co_await with_group(body);

        CHECK(outcome.ok());
        CHECK(received == "[one][four]");
        CHECK(box.counters().dropped == 3);
    });
}

TEST_CASE("a newer message takes the place of a queued one of its key, where that stands") {
    on_every_backend([](io_context&) -> task<> {
        outbox box{bounds(1000, 1000)};
        CHECK(box.try_send(message("A1,"), 1).ok());
        CHECK(box.try_send(message("x,")).ok());
        CHECK(box.try_send(message("B1,"), 2).ok());
        CHECK(box.try_send(message("A2-longer,"), 1).ok());
        CHECK(box.try_send(message("B2,"), 2).ok());
        CHECK(box.try_send(message("A3,"), 1).ok());
        CHECK(box.queued_messages() == 3);

        const std::string text = co_await written_of(box);

        CHECK(text == "A3,x,B2,");
        CHECK(box.counters().conflated == 3);
    });
}

TEST_CASE("a state that is being written is not touched: the newer one follows it") {
    on_every_backend([](io_context&) -> task<> {
        outbox box;
        memory_pipe pipe{1};
        io_result<> outcome{errc::malformed};
        std::string received;
        const auto body = [&](task_group& group) -> task<> {
            const auto write = [&]() -> task<> {
                outcome = co_await write_from(box, pipe.first);
                pipe.first.close();
            };
            group.spawn(write());
            CHECK(box.try_send(message("old,"), 7).ok());
            co_await settle();
            CHECK(box.try_send(message("newer,"), 7).ok());
            CHECK(box.try_send(message("newest,"), 7).ok());
            box.close();
            received = co_await read_all(pipe.second);
        };

        co_await with_group(body);

        CHECK(outcome.ok());
        CHECK(received == "old,newest,");
    });
}

TEST_CASE("a consumer that is too slow is disconnected, with an error that tells why") {
    on_every_backend([](io_context& io) -> task<> {
        for (const auto& [bytes, messages, met] :
             {std::tuple{std::size_t{100'000}, std::size_t{100'000}, outbox_bound::bytes},
              std::tuple{std::size_t{100'000'000}, std::size_t{3000}, outbox_bound::messages}}) {
            socket_pair pair = connected_pair(io);
            outbox box{bounds(bytes, messages, slow_consumer::disconnect)};
            io_result<> outcome{errc::malformed};
            io_result<> refused;
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(note_written(box, pair.client, outcome));
                const shared_bytes each = message(std::string(1000, 'x'));
                for (int round = 0; round < 100'000 && refused.ok(); ++round) {
                    refused = co_await box.send(each);
                    if (round % 16 == 0) co_await yield();
                }
                co_await settle();
                CHECK(outcome.error() == errc::limit_exceeded);
            };

            co_await with_group(body);

            CHECK(refused.error() == errc::limit_exceeded);
            CHECK(box.try_send(message("x")).error() == errc::limit_exceeded);
            CHECK(box.bound_met() == met);
            CHECK(box.queued_bytes() <= bytes);
            CHECK(box.counters().queued_bytes_max <= bytes);
        }
    });
}

TEST_CASE("a peer that is gone ends the writer and every sender, with its error") {
    on_every_backend([](io_context&) -> task<> {
        outbox box{bounds(4, 100)};
        memory_pipe pipe{1};
        io_result<> outcome{errc::malformed};
        io_result<> sent{errc::malformed};
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_written(box, pipe.first, outcome));
            CHECK(box.try_send(message("abcd")).ok());
            group.spawn(note_sent(box, message("efgh"), sent));
            co_await settle();
            pipe.second.close();
            co_await settle();
            CHECK(outcome.error() == errc::broken_pipe);
        };

        co_await with_group(body);

        CHECK(sent.error() == errc::broken_pipe);
        CHECK(box.try_send(message("x")).error() == errc::broken_pipe);
    });
}

TEST_CASE("an outbox whose stream has failed goes on with another one, and tears no message") {
    on_every_backend([](io_context&) -> task<> {
        outbox box;
        memory_pipe first{8};
        CHECK(box.try_send(message("gone,")).ok());
        CHECK(box.try_send(message("torn,"), 1).ok());
        CHECK(box.try_send(message("old,"), 2).ok());
        io_result<> outcome{errc::malformed};
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_written(box, first.first, outcome));
            co_await settle();
            first.second.close();
        };
        co_await with_group(body);
        CHECK(outcome.error() == errc::broken_pipe);
        CHECK(box.try_send(message("refused,")).error() == errc::broken_pipe);

        box.renew();

        CHECK_FALSE(box.failure());
        CHECK(box.try_send(message("new,"), 3).ok());
        CHECK(box.try_send(message("newer,"), 3).ok());
        CHECK((co_await written_of(box)) == "torn,old,newer,");
        CHECK(box.counters().written == 4);
    });
}

TEST_CASE("an outbox that was failed in the middle of a write is renewed when that has ended") {
    on_every_backend([](io_context&) -> task<> {
        outbox box;
        memory_pipe pipe{4};
        CHECK(box.try_send(message("abcdefgh")).ok());
        io_result<> outcome{errc::malformed};
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_written(box, pipe.first, outcome));
            co_await settle();
            box.fail(errc::limit_exceeded);
        };
        co_await with_group(body);

        CHECK(outcome.error() == errc::limit_exceeded);
        box.renew();
        CHECK((co_await written_of(box)) == "abcdefgh");
    });
}

TEST_CASE("a message that can never fit is refused by itself, and one of no bytes is none") {
    on_every_backend([](io_context&) -> task<> {
        for (const slow_consumer each :
             {slow_consumer::wait, slow_consumer::drop_oldest, slow_consumer::disconnect}) {
            outbox box{bounds(4, 4, each)};

            const io_result<> large = co_await box.send(message("abcde"));
            const io_result<> nothing = co_await box.send(shared_bytes{});

            CHECK(large.error() == errc::message_size);
            CHECK(nothing.ok());
            CHECK(box.queued_messages() == 0);
            CHECK_FALSE(box.failure());
        }
    });
}

TEST_CASE("a writer that is stopped within a message is followed by one that goes on there") {
    on_every_backend([](io_context&) -> task<> {
        outbox box;
        memory_pipe pipe{5};
        CHECK(box.try_send(message("abcdefgh,"), 1).ok());
        CHECK(box.try_send(message("ijkl"), 2).ok());

        const io_result<> stopped = co_await with_timeout(1ms, write_from(box, pipe.first));
        CHECK(stopped.error() == errc::timed_out);
        CHECK_FALSE(box.failure());
        CHECK(box.queued_messages() == 2);
        box.close();
        std::string received;
        const auto body = [&](task_group& group) -> task<> {
            const auto write = [&]() -> task<> {
                const io_result<> rest = co_await write_from(box, pipe.first);
                CHECK(rest.ok());
                pipe.first.close();
            };
            group.spawn(write());
            received = co_await read_all(pipe.second);
        };
        co_await with_group(body);

        CHECK(received == "abcdefgh,ijkl");
    });
}

TEST_CASE("one message in many outboxes is one block of memory") {
    on_every_backend([](io_context&) -> task<> {
        const shared_bytes news = message("news");
        std::vector<std::unique_ptr<outbox>> all;
        for (int each = 0; each < 100; ++each) {
            all.push_back(std::make_unique<outbox>());
            CHECK(all.back()->try_send(news).ok());
        }

        for (const auto& each : all) {
            outbox::writing writer{*each};
            CHECK(writer.gather().front().data() == news.bytes().data());
        }
        co_return;
    });
}

TEST_CASE("a loop's end stops a writer in the middle of a write, and the rest stays queued") {
    with_every_backend([](const io_context_options& options) {
        outbox box{bounds(100'000'000, 1000)};
        io_result<> outcome{errc::malformed};
        const shared_bytes each = message(std::string(100'000, 'x'));
        for (int count = 0; count < 200; ++count) CHECK(box.try_send(each).ok());
        const auto run = [&](socket_pair pair) -> task<> {
            outcome = co_await write_from(box, pair.client);
        };
        {
            io_context io{options};
            launch(io, run(connected_pair(io)), or_terminate{});
            io.run_for(5ms);
        }
        CHECK(outcome.error() == errc::canceled);
        CHECK(box.queued_messages() > 0);
        CHECK(box.counters().writes > 0);
    });
}

// A model that is too simple to be wrong: a list, searched from the front.
TEST_CASE("a storm of sends, keys and writes leaves the newest state of each key, in order") {
    constexpr std::uint32_t seed = 20261125;
    INFO("seed ", seed);
    std::mt19937 random{seed};
    outbox box{bounds(4000, 64, slow_consumer::drop_oldest)};
    std::vector<std::pair<int, std::string>> expected;  // Key, or -1; text.
    std::uint64_t dropped = 0;
    std::uint64_t conflated = 0;
    const auto bytes = [&] {
        std::size_t total = 0;
        for (const auto& each : expected) total += each.second.size();
        return total;
    };
    for (int round = 0; round < 50'000; ++round) {
        if (random() % 64 == 0) {
            outbox::writing writer{box};
            const const_buffers parts = writer.gather();
            REQUIRE(parts.size() <= expected.size());
            for (std::size_t each = 0; each < parts.size(); ++each) {
                REQUIRE(text_of(parts[each]) == expected[each].second);
            }
            CHECK_FALSE(writer.wrote(size_of(parts)));
            expected.erase(expected.begin(),
                           expected.begin() + static_cast<std::ptrdiff_t>(parts.size()));
            continue;
        }
        const int key = random() % 4 == 0 ? -1 : static_cast<int>(random() % 40);
        const std::string text = std::to_string(round) + std::string(random() % 150, '.');
        const auto older = std::ranges::find_if(
            expected, [&](const auto& each) { return key >= 0 && each.first == key; });
        if (older != expected.end() && bytes() - older->second.size() + text.size() <= 4000) {
            older->second = text;
            ++conflated;
        } else {
            while (expected.size() == 64 || bytes() + text.size() > 4000) {
                expected.erase(expected.begin());
                ++dropped;
            }
            const auto left = std::ranges::find_if(
                expected, [&](const auto& each) { return key >= 0 && each.first == key; });
            if (left != expected.end()) {
                left->second = text;
                ++conflated;
            } else {
                expected.emplace_back(key, text);
            }
        }
        const auto of = key < 0 ? std::optional<outbox::key>{} : outbox::key(key) * 1'000'003;
        REQUIRE(box.try_send(message(text), of).ok());
        REQUIRE(box.queued_bytes() == bytes());
        REQUIRE(box.queued_messages() == expected.size());
    }
    CHECK(box.counters().dropped == dropped);
    CHECK(box.counters().conflated == conflated);
    CHECK(dropped > 100);
    CHECK(conflated > 10'000);
}

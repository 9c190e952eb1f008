// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/hub.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/sync/when_any.hpp>

#include <support/harness.hpp>
#include <support/settle.hpp>
#include <websocket/bytes.hpp>
#include <websocket/ends.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;
using namespace std::chrono_literals;

namespace {

prepared_message prepared(const std::string& text) {
    return prepared_message::make(message_kind::text, bytes_of(text)).take();
}

hub_options bounds(slow_member when_full, std::size_t messages_max = 4) {
    hub_options made;
    made.when_full = when_full;
    made.messages_max = messages_max;
    made.bytes_max = 1000;
    return made;
}

task<> serve(hub& room, connection& to, io_result<>& outcome) { outcome = co_await room.serve(to); }

// Everything that arrives until the connection ends.
task<> listen(connection& on, std::string& heard) {
    for (;;) {
        const io_result<message> got = co_await on.receive();
        if (!got.ok()) co_return;
        heard.append(got.value().text()) += ' ';
    }
}

task<> send_numbers(hub& room, int count, std::optional<hub::key> of = {}) {
    for (int each = 0; each < count; ++each) {
        const io_result<> sent = co_await room.send(prepared(std::to_string(each)), of);
        CHECK(sent.ok());
    }
}

// A member whose peer reads nothing: its pipe holds one byte.
struct stuck_member {
    both_ends ends{1};
    io_result<> outcome;
};

}  // namespace

TEST_CASE("hub: each member gets each message once, in order, compressed or not") {
    on_every_backend([](io_context&) -> task<> {
        hub room{bounds(slow_member::disconnect, 1000)};
        const std::vector<agreement> kinds{agreement{}, deflated(false), deflated(true)};
        std::vector<std::unique_ptr<both_ends>> members;
        std::vector<std::string> heard(30);
        std::vector<io_result<>> outcomes(30);
        const auto body = [&](task_group& group) -> task<> {
            for (std::size_t each = 0; each < heard.size(); ++each) {
                members.push_back(std::make_unique<both_ends>(1000, kinds[each % 3]));
                group.spawn(serve(room, members[each]->server, outcomes[each]));
                group.spawn(listen(members[each]->client, heard[each]));
            }
            co_await settle();
            CHECK(room.members() == heard.size());
            const std::string large(200, 'x');
            for (int each = 0; each < 20; ++each) {
                const io_result<> sent = co_await room.send(prepared(large + std::to_string(each)));
                CHECK(sent.ok());
                co_await settle();
            }
            room.close();
            co_await settle();
            CHECK(room.members() == 0);
            group.request_stop();
        };
        co_await with_group(body);
        std::string wanted;
        for (int each = 0; each < 20; ++each) {
            wanted += std::string(200, 'x') + std::to_string(each) + ' ';
        }
        for (const std::string& each : heard) CHECK(each == wanted);
        for (const io_result<>& each : outcomes) CHECK(each.ok());
        CHECK(room.counters().delivered == 600);
    });
}

TEST_CASE("hub: who is too slow has to leave, and the others hear everything") {
    on_every_backend([](io_context&) -> task<> {
        hub room{bounds(slow_member::disconnect)};
        stuck_member stuck;
        both_ends good{1000};
        io_result<> good_outcome;
        std::string heard;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(serve(room, stuck.ends.server, stuck.outcome));
            group.spawn(serve(room, good.server, good_outcome));
            group.spawn(listen(good.client, heard));
            for (int each = 0; each < 10; ++each) {
                co_await settle();
                const io_result<> sent = co_await room.send(prepared(std::to_string(each)));
                CHECK(sent.ok());
            }
            co_await settle();
            CHECK(room.members() == 1);
            group.request_stop();
        };
        co_await with_group(body);
        CHECK(stuck.outcome.error() == errc::limit_exceeded);
        CHECK(heard == "0 1 2 3 4 5 6 7 8 9 ");
        CHECK(room.counters().disconnected == 1);
        CHECK(room.counters().queued_bytes_max <= 1000);
    });
}

TEST_CASE(
    "hub: of what a slow member has no room for, the oldest is dropped, or what is out of date") {
    on_every_backend([](io_context&) -> task<> {
        for (const slow_member policy : {slow_member::drop_oldest, slow_member::conflate}) {
            hub room{bounds(policy)};
            stuck_member slow;
            std::string heard;
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(serve(room, slow.ends.server, slow.outcome));
                co_await settle();
                // The first is being written; of the others the last three have room, or the newest.
                co_await send_numbers(room, 1);
                co_await settle();
                co_await send_numbers(room, 10);
                group.spawn(listen(slow.ends.client, heard));
                for (int each = 0; each < 100; ++each) co_await settle();
                group.request_stop();
            };
            co_await with_group(body);
            if (policy == slow_member::drop_oldest) {
                CHECK(heard == "0 7 8 9 ");
                CHECK(room.counters().dropped > 0);
            } else {
                CHECK(heard == "0 9 ");
                CHECK(room.counters().conflated > 0);
            }
            CHECK(room.counters().disconnected == 0);
        }
    });
}

TEST_CASE("hub in a world: a sender waits for slow members, and no longer than it has to") {
    in_a_world([](test::world& world) -> task<> {
        hub_options options = bounds(slow_member::wait);
        options.wait_max = 5s;
        hub room{options};
        stuck_member stuck;
        both_ends good{1000};
        io_result<> good_outcome;
        std::string heard;
        const time_point began = world.now();
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(serve(room, stuck.ends.server, stuck.outcome));
            group.spawn(serve(room, good.server, good_outcome));
            group.spawn(listen(good.client, heard));
            co_await settle();
            co_await send_numbers(room, 20);
            co_await settle();
            group.request_stop();
        };
        co_await with_group(body);
        CHECK(world.now() - began == 5s);
        CHECK(stuck.outcome.error() == errc::limit_exceeded);
        CHECK(heard.ends_with("18 19 "));
        CHECK(heard.starts_with("0 1 2 "));
    });
}

TEST_CASE("hub: a member may leave while it is waited for") {
    on_every_backend([](io_context&) -> task<> {
        hub room{bounds(slow_member::wait)};
        stuck_member stuck;
        const auto leave = [&]() -> task<> {
            for (int each = 0; each < 5; ++each) co_await settle();
        };
        const auto stay = [&]() -> task<> {
            static_cast<void>(
                co_await when_any(serve(room, stuck.ends.server, stuck.outcome), leave()));
        };
        co_await when_all(stay(), send_numbers(room, 10));
        CHECK(room.members() == 0);
    });
}

TEST_CASE("hub: refuses what is too large, too many members, and everything after its close") {
    on_every_backend([](io_context&) -> task<> {
        hub_options options = bounds(slow_member::disconnect);
        options.members_max = 1;
        hub room{options};
        const io_result<> large = room.send_now(prepared(std::string(1001, 'x')));
        CHECK(large.error() == errc::message_size);
        stuck_member one;
        stuck_member other;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(serve(room, one.ends.server, one.outcome));
            group.spawn(serve(room, other.ends.server, other.outcome));
            co_await settle();
            CHECK(other.outcome.error() == errc::limit_exceeded);
            room.close();
        };
        co_await with_group(body);
        CHECK(one.outcome.ok());
        const io_result<> late = co_await room.send(prepared("late"));
        CHECK(late.error() == errc::closed);
        const io_result<> joined = co_await room.serve(other.ends.server);
        CHECK(joined.error() == errc::closed);
    });
}

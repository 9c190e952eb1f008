// SPDX-License-Identifier: BSL-1.0
//
// What peers cost that do not read, inflate without end, or announce what they do not send: memory, and the
// others' time.
//
//     slow_peers [MEMBERS]       (default: 1000)
//
// Prints a line for each, and ends with 1 if one of them costs more than it may.
#include <gyre/gyre.hpp>
#include <gyre/websocket/connection.hpp>
#include <gyre/websocket/deflate.hpp>
#include <gyre/websocket/hub.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace gyre;
using namespace gyre::websocket;
using namespace std::chrono_literals;

constexpr std::size_t mib = std::size_t{1} << 20;

std::size_t resident_bytes() {
    std::ifstream from{"/proc/self/statm"};
    std::size_t all = 0;
    std::size_t resident = 0;
    from >> all >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

double mib_of(std::size_t bytes) { return static_cast<double>(bytes) / static_cast<double>(mib); }

double ms_of(duration wait) { return std::chrono::duration<double, std::milli>{wait}.count(); }

std::size_t grown(std::size_t before) {
    const std::size_t now = resident_bytes();
    return now > before ? now - before : 0;
}

bool told(const char* what, bool right) {
    if (!right) std::printf("FAILED: %s\n", what);
    return right;
}

// The two ends of a socket, of which one is ours and the other is written to by hand.
struct ends {
    stream_socket ours;
    stream_socket theirs;
};

task<ends> connected() {
    io_context& io = context_of(co_await this_task::loop());
    auto [failed, near, far] = stream_socket::connected_pair(io);
    expects(!failed, "a pair of sockets");
    co_return ends{std::move(near), std::move(far)};
}

// ---------------- One that never reads, among many that do

struct audience {
    std::size_t readers = 0;
    std::size_t received = 0;
    duration latest{};
};

std::string stamped(std::size_t size) {
    std::string made(size, '.');
    const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
    std::memcpy(made.data(), &now, sizeof now);
    return made;
}

duration age_of(const_buffer message) {
    std::int64_t then = 0;
    std::memcpy(&then, message.data(), sizeof then);
    const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
    return std::chrono::steady_clock::duration{now - then};
}

task<> listen(stream_socket on, audience& all) {
    connection by{any_stream{std::move(on)}, role::client, {}};
    for (;;) {
        const io_result<message> got = co_await by.receive();
        if (!got.ok()) co_return;
        ++all.received;
        all.latest = std::max(all.latest, age_of(got.value().bytes));
    }
}

task<> serve(hub& room, stream_socket to, error& ended) {
    connection peer{any_stream{std::move(to)}, role::server, {}};
    const io_result<> served = co_await room.serve(peer);
    ended = served.error();
}

task<> wait_for_members(const hub& room, std::size_t count) {
    while (room.members() < count) static_cast<void>(co_await sleep_for(1ms));
}

task<> send_to_all(hub& room, audience& all, std::size_t messages, std::size_t bytes) {
    const std::size_t before = all.received;
    for (std::size_t each = 0; each < messages; ++each) {
        auto made = prepared_message::make(message_kind::binary, bytes_of(stamped(bytes))).take();
        static_cast<void>(co_await room.send(std::move(made)));
        while (all.received - before < all.readers * each) {
            static_cast<void>(co_await sleep_for(1ms));
        }
    }
    while (all.received - before < all.readers * messages) {
        static_cast<void>(co_await sleep_for(1ms));
    }
}

task<bool> deaf_member(std::size_t members) {
    constexpr std::size_t messages = 400;
    constexpr std::size_t bytes = 2048;
    hub_options options;
    options.bytes_max = 256 * 1024;
    options.when_full = slow_member::disconnect;
    hub room{options};
    audience all;
    all.readers = members;
    std::vector<error> ended(members + 1);
    bool right = true;
    const auto body = [&](task_group& group) -> task<> {
        for (std::size_t each = 0; each < members; ++each) {
            ends both = co_await connected();
            group.spawn(serve(room, std::move(both.ours), ended[each]));
            group.spawn(listen(std::move(both.theirs), all));
        }
        co_await wait_for_members(room, members);
        co_await send_to_all(room, all, messages, bytes);
        const duration alone = std::exchange(all.latest, duration{});

        ends deaf = co_await connected();
        group.spawn(serve(room, std::move(deaf.ours), ended[members]));
        co_await wait_for_members(room, members + 1);
        const std::size_t before = resident_bytes();
        co_await send_to_all(room, all, messages, bytes);
        const std::size_t more = grown(before);
        const hub_counters counted = room.counters();
        std::printf(
            "deaf: %zu members read %zu messages of %zu bytes; one does not: it has to leave (%s), "
            "%.2f MiB more, %.2f MiB queued at most; the latest of all others %.1f ms, before %.1f "
            "ms\n",
            members, messages, bytes, ended[members] ? "limit exceeded" : "it did not",
            mib_of(more), mib_of(counted.queued_bytes_max), ms_of(all.latest), ms_of(alone));
        right =
            told("the member that reads nothing leaves", ended[members] == errc::limit_exceeded) &&
            told("its queue is bounded", counted.queued_bytes_max <= options.bytes_max) &&
            told("nobody else leaves", room.members() == members && counted.disconnected == 1) &&
            told("memory is bounded", more <= 2 * mib);
        group.request_stop();
    };
    co_await with_group(body);
    co_return right;
}

// ---------------- What is larger than it looks, or looks larger than it is

struct outcome {
    io_result<message> got;
    violation rule = violation::none;
    std::size_t memory = 0;
};

task<> receive_one(stream_socket from, agreement agreed, connection_options options,
                   outcome& into) {
    connection on{any_stream{std::move(from)}, role::server, std::move(agreed), {}, options};
    into.got = co_await on.receive();
    into.rule = on.broken_rule();
}

// A masked frame's beginning; the key is 0, so the payload stays as it is.
std::string header(bool compressed, std::uint64_t payload_bytes) {
    frame_header made;
    made.code = frame_opcode::binary;
    made.compressed = compressed;
    made.key = masking_key{};
    made.payload_bytes = payload_bytes;
    return std::string{text_of(encoded_header{made}.bytes())};
}

task<> send_and_wait(stream_socket& to, std::string_view bytes, outcome& seen) {
    const std::size_t before = resident_bytes();
    static_cast<void>(co_await write_all(to, bytes_of(bytes)));
    for (int each = 0; each < 20; ++each) {
        static_cast<void>(co_await sleep_for(10ms));
        seen.memory = std::max(seen.memory, grown(before));
    }
}

task<outcome> attack(std::string bytes, agreement agreed, connection_options options) {
    outcome seen;
    ends both = co_await connected();
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(receive_one(std::move(both.ours), std::move(agreed), options, seen));
        co_await send_and_wait(both.theirs, bytes, seen);
        group.request_stop();
    };
    co_await with_group(body);
    co_return seen;
}

task<bool> bomb() {
    constexpr std::size_t inflated = 1024 * mib;
    flat_buffer deflated{{0, 16 * mib}};
    deflater by{{}};
    const std::string zeros(mib, '\0');
    for (std::size_t each = 1; each < inflated / mib; ++each) {
        by.add(bytes_of(zeros), deflated, piece_end::open);
    }
    by.add(bytes_of(zeros), deflated, piece_end::message);

    connection_options options;
    options.limits.message_bytes_max = mib;
    options.limits.frame_bytes_max = 2 * mib;
    agreement agreed;
    agreed.deflate.emplace();
    const std::string bytes = header(true, deflated.size()).append(text_of(deflated.data()));
    const outcome seen = co_await attack(bytes, agreed, options);
    std::printf("bomb: %.2f MiB that inflate to 1024, where 1 is allowed: %s, %.2f MiB more\n",
                mib_of(bytes.size()), describe(seen.rule), mib_of(seen.memory));
    co_return told("the bomb is refused", seen.rule == violation::large_message) &&
        told("memory is bounded", seen.memory <= 4 * mib);
}

task<bool> announced() {
    const std::uint64_t size = 1024 * mib;
    const outcome refused = co_await attack(header(false, size), {}, {});
    std::printf("1 GiB announced, where 16 MiB are allowed: %s, %.2f MiB more\n",
                describe(refused.rule), mib_of(refused.memory));

    connection_options generous;
    generous.limits.frame_bytes_max = generous.limits.message_bytes_max = 2 * size;
    const std::string some = header(false, size).append(std::string(100'000, 'x'));
    const outcome waited = co_await attack(some, {}, generous);
    std::printf("1 GiB announced and allowed, 0.10 MiB sent: %.2f MiB more\n",
                mib_of(waited.memory));
    co_return told("the announcement is refused", refused.rule == violation::large_frame) &&
        told("memory is bounded", refused.memory <= mib && waited.memory <= mib) &&
        told("what is allowed is waited for", waited.got.error() == errc::canceled);
}

task<int> all_of_them(std::size_t members) {
    const bool deaf = co_await deaf_member(members);
    const bool bombed = co_await bomb();
    const bool large = co_await announced();
    co_return deaf&& bombed&& large ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
    std::size_t members = 1000;
    const std::string_view wanted = count > 1 ? arguments[1] : "";
    std::from_chars(wanted.data(), wanted.data() + wanted.size(), members);
    rlimit descriptors{};
    ::getrlimit(RLIMIT_NOFILE, &descriptors);
    descriptors.rlim_cur = descriptors.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &descriptors);
    return gyre::run(all_of_them(members));
}

// SPDX-License-Identifier: BSL-1.0
//
// Messages back and forth allocate nothing, once a few have passed: malloc itself is replaced here, and
// counts. Left out of sanitizer builds, which replace it, too.
#include <gyre/sync/task_group.hpp>
#include <gyre/websocket/hub.hpp>

#include <support/harness.hpp>
#include <support/settle.hpp>
#include <websocket/ends.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

// NOLINTBEGIN(readability-identifier-naming): the names are glibc's.
extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);
}
// NOLINTEND(readability-identifier-naming)

namespace {

std::atomic<bool> counting = false;
std::atomic<long> allocations = 0;

void count() noexcept {
    if (counting.load(std::memory_order_relaxed))
        allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) {
    count();
    return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
    count();
    return __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) {
    count();
    return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    count();
    return __libc_memalign(alignment, size);
}
void free(void* memory) { __libc_free(memory); }
}

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;

namespace {

constexpr int rounds = 2000;

// What malloc was called from its making on.
class counted {
public:
    counted() noexcept {
        allocations = 0;
        counting = true;
    }
    [[nodiscard]] long stop() const noexcept {
        counting = false;
        return allocations;
    }
};

task<> echo(connection& on) {
    for (;;) {
        const io_result<message> got = co_await on.receive();
        if (!got.ok()) co_return;
        const io_result<> sent = co_await on.send(got.value().kind, got.value().bytes);
        if (!sent.ok()) co_return;
    }
}

task<> there_and_back(connection& by, std::string_view text, int times) {
    for (int each = 0; each < times; ++each) {
        const io_result<> sent = co_await by.send_text(text);
        const io_result<message> back = co_await by.receive();
        CHECK((sent.ok() && back.value().bytes.size() == text.size()));
    }
}

task<> receive(connection& by, int times) {
    for (int each = 0; each < times; ++each) {
        const io_result<message> got = co_await by.receive();
        CHECK(got.ok());
    }
}

}  // namespace

TEST_CASE("the counter counts: an allocation is seen") {
    const counted from_here;
    delete new std::string(100, 'x');
    CHECK(from_here.stop() > 0);
}

TEST_CASE("websocket: messages there and back allocate nothing, compressed or not") {
    const agreement plain;
    const std::array agreements{plain, deflated(false), deflated(true)};
    for (const agreement& agreed : agreements) {
        on_every_backend([&](io_context&) -> task<> {
            both_ends ends{std::size_t{1} << 17, agreed};
            const std::string text(3000, 'x');
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(echo(ends.server));
                co_await there_and_back(ends.client, text, 100);
                const counted from_here;
                co_await there_and_back(ends.client, text, rounds);
                const long made = from_here.stop();
                CHECK(made == 0);
                group.request_stop();
            };
            co_await with_group(body);
        });
    }
}

TEST_CASE("websocket: batches there and back allocate nothing") {
    on_every_backend([](io_context&) -> task<> {
        both_ends ends{std::size_t{1} << 17};
        const std::string text(100, 'x');
        const std::array<message, 8> batch = [&] {
            std::array<message, 8> made;
            made.fill({message_kind::text, bytes_of(text)});
            return made;
        }();
        std::array<message, 8> space;
        const auto pass = [&](connection& from, connection& to) -> task<> {
            const io_result<> sent = co_await from.send_batch(batch);
            const auto got = co_await to.receive_batch(space);
            CHECK((sent.ok() && got.value().size() == batch.size()));
        };
        const auto there_and_back_in_batches = [&](int times) -> task<> {
            for (int each = 0; each < times; ++each) {
                co_await pass(ends.client, ends.server);
                co_await pass(ends.server, ends.client);
            }
        };
        co_await there_and_back_in_batches(100);
        const counted from_here;
        co_await there_and_back_in_batches(rounds);
        const long made = from_here.stop();
        CHECK(made == 0);
    });
}

TEST_CASE("hub: a message that is prepared already reaches its members without an allocation") {
    on_every_backend([](io_context&) -> task<> {
        hub room;
        both_ends ends{std::size_t{1} << 17};
        io_result<> ended;
        const auto serve = [&]() -> task<> { ended = co_await room.serve(ends.server); };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(serve());
            co_await settle();
            const std::string text(3000, 'x');
            const auto made = prepared_message::make(message_kind::text, bytes_of(text)).take();
            const auto send_all = [&](int times) -> task<> {
                for (int each = 0; each < times; ++each) {
                    const io_result<> sent = co_await room.send(made);
                    CHECK(sent.ok());
                    co_await receive(ends.client, 1);
                }
            };
            co_await send_all(100);
            const counted from_here;
            co_await send_all(rounds);
            const long allocated = from_here.stop();
            CHECK(allocated == 0);
            group.request_stop();
        };
        co_await with_group(body);
    });
}

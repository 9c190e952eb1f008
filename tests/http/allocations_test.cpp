// SPDX-License-Identifier: BSL-1.0
//
// A request on a connection that is kept costs no allocation, of the library's: malloc is replaced here, and
// counts. Left out of sanitizer builds, as tests/laws/allocations_test.cpp is.
#include <gyre/http/router.hpp>
#include <gyre/http/serve_connection.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/harness.hpp>

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

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
using namespace std::chrono_literals;

namespace {

constexpr int rounds = 1000;

// How many allocations `rounds` times `asked` cost, both sides together, once all caches are warm.
task<long> cost_of(io_context& io, const http::handler& handle, std::string_view asked,
                   std::size_t answer_size) {
    socket_pair ends = connected_pair(io);
    const http::connection_options options;
    const http::connection_hooks hooks;
    long made = -1;
    const auto serves = [&]() -> task<> {
        static_cast<void>(co_await http::serve_connection(any_stream{std::move(ends.server)},
                                                          handle, options, hooks));
    };
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(serves);
        std::string space(answer_size, '\0');
        for (int round = -100; round < rounds; ++round) {
            if (round == 0) {
                allocations = 0;
                counting = true;
            }
            const io_result<std::size_t> put = co_await write_all(ends.client, bytes_of(asked));
            const io_result<std::size_t> got = co_await read_exactly(ends.client, space);
            if (!put.ok() || !got.ok()) break;
        }
        counting = false;
        made = allocations;
        CHECK(space.starts_with("HTTP/1.1 200 OK\r\n"));
        CHECK(space.ends_with("text"));
        static_cast<void>(ends.client.close());
    };
    co_await with_group(body);
    co_return made;
}

constexpr std::string_view head =
    "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"
    "date: Sun, 06 Nov 1994 08:49:37 GMT\r\ncontent-length: 4\r\n\r\n";
constexpr std::size_t answer_size = head.size() + 4;

}  // namespace

TEST_CASE("allocations: a request answered with text, through a router, costs none") {
    on_every_backend([](io_context& io) -> task<> {
        http::router routes;
        routes.add(http::method::get, "/users/{id}", [](http::request&) -> task<http::response> {
            co_return http::response{http::status::ok, "text/plain", http::static_text{"text"}};
        });
        const http::handler handle = std::move(routes).build();
        const long made =
            co_await cost_of(io, handle,
                             "GET /users/7?x=y HTTP/1.1\r\nHost: h.example\r\nUser-Agent: "
                             "a-test/1.0\r\nAccept: */*\r\nAccept-Encoding: gzip\r\n\r\n",
                             answer_size);
        CHECK(made == 0);
    });
}

TEST_CASE("allocations: a body in chunks that the handler reads costs none of its own") {
    on_every_backend([](io_context& io) -> task<> {
        const http::handler handle = [](http::request& what) -> task<http::response> {
            std::array<std::byte, 100> space;
            for (;;) {
                const io_result<std::size_t> got = co_await what.body.read_some(space);
                if (!got.ok()) break;
            }
            co_return http::response{http::status::ok, "text/plain", http::static_text{"text"}};
        };
        const long made = co_await cost_of(io, handle,
                                           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
                                           "chunked\r\n\r\n5\r\nhello\r\n0\r\nSum: 5\r\n\r\n",
                                           answer_size);
        CHECK(made == 0);
    });
}

TEST_CASE("allocations: a handler that waits costs none of the library's") {
    on_every_backend([](io_context& io) -> task<> {
        // Once so long that the client is watched, as it may be later on a busy machine.
        bool first = true;
        const http::handler handle = [&first](http::request&) -> task<http::response> {
            const duration wait = std::exchange(first, false) ? duration{50ms} : duration{1us};
            static_cast<void>(co_await sleep_for(wait));
            co_return http::response{http::status::ok, "text/plain", http::static_text{"text"}};
        };
        const long made =
            co_await cost_of(io, handle, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", answer_size);
        CHECK(made == 0);
    });
}

// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/pipe.hpp promises beyond what descriptors do.
#include <gyre/io/pipe.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/buffered.hpp>
#include <gyre/stream/concepts.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>

#include <fcntl.h>
#include <sys/resource.h>

#include <array>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

static_assert(read_stream<readable_pipe> && !write_stream<readable_pipe>);
static_assert(write_stream<writable_pipe> && !read_stream<writable_pipe>);
static_assert(duplex_stream<descriptor>);

TEST_CASE("a pipe's ends are closed in programs that are executed") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        auto [failed, reading, writing] = make_pipe(io);
        REQUIRE_FALSE(failed);

        CHECK((::fcntl(reading.native_handle(), F_GETFD) & FD_CLOEXEC) != 0);
        CHECK((::fcntl(writing.native_handle(), F_GETFD) & FD_CLOEXEC) != 0);
    });
}

TEST_CASE("a pipe without descriptors to be had is an error, and none is lost") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        const std::size_t before = open_descriptors();
        rlimit usual{};
        ::getrlimit(RLIMIT_NOFILE, &usual);
        rlimit narrow = usual;
        narrow.rlim_cur = 0;
        ::setrlimit(RLIMIT_NOFILE, &narrow);

        const auto made = make_pipe(io);

        ::setrlimit(RLIMIT_NOFILE, &usual);
        CHECK(made.error() == errc::process_descriptors_exhausted);
        CHECK(open_descriptors() == before);
    });
}

namespace {

const std::vector<conformance_row> on_each_machine{
    {"what is written to one end of a pipe is read from the other, up to the end",
     [](io_context& io) -> task<> {
         auto [failed, reading, writing] = make_pipe(io);
         REQUIRE_FALSE(failed);
         std::array<std::byte, 16> space;

         const auto sent = co_await write_all(writing, bytes_of("hello"));
         CHECK(sent.value() == 5);
         CHECK(writing.close().ok());

         const auto got = co_await reading.read_some(space);
         CHECK(text_of(std::span{space}.first(got.value())) == "hello");
         const auto end = co_await reading.read_some(space);
         CHECK(end.error() == errc::eof);
     }},
};

const conformance_suite on_each_machine_suite{"pipes", on_each_machine};

}  // namespace

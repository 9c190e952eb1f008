// SPDX-License-Identifier: BSL-1.0
//
// What counts as a stream: gyre/stream/concepts.hpp. That those which count also behave is asked in
// tests/laws/stream_laws_test.cpp.
#include <gyre/stream/concepts.hpp>

#include <gyre/coro/task.hpp>
#include <gyre/stream/buffered.hpp>
#include <gyre/stream/memory_pipe.hpp>

#include <support/harness.hpp>

using namespace gyre;

namespace {

struct reads_by_task {
    task<io_result<std::size_t>> read_some(mutable_buffer);
};

struct writes_by_task {
    task<io_result<std::size_t>> write_some(const_buffer);
};

struct both_by_task : reads_by_task, writes_by_task {};

struct reads_at_once {
    io_result<std::size_t> read_some(mutable_buffer);
};

struct reads_without_count {
    task<io_result<>> read_some(mutable_buffer);
};

struct writes_what_it_may_change {
    task<io_result<std::size_t>> write_some(mutable_buffer);
};

}  // namespace

TEST_CASE("what reads is a source, what writes is a sink, what does both is a duplex stream") {
    CHECK(read_stream<reads_by_task>);
    CHECK_FALSE(write_stream<reads_by_task>);
    CHECK(write_stream<writes_by_task>);
    CHECK_FALSE(read_stream<writes_by_task>);
    CHECK(duplex_stream<both_by_task>);
    CHECK_FALSE(duplex_stream<reads_by_task>);
}

TEST_CASE("a stream's functions are awaitable, count bytes, and leave what they write alone") {
    CHECK_FALSE(read_stream<reads_at_once>);
    CHECK_FALSE(read_stream<reads_without_count>);
    CHECK_FALSE(write_stream<writes_what_it_may_change>);
}

TEST_CASE("sockets, pipes and buffered readers are streams") {
    CHECK(duplex_stream<stream_socket>);
    CHECK(duplex_stream<memory_stream>);
    CHECK(read_stream<buffered_reader<memory_stream>>);
    CHECK(read_stream<buffered_reader<buffered_reader<stream_socket>>>);
}

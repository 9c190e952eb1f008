// SPDX-License-Identifier: BSL-1.0
//
// Both sides of a change of generations: see include/gyre/io/successor.hpp.
#include <gyre/io/successor.hpp>

#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_any.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace gyre {
namespace {

constexpr const char* ready_variable = "GYRE_READY_FD";
constexpr int behind_standard_streams = 3;
constexpr duration farewell = std::chrono::seconds{1};

// The end of the process is an end without a word, even if a child of its own has a copy of the pipe.
task<io_result<>> told_ready(readable_pipe& from, process& by) {
    std::array<std::byte, 1> byte{};
    const auto heard = co_await when_any(from.read_some(byte), by.wait());
    if (heard.winner == 0) co_return std::get<0>(heard.results).error();
    if (std::get<1>(heard.results).ok()) co_return error{errc::eof, activity::wait};
    co_return std::get<1>(heard.results).error();
}

}  // namespace

task<io_result<process, exit_status>> start_successor(std::string program, process_options how,
                                                      duration ready_within) {
    io_result<readable_pipe, writable_pipe> made = make_pipe(*io_context::current());
    if (!made.ok()) co_return made.error();
    auto [fine, from, theirs] = std::move(made);
    passed_descriptor notice;
    notice.number = theirs.native_handle();
    notice.variable = ready_variable;
    how.passed.push_back(notice);
    io_result<process> started = co_await process::start(std::move(program), std::move(how));
    if (!started.ok()) co_return started.error();
    static_cast<void>(theirs.close());
    process next = started.take();

    const io_result<> told = co_await with_timeout(ready_within, told_ready(from, next));
    if (told.ok()) co_return io_result<process, exit_status>{error{}, std::move(next), {}};
    const io_result<exit_status> ended = co_await next.terminate(farewell);
    co_return io_result<process, exit_status>{told.error(), process{}, ended.value()};
}

io_result<ready_notice> ready_notice::take(io_context& on) {
    ready_notice made;
    const char* const value = std::getenv(ready_variable);
    if (value == nullptr) return made;
    const std::string_view text{value};
    int number = -1;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc{} || end != text.data() + text.size() || number < 0) {
        return error{errc::malformed, activity::adopt};
    }
    // The copy is closed in programs that are executed from now on.
    duplicate_operation op{number, behind_standard_streams};
    op.through_exec = true;  // An old announcement may name what was opened since.
    op.result = on.host().perform_now(op);
    if (const error refused = error_of(op)) return refused;
    made.to_ = writable_pipe::adopt(on, op.result);
    static_cast<void>(descriptor::adopt(on, number).close());
    ::unsetenv(ready_variable);
    return made;
}

task<io_result<>> ready_notice::tell() {
    if (!wanted()) co_return io_result<>{};
    const io_result<std::size_t> written = co_await to_.write_some(bytes_of("\n"));
    if (written.ok()) static_cast<void>(to_.close());
    co_return written.error();
}

}  // namespace gyre

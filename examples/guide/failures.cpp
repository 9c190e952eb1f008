// SPDX-License-Identifier: BSL-1.0
//
// Failures as values: made, passed on, told apart, and given to code that wants std::error_code.
//
// docs/guide/06_errors.md explains it. A pipe in memory stands for a connection.
// snippet: program
#include <gyre/gyre.hpp>

#include <gyre/base/error_code.hpp>

#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <system_error>

using namespace std::chrono_literals;

gyre::io_result<int> parse_number(std::string_view digits) {
    int number = 0;
    const char* const end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return gyre::errc::malformed;
    return number;
}

// A record is four digits. The end between two records is errc::eof; within one it is a mistake of the peer.
gyre::task<gyre::io_result<int>> read_record(gyre::memory_stream& from) {
    std::array<char, 4> digits{};
    const auto [error, size] = co_await gyre::read_exactly(from, digits);
    if (error == gyre::errc::eof && size > 0) co_return gyre::errc::malformed;
    if (error) co_return error;
    co_return parse_number({digits.data(), digits.size()});
}

// The sum so far is there whatever ends it.
gyre::task<gyre::io_result<int>> sum_records(gyre::memory_stream& from) {
    int sum = 0;
    for (;;) {
        const auto [error, number] = co_await read_record(from);
        if (error == gyre::errc::eof) co_return sum;
        if (error) co_return gyre::io_result<int>{error, sum};
        sum += number;
    }
}

enum class sender { leaves, stays };

gyre::task<gyre::io_result<>> show(std::string_view text, sender then) {
    gyre::memory_pipe pipe{64};
    const auto written = co_await gyre::write_all(pipe.first, gyre::bytes_of(text));
    if (!written.ok()) co_return written.error();
    if (then == sender::leaves) pipe.first.shutdown_send();

    const auto [error, sum] = co_await gyre::with_timeout(50ms, sum_records(pipe.second));
    const std::error_code standard = gyre::to_error_code(error);
    std::printf("%d, %s%s\n", sum, error.message().c_str(),
                standard == std::errc::timed_out ? " (std::errc::timed_out)" : "");
    co_return gyre::io_result<>{};
}

gyre::task<gyre::io_result<>> show_all() {
    auto shown = co_await show("00120030", sender::leaves);
    if (shown.ok()) shown = co_await show("001200", sender::leaves);
    if (shown.ok()) shown = co_await show("0012none", sender::leaves);
    if (shown.ok()) shown = co_await show("0012", sender::stays);
    co_return shown;
}

int main() { return gyre::run_until_signal(show_all()); }
// end of snippet

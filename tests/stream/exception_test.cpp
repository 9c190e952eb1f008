// SPDX-License-Identifier: BSL-1.0
//
// What becomes of an exception that a user's stream throws; built only where exceptions are on.
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/buffered.hpp>

#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

#include <array>
#include <stdexcept>
#include <string>

using namespace gyre;
using namespace gyre::testing;

namespace {

/// Transfers one byte, which ends no line, then throws; at once or after a wait.
struct throwing_stream {
    bool waits = false;
    int calls = 0;

    task<io_result<std::size_t>> read_some(mutable_buffer into) {
        into.front() = std::byte{'x'};
        return transfer_one();
    }
    task<io_result<std::size_t>> write_some(const_buffer) { return transfer_one(); }

    task<io_result<std::size_t>> transfer_one() {
        if (waits) co_await yield();
        if (calls++ > 0) throw std::runtime_error{"stream"};
        co_return io_result<std::size_t>{std::size_t{1}};
    }
};

template <class Transfer>
task<std::string> caught_from(const Transfer& transfer) {
    std::string caught;
    try {
        co_await transfer();
    } catch (const std::runtime_error& failure) {
        caught = failure.what();
    }
    co_return caught;
}

}  // namespace

TEST_CASE("an exception of a stream comes out of what reads or writes whole messages") {
    on_every_backend([](io_context&) -> task<> {
        for (const bool waits : {false, true}) {
            throwing_stream to_read{waits};
            throwing_stream to_write{waits};
            throwing_stream to_search{waits};
            std::array<std::byte, 8> space{};
            const auto reads = [&]() -> task<> {
                static_cast<void>(co_await read_exactly(to_read, space));
            };
            const auto writes = [&]() -> task<> {
                static_cast<void>(co_await write_all(to_write, space));
            };
            buffered_reader<throwing_stream> reader{to_search, 16};
            const auto searches = [&]() -> task<> {
                static_cast<void>(co_await reader.read_until("\n"));
            };

            const std::string from_read = co_await caught_from(reads);
            const std::string from_write = co_await caught_from(writes);
            const std::string from_search = co_await caught_from(searches);

            CHECK(from_read == "stream");
            CHECK(from_write == "stream");
            CHECK(from_search == "stream");
        }
    });
}

// SPDX-License-Identifier: BSL-1.0
//
// Files that are none: devices, FIFOs, terminals and pipes, opened by name or adopted.
//
// io_uring and workers would treat some of them differently; here they are asked for the same.
#include <gyre/io/file.hpp>

#include <gyre/io/file_system.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/settle.hpp>

#include <fcntl.h>
#include <pty.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<file> device(const char* name, file_access how) {
    auto opened = co_await file::open(name, file_options{how});
    REQUIRE(opened.ok());
    co_return opened.take();
}

/// Something open that has no positions.
struct positionless {
    const char* name;
    int number;
    int other;   ///< The other end, which keeps it from its end; -1 without one.
    bool fills;  ///< There is room for less than a mebibyte in it.
};

std::string fifo_in(const scratch_directory& home) {
    std::string name = home / "fifo";
    REQUIRE(::mkfifo(name.c_str(), 0600) == 0);
    return name;
}

std::vector<positionless> all_positionless(const std::string& fifo) {
    std::array<int, 2> sockets{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) == 0);
    positionless terminal{"a terminal", -1, -1, true};
    REQUIRE(::openpty(&terminal.other, &terminal.number, nullptr, nullptr, nullptr) == 0);
    positionless emulator{"an emulator's side of a terminal", -1, -1, false};
    REQUIRE(::openpty(&emulator.number, &emulator.other, nullptr, nullptr, nullptr) == 0);
    return {{"a FIFO", ::open(fifo.c_str(), O_RDWR | O_CLOEXEC), -1, true},
            {"a socket", sockets[0], sockets[1], true},
            {"an event", ::eventfd(0, EFD_CLOEXEC), -1, false},
            terminal,
            emulator};
}

// After a read that has waited, so that the loop takes it for not ready.
task<> check_reads(file& it, const char* name) {
    std::array<std::byte, 8> space{};
    const std::array<mutable_buffer, 1> into{space};
    file::cursor there = it.at(1);
    const auto waited = co_await with_timeout(1ms, it.read_some(space));

    const auto plain = co_await it.read_some_at(0, space);
    const auto scattered = co_await it.read_some_at(5, mutable_buffers{into});
    const auto onward = co_await there.read_some(space);

    CHECK_MESSAGE(waited.error() == errc::timed_out, std::string{name});
    CHECK_MESSAGE(plain.error() == errc::invalid_seek, std::string{name});
    CHECK_MESSAGE(scattered.error() == errc::invalid_seek, std::string{name});
    CHECK_MESSAGE(onward.error() == errc::invalid_seek, std::string{name});
    CHECK(there.offset() == 1);
}

// Likewise, of writes.
task<> check_writes(file& it, const positionless& what) {
    const std::vector<std::byte> much(1 << 20);
    const std::array<const_buffer, 1> from{bytes_of("text")};
    if (what.fills) {
        const auto waited = co_await with_timeout(5ms, write_all(it, much));
        CHECK_MESSAGE(waited.error() == errc::timed_out, std::string{what.name});
    }

    const auto plain = co_await it.write_some_at(0, bytes_of("text"));
    const auto gathered = co_await it.write_some_at(7, const_buffers{from});

    CHECK_MESSAGE(plain.error() == errc::invalid_seek, std::string{what.name});
    CHECK_MESSAGE(gathered.error() == errc::invalid_seek, std::string{what.name});
}

const std::vector<conformance_row> rows{
    {"devices are read at positions as they are in order",
     [](io_context&) -> task<> {
         file zero = co_await device("/dev/zero", file_access::read);
         file null = co_await device("/dev/null", file_access::read);
         std::array<std::byte, 8> space;
         space.fill(std::byte{1});
         const std::array<mutable_buffer, 2> parts{mutable_buffer{space}.first(3),
                                                   mutable_buffer{space}.subspan(3)};
         const auto is_zero = [&space] { return std::ranges::count(space, std::byte{0}) == 8; };

         CHECK((co_await zero.read_some_at(1'000'000, space)).value() == space.size());
         CHECK(is_zero());
         space.fill(std::byte{1});
         CHECK((co_await zero.read_some_at(7, mutable_buffers{parts})).value() == space.size());
         CHECK(is_zero());
         file::cursor there = zero.at(10);
         CHECK((co_await read_exactly(there, space)).ok());
         CHECK(there.offset() == 18);
         CHECK((co_await null.read_some_at(0, space)).error() == errc::eof);
         CHECK((co_await null.read_some_at(9, mutable_buffers{parts})).error() == errc::eof);
         CHECK((co_await null.read_some(space)).error() == errc::eof);
     }},
    {"devices are written at positions as they are in order",
     [](io_context&) -> task<> {
         file null = co_await device("/dev/null", file_access::write);
         file full = co_await device("/dev/full", file_access::write);
         const std::array<const_buffer, 2> parts{bytes_of("two "), bytes_of("parts")};

         CHECK((co_await null.write_some_at(3, bytes_of("text"))).value() == 4);
         CHECK((co_await null.write_some_at(1 << 20, const_buffers{parts})).value() == 9);
         CHECK((co_await null.write_durably_at(0, bytes_of("text"))).value() == 4);
         CHECK((co_await null.write_some(bytes_of("text"))).value() == 4);
         CHECK((co_await full.write_some_at(3, bytes_of("text"))).error() ==
               errc::no_space_on_device);
     }},
    {"what has no positions says so at once, though it is empty or full",
     [](io_context& io) -> task<> {
         const scratch_directory home;
         const std::string fifo = fifo_in(home);
         for (const positionless& each : all_positionless(fifo)) {
             file it = file::adopt(io, each.number);

             co_await check_reads(it, each.name);
             co_await check_writes(it, each);

             if (each.other >= 0) ::close(each.other);
         }
     }},
    {"a FIFO that no writer has opened yet is waited for, and at its end when they have left",
     [](io_context&) -> task<> {
         const scratch_directory home;
         const std::string fifo = fifo_in(home);
         file reader = (co_await file::open(fifo)).take();
         std::array<std::byte, 8> space;
         const auto said = [&space](std::size_t size) {
             return text_of(std::span{space}.first(size));
         };

         const auto early = co_await with_timeout(1ms, reader.read_some(space));
         CHECK(early.error() == errc::timed_out);
         const auto open_and_leave = [&]() -> task<> {
             file writer = (co_await file::open(fifo, file_options{file_access::write})).take();
             CHECK((co_await writer.write_some(bytes_of("first"))).ok());
         };
         const auto both = co_await when_all(reader.read_some(space), open_and_leave());
         CHECK(said(std::get<0>(both).value()) == "first");
         CHECK((co_await reader.read_some(space)).error() == errc::eof);
         CHECK((co_await reader.read_some(space)).error() == errc::eof);

         file later = (co_await file::open(fifo, file_options{file_access::write})).take();
         CHECK((co_await later.write_some(bytes_of("second"))).ok());
         const auto again = co_await reader.read_some(space);
         CHECK(said(again.value()) == "second");
         const auto open_still = co_await with_timeout(1ms, reader.read_some(space));
         CHECK(open_still.error() == errc::timed_out);
     }},
    {"a writer of a FIFO that leaves without a word ends a read that waits for it",
     [](io_context&) -> task<> {
         const scratch_directory home;
         const std::string fifo = fifo_in(home);
         file reader = (co_await file::open(fifo)).take();
         std::array<std::byte, 8> space;
         const std::array<mutable_buffer, 1> parts{space};
         const auto open_and_leave = [&]() -> task<> {
             static_cast<void>(co_await file::open(fifo, file_options{file_access::write}));
         };

         const auto both =
             co_await when_all(reader.read_some(mutable_buffers{parts}), open_and_leave());

         CHECK(std::get<0>(both).error() == errc::eof);
     }},
    {"a FIFO is read whole though its writer comes later",
     [](io_context&) -> task<> {
         const scratch_directory home;
         const std::string fifo = fifo_in(home);
         const auto write_later = [&]() -> task<> {
             io_result<file> opened = errc::no_such_device_or_address;
             while (opened.error() == errc::no_such_device_or_address)
                 opened = co_await file::open(fifo, file_options{file_access::write});
             file writer = opened.take();
             CHECK((co_await write_all(writer, bytes_of("all of it"))).ok());
         };

         const auto both = co_await when_all(read_file(fifo), write_later());

         CHECK(std::get<0>(both).error() == error{});
         CHECK(std::get<0>(both).value() == "all of it");
     }},
};

const conformance_suite suite{"files", rows};

}  // namespace

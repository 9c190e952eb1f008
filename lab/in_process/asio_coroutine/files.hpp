// SPDX-License-Identifier: BSL-1.0
//
// Asio's words for ../coroutine_files.hpp. It has files where it waits with io_uring.
//
// Its only way to bring a file to the device is a call that blocks.
#pragma once

#include <lab/in_process/asio_coroutine/library.hpp>

#include <boost/asio/basic_random_access_file.hpp>
#include <boost/asio/basic_stream_file.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace asio_lab {

struct file_library : coroutine_library {
    using storage = asio::basic_random_access_file<executor>;
    using file_stream = asio::basic_stream_file<executor>;
    using coroutine_library::read_some;
    using coroutine_library::write_some;

    class signal {
    public:
        explicit signal(context& loop) : it_{loop, lab::far_away} {}

        void close() { it_.expires_after(lab::far_away); }
        void open() { it_.cancel(); }
        auto wait() { return it_.async_wait(result_of); }

    private:
        timer it_;
    };

    static auto read_at(storage& from, std::uint64_t offset, std::span<std::byte> space) {
        return from.async_read_some_at(offset, buffer_of(space), asio::deferred);
    }
    static auto write_at(storage& to, std::uint64_t offset, std::span<const std::byte> bytes) {
        return to.async_write_some_at(offset, buffer_of(bytes), asio::deferred);
    }
    static auto write_some(file_stream& to, std::span<const std::byte> bytes) {
        return to.async_write_some(buffer_of(bytes), asio::deferred);
    }
    static auto read_some(file_stream& from, std::span<std::byte> space) {
        return from.async_read_some(buffer_of(space), asio::deferred);
    }
    static asio::awaitable<std::size_t, executor> write_durably_at(
        storage& to, std::uint64_t offset, std::span<const std::byte> bytes) {
        const std::size_t size = co_await write_at(to, offset, bytes);
        to.sync_data();
        co_return size;
    }
    template <class File>
    static asio::awaitable<bool, executor> sync(File& it) {
        it.sync_data();
        co_return true;
    }
    static void expect_synced(bool) {}  // An error was thrown.
    static int number_of(file_stream& it) { return it.native_handle(); }
};

}  // namespace asio_lab

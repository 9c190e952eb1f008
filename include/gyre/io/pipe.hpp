// SPDX-License-Identifier: BSL-1.0
//
// Bytes in one direction, between processes or threads: the two ends of a pipe (pipe(7)).
//
// What a child process says and is told goes through these; memory_pipe.hpp is for coroutines of one loop.
#pragma once

#include <gyre/io/descriptor.hpp>

#include <utility>

namespace gyre {

/// The end that is read from: a `read_stream`. It ends with `errc::eof` when the last writing end is
/// closed.
class readable_pipe : private descriptor {
public:
    readable_pipe() noexcept = default;
    explicit readable_pipe(handle open) noexcept : descriptor{std::move(open)} {}

    using descriptor::close;
    using descriptor::is_open;
    using descriptor::native_handle;
    using descriptor::read_some;
    using descriptor::release;
    using descriptor::wait;

    /// Takes ownership of `number`, which must be open and have no other owner, for use on `on`.
    [[nodiscard]] static readable_pipe adopt(io_context& on, int number) noexcept {
        return readable_pipe{handle{on.host(), number}};
    }
};

/// The end that is written to: a `write_stream`. Writing ends with `errc::broken_pipe` when the last
/// reading end is closed; no SIGPIPE is raised.
class writable_pipe : private descriptor {
public:
    using message_writer = claimed_writer<writable_pipe>;

    writable_pipe() noexcept = default;
    explicit writable_pipe(handle open) noexcept : descriptor{std::move(open)} {}

    using descriptor::close;
    using descriptor::is_open;
    using descriptor::native_handle;
    using descriptor::release;
    using descriptor::wait;
    using descriptor::write_some;

    /// Takes ownership of `number`, which must be open and have no other owner, for use on `on`.
    [[nodiscard]] static writable_pipe adopt(io_context& on, int number) noexcept {
        return writable_pipe{handle{on.host(), number}};
    }

private:
    friend message_writer;
    using descriptor::write_claimed;
};

/// Both ends of a new pipe, close-on-exec; at first they hold 64 KiB between them. Outside of coroutines
/// too.
/// Errors: `errc::process_descriptors_exhausted`, `errc::system_descriptors_exhausted`.
[[nodiscard]] io_result<readable_pipe, writable_pipe> make_pipe(io_context& on) noexcept;

}  // namespace gyre

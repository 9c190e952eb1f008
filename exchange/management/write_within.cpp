// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/write_within.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>

#include <poll.h>
#include <unistd.h>

namespace exchange {
namespace {

/// Is there room for a piece? A pipe says so when it has room for PIPE_BUF bytes.
[[nodiscard]] bool has_room(int descriptor, std::chrono::milliseconds patience) noexcept {
    pollfd waits{descriptor, POLLOUT, 0};
    int found = 0;
    do found = ::poll(&waits, 1, static_cast<int>(patience.count()));
    while (found < 0 && errno == EINTR);
    return found > 0;  // An error, too: writing will say which.
}

}  // namespace

std::size_t write_within(std::chrono::milliseconds patience, int descriptor,
                         std::span<const std::byte> bytes) noexcept {
    std::span<const std::byte> rest = bytes;
    while (!rest.empty() && has_room(descriptor, patience)) {
        const std::size_t piece = std::min<std::size_t>(rest.size(), PIPE_BUF);
        const ssize_t taken = ::write(descriptor, rest.data(), piece);
        if (taken < 0 && errno == EINTR) continue;
        if (taken <= 0) break;
        rest = rest.subspan(static_cast<std::size_t>(taken));
    }
    return bytes.size() - rest.size();
}

std::size_t write_within(std::chrono::milliseconds patience, int descriptor,
                         std::string_view text) noexcept {
    return write_within(patience, descriptor, std::as_bytes(std::span{text}));
}

void note_on_error_output(std::string_view text) noexcept {
    static_cast<void>(write_within(std::chrono::milliseconds{200}, STDERR_FILENO, text));
}

void ignore_broken_pipes() noexcept { static_cast<void>(std::signal(SIGPIPE, SIG_IGN)); }

}  // namespace exchange

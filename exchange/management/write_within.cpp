// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/write_within.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <optional>

#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace exchange {
namespace {

using steady = std::chrono::steady_clock;

/// Is there room for a piece? A pipe says so when it has room for PIPE_BUF bytes.
[[nodiscard]] bool has_room(int descriptor, std::chrono::milliseconds patience) noexcept {
    pollfd waits{descriptor, POLLOUT, 0};
    int found = 0;
    do found = ::poll(&waits, 1, static_cast<int>(patience.count()));
    while (found < 0 && errno == EINTR);
    return found > 0;  // An error, too: writing will say which.
}

/// Does it have a reader, who may not read? A write into a file with RWF_NOWAIT fails where it only has to
/// read a page before.
[[nodiscard]] bool has_reader(int descriptor) noexcept {
    struct stat it{};
    return ::fstat(descriptor, &it) == 0 && (S_ISFIFO(it.st_mode) || S_ISSOCK(it.st_mode));
}

/// Writes what there is room for now, whoever else writes there. Fails as a system call does.
[[nodiscard]] ssize_t write_without_waiting(int descriptor,
                                            std::span<const std::byte> piece) noexcept {
    const iovec one{const_cast<std::byte*>(piece.data()), piece.size()};
    return ::pwritev2(descriptor, &one, 1, -1, RWF_NOWAIT);
}

[[nodiscard]] bool is_unknown_here(int why) noexcept {
    return why == EOPNOTSUPP || why == ENOSYS || why == EINVAL;
}

/// One piece of PIPE_BUF bytes at most.
///
/// @return How much was taken.
[[nodiscard]] std::size_t write_piece(std::chrono::milliseconds patience, int descriptor,
                                      std::span<const std::byte> piece) noexcept {
    bool without_waiting = has_reader(descriptor);
    std::optional<steady::time_point> until;
    for (;;) {
        if (!without_waiting && !has_room(descriptor, patience)) return 0;
        const ssize_t taken = without_waiting ? write_without_waiting(descriptor, piece)
                                              : ::write(descriptor, piece.data(), piece.size());
        if (taken >= 0) return static_cast<std::size_t>(taken);
        if (errno == EINTR) continue;
        if (!without_waiting) return 0;
        if (is_unknown_here(errno)) {
            without_waiting = false;
            continue;
        }
        if (errno != EAGAIN) return 0;
        if (!until) until = steady::now() + patience;
        // Another writer may be faster whenever there is room.
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - steady::now());
        if (left.count() <= 0 || !has_room(descriptor, left)) return 0;
    }
}

}  // namespace

std::size_t write_within(std::chrono::milliseconds patience, int descriptor,
                         std::span<const std::byte> bytes) noexcept {
    std::span<const std::byte> rest = bytes;
    while (!rest.empty()) {
        const std::size_t piece = std::min<std::size_t>(rest.size(), PIPE_BUF);
        const std::size_t taken = write_piece(patience, descriptor, rest.first(piece));
        if (taken == 0) break;
        rest = rest.subspan(taken);
    }
    return bytes.size() - rest.size();
}

std::size_t write_within(std::chrono::milliseconds patience, int descriptor,
                         std::string_view text) noexcept {
    return write_within(patience, descriptor, std::as_bytes(std::span{text}));
}

bool write_line(int descriptor, std::string_view head, std::string_view text) noexcept {
    constexpr std::string_view cut_here = "...";
    std::array<char, PIPE_BUF> line;
    const std::size_t room = line.size() - 1;
    const std::size_t of_head = std::min(head.size(), room);
    const std::size_t of_text = std::min(text.size(), room - of_head);
    char* end = std::copy_n(head.data(), of_head, line.data());
    end = std::copy_n(text.data(), of_text, end);
    if (of_head + of_text < head.size() + text.size())
        std::ranges::copy(cut_here, end - cut_here.size());
    *end++ = '\n';
    const std::string_view whole{line.data(), static_cast<std::size_t>(end - line.data())};
    return write_within(std::chrono::milliseconds{0}, descriptor, whole) == whole.size();
}

void note_on_error_output(std::string_view text) noexcept {
    static_cast<void>(write_within(std::chrono::milliseconds{200}, STDERR_FILENO, text));
}

void ignore_broken_pipes() noexcept { static_cast<void>(std::signal(SIGPIPE, SIG_IGN)); }

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// The descriptor table of the process: see system_host.hpp.
#include <runtime/system_host.hpp>

#include <gyre/base/check.hpp>
#include <gyre/runtime/io_context.hpp>
#include <runtime/fork_count.hpp>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace gyre {

system_host& system_host::instance() noexcept {
    static system_host* const it = new system_host;
    return *it;
}

void system_host::hold_standard_numbers() noexcept {
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
        if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
        int made = ::open("/dev/null", O_RDWR);
        if (made < 0) made = ::open("/", O_PATH);
        if (made >= 0 && made != number) ::close(made);  // Another thread was quicker.
    }
}

int system_host::perform_now(operation& op) noexcept { return perform(op); }

bool system_host::perform_at_hand(operation& op) noexcept { return read_from_cache(op); }

time_point system_host::now() noexcept { return std::chrono::steady_clock::now(); }

std::uint64_t system_host::entropy() noexcept {
    std::uint64_t bits = 0;
    // So few bytes come whole and without waiting, once the machine has gathered some (getrandom(2)).
    const ssize_t got = ::getrandom(&bits, sizeof bits, GRND_NONBLOCK);
    if (got != sizeof bits) bits = static_cast<std::uint64_t>(now().time_since_epoch().count());
    return bits;
}

int system_host::read_settings(const char* path, std::string& into) noexcept {
    constexpr std::size_t size_max = std::size_t{16} << 20;
    into.clear();
    const int number = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (number < 0) return -errno;
    int failed = 0;
    for (std::array<char, 4096> piece; failed == 0;) {
        const ssize_t got = ::read(number, piece.data(), piece.size());
        if (got == 0) break;
        if (got < 0) {
            failed = errno == EINTR ? 0 : -errno;
        } else if (into.size() + static_cast<std::size_t>(got) > size_max) {
            failed = -EFBIG;
        } else {
            into.append(piece.data(), static_cast<std::size_t>(got));
        }
    }
    ::close(number);
    return failed;
}

descriptor_slot& system_host::enter(int number) noexcept {
    expects(number >= 0, "a descriptor number");
    const auto index = static_cast<std::size_t>(number);
    expects(index < chunk_size * chunks_max, "descriptor number beyond the table");

    descriptor_slot& it = chunk_at(index / chunk_size)[index % chunk_size];
    if (it.open() && it.forks != fork_count()) forget_closed(it);
    it.begin_opening(number);
    it.forks = fork_count();
    return it;
}

// A child has closed the number, as daemons do with all that they inherit: what its parent did with it
// is over.
void system_host::forget_closed(descriptor_slot& it) noexcept {
    if (it.home != nullptr) it.home->lose(it);
    it.generation.fetch_add(1, std::memory_order_release);
}

int system_host::close(descriptor_slot& it) noexcept {
    const int number = release(it);
    // EINTR on Linux means closed all the same; retrying could close another owner's (close(2)).
    return ::close(number) == 0 || errno == EINTR ? 0 : -errno;
}

int system_host::release(descriptor_slot& it) noexcept {
    const int number = it.number;
    it.end_opening();
    return number;
}

descriptor_slot* system_host::find(int number, std::uint32_t generation) noexcept {
    const auto index = static_cast<std::size_t>(number);
    chunk* in = chunks_[index / chunk_size].load(std::memory_order_acquire);
    if (in == nullptr) return nullptr;
    descriptor_slot& it = (*in)[index % chunk_size];
    return it.generation == generation ? &it : nullptr;
}

system_host::chunk& system_host::chunk_at(std::size_t index) noexcept {
    chunk* ready = chunks_[index].load(std::memory_order_acquire);
    if (ready != nullptr) return *ready;
    auto fresh = std::make_unique<chunk>();
    if (!chunks_[index].compare_exchange_strong(ready, fresh.get(), std::memory_order_acq_rel))
        return *ready;  // Another thread was quicker.
    return *fresh.release();
}

}  // namespace gyre

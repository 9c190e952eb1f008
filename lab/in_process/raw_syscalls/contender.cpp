// SPDX-License-Identifier: BSL-1.0
//
// The floor: the calls that its suites share, and what it takes no part in.
#include <lab/in_process/raw_syscalls/contender.hpp>

#include <lab/kit/fail.hpp>

#include <sys/socket.h>

#include <cerrno>
#include <concepts>
#include <memory>
#include <type_traits>
#include <variant>

namespace {

std::size_t moved(ssize_t result) {
    if (result > 0) return static_cast<std::size_t>(result);

    lab::require(result < 0 && (errno == EAGAIN || errno == EINTR), "raw_syscalls: send or recv");
    return 0;
}

class raw_syscalls : public lab::contender {
public:
    [[nodiscard]] lab::identity about() const override {
        return {"raw_syscalls", "none", "", "bare system calls"};
    }

    [[nodiscard]] lab::preparation prepare(const lab::work& what) const override {
        return std::visit(
            []<class Case>(const Case& work) -> lab::preparation {
                if constexpr (requires { raw::prepare(work); }) {
                    return raw::prepare(work);
                } else if constexpr (std::same_as<Case, lab::dispatch_case>) {
                    return lab::cannot_run{"bare system calls have no queue to post to"};
                } else {
                    return lab::cannot_run{"takes no part in rows of timers, forks and threads"};
                }
            },
            what);
    }
};

}  // namespace

std::size_t raw::send_some(int socket, std::span<const std::byte> bytes) {
    return moved(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

std::size_t raw::receive_some(int socket, std::span<std::byte> space) {
    return moved(::recv(socket, space.data(), space.size(), MSG_DONTWAIT));
}

void raw::send_all(int socket, std::span<const std::byte> bytes) {
    while (!bytes.empty()) bytes = bytes.subspan(send_some(socket, bytes));
}

void raw::receive_all(int socket, std::span<std::byte> space) {
    while (!space.empty()) space = space.subspan(receive_some(socket, space));
}

std::unique_ptr<lab::contender> lab::make_contender(std::string_view backend) {
    require(backend.empty(), "raw_syscalls has no backends to choose from");
    return std::make_unique<raw_syscalls>();
}

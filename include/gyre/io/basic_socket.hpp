// SPDX-License-Identifier: BSL-1.0
//
// What every socket has, whatever it carries: a descriptor, its options, the addresses of its ends.
//
// stream_socket.hpp, acceptor.hpp and udp_socket.hpp add what each of them is for.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/io/socket_options.hpp>
#include <gyre/runtime/handle.hpp>
#include <gyre/runtime/submit.hpp>

#include <cstdint>
#include <utility>

namespace gyre {

/// A socket of any kind, or none. Moves; closes at the latest when destroyed. Never made by itself.
///
/// Everything here may be asked outside of coroutines, and of a closed socket (`errc::closed`); nothing
/// waits. Belongs to the loop it is first used on.
///
/// What waits, in the classes below, may be asked of a closed socket as well, and what was made before
/// `close` or `release` may be awaited after it: it ends with `errc::closed` and nothing is read or
/// written, whatever has the number then. So a reader that meets the end may close the socket
/// between two steps of its writer. `closed`: the operation never began. `canceled`: it may have
/// begun.
class basic_socket {
public:
    /// Closes at once. What is pending completes with `errc::canceled`, what is begun later with
    /// `errc::closed`. Errors: `errc::closed`.
    io_result<> close() noexcept;

    /// The address it has, or 0.0.0.0 and [::] where none was chosen. Errors: `errc::closed`.
    [[nodiscard]] io_result<endpoint> local_endpoint() const noexcept;

    /// The address of its peer. Errors: `errc::not_connected`, `errc::closed`.
    [[nodiscard]] io_result<endpoint> remote_endpoint() const noexcept;

    /// Sets an option, as in `set_option(no_delay{true})`.
    template <socket_option Option>
    io_result<> set_option(Option option) noexcept {
        auto raw = option.to_raw();
        return apply(opcode::set_option, Option::level(), Option::name(), &raw, sizeof raw);
    }

    /// Reads an option, as in `get_option<no_delay>()`.
    template <socket_option Option>
    [[nodiscard]] io_result<Option> get_option() const noexcept {
        typename Option::representation raw{};
        const io_result<> done =
            apply(opcode::get_option, Option::level(), Option::name(), &raw, sizeof raw);
        if (!done.ok()) return done.error();
        return Option::from_raw(raw);
    }

    [[nodiscard]] bool is_open() const noexcept { return handle_.open(); }

    /// The descriptor, still owned by the socket; -1 if closed.
    [[nodiscard]] int native_handle() const noexcept { return handle_.number(); }

    /// Gives the descriptor away: cancels what is pending, forgets it, and leaves it open. The socket is
    /// closed then.
    [[nodiscard]] int release() noexcept { return handle_.release(); }

protected:
    basic_socket() noexcept = default;
    explicit basic_socket(handle open) noexcept : handle_{std::move(open)} {}
    basic_socket(basic_socket&&) noexcept = default;
    basic_socket& operator=(basic_socket&&) noexcept = default;
    ~basic_socket() = default;

    /// @pre  open.
    [[nodiscard]] descriptor_slot& slot() const noexcept { return handle_.slot(); }

    /// What its operations are made for.
    [[nodiscard]] opening opened() const noexcept { return handle_.opened(); }

    /// Carries out an operation that never waits.
    [[nodiscard]] error perform_now(operation& op) const noexcept;

    [[nodiscard]] io_result<> apply(opcode code, int level, int name, void* value,
                                    std::uint32_t size) const noexcept;

private:
    [[nodiscard]] io_result<endpoint> ask(opcode code) const noexcept;

    handle handle_;
};

}  // namespace gyre

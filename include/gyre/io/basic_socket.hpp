// SPDX-License-Identifier: BSL-1.0
//
// What every socket has besides its descriptor, whatever it carries: options, the addresses of its ends.
//
// stream_socket.hpp, acceptor.hpp and udp_socket.hpp add what each of them is for.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/io/basic_descriptor.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/io/socket_options.hpp>
#include <gyre/runtime/handle.hpp>
#include <gyre/runtime/submit.hpp>

#include <cstdint>
#include <functional>
#include <utility>

namespace gyre {

class basic_socket;

/// What a program does to a socket that is open and not bound yet: to set options that have no field of their
/// own. An error ends the making of the socket. Must not close it.
using socket_setup = std::function<io_result<>(basic_socket& fresh)>;

/// A socket of any kind, or none. Never made by itself.
///
/// Everything here may be asked outside of coroutines, and of a closed socket (`errc::closed`); nothing
/// waits.
class basic_socket : public basic_descriptor {
public:
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

protected:
    basic_socket() noexcept = default;
    explicit basic_socket(handle open) noexcept : basic_descriptor{std::move(open)} {}
    basic_socket(basic_socket&&) noexcept = default;
    basic_socket& operator=(basic_socket&&) noexcept = default;
    ~basic_socket() = default;

    [[nodiscard]] io_result<> apply(opcode code, int level, int name, void* value,
                                    std::uint32_t size) const noexcept;

private:
    [[nodiscard]] io_result<endpoint> ask(opcode code) const noexcept;
};

}  // namespace gyre

// SPDX-License-Identifier: BSL-1.0
//
// What every socket has besides its descriptor, whatever it carries: options, the addresses of its ends.
//
// stream_socket.hpp, acceptor.hpp and udp_socket.hpp add what each of them is for.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/io/basic_descriptor.hpp>
#include <gyre/io/descriptor.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/io/socket_options.hpp>
#include <gyre/runtime/handle.hpp>
#include <gyre/runtime/submit.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
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

    /// Sets an option, as in `set_option(no_delay{true})`. Errors: see socket_options.hpp.
    template <socket_option Option>
    io_result<> set_option(Option option) noexcept {
        auto raw = option.to_raw();
        return apply(opcode::set_option, numbers_of<Option>(), &raw, sizeof raw);
    }

    /// Reads an option, as in `get_option<no_delay>()`.
    template <readable_socket_option Option>
    [[nodiscard]] io_result<Option> get_option() const noexcept {
        typename Option::representation raw{};
        const io_result<> done = apply(opcode::get_option, numbers_of<Option>(), &raw, sizeof raw);
        if (!done.ok()) return done.error();
        return Option::from_raw(raw);
    }

    /// Sends and receives through the network interface of this name only; empty: through any.
    /// Privilege: none as long as it is bound to none (Linux 5.7); CAP_NET_RAW to change it.
    /// Errors: `errc::no_such_device`, `errc::name_too_long` past 15 bytes,
    /// `errc::operation_not_permitted`, `errc::closed`.
    io_result<> bind_to_device(std::string_view name) noexcept;

    /// The name of the interface that it is bound to; empty: none. Allocates. Errors: `errc::closed`.
    [[nodiscard]] io_result<std::string> bound_device() const;

    /// Of a Unix-domain connection: the process that `peer_credentials` names, as a descriptor
    /// (pidfd_open(2)) that is no other process's even when that has ended, close-on-exec; readable when it
    /// has.
    /// Errors: `errc::no_protocol_option` before Linux 6.5, `errc::no_such_process` if it has been reaped,
    /// `errc::closed`, ...
    [[nodiscard]] io_result<descriptor> peer_process() const noexcept;

protected:
    basic_socket() noexcept = default;
    explicit basic_socket(handle open) noexcept : basic_descriptor{std::move(open)} {}
    basic_socket(const basic_socket&) = delete;  // It moves: std::move(it), or take() of a result.
    basic_socket(basic_socket&&) noexcept = default;
    basic_socket& operator=(basic_socket&&) noexcept = default;
    ~basic_socket() = default;

    /// It takes whole messages, from processes of this host.
    void note_messages_of_host() noexcept;

    /// What an option is called in either family; those that have one name have it in `v4`.
    struct option_numbers {
        option_key v4;
        option_key v6;
    };

    template <readable_socket_option Option>
    [[nodiscard]] static constexpr option_numbers numbers_of() noexcept {
        if constexpr (option_of_either_family<Option>) {
            return {{Option::level(), Option::name()}, Option::key_of_ipv6()};
        } else {
            return {{Option::level(), Option::name()}, {}};
        }
    }

    [[nodiscard]] io_result<> apply(opcode code, const option_numbers& numbers, void* value,
                                    std::uint32_t size) const noexcept;
    [[nodiscard]] io_result<> apply(opcode code, option_key key, void* value,
                                    std::uint32_t size) const noexcept {
        return apply(code, option_numbers{key, {}}, value, size);
    }

private:
    [[nodiscard]] error apply_one(opcode code, option_key key, void* value,
                                  std::uint32_t size) const noexcept;
    [[nodiscard]] bool speaks_ipv6() const noexcept;
    [[nodiscard]] io_result<endpoint> ask(opcode code) const noexcept;
};

}  // namespace gyre

// SPDX-License-Identifier: BSL-1.0
//
// What every socket of a world has: where it is, what was set, whom it tells of changes.
//
// The calls return what system calls return, or -errno; -EAGAIN where they would block. What a call
// means is for the kinds of sockets; by default, nothing.
#pragma once

#include <gyre/io/endpoint.hpp>
#include <gyre/runtime/host.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace gyre::test {

class virtual_host;

/// Several pieces of memory, as the kernel is told of them.
using memory_parts = std::span<const std::pair<std::byte*, std::size_t>>;

[[nodiscard]] std::size_t size_of(memory_parts parts) noexcept;

/// An IPv4 address as a socket of IPv6 sees it: mapped (RFC 4291 2.5.5.2).
[[nodiscard]] endpoint as_seen_by(int family, const endpoint& it);

/// What becomes of bytes that are read.
enum class reading : std::uint8_t { takes, looks };

/// What came in one call.
struct received {
    int result = 0;  ///< Bytes, or -errno.
    endpoint from;
    bool truncated = false;
};

class virtual_socket : public std::enable_shared_from_this<virtual_socket> {
public:
    virtual_socket(virtual_host& on, int family, int type) noexcept
        : host_{on}, family_{family}, type_{type} {}
    virtual_socket(const virtual_socket&) = delete;
    virtual_socket& operator=(const virtual_socket&) = delete;
    virtual ~virtual_socket() = default;

    [[nodiscard]] virtual int bind(const endpoint& local);
    [[nodiscard]] virtual int listen(int) { return -EOPNOTSUPP; }
    [[nodiscard]] virtual int accept(std::shared_ptr<virtual_socket>&) { return -EINVAL; }
    /// `begun`: this connect has been tried before.
    [[nodiscard]] virtual int connect(const endpoint&, bool) { return -EOPNOTSUPP; }
    [[nodiscard]] virtual received receive(memory_parts, reading) { return {-ENOTCONN, {}, false}; }
    [[nodiscard]] virtual int send(memory_parts, const endpoint&) { return -ENOTCONN; }
    [[nodiscard]] virtual int shutdown(int) { return -ENOTCONN; }
    [[nodiscard]] virtual std::uint32_t ready() const noexcept = 0;  ///< poll(2) bits.
    [[nodiscard]] virtual bool connected() const noexcept {
        return peer_.kind() != endpoint::family::none;
    }
    [[nodiscard]] virtual int join(const endpoint&) { return -ENOPROTOOPT; }
    [[nodiscard]] virtual int leave(const endpoint&) { return -ENOPROTOOPT; }
    [[nodiscard]] virtual std::size_t bytes_held() const noexcept { return 0; }

    /// Of what was written: what the peer's machine has got, and what is held until the peer reads it.
    [[nodiscard]] virtual std::uint64_t bytes_acknowledged() const noexcept { return 0; }
    [[nodiscard]] virtual std::size_t bytes_untaken() const noexcept { return 0; }

    /// The last number of it is closed.
    virtual void close() { closed_ = true; }

    /// As by a reset of the peer's.
    virtual void break_off() {}

    /// The world ends: nothing is passed on any more.
    virtual void forget_peer() noexcept {}

    [[nodiscard]] int set_option(int level, int name, std::span<const std::byte> value);
    [[nodiscard]] int get_option(int level, int name, std::span<std::byte> into);

    [[nodiscard]] virtual_host& host() const noexcept { return host_; }
    [[nodiscard]] int family() const noexcept { return family_; }
    [[nodiscard]] int type() const noexcept { return type_; }
    [[nodiscard]] bool closed() const noexcept { return closed_; }
    [[nodiscard]] const endpoint& local() const noexcept { return local_; }
    [[nodiscard]] const endpoint& peer() const noexcept { return peer_; }

    /// Whether what is sent to `to` may be for it.
    [[nodiscard]] bool is_at(const endpoint& to) const noexcept;

    /// Of several that share a port the one is taken that fits most closely: whose peer is fixed, then who
    /// has the very address (Linux's compute_score).
    [[nodiscard]] int closeness() const noexcept;

    // Whose number it has.
    void add_number(descriptor_slot& it) { numbers_.push_back(&it); }
    void drop_number(descriptor_slot& it) noexcept { std::erase(numbers_, &it); }
    [[nodiscard]] bool has_numbers() const noexcept { return !numbers_.empty(); }

protected:
    /// Who waits for it tries again.
    void changed() noexcept;

    /// A port for one that has none, at `address`.
    [[nodiscard]] int bind_somewhere(const endpoint& towards);

    [[nodiscard]] int number_option(int level, int name) const noexcept;
    [[nodiscard]] bool has_option(int level, int name) const noexcept {
        return options_.contains({level, name});
    }
    [[nodiscard]] int take_failure() noexcept { return -std::exchange(failure_, 0); }
    [[nodiscard]] std::size_t buffer_size(int name) const noexcept;
    void copy_options_to(virtual_socket& it) const { it.options_ = options_; }

    endpoint local_;
    endpoint peer_;
    int failure_ = 0;  ///< SO_ERROR: told once.
    bool closed_ = false;

private:
    [[nodiscard]] bool keeps_out(const virtual_socket& it, const endpoint& wanted) const noexcept;
    [[nodiscard]] int refusal_of(int level, int name, int value) const noexcept;

    virtual_host& host_;
    int family_;
    int type_;
    std::map<std::pair<int, int>, std::vector<std::byte>> options_;
    std::vector<descriptor_slot*> numbers_;
};

}  // namespace gyre::test

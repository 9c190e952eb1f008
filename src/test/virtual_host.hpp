// SPDX-License-Identifier: BSL-1.0
//
// A machine as its programs see it: the table of descriptors, names and ports, and each operation as a
// call on a model.
#pragma once

#include <gyre/io/endpoint.hpp>
#include <gyre/runtime/host.hpp>
#include <gyre/test/network.hpp>
#include <test/fused_loop.hpp>
#include <test/virtual_backend.hpp>
#include <test/virtual_socket.hpp>
#include <test/virtual_time.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct msghdr;

namespace gyre::test {

class virtual_host final : public host {
public:
    virtual_host(virtual_time& time, std::string name, unsigned number,
                 const machine_options& options);
    ~virtual_host();

    // As a host.

    [[nodiscard]] int perform_now(operation& op) noexcept override { return perform(op); }
    [[nodiscard]] time_point now() noexcept override { return time_.now(); }
    [[nodiscard]] std::uint64_t entropy() noexcept override { return time_.chance().draw(); }
    [[nodiscard]] int read_settings(const char* path, std::string& into) noexcept override;
    [[nodiscard]] bool has_signals() const noexcept override { return false; }
    [[nodiscard]] descriptor_slot& enter(int number) noexcept override;
    int close(descriptor_slot& it) noexcept override;
    int release(descriptor_slot& it) noexcept override;

    // For its loop.

    /// One try of whatever operation.
    [[nodiscard]] int perform(operation& op) noexcept;
    [[nodiscard]] std::unique_ptr<loop_backend> make_backend();
    void backend_gone() noexcept { backend_ = nullptr; }

    // For the models.

    [[nodiscard]] virtual_time& time() noexcept { return time_; }
    [[nodiscard]] virtual_network& network() noexcept { return time_.network(); }
    [[nodiscard]] const machine_options& options() const noexcept { return options_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const ipv4& v4() const noexcept { return v4_; }
    [[nodiscard]] const ipv6& v6() const noexcept { return v6_; }
    [[nodiscard]] bool has(const ip_address& address) const noexcept;
    [[nodiscard]] ip_address source_for(const endpoint& towards) const noexcept;
    [[nodiscard]] static ip_address unspecified(int family) noexcept;

    [[nodiscard]] std::uint16_t free_port(int type) noexcept;
    void enter_port(virtual_socket& it);
    void leave_port(const virtual_socket& it) noexcept;
    [[nodiscard]] std::vector<virtual_socket*> bound_to_port(std::uint16_t port, int type);
    /// Of Unix-domain sockets. The name of a path stays, until it is removed.
    [[nodiscard]] int enter_name(const endpoint& name, const std::weak_ptr<virtual_socket>& it);
    [[nodiscard]] int find_name(const endpoint& name, std::shared_ptr<virtual_socket>& found);
    void leave_name(const virtual_socket& it) noexcept;

    /// One of `found`, which is not empty: of those that fit most closely, any.
    template <class Pointer>
    [[nodiscard]] Pointer choose(std::vector<Pointer> found) {
        const auto closeness = [](const Pointer& each) { return each->closeness(); };
        const int most = closeness(std::ranges::max(found, {}, closeness));
        std::erase_if(found, [&](const Pointer& each) { return closeness(each) < most; });
        return found.size() == 1 ? found.front() : found[time_.chance().below(found.size())];
    }

    void note_change(descriptor_slot& it) noexcept;

    // For the world.

    [[nodiscard]] descriptor_slot& slot(int number) noexcept {
        return slots_[static_cast<std::size_t>(number)];
    }

    void set_settings(std::string path, std::string text) {
        settings_[std::move(path)] = std::move(text);
    }
    /// This machine, as its loop sees it.
    [[nodiscard]] fused_host& fused() noexcept { return fused_; }
    void break_connections() noexcept;
    [[nodiscard]] std::size_t open_descriptors() const noexcept;
    /// Whether an object of the program's has one of them.
    [[nodiscard]] bool is_in_use() const noexcept;
    [[nodiscard]] std::size_t bytes_held() const noexcept;

private:
    [[nodiscard]] int open(std::shared_ptr<virtual_socket> it, int least = 3) noexcept;
    [[nodiscard]] virtual_socket& at(const descriptor_slot& it) noexcept;
    [[nodiscard]] int open_socket(const open_socket_operation& op);
    template <class Socket>
    [[nodiscard]] int open_two(std::span<int, 2> numbers, int type,
                               void (*join)(const std::shared_ptr<Socket>&,
                                            const std::shared_ptr<Socket>&));
    [[nodiscard]] int duplicate(const duplicate_operation& op) noexcept;
    [[nodiscard]] int accept(accept_operation& op);
    [[nodiscard]] int receive(std::byte* data, std::size_t size, const descriptor_slot& from,
                              reading how);
    [[nodiscard]] int receive_lease(lease_operation& op);
    [[nodiscard]] int transfer_batch(batch_operation& op);
    [[nodiscard]] int transfer_parts(parts_operation& op);
    [[nodiscard]] int receive_message(virtual_socket& from, msghdr& message, reading how);
    [[nodiscard]] int send_message(virtual_socket& to, const msghdr& message);
    [[nodiscard]] int remove_stale(const address_operation& op);
    [[nodiscard]] static int tell(const endpoint& address, int family,
                                  address_operation& op) noexcept;

    virtual_time& time_;
    std::string name_;
    ipv4 v4_;
    ipv6 v6_;
    machine_options options_;
    virtual_backend* backend_ = nullptr;
    fused_host fused_{*this};
    std::vector<std::shared_ptr<virtual_socket>> open_;  // By number; null where nothing is.
    std::deque<descriptor_slot> slots_;                  // The same; addresses stay.
    std::vector<virtual_socket*> ports_;
    std::map<std::string, std::weak_ptr<virtual_socket>> names_;  // By what `to_string` says.
    std::map<std::string, std::string> settings_;
    std::uint16_t last_port_ = 32'767;
};

}  // namespace gyre::test

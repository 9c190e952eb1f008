// SPDX-License-Identifier: BSL-1.0
//
// Who has which address in a world, and what the way from one machine to another does to a packet.
//
// It knows packets as sizes and deliveries; what they mean is for the sockets (virtual_stream.hpp,
// virtual_datagram.hpp).
#pragma once

#include <gyre/io/endpoint.hpp>
#include <gyre/test/network.hpp>
#include <test/virtual_time.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gyre::test {

class virtual_host;
class virtual_socket;

class virtual_network {
public:
    explicit virtual_network(virtual_time& time) noexcept : time_{time} {}
    virtual_network(const virtual_network&) = delete;
    virtual_network& operator=(const virtual_network&) = delete;
    ~virtual_network();

    [[nodiscard]] virtual_time& time() noexcept { return time_; }

    void add(virtual_host& it) { hosts_.push_back(&it); }
    void remove(virtual_host& it) noexcept { std::erase(hosts_, &it); }
    [[nodiscard]] const std::vector<virtual_host*>& hosts() const noexcept { return hosts_; }

    /// Where a packet from `from` to `address` goes; null if no machine has it.
    [[nodiscard]] virtual_host* find(virtual_host& from, const ip_address& address) noexcept;

    /// What /etc/hosts says.
    [[nodiscard]] std::string hosts_file() const;

    void set_all(const link_options& options);
    void set(const virtual_host& from, const virtual_host& to, const link_options& options);
    void cut(const virtual_host& from, const virtual_host& to, bool is_cut);
    [[nodiscard]] bool is_cut(const virtual_host& from, const virtual_host& to) noexcept;

    /// How long a part of a stream takes, which is not lost for good; the line is busy meanwhile.
    [[nodiscard]] duration time_of_stream(const virtual_host& from, const virtual_host& to,
                                          std::size_t size);

    /// Sends one packet that may be lost, doubled, and late.
    void send_packet(const virtual_host& from, const virtual_host& to, std::size_t size,
                     const std::function<void()>& arrive);

    /// Sockets that have been closed and still have something to send, or are on a way.
    void keep(std::shared_ptr<virtual_socket> it) { closed_.push_back(std::move(it)); }
    void forget(const virtual_socket& it) noexcept;

    /// Those of one machine send nothing any more.
    void break_closed_of(const virtual_host& one);

    /// Has `happen()` be called when a link has healed.
    void when_healed(std::function<void()> happen) { stalled_.push_back(std::move(happen)); }

private:
    struct link {
        link_options options;
        time_point busy_until{};
        bool cut = false;
        bool own = false;  // Its options were set for it alone.
    };

    [[nodiscard]] link& between(const virtual_host& from, const virtual_host& to);
    [[nodiscard]] duration time_of(link& on, std::size_t size);

    virtual_time& time_;
    std::vector<virtual_host*> hosts_;
    link_options all_;
    std::map<std::pair<const virtual_host*, const virtual_host*>, link> links_;
    std::vector<std::function<void()>> stalled_;
    std::vector<std::shared_ptr<virtual_socket>> closed_;
};

}  // namespace gyre::test

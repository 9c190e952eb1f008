// SPDX-License-Identifier: BSL-1.0
//
// The table of descriptors, ports and names of a machine: see virtual_host.hpp. What operations come to is in
// virtual_perform.cpp.
#include <test/virtual_host.hpp>

#include <gyre/base/check.hpp>
#include <test/virtual_network.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace gyre::test {

virtual_host::virtual_host(virtual_time& time, std::string name, unsigned number,
                           const machine_options& options)
    : time_{time}, name_{std::move(name)}, options_{options} {
    v4_.bytes = {10, 0, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
    v6_.bytes[0] = 0xfd;
    v6_.bytes[14] = static_cast<std::uint8_t>(number >> 8);
    v6_.bytes[15] = static_cast<std::uint8_t>(number);
    network().add(*this);
}

virtual_host::~virtual_host() {
    network().remove(*this);
    for (const auto& each : open_) {
        if (each != nullptr) each->forget_peer();
    }
}

std::unique_ptr<loop_backend> virtual_host::make_backend() {
    auto made = std::make_unique<virtual_backend>(time_, *this);
    backend_ = made.get();
    return std::make_unique<fused_backend>(std::move(made), fused_);
}

void virtual_host::note_change(descriptor_slot& it) noexcept {
    if (backend_ != nullptr) backend_->note_change(it);
}

int virtual_host::read_settings(const char* path, std::string& into) noexcept {
    into.clear();
    if (const auto found = settings_.find(path); found != settings_.end()) {
        into = found->second;
        return 0;
    }
    if (std::string_view{path} != "/etc/hosts") return -ENOENT;
    into = network().hosts_file();
    return 0;
}

// Descriptors.

int virtual_host::open(std::shared_ptr<virtual_socket> it, int least) noexcept {
    auto number = static_cast<std::size_t>(std::max(least, 3));  // 0 to 2 are the console.
    while (number < open_.size() && open_[number] != nullptr) ++number;
    if (number >= static_cast<std::size_t>(options_.descriptors_max)) return -EMFILE;
    if (number >= open_.size()) open_.resize(number + 1);
    while (slots_.size() <= number) slots_.emplace_back();
    open_[number] = std::move(it);
    return static_cast<int>(number);
}

descriptor_slot& virtual_host::enter(int number) noexcept {
    const auto index = static_cast<std::size_t>(number);
    expects(number >= 0 && index < open_.size() && open_[index] != nullptr,
            "the number of something that is open on this machine");
    descriptor_slot& it = slots_[index];
    it.begin_opening(number);
    open_[index]->add_number(it);
    return it;
}

int virtual_host::close(descriptor_slot& it) noexcept {
    const int number = release(it);
    const std::shared_ptr<virtual_socket> of =
        std::exchange(open_[static_cast<std::size_t>(number)], nullptr);
    const bool is_last = std::ranges::find(open_, of) == open_.end();
    if (is_last) of->close();
    return 0;
}

int virtual_host::release(descriptor_slot& it) noexcept {
    at(it).drop_number(it);
    it.end_opening();
    return it.number;
}

virtual_socket& virtual_host::at(const descriptor_slot& it) noexcept {
    const auto index = static_cast<std::size_t>(it.number);
    expects(it.number >= 0 && index < slots_.size() && &slots_[index] == &it,
            "a socket is used on a loop of its own machine");
    expects(index < open_.size() && open_[index] != nullptr, "what is used is open");
    return *open_[index];
}

std::size_t virtual_host::open_descriptors() const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(open_, [](const auto& each) { return each != nullptr; }));
}

bool virtual_host::is_in_use() const noexcept {
    return std::ranges::any_of(
        open_, [](const auto& each) { return each != nullptr && each->has_numbers(); });
}

std::size_t virtual_host::bytes_held() const noexcept {
    std::size_t sum = 0;
    for (const auto& each : open_) sum += each == nullptr ? 0 : each->bytes_held();
    return sum;
}

void virtual_host::break_connections() noexcept {
    const auto open = open_;
    for (const auto& each : open) {
        if (each != nullptr) each->break_off();
    }
    network().break_closed_of(*this);
}

// Addresses and ports.

bool virtual_host::has(const ip_address& address) const noexcept {
    const ip_address plain = address.unmapped();
    return plain.is_loopback() || plain == ip_address{v4_} || plain == ip_address{v6_};
}

ip_address virtual_host::source_for(const endpoint& towards) const noexcept {
    const ip_address there = towards.address().unmapped();
    if (there.is_loopback()) return there.is_v4() ? ip_address{ipv4::loopback()} : there;
    return there.is_v4() ? ip_address{v4_} : ip_address{v6_};
}

ip_address virtual_host::unspecified(int family) noexcept {
    return family == AF_INET6 ? ip_address{ipv6::any()} : ip_address{ipv4::any()};
}

// In turn, as a kernel that has just begun, so that a test's ports are the same each time. 0: all are taken.
std::uint16_t virtual_host::free_port(int type) noexcept {
    constexpr std::uint16_t first = 32'768;
    constexpr std::uint16_t last = 60'999;
    for (int tries = 0; tries <= last - first; ++tries) {
        last_port_ = last_port_ >= last ? first : static_cast<std::uint16_t>(last_port_ + 1);
        if (bound_to_port(last_port_, type).empty()) return last_port_;
    }
    return 0;
}

void virtual_host::enter_port(virtual_socket& it) { ports_.push_back(&it); }

void virtual_host::leave_port(const virtual_socket& it) noexcept { std::erase(ports_, &it); }

std::vector<virtual_socket*> virtual_host::bound_to_port(std::uint16_t port, int type) {
    std::vector<virtual_socket*> found;
    for (virtual_socket* const each : ports_) {
        if (each->type() == type && each->local().port() == port) found.push_back(each);
    }
    return found;
}

// Names of Unix-domain sockets.

int virtual_host::enter_name(const endpoint& name, const std::weak_ptr<virtual_socket>& it) {
    const bool is_new = names_.try_emplace(name.to_string(), it).second;
    return is_new ? 0 : -EADDRINUSE;
}

int virtual_host::find_name(const endpoint& name, std::shared_ptr<virtual_socket>& found) {
    const auto there = names_.find(name.to_string());
    const bool abstract = name.path().starts_with('\0');
    if (there == names_.end()) return abstract ? -ECONNREFUSED : -ENOENT;
    found = there->second.lock();
    return found == nullptr || found->closed() ? -ECONNREFUSED : 0;
}

void virtual_host::leave_name(const virtual_socket& it) noexcept {
    std::erase_if(names_, [&it](const auto& each) {
        return each.second.lock().get() == &it && it.local().path().starts_with('\0');
    });
}

}  // namespace gyre::test

// SPDX-License-Identifier: BSL-1.0
//
// What the load of `echo` can do at most: a server that never sleeps.
//
// It asks each of its connections in turn, again and again, and answers at once; the kernel has nobody to
// wake, and nothing is waited for or looked up. As a server that is no example, for it burns a core on a
// single silent connection; but a row that comes near it says more about the load and the kernel than about
// the server.
#include <lab/contender.hpp>
#include <lab/fail.hpp>
#include <lab/load.hpp>

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

class connection {
public:
    explicit connection(lab::descriptor socket) : socket_{std::move(socket)} {}

    // Whether it goes on. What a full socket does not take is kept until it is this connection's turn again.
    bool turn(std::span<std::byte> space) {
        if (!unsent_.empty()) return send_rest();
        const ssize_t got = ::recv(socket_.get(), space.data(), space.size(), MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN) return true;
        if (got <= 0) return false;
        const auto message = space.first(static_cast<std::size_t>(got));
        const std::size_t sent = send(message);
        unsent_.assign(message.begin() + static_cast<std::ptrdiff_t>(sent), message.end());
        return true;
    }

private:
    bool send_rest() {
        const std::size_t sent = send(unsent_);
        unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(sent));
        return true;
    }

    std::size_t send(std::span<const std::byte> bytes) {
        const ssize_t sent =
            ::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) return 0;
        lab::require(sent > 0, "load_ceiling: send");
        return static_cast<std::size_t>(sent);
    }

    lab::descriptor socket_;
    std::vector<std::byte> unsent_;
};

void spin(std::vector<connection> connections, std::size_t buffer_bytes) {
    std::vector<std::byte> space(buffer_bytes);
    while (!connections.empty()) {
        std::erase_if(connections, [&](connection& each) { return !each.turn(space); });
    }
}

class load_ceiling : public lab::contender {
public:
    lab::identity about() const override { return {"load_ceiling", "none", "", "none"}; }

    // A thread that spins where the load should run would be a floor, not a ceiling.
    std::string refusal_to_echo(const lab::echo_case& work) const override {
        if (std::thread::hardware_concurrency() > work.threads) return "";
        return "needs a core for each of its threads, and one for the load";
    }

    void echo(const lab::echo_case& work, lab::descriptor listener) override {
        std::vector<std::vector<connection>> shares(work.threads);
        for (std::size_t i = 0; i < work.connections; ++i) {
            shares[i % work.threads].emplace_back(lab::accept_connection(listener));
        }
        std::vector<std::thread> others;
        for (std::size_t i = 1; i < work.threads; ++i) {
            others.emplace_back(spin, std::move(shares[i]), work.buffer_bytes);
        }
        spin(std::move(shares[0]), work.buffer_bytes);
        for (std::thread& each : others) each.join();
    }
};

}  // namespace

std::unique_ptr<lab::contender> lab::make_contender(std::string_view backend) {
    require(backend.empty(), "load_ceiling has no backends to choose from");
    return std::make_unique<load_ceiling>();
}

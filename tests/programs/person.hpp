// SPDX-License-Identifier: BSL-1.0
//
// A person at a terminal who is connected to a server under test: a plain socket, which blocks.
//
// Each wait gives up after a minute, so a server that does not answer fails its test instead of hanging it.
#pragma once

#include <programs/program.hpp>

#include <gyre/io/endpoint.hpp>
#include <support/harness.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::testing {

class person {
public:
    explicit person(const endpoint& server) : number_{plain_connect(server)} {}
    person(const person&) = delete;
    person& operator=(const person&) = delete;
    ~person() { leaves(); }

    void says(std::string_view text) const {
        REQUIRE(::send(number_, text.data(), text.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(text.size()));
    }

    /// The next line; at the end of the stream what is left.
    std::string hears() {
        std::size_t end = unread_.find('\n');
        while (end == std::string::npos && read_more()) end = unread_.find('\n');
        if (end == std::string::npos) return std::exchange(unread_, {});
        const std::string line = unread_.substr(0, end);
        unread_.erase(0, end + 1);
        return line;
    }

    /// Whether the next thing is the end of the stream.
    bool sees_the_end() { return unread_.empty() && !read_more(); }

    /// All that comes until the end of the stream.
    std::string hears_everything() {
        while (read_more()) {
        }
        return std::exchange(unread_, {});
    }

    [[nodiscard]] int number() const { return number_; }

    void leaves() {
        if (number_ >= 0) ::close(number_);
        number_ = -1;
    }

private:
    bool read_more() {
        pollfd readable{number_, POLLIN, 0};
        REQUIRE(::poll(&readable, 1, 60'000) == 1);
        std::array<char, 4096> space{};
        const ssize_t got = ::recv(number_, space.data(), space.size(), 0);
        REQUIRE(got >= 0);
        unread_.append(space.data(), static_cast<std::size_t>(got));
        return got > 0;
    }

    int number_;
    std::string unread_;
};

}  // namespace gyre::testing

// SPDX-License-Identifier: BSL-1.0
//
// The server as a user of Boost.Asio writes it with completion handlers: a connection owns itself and is
// freed when its last handler says so. asio/server.hpp has the rest of the configuration.
#pragma once

#include <lab/servers/asio/server.hpp>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace asio_callback {

namespace asio = boost::asio;
using boost::system::error_code;

/// @tparam Answers  What is said to what has arrived; see answers.hpp.
template <class Answers>
class session {
public:
    session(servers::stream peer, std::size_t buffer_bytes)
        : peer_{std::move(peer)}, space_(buffer_bytes) {}

    void receive() {
        peer_.async_read_some(asio::buffer(space_), [this](error_code ended, std::size_t size) {
            if (ended) return end();
            send(answers_.answer_to({space_.data(), size}));
        });
    }

private:
    void send(std::string_view bytes) {
        if (bytes.empty()) return answers_.closes() ? end() : receive();
        peer_.async_write_some(asio::buffer(bytes),
                               [this, bytes](error_code failed, std::size_t size) {
                                   if (failed) return end();
                                   send(bytes.substr(size));
                               });
    }

    void end() { delete this; }

    servers::stream peer_;
    std::vector<char> space_;
    Answers answers_;
};

template <class Answers>
void accept_all(servers::acceptor& from, const servers::job& wanted) {
    from.async_accept([&](error_code failed, servers::stream peer) {
        if (!failed) (new session<Answers>{std::move(peer), wanted.buffer_bytes})->receive();
        accept_all<Answers>(from, wanted);
    });
}

template <class Answers>
int serve(const servers::job& wanted) {
    return servers::serve<accept_all<Answers>>(wanted);
}

}  // namespace asio_callback

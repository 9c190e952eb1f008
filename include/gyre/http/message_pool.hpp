// SPDX-License-Identifier: BSL-1.0
//
// What a server's connection needs only while a message is under way.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace gyre::http {

struct server_message;

/// Keeps for the next message what the last one needed: a parser, a request, the framing of bodies. With it,
/// connections that wait have little memory, and busy ones work in what the cache still has.
///
/// Belongs to the connections of one loop, and outlives them. Keeps at most `messages_max`; more are made
/// where handlers wait, and freed again. Does not move.
///
/// Threads: the loop's.
/// Cost:    about 2 KiB for each message kept, and what their heads and answers took, up to 16 KiB.
class message_pool {
public:
    static constexpr std::size_t messages_max = 16;

    message_pool() noexcept;
    message_pool(const message_pool&) = delete;
    message_pool& operator=(const message_pool&) = delete;
    ~message_pool();

private:
    friend class borrowed_message;

    std::vector<std::unique_ptr<server_message>> free_;
};

}  // namespace gyre::http

// SPDX-License-Identifier: BSL-1.0
//
// Clients of the suites of protocols: many conversations with one server, in closed loops, on one loop of
// gyre's.
//
// They are played in phases. When the time of a phase is over each conversation ends its exchange, so all
// that was asked has been answered before the phase has ended: the costs of the server between two phases are
// those of exactly the messages that were counted. Every byte of content that returns is compared; what is
// wrong ends the program.
#pragma once

#include <lab/kit/histogram.hpp>

#include <gyre/gyre.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// What is asked of the server.
struct talk_case {
    std::string protocol;  ///< `http_server`, `websocket` or `tls`: as the server's workload.
    std::string profile;   ///< Which content; talk_http.hpp and the others say.
    std::size_t connections = 1;
    std::size_t at_once = 1;     ///< Requests that are sent together.
    std::size_t each_lives = 0;  ///< Requests after which a connection ends; 0: none.
    std::size_t bytes = 0;       ///< Of a message.
};

/// What has been exchanged while it lasted.
class phase {
public:
    using clock = std::chrono::steady_clock;

    explicit phase(clock::duration length) noexcept
        : began_{clock::now()}, until_{began_ + length} {}

    [[nodiscard]] bool over() const noexcept { return clock::now() >= until_; }

    /// Of an exchange that has ended.
    ///
    /// @param  messages  That were answered, or delivered.
    /// @param  bytes     Of their content.
    void note(std::size_t messages, std::size_t bytes, clock::time_point since) {
        const auto took = std::chrono::nanoseconds{clock::now() - since};
        latency_.record(static_cast<std::uint64_t>(took.count()));
        messages_ += messages;
        bytes_ += bytes;
    }
    void note_connection() noexcept { ++connections_; }

    [[nodiscard]] clock::time_point began() const noexcept { return began_; }
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint64_t connections() const noexcept { return connections_; }
    [[nodiscard]] const histogram& latency() const noexcept { return latency_; }

private:
    clock::time_point began_;
    clock::time_point until_;
    std::uint64_t messages_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t connections_ = 0;  // That were opened.
    histogram latency_;
};

/// The clients of one protocol.
class talk {
public:
    talk() = default;
    talk(const talk&) = delete;
    talk& operator=(const talk&) = delete;
    virtual ~talk() = default;

    /// Opens what stays open; before the first phase.
    [[nodiscard]] virtual gyre::task<> open() = 0;

    /// Until every conversation has ended its last exchange of the phase.
    [[nodiscard]] virtual gyre::task<> play(phase& during) = 0;
};

/// Fails for a protocol or a profile that there is not.
[[nodiscard]] std::unique_ptr<talk> make_talk(const talk_case& what, gyre::endpoint server);

/// A connection, and what was read of it and not used.
class wire {
public:
    explicit wire(std::size_t space_bytes) : space_(space_bytes) {}

    [[nodiscard]] gyre::task<> connect(const gyre::endpoint& server);
    void close() noexcept;
    [[nodiscard]] bool is_open() const noexcept { return open_; }

    [[nodiscard]] gyre::task<> send(std::string_view bytes);

    /// Reads some more behind what there is. Fails if there is no room, or if the stream has ended and may
    /// not.
    ///
    /// @return Whether there was something.
    [[nodiscard]] gyre::task<bool> receive(bool may_end = false);

    [[nodiscard]] std::string_view unread() const noexcept {
        return gyre::text_of(gyre::const_buffer{space_}.subspan(begin_, end_ - begin_));
    }
    void use(std::size_t bytes) noexcept { begin_ += bytes; }

private:
    gyre::tcp_socket socket_;
    std::vector<std::byte> space_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    bool open_ = false;
};

/// So many connections are opened at once, where a case has more of them.
inline constexpr std::size_t opened_at_once = 128;

/// The head of an answer, `HTTP/1.1 NNN`, as far as clients look at it.
struct answer_head {
    std::size_t length = 0;  ///< 0: it has not ended.
    unsigned status = 0;
    std::size_t content_length = 0;
};
/// Fails if it is none, or tells no length, unless the status is 101.
[[nodiscard]] answer_head head_of(std::string_view arrived);

/// The value of a field whose name is in lower case; empty if there is none.
[[nodiscard]] std::string_view field_of(std::string_view head, std::string_view name) noexcept;

[[nodiscard]] std::unique_ptr<talk> talk_http(const talk_case& what, gyre::endpoint server);
[[nodiscard]] std::unique_ptr<talk> talk_websocket(const talk_case& what, gyre::endpoint server);
[[nodiscard]] std::unique_ptr<talk> talk_tls(const talk_case& what, gyre::endpoint server);

}  // namespace lab

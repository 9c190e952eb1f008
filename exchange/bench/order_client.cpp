// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/bench/order_client.hpp>

#include <lab/kit/fail.hpp>

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <variant>

namespace exchange::bench {
namespace {

constexpr std::size_t in_line_bytes_max = 32 * 1024;
constexpr soup_options protocol{.outbox_bytes_max = 2 * in_line_bytes_max};
constexpr soup_framer_options framing{.payload_bytes_max = 2048, .buffer_bytes_max = 256 * 1024};

soup_login ask(std::string_view username, std::string_view password) {
    return {.username = username, .password = password, .session = {}, .sequence = 0};
}

}  // namespace

order_client::order_client(const sockaddr_in& to, std::string_view username,
                           std::string_view password, gyre::time_point now)
    : name_{username},
      client_{protocol, ask(username, password), now},
      framer_{framing},
      socket_{connect_for_orders(to)} {
    client_.connect(now);
    flush(now);
}

void order_client::push(const command& what, gyre::time_point now) {
    std::visit(
        [this]<class Command>(const Command& it) {
            if constexpr (fixed_size_record<Command>) {
                std::array<std::byte, message_bytes_of<Command>> bytes;
                encode(it, bytes);
                if (!client_.send(bytes) && fault_.empty())
                    fault_ = name_ + " has more to say than fits into its outbox";
                in_line_bytes_ += bytes.size();
            } else {
                lab::fail("exchange: a scenario sends what only the operator may");
            }
        },
        what);
    if (in_line_bytes_ > in_line_bytes_max && !backlogged_) flush(now);
}

void order_client::flush(gyre::time_point now) {
    for (;;) {
        const soup_output output = client_.output();
        backlogged_ = output.size() > 0;
        if (!backlogged_) {
            in_line_bytes_ = 0;
            return;
        }
        // A client's output is one piece; see soup_client::output.
        const auto piece = output.parts[0];
        const ssize_t sent =
            ::send(socket_.get(), piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (sent < 0) {
            if (fault_.empty()) fault_ = name_ + " cannot send: " + std::strerror(errno);
            backlogged_ = false;
            return;
        }
        ++sends_;
        client_.sent(static_cast<std::size_t>(sent), now);
    }
}

bool order_client::read_some() {
    const std::span<std::byte> space = framer_.space();
    const ssize_t size = ::recv(socket_.get(), space.data(), space.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (size <= 0) {
        if (fault_.empty() && client_.ending() != soup_ending::logged_out)
            fault_ = name_ + (size == 0 ? " was hung up on"
                                        : std::string{" cannot receive: "} + std::strerror(errno));
        return false;
    }
    ++receptions_;
    framer_.received(static_cast<std::size_t>(size));
    return true;
}

void order_client::on_timer(gyre::time_point now) {
    if (now < client_.deadline()) return;
    const soup_step step = client_.on_timer(now);
    if (step.what == soup_step::kind::ended) complain(step);
    flush(now);
}

void order_client::log_out(gyre::time_point now) {
    if (client_.log_out()) flush(now);
}

void order_client::complain(const soup_step& step) {
    if (!fault_.empty()) return;
    fault_ = "the session of " + name_ + " is over: ";
    fault_ += describe(step.ending);
}

void order_client::complain_about_message(bool refused) {
    if (!fault_.empty()) return;
    fault_ = name_ + (refused ? " sent what the facility could not read"
                              : " received what is no derived message");
}

}  // namespace exchange::bench

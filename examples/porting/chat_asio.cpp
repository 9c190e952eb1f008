// SPDX-License-Identifier: BSL-1.0
//
// What examples/chat_server.cpp does, on coroutines of Boost.Asio: docs/guide/beside_asio.md.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

constexpr std::size_t line_bytes_max = 512;
constexpr std::size_t name_bytes_max = 16;
constexpr std::size_t unread_lines_max = 64;
constexpr std::size_t members_max = 1000;
constexpr auto farewell = 2s;
constexpr auto grace = 5s;
constexpr auto result = asio::as_tuple(asio::use_awaitable);

using line = std::shared_ptr<const std::string>;  // One copy for all who are to read it.

// A connection; of a member from when it has said a name.
struct member {
    explicit member(tcp::socket connected)
        : peer{std::move(connected)},
          limit{peer.get_executor()},
          unread{peer.get_executor(), unread_lines_max} {}

    void stop_reading() { reading.emit(asio::cancellation_type::terminal); }
    void stop() {
        stop_reading();
        writing.emit(asio::cancellation_type::terminal);
    }

    tcp::socket peer;
    std::string input;
    std::string name;
    asio::steady_timer limit;
    asio::cancellation_signal reading;
    asio::cancellation_signal writing;
    asio::experimental::channel<void(error_code, line)> unread;
    bool too_slow = false;
    bool unheard = false;  // A write to it has failed.
};

// Who is there. One thread, so no locks.
class room {
public:
    bool has(std::string_view name) const {
        return std::ranges::any_of(members_,
                                   [&](const member* each) { return each->name == name; });
    }
    void enter(member& who) {
        members_.push_back(&who);
        say(who.name + " has come");
    }
    void leave(member& who) {
        std::erase(members_, &who);
        say(who.name + " has gone");
    }
    void say(const std::string& text) {
        const line said = std::make_shared<const std::string>(text + '\n');
        for (member* each : members_) {
            if (each->too_slow || each->unread.try_send(error_code{}, said)) continue;
            each->too_slow = true;
            each->stop();
        }
    }

    // All connections, for the drain.
    void visit(member& by) { visitors_.push_back(&by); }
    void end_visit(member& by) { std::erase(visitors_, &by); }
    void close() {
        closing_ = true;
        for (member* each : visitors_) {
            if (each->name.empty()) each->limit.cancel();
            each->stop_reading();
        }
    }
    bool closing() const { return closing_; }

private:
    std::vector<member*> members_;
    std::vector<member*> visitors_;
    bool closing_ = false;
};

// The next line, without its end; control characters are replaced, for the sake of terminals.
template <class Token>
asio::awaitable<std::pair<error_code, std::string>> next_line(member& from, Token token) {
    const auto [failed, size] = co_await asio::async_read_until(
        from.peer, asio::dynamic_buffer(from.input, line_bytes_max), '\n', token);
    if (failed) co_return std::pair{failed, std::string{}};

    std::string text = from.input.substr(0, size);
    from.input.erase(0, size);
    text.erase(text.find_last_not_of("\r\n") + 1);
    const auto is_control = [](unsigned char each) { return each < 0x20 || each == 0x7f; };
    std::ranges::replace_if(text, is_control, '?');
    co_return std::pair{error_code{}, std::move(text)};
}

bool is_name(std::string_view text) {
    const auto fits = [](unsigned char each) { return std::isalnum(each) != 0; };
    return !text.empty() && text.size() <= name_bytes_max && std::ranges::all_of(text, fits);
}

// Empty if there is none to be had.
asio::awaitable<std::string> ask_for_name(const room& hall, member& who) {
    std::string_view question = "your name?\n";
    for (;;) {
        const auto [unsent, sent] =
            co_await asio::async_write(who.peer, asio::buffer(question), result);
        if (unsent) co_return std::string{};

        auto [failed, answer] = co_await next_line(who, result);
        if (failed) co_return std::string{};
        if (!is_name(answer)) {
            question = "up to 16 letters and digits, please\n";
        } else if (hall.has(answer)) {
            question = "taken; another, please\n";
        } else {
            co_return std::move(answer);
        }
    }
}

// Writes to the member what the room says, until there is nothing more to come. Who cannot be written to is
// not read from either: it would not learn that it is deaf.
asio::awaitable<void> write_lines(member& to) {
    for (;;) {
        const auto [ended, text] = co_await to.unread.async_receive(result);
        if (ended || to.too_slow) co_return;
        const auto [failed, sent] = co_await asio::async_write(
            to.peer, asio::buffer(*text), asio::bind_cancellation_slot(to.writing.slot(), result));
        if (failed) break;
    }
    to.unheard = true;
    to.stop_reading();
}

asio::awaitable<error_code> read_lines(room& hall, member& from) {
    error_code ended;
    while (!ended) {
        if (hall.closing() || from.too_slow || from.unheard) {
            ended = asio::error::operation_aborted;
            break;
        }
        const auto [failed, said] =
            co_await next_line(from, asio::bind_cancellation_slot(from.reading.slot(), result));
        ended = failed;
        if (!ended && !said.empty()) hall.say(from.name + ": " + said);
    }
    hall.leave(from);
    from.unread.close();  // What the room has said so far is written first.
    co_return ended;
}

// What the member is told at the end, by the reason for it.
std::string_view parting_words(const member& who, error_code ended) {
    if (who.too_slow) return "\n* you do not read what is written: goodbye\n";
    if (ended == asio::error::not_found) return "* that line was too long: goodbye\n";
    if (ended == asio::error::operation_aborted && !who.unheard)
        return "* the room is closing: goodbye\n";
    return {};
}

// Until the peer has closed, so that it gets everything.
asio::awaitable<void> drop_input(tcp::socket& from) {
    std::array<char, 1024> space;
    for (;;) {
        const auto [ended, size] = co_await from.async_read_some(asio::buffer(space), result);
        if (ended) co_return;
    }
}

asio::awaitable<void> chat(room& hall, member& who) {
    error_code ignored;
    who.peer.set_option(tcp::no_delay{true}, ignored);
    who.limit.expires_after(60s);
    auto named = co_await (ask_for_name(hall, who) || who.limit.async_wait(result));
    if (named.index() == 0 && !std::get<0>(named).empty()) {
        who.name = std::move(std::get<0>(named));
        hall.enter(who);
        const error_code ended = co_await (read_lines(hall, who) && write_lines(who));
        const std::string_view words = parting_words(who, ended);
        who.limit.expires_after(farewell);
        if (!words.empty()) {
            co_await (asio::async_write(who.peer, asio::buffer(words), result) ||
                      who.limit.async_wait(result));
        }
    }
    who.peer.shutdown(tcp::socket::shutdown_send, ignored);
    who.limit.expires_after(farewell);
    co_await (drop_input(who.peer) || who.limit.async_wait(result));
}

class chat_server {
public:
    explicit chat_server(asio::io_context& io)
        : io_{io}, acceptor_{io}, signals_{io, SIGINT, SIGTERM}, place_{io}, over_{io} {}

    error_code listen(const tcp::endpoint& local) {
        error_code failed;
        acceptor_.open(local.protocol(), failed);
        if (!failed) acceptor_.set_option(tcp::acceptor::reuse_address{true}, failed);
        if (!failed) acceptor_.bind(local, failed);
        if (!failed) acceptor_.listen(asio::socket_base::max_listen_connections, failed);
        return failed;
    }

    tcp::endpoint local() const { return acceptor_.local_endpoint(); }

    asio::awaitable<void> accept() {
        while (!hall_.closing()) {
            if (sessions_ == members_max) {
                place_.expires_at(asio::steady_timer::time_point::max());
                co_await place_.async_wait(result);
                continue;
            }
            auto [failed, peer] = co_await acceptor_.async_accept(result);
            if (!failed) {
                begin(std::move(peer));
            } else if (!hall_.closing()) {  // As where descriptors are exhausted.
                place_.expires_after(100ms);
                co_await place_.async_wait(result);
            }
        }
    }

    // Until a signal, then until all have left, or the grace is over.
    asio::awaitable<void> serve() {
        co_await signals_.async_wait(result);
        signals_.async_wait([](error_code failed, int signal) {
            if (!failed) std::_Exit(128 + signal);
        });
        error_code ignored;
        acceptor_.close(ignored);
        hall_.close();
        place_.cancel();
        over_.expires_after(grace);
        if (sessions_ > 0) co_await over_.async_wait(result);
        io_.stop();
    }

private:
    asio::awaitable<void> session(tcp::socket peer) {
        member who{std::move(peer)};
        hall_.visit(who);
        co_await chat(hall_, who);
        hall_.end_visit(who);
    }

    void begin(tcp::socket peer) {
        ++sessions_;
        asio::co_spawn(io_, session(std::move(peer)), [this](std::exception_ptr) {
            --sessions_;
            if (!hall_.closing()) place_.cancel();
            if (hall_.closing() && sessions_ == 0) over_.cancel();
        });
    }

    asio::io_context& io_;
    tcp::acceptor acceptor_;
    asio::signal_set signals_;
    asio::steady_timer place_;  // Cancelled when one is free.
    asio::steady_timer over_;   // Cancelled when all have left.
    room hall_;
    std::size_t sessions_ = 0;
};

std::optional<tcp::endpoint> parse(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string host{text.substr(0, colon)};
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    error_code failed;
    const auto address = asio::ip::make_address(host, failed);
    const int port = std::atoi(text.data() + colon + 1);
    if (failed || port < 0 || port > 65535) return std::nullopt;
    return tcp::endpoint{address, static_cast<unsigned short>(port)};
}

int main(int count, char** arguments) {
    const auto local = parse(count > 1 ? arguments[1] : "127.0.0.1:7001");
    if (!local) {
        std::fprintf(stderr, "usage: chat_asio [ADDRESS:PORT]\n");
        return 2;
    }
    asio::io_context io{1};
    chat_server it{io};
    if (const error_code failed = it.listen(*local)) {
        std::fprintf(stderr, "chat_asio: listen: %s\n", failed.message().c_str());
        return 1;
    }
    std::cout << "listening on " << it.local() << std::endl;
    asio::co_spawn(io, it.accept(), asio::detached);
    asio::co_spawn(io, it.serve(), asio::detached);
    io.run();
}

// SPDX-License-Identifier: BSL-1.0
//
// Opens files for programs that may not open them: they are handed the open file and not its name.
//
//     file_broker serve unix:/run/files.sock /etc/ssl
//     file_broker show unix:/run/files.sock openssl.cnf
//
// The broker serves files of one directory to programs of its own user, and nothing that a link in it leads
// to elsewhere. A client is a sandbox without that
// directory, for example. Requests and answers are messages of one connection (SOCK_SEQPACKET).
#include <gyre/gyre.hpp>

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

gyre::const_buffer bytes_of(std::string_view text) {
    return std::as_bytes(std::span{text.data(), text.size()});
}

bool is_plain_name(std::string_view name) {
    return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos &&
           name.find('\0') == std::string_view::npos;
}

// snippet: credentials
bool is_of_our_user(const gyre::local_packet_socket& client) {
    const auto peer = client.get_option<gyre::peer_credentials>();
    return peer.ok() && peer.value().user == ::getuid();
}
// end of snippet

// snippet: pass
// One request: the open file goes with the answer, and is closed here.
gyre::task<gyre::io_result<>> answer(gyre::local_packet_socket& client, gyre::directory& served,
                                     std::string name) {
    auto opened = co_await served.open_beneath(std::move(name));
    if (!opened.ok()) {
        const std::string reason = opened.error().message();
        const auto refused = co_await client.send(bytes_of(reason));
        co_return refused;
    }
    const auto file = opened.take();
    const std::array numbers{file.native_handle()};
    const auto passed = co_await client.send(bytes_of("here"), numbers);
    co_return passed;
}
// end of snippet

gyre::task<> serve_client(gyre::local_packet_socket client, gyre::directory& served) {
    std::array<std::byte, 255> space{};
    if (!is_of_our_user(client)) co_return;
    for (;;) {
        const auto got = co_await gyre::with_timeout(10s, client.receive(space));
        if (!got.ok() || got.value().truncated) co_return;
        std::string name{text_of(std::span{space}.first(got.value().size))};
        if (!is_plain_name(name)) co_return;
        const auto answered = co_await answer(client, served, std::move(name));
        if (!answered.ok()) co_return;
    }
}

gyre::task<gyre::io_result<>> accept_clients(gyre::local_packet_acceptor& listener,
                                             gyre::task_group& clients, gyre::directory& served) {
    for (;;) {
        auto accepted = co_await listener.accept();
        if (accepted.error() == gyre::errc::canceled) co_return accepted.error();
        if (!accepted.ok()) {
            // No descriptors left, or a client that left too soon: the next one may be luckier.
            std::fprintf(stderr, "going on: %s\n", accepted.error().message().c_str());
            const auto paused = co_await gyre::idle(gyre::sleep_for(100ms));
            if (!paused.ok()) co_return paused.error();
            continue;
        }
        clients.spawn(serve_client(accepted.take(), served));
    }
}

gyre::task<gyre::io_result<>> broker(gyre::endpoint local, std::string path) {
    auto found = co_await gyre::directory::open(path);
    if (!found.ok()) co_return found.error();
    auto served = found.take();
    const auto listening = [local](gyre::io_context& loop) noexcept {
        return gyre::local_packet_acceptor::listen(loop, local);
    };
    auto opened = co_await gyre::immediate{listening};
    if (!opened.ok()) co_return opened.error();
    auto listener = opened.take();
    std::printf("serving %s\n", path.c_str());
    std::fflush(stdout);

    gyre::io_result<> ended;
    const auto body = [&](gyre::task_group& clients) -> gyre::task<> {
        ended = co_await accept_clients(listener, clients, served);
    };
    co_await gyre::with_group(body);
    co_return ended;
}

// snippet: receive
gyre::task<gyre::io_result<>> show(gyre::endpoint broker, std::string name) {
    auto connected = co_await gyre::local_packet_socket::connect(broker);
    if (!connected.ok()) co_return connected.error();
    auto socket = connected.take();
    const auto asked = co_await socket.send(bytes_of(name));
    if (!asked.ok()) co_return asked.error();

    std::array<std::byte, 4096> space{};
    gyre::passed_descriptors came;  // Owns what comes, whatever happens next.
    const auto answered = co_await socket.receive(space, came);
    if (!answered.ok()) co_return answered.error();
    if (came.empty()) {
        const auto reason = text_of(std::span{space}.first(answered.value().size));
        std::fprintf(stderr, "%.*s\n", static_cast<int>(reason.size()), reason.data());
        co_return gyre::errc::no_such_file;
    }
    gyre::descriptor file{came.take(0)};
    auto got = co_await file.read_some(space);
    while (got.ok()) {
        std::fwrite(space.data(), 1, got.value(), stdout);
        got = co_await file.read_some(space);
    }
    if (got.error() == gyre::errc::eof) co_return gyre::io_result<>{};
    co_return got.error();
}
// end of snippet

int main(int count, char** arguments) {
    const auto at = gyre::endpoint::parse(count == 4 ? arguments[2] : "");
    const std::string_view verb = count == 4 ? arguments[1] : "";
    if (!at.ok() || at.value().kind() != gyre::endpoint::family::local) {
        std::fprintf(stderr,
                     "usage: file_broker serve unix:PATH DIRECTORY\n"
                     "       file_broker show unix:PATH NAME\n");
        return 2;
    }
    if (verb == "serve") return gyre::run_until_signal(broker(at.value(), arguments[3]));
    return gyre::run_until_signal(show(at.value(), arguments[3]));
}

// SPDX-License-Identifier: BSL-1.0
//
// A feed that many read, some of them slowly, and that is replaced without refusing a client.
//
// Each connection is sent the time, ten times a second, from an outbox of its own; a slow client
// has the newest only. SIGHUP starts the program anew with the same listener and drains this one once the
// new one is ready; docs/guide/servers.md explains.
#include <gyre/gyre.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

using namespace std::chrono_literals;

// Who is to be told. One thread, so no locks.
struct audience {
    std::vector<gyre::outbox*> boxes;
    bool over = false;
};

gyre::task<> announce(audience& all) {
    for (std::uint64_t count = 1;; ++count) {
        const std::string text = "tick " + std::to_string(count) + "\n";
        // snippet: broadcast
        const auto message = gyre::shared_bytes::copy_of(gyre::bytes_of(text));
        constexpr gyre::outbox::key time = 1;
        for (gyre::outbox* each : all.boxes) static_cast<void>(each->try_send(message, time));
        // end of snippet
        auto [stopped] = co_await gyre::idle(gyre::sleep_for(100ms));
        if (stopped) break;
    }
    all.over = true;
    for (gyre::outbox* each : all.boxes) each->close();
}

// snippet: session
gyre::task<> listen_to_news(audience& all, gyre::tcp_socket peer) {
    gyre::outbox_options options;
    options.bytes_max = 64 << 10;
    options.when_full = gyre::slow_consumer::drop_oldest;
    gyre::outbox box{options};
    if (all.over) box.close();
    all.boxes.push_back(&box);
    static_cast<void>(co_await gyre::write_from(box, peer));
    std::erase(all.boxes, &box);
}
// end of snippet

gyre::task<gyre::io_result<>> serve_news(gyre::tcp_acceptor acceptor) {
    // snippet: limits
    gyre::peer_limit_options per_peer;
    per_peer.connections_max = 20;
    per_peer.accepts = gyre::rate_limit{10, 1s, 50};
    gyre::peer_limits peers{per_peer};

    gyre::serve_options options;
    options.connections_max = 10'000;
    options.accepts = gyre::rate_limit{2000, 1s, 2000};
    options.peers = &peers;
    options.on_stragglers = [](const gyre::straggler_report& those) {
        std::fputs(those.message().c_str(), stderr);
    };
    // end of snippet

    audience all;
    const auto session = [&all](gyre::tcp_socket peer) {
        return listen_to_news(all, std::move(peer));
    };
    const auto body = [&](gyre::task_group& group) -> gyre::task<gyre::io_result<>> {
        group.spawn(announce(all));
        const auto ended = co_await gyre::serve(std::move(acceptor), session, options);
        group.request_stop();  // No client is left to be told.
        co_return ended;
    };
    const auto ended = co_await gyre::with_group(body);
    co_return ended;
}

// Replaces this program on each SIGHUP; ends when that has succeeded.
// snippet: roll
gyre::task<> roll_on_hangup(gyre::signal_set& hangup, int listener, gyre::task_group& server) {
    for (;;) {
        auto [failed, signal] = co_await gyre::idle(hangup.wait());
        if (failed) co_return;

        gyre::process_options how;
        how.passed.push_back({listener, "news"});
        auto started = co_await gyre::start_successor("/proc/self/exe", how, 10s);
        if (!started.ok()) {
            const bool ending = co_await gyre::this_task::draining();
            if (ending) co_return;
            std::fprintf(stderr, "going on: %s\n", started.error().message().c_str());
            continue;
        }
        auto [ready, next, unused] = std::move(started);
        std::printf("succeeded by %d\n", next.id());
        std::fflush(stdout);
        next.detach();
        server.request_drain();
        co_return;
    }
}
// end of snippet

gyre::task<gyre::io_result<>> news(gyre::endpoint local) {
    gyre::io_context& io = *gyre::io_context::current();
    auto hangups = gyre::signal_set::open(io, {SIGHUP});
    if (!hangups.ok()) co_return hangups.error();
    gyre::signal_set hangup = hangups.take();

    // snippet: successor
    auto inherited = gyre::take_inherited_descriptors(io);
    auto noticed = gyre::ready_notice::take(io);
    if (!inherited.ok()) co_return inherited.error();
    if (!noticed.ok()) co_return noticed.error();
    auto given = inherited.take();
    auto notice = noticed.take();

    gyre::tcp_acceptor acceptor;
    if (!given.empty()) {
        acceptor = gyre::tcp_acceptor::adopt(io, given.front().it.release());
    } else {
        auto listening = co_await gyre::tcp_acceptor::listen(local);
        if (!listening.ok()) co_return listening.error();
        acceptor = listening.take();
    }
    auto [unheard] = co_await notice.tell();
    if (unheard) co_return unheard;
    // end of snippet

    const auto bound = acceptor.local_endpoint();
    if (!bound.ok()) co_return bound.error();
    std::printf("listening on %s\n", bound.value().to_string().c_str());
    std::fflush(stdout);
    const int listener = acceptor.native_handle();
    const auto body = [&](gyre::task_group& group) -> gyre::task<gyre::io_result<>> {
        group.spawn(roll_on_hangup(hangup, listener, group));
        const auto ended = co_await serve_news(std::move(acceptor));
        group.request_stop();
        co_return ended;
    };
    const auto ended = co_await gyre::with_group(body);
    co_return ended;
}

int main(int count, char** arguments) {
    const auto local = gyre::endpoint::parse(count > 1 ? arguments[1] : "127.0.0.1:7002");
    if (!local.ok()) {
        std::fprintf(stderr, "usage: rolling_server [ADDRESS:PORT]\n");
        return 2;
    }
    return gyre::run_until_signal(news(local.value()));
}

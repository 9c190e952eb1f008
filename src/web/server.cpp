// SPDX-License-Identifier: BSL-1.0
#include <gyre/web/server.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/io/serve_pool.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <http/connection_io.hpp>
#include <web/versions.hpp>

#include <algorithm>
#include <utility>

namespace gyre::web {
namespace {

// What the connections of one listener share; on its loop.
struct site {
    site(const http::handler& with, const server_options& how) noexcept
        : handle{with}, options{how} {}

    const http::handler& handle;
    const server_options& options;
    http::date_cache date;
    http::message_pool messages;
    http::waiting_connections waiting;
};

void count(const server_options& options, std::atomic<std::uint64_t> server_counters::* which) {
    if (options.counters != nullptr) {
        (options.counters->*which).fetch_add(1, std::memory_order_relaxed);
    }
}

// A loop without workers computes it by itself: better late than a client that is refused.
task<> compute_on_worker(std::function<void()> work) {
    const auto call = [&work] { work(); };
    const io_result<> ran = co_await blocking(call);
    if (!ran.ok() && ran.error() != errc::canceled) work();
}

void note_end(const server_options& options, error ended) {
    // Refusals were counted when they were told.
    const bool is_counted = ended == errc::malformed || ended == errc::limit_exceeded;
    // RFC 9112, 9.8: clients leave without close_notify, and mean nothing by it.
    const bool is_usual = !ended || ended == errc::canceled || ended == errc::tls_truncated;
    if (is_counted || is_usual) return;
    count(options,
          ended == errc::timed_out ? &server_counters::timed_out : &server_counters::failed);
}

// Until a client has said anything, a drain bounds the wait for it: its first bytes may be on their way.
task<error> await_client(any_stream& below, tls::engine& with, duration limit) {
    const io_result<> begun =
        with.handshake();  // A server's first step: it has room for input then.
    if (begun.error() != errc::resource_unavailable) co_return error{};
    io_result<std::size_t> got =
        co_await with_timeout(limit, idle(below.read_some(with.input_space())));
    const stop_level asked = co_await this_task::stop_state();
    if (got.error() == errc::canceled && asked == stop_level::drain) {
        const duration rest = std::min(limit, http::first_request_wait);
        got = co_await with_timeout(rest, below.read_some(with.input_space()));
        if (got.error() == errc::timed_out) co_return error{errc::canceled, activity::handshake};
    }
    with.received(got.value());
    if (got.error() == errc::eof) with.input_ended();
    else if (!got.ok()) co_return error{got.error().code(), activity::handshake};
    co_return error{};
}

// Without a stream if the handshake has failed.
task<io_result<tls::stream>> secure(any_stream below, const site& of, const endpoint& peer) {
    io_result<tls::engine> made = tls::engine::server(of.options.settings);
    tls::engine engine = made.take();
    tls::stream_options how = of.options.tls;
    loop& home = co_await this_task::loop();
    const time_point until = deadline_after(home.read_clock(), how.handshake_wait);
    error failed = made.error();
    if (!failed) failed = co_await await_client(below, engine, how.handshake_wait);
    if (failed == errc::canceled) co_return failed;  // No handshake was begun.

    if (of.options.steps == handshake_steps::on_workers) how.handshake_steps = compute_on_worker;
    how.handshake_wait = time_left(until, home.now());
    tls::stream stream{std::move(below), std::move(engine), std::move(how)};
    if (!failed) {
        const io_result<> agreed = co_await stream.handshake();
        failed = agreed.error();
    }
    if (!failed) {
        count(of.options, &server_counters::handshakes);
        co_return io_result<tls::stream>{std::move(stream)};
    }
    stream.close();
    count(of.options, &server_counters::handshakes_failed);
    if (of.options.on_handshake_failed && failed != errc::canceled) {
        of.options.on_handshake_failed(failed, stream.connection().failure(), peer);
    }
    co_return failed;
}

task<> serve_peer(site& of, stream_socket socket) {
    const server_options& options = of.options;
    const environment* const env =
        co_await look_awaiter{[](const environment& it) noexcept { return &it; }};
    http::waiting_connections::place place{&of.waiting};
    const io_result<endpoint> known = socket.remote_endpoint();
    const endpoint peer = known.value();

    http::connection_options limits = options.connection;
    if (known.ok()) limits.peer = peer.to_string();
    http::connection_hooks hooks;
    hooks.date = &of.date;
    hooks.messages = &of.messages;
    hooks.place = &place;
    hooks.on_refused = [&options, &peer](http::refusal why) {
        count(options, &server_counters::refused);
        if (options.on_refused) options.on_refused(why, peer);
    };
    hooks.on_exception = [&options](const http::request& what, exception_slot& failure) {
        count(options, &server_counters::threw);
        if (options.on_exception) options.on_exception(what, failure);
    };

    hooks.on_answered = options.on_answered;

    any_stream stream{std::move(socket)};
    bool multiplexed = false;
    limits.scheme = "http";
    if (options.settings) {
        place.wait_for_head(*env->chain, env->loop->now());
        io_result<tls::stream> secured = co_await secure(std::move(stream), of, peer);
        if (!secured.ok()) co_return;
        place.end_wait();
        tls::stream secure_stream = secured.take();
        multiplexed = secure_stream.connection().protocol() == "h2";
        limits.scheme = "https";
        if (const auto shown = secure_stream.connection().peer_certificate()) {
            limits.client = options.client_name ? options.client_name(*shown) : shown->subject;
        }
        stream = any_stream{std::move(secure_stream)};
    }
    io_result<> ended;
    if (multiplexed) {
        ended = co_await serve_multiplexed(std::move(stream), of.handle, limits, hooks);
        // What breaks HTTP/2 has names of its own, and no refusal to be told by.
        if (ended.error() == errc::malformed || ended.error() == errc::limit_exceeded) {
            count(options, &server_counters::refused);
        }
    } else {
        ended = co_await http::serve_connection(std::move(stream), of.handle, limits, hooks);
    }
    note_end(options, ended.error());
}

// Stops what has not ended a while after a drain.
task<> end_after_drain(task_group& sessions, duration limit) {
    const stop_level asked = co_await this_task::stop_requested();
    if (asked == stop_level::stop) co_return;
    static_cast<void>(co_await sleep_for(limit));
    sessions.request_stop();
}

task<io_result<>> serve_within(task_group& group, site& of, stream_acceptor acceptor,
                               serve_options intake) {
    const auto program = intake.on_full;
    loop& here = *io_context::current();
    intake.on_full = [&of, &here, program] {
        const duration again = of.waiting.make_room(here.read_clock());
        return program ? std::min(again, program()) : again;
    };
    const auto session = [&of](stream_socket socket) { return serve_peer(of, std::move(socket)); };
    group.spawn(end_after_drain(group, of.options.drain_time_max));
    const io_result<> ended = co_await serve(std::move(acceptor), session, intake);
    group.request_stop();
    co_return ended;
}

// One listener on one loop.
task<io_result<>> serve_listener(stream_acceptor acceptor, const http::handler& handle,
                                 const server_options& options, const serve_options& intake) {
    site of{handle, options};
    const auto body = [&](task_group& group) {
        return serve_within(group, of, std::move(acceptor), intake);
    };
    const io_result<> ended = co_await with_group(body);
    co_return ended;
}

task<io_result<>> serve_listener_on(io_context& where, stream_acceptor acceptor,
                                    const http::handler& handle, const server_options& options,
                                    const serve_options& intake) {
    const io_result<> ended =
        co_await on(where, serve_listener(std::move(acceptor), handle, options, intake));
    co_return ended;
}

task<io_result<>> spawn_all(task_group& group, std::vector<task<io_result<>>>& listeners) {
    for (task<io_result<>>& each : listeners) group.spawn(std::move(each));
    co_return io_result<>{};
}

// The first that fails stops the others.
task<io_result<>> serve_all(std::vector<task<io_result<>>> listeners) {
    const auto body = [&](task_group& group) { return spawn_all(group, listeners); };
    const io_result<> ended =
        co_await with_group(body, group_options{group_mode::stop_on_first_error});
    co_return ended;
}

}  // namespace

task<io_result<>> serve_http(stream_acceptor acceptor, http::handler handle,
                             server_options options) {
    expects(static_cast<bool>(handle), "a server has a handler");
    const io_result<> ended =
        co_await serve_listener(std::move(acceptor), handle, options, options.intake);
    co_return ended;
}

task<io_result<>> serve_http(std::vector<stream_acceptor> acceptors, http::handler handle,
                             server_options options) {
    expects(static_cast<bool>(handle), "a server has a handler");
    std::vector<task<io_result<>>> listeners;
    listeners.reserve(acceptors.size());
    for (stream_acceptor& each : acceptors) {
        listeners.push_back(serve_listener(std::move(each), handle, options, options.intake));
    }
    const io_result<> ended = co_await serve_all(std::move(listeners));
    co_return ended;
}

task<io_result<>> serve_http(io_pool& pool, std::vector<stream_acceptor> acceptors,
                             http::handler handle, server_options options) {
    expects(static_cast<bool>(handle), "a server has a handler");
    const error unusable = pool.status();
    if (unusable) co_return unusable;
    expects(acceptors.size() == pool.size(), "a listener for each loop");
    const serve_options intake = share_of(options.intake, pool.size());
    std::vector<task<io_result<>>> listeners;
    listeners.reserve(acceptors.size());
    for (std::size_t index = 0; index < acceptors.size(); ++index) {
        listeners.push_back(
            serve_listener_on(pool[index], std::move(acceptors[index]), handle, options, intake));
    }
    const io_result<> ended = co_await serve_all(std::move(listeners));
    co_return ended;
}

}  // namespace gyre::web

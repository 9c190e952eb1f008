// SPDX-License-Identifier: BSL-1.0
//
// Two TLS streams that are connected, over any transport.
#pragma once

#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/tls/stream.hpp>

#include "engine_pair.hpp"

#include <string>
#include <utility>

namespace gyre::testing {

/// Settings of two sides that trust each other; made once, since keys take a while.
struct test_settings {
    test_trust trust;
    tls::context client = tls::context::client(trust.client()).take();
    tls::context server = tls::context::server(trust.server()).take();

    [[nodiscard]] static const test_settings& get() {
        static const test_settings all;
        return all;
    }
};

struct stream_pair {
    tls::stream client;
    tls::stream server;
};

inline task<> connect_into(any_stream below, io_result<tls::stream>& into,
                           tls::stream_options options = {}) {
    const tls::context settings = test_settings::get().client;
    into = co_await tls::connect(std::move(below), settings, "localhost", std::move(options));
}

inline task<> accept_into(any_stream below, io_result<tls::stream>& into,
                          tls::stream_options options = {}) {
    const tls::context settings = test_settings::get().server;
    into = co_await tls::accept(std::move(below), settings, std::move(options));
}

/// Shakes hands over the two ends of a transport.
inline task<stream_pair> shake_hands(any_stream client_end, any_stream server_end,
                                     tls::stream_options options = {}) {
    io_result<tls::stream> client;
    io_result<tls::stream> server;
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(connect_into(std::move(client_end), client, options));
        group.spawn(accept_into(std::move(server_end), server, options));
        co_return;
    };
    co_await with_group(body);
    CHECK_FALSE(client.error());
    CHECK_FALSE(server.error());
    stream_pair pair;
    pair.client = client.take();
    pair.server = server.take();
    co_return pair;
}

/// Two streams over a pipe that were connected before, without a loop.
inline stream_pair connected_over(memory_pipe pipe, const environment& home) {
    engine_pair engines = pair_of(test_settings::get().client, test_settings::get().server);
    engines.shake();
    stream_pair pair{tls::stream{std::move(pipe.first), std::move(engines.client)},
                     tls::stream{std::move(pipe.second), std::move(engines.server)}};
    pair.client.send_from(home);
    pair.server.send_from(home);
    return pair;
}

}  // namespace gyre::testing

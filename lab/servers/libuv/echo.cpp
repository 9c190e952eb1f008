// SPDX-License-Identifier: BSL-1.0
//
// The least a libuv echo server can be, for the suite `cost`; peers/libuv is the fastest. What is written
// must stay where it is until it has been, so a connection has a buffer of its own and reads on when that
// is free again.
#include <lab/servers/seam.hpp>

#include <uv.h>

#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

struct connection {
    explicit connection(std::size_t buffer_bytes) : space(buffer_bytes) {}
    uv_tcp_t socket{};
    uv_write_t writing{};
    std::vector<char> space;
};

void forget(uv_handle_t* handle) { delete reinterpret_cast<connection*>(handle); }

void end(uv_stream_t* peer) { uv_close(reinterpret_cast<uv_handle_t*>(peer), forget); }

void lend(uv_handle_t* handle, std::size_t, uv_buf_t* space) {
    auto* const it = reinterpret_cast<connection*>(handle);
    *space = uv_buf_init(it->space.data(), static_cast<unsigned>(it->space.size()));
}

void on_read(uv_stream_t* peer, ssize_t size, const uv_buf_t* space);

void on_written(uv_write_t* writing, int failed) {
    auto* const peer = writing->handle;
    if (failed != 0) return end(peer);
    uv_read_start(peer, lend, on_read);
}

void on_read(uv_stream_t* peer, ssize_t size, const uv_buf_t* space) {
    if (size == 0) return;  // As EAGAIN.
    if (size < 0) return end(peer);
    uv_read_stop(peer);
    const uv_buf_t arrived = uv_buf_init(space->base, static_cast<unsigned>(size));
    uv_write(&reinterpret_cast<connection*>(peer)->writing, peer, &arrived, 1, on_written);
}

void on_connection(uv_stream_t* listener, int failed) {
    if (failed != 0) return;
    auto* const it = new connection{static_cast<const servers::job*>(listener->data)->buffer_bytes};
    uv_tcp_init(listener->loop, &it->socket);
    auto* const peer = reinterpret_cast<uv_stream_t*>(&it->socket);
    uv_accept(listener, peer);
    uv_tcp_nodelay(&it->socket, 1);
    uv_read_start(peer, lend, on_read);
}

}  // namespace

int servers::serve_echo(const job& wanted) {
    uv_loop_t* const loop = uv_default_loop();
    uv_signal_t termination;
    uv_signal_init(loop, &termination);
    uv_signal_start(&termination, [](uv_signal_t* it, int) { uv_stop(it->loop); }, SIGTERM);

    sockaddr_in local{};
    uv_ip4_addr("127.0.0.1", wanted.port, &local);
    uv_tcp_t listener;
    uv_tcp_init(loop, &listener);
    listener.data = const_cast<job*>(&wanted);
    uv_tcp_bind(&listener, reinterpret_cast<const sockaddr*>(&local), 0);
    const int failed = uv_listen(reinterpret_cast<uv_stream_t*>(&listener), 4'096, on_connection);
    if (failed != 0) {
        std::fprintf(stderr, "port %u: %s\n", unsigned{wanted.port}, uv_strerror(failed));
        return 1;
    }
    say_ready(wanted);
    uv_run(loop, UV_RUN_DEFAULT);
    return 0;
}

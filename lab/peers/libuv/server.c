// SPDX-License-Identifier: BSL-1.0
//
// What libuv can do as a server, so that the lab can put it beside gyre (lab/README.md, "Peers").
//
// Its documentation calls nothing the fastest; this is what it offers to save work:
// - uv_try_write first, a request only for what the socket did not take:
//   https://docs.libuv.org/en/v1.x/stream.html#c.uv_try_write
// - one buffer for all reads of a loop, of the size that libuv suggests; it is free again after each
//   callback: https://docs.libuv.org/en/v1.x/handle.html#c.uv_alloc_cb
// - one loop per thread, each with a socket of its own on the port. libuv 1.49 sets SO_REUSEPORT for that
//   (https://docs.libuv.org/en/v1.x/tcp.html#c.uv_tcp_flags); older ones are handed such a socket.
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

enum { input_size = 128 * 1024, request_size_max = 16 * 1024, backlog = 4096, threads_max = 64 };

static const char kept[] =
    "HTTP/1.1 404 Not Found\r\nConnection: keep-alive\r\nContent-Type: text/plain\r\n"
    "Content-Length: 24\r\n\r\nThere is nothing here.\r\n";
static const char closing[] =
    "HTTP/1.1 404 Not Found\r\nConnection:      close\r\nContent-Type: text/plain\r\n"
    "Content-Length: 24\r\n\r\nThere is nothing here.\r\n";
static const char empty_line[] = "\r\n\r\n";

// The shortest request is an empty line, so no input has more answers than this.
enum { output_size = request_size_max / (sizeof empty_line - 1) * (sizeof kept - 1) };

struct server {
    uv_loop_t loop;
    uv_tcp_t listener;
    bool http;
    char* buffer;  // Of the loop: what was read (echo), or the answers to it (http).
};

struct connection {
    uv_tcp_t tcp;
    uv_write_t write;
    char* unsent;      // What the socket did not take; nothing is read while there is some.
    bool ends;         // Closes as soon as everything is sent.
    size_t used;       // Bytes of a request that is not whole.
    char request[];    // http only: request_size_max bytes.
};

static void fail(const char* what, int error) {
    fprintf(stderr, "libuv: %s: %s\n", what, uv_strerror(error));
    exit(1);
}

static void check(const char* what, int result) {
    if (result < 0) fail(what, result);
}

static struct server* server_of(struct connection* connection) { return connection->tcp.loop->data; }

// --- connections ---------------------------------------------------------------------------------

static void on_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer);

static void lend_buffer(uv_handle_t* handle, size_t suggested, uv_buf_t* buffer) {
    (void)suggested;
    struct connection* connection = (struct connection*)handle;
    struct server* server = server_of(connection);
    if (server->http) {
        *buffer = uv_buf_init(connection->request + connection->used,
                              (unsigned)(request_size_max - connection->used));
    } else {
        *buffer = uv_buf_init(server->buffer, input_size);
    }
}

static void on_closed(uv_handle_t* handle) {
    struct connection* connection = (struct connection*)handle;
    free(connection->unsent);
    free(connection);
}

static void leave(struct connection* connection) {
    if (!uv_is_closing((uv_handle_t*)connection)) uv_close((uv_handle_t*)connection, on_closed);
}

static void on_written(uv_write_t* request, int error) {
    struct connection* connection = (struct connection*)request->handle;
    free(connection->unsent);
    connection->unsent = NULL;
    if (error || connection->ends) {
        leave(connection);
    } else {
        uv_read_start((uv_stream_t*)connection, lend_buffer, on_read);
    }
}

static void reply(struct connection* connection, const char* bytes, size_t size) {
    uv_stream_t* stream = (uv_stream_t*)connection;
    uv_buf_t whole = uv_buf_init((char*)bytes, (unsigned)size);
    int sent = uv_try_write(stream, &whole, 1);
    if (sent == UV_EAGAIN) sent = 0;
    if (sent < 0) {
        leave(connection);
        return;
    }
    if ((size_t)sent == size) {
        if (connection->ends) leave(connection);
        return;
    }

    size_t left = size - (size_t)sent;
    connection->unsent = malloc(left);
    if (!connection->unsent) fail("memory", UV_ENOMEM);
    memcpy(connection->unsent, bytes + sent, left);
    uv_buf_t rest = uv_buf_init(connection->unsent, (unsigned)left);
    uv_read_stop(stream);  // A client that does not read is not read from, either.
    if (uv_write(&connection->write, stream, &rest, 1, on_written) != 0) leave(connection);
}

// --- http ----------------------------------------------------------------------------------------

// Whether the client wants to go on after the request `head`, which ends with an empty line (RFC 9112, 9.3).
static bool keeps_alive(const char* head, size_t size) {
    static const char name[] = "\r\nConnection:";
    const char* line_end = memmem(head, size, "\r\n", 2);
    bool modern = line_end - head >= 8 && memcmp(line_end - 8, "HTTP/1.1", 8) == 0;
    const char* end = head + size;
    for (const char* at = line_end; end - at > (ptrdiff_t)(sizeof name - 1);) {
        if (strncasecmp(at, name, sizeof name - 1) == 0) {
            at += sizeof name - 1;
            while (*at == ' ' || *at == '\t') ++at;
            if (strncasecmp(at, "close", 5) == 0) return false;
            if (strncasecmp(at, "keep-alive", 10) == 0) return true;
        }
        at = memmem(at + 2, (size_t)(end - at - 2), "\r\n", 2);
    }
    return modern;
}

static void answer(struct connection* connection, size_t fresh) {
    char* output = server_of(connection)->buffer;
    size_t size = 0, begin = 0, have = connection->used + fresh;
    const char* found;
    while (!connection->ends &&
           (found = memmem(connection->request + begin, have - begin, empty_line, 4)) != NULL) {
        size_t length = (size_t)(found + 4 - (connection->request + begin));
        connection->ends = !keeps_alive(connection->request + begin, length);
        const char* text = connection->ends ? closing : kept;
        size_t text_size = connection->ends ? sizeof closing - 1 : sizeof kept - 1;
        memcpy(output + size, text, text_size);
        size += text_size;
        begin += length;
    }
    connection->used = have - begin;
    memmove(connection->request, connection->request + begin, connection->used);
    if (size > 0) {
        reply(connection, output, size);
    } else if (connection->used == request_size_max) {
        leave(connection);  // No request is that long.
    }
}

// --- the loop ------------------------------------------------------------------------------------

static void on_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
    struct connection* connection = (struct connection*)stream;
    if (count < 0) {
        leave(connection);
    } else if (count > 0 && server_of(connection)->http) {
        answer(connection, (size_t)count);
    } else if (count > 0) {
        reply(connection, buffer->base, (size_t)count);
    }
}

static void on_connection(uv_stream_t* listener, int error) {
    if (error < 0) return;

    struct server* server = listener->loop->data;
    size_t size = sizeof(struct connection) + (server->http ? request_size_max : 0);
    struct connection* connection = calloc(1, size);
    if (!connection) fail("memory", UV_ENOMEM);
    uv_tcp_init(listener->loop, &connection->tcp);
    if (uv_accept(listener, (uv_stream_t*)connection) != 0 || uv_tcp_nodelay(&connection->tcp, 1) != 0 ||
        uv_read_start((uv_stream_t*)connection, lend_buffer, on_read) != 0) {
        leave(connection);
    }
}

// A socket that is bound; `shared` lets others be bound to the same port.
static int bind_socket(int port, bool shared) {
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) fail("socket", uv_translate_sys_error(errno));
    struct sockaddr_in address;
    uv_ip4_addr("127.0.0.1", port, &address);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (shared) setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    if (bind(fd, (struct sockaddr*)&address, sizeof address) != 0) {
        char what[32];
        snprintf(what, sizeof what, "port %d", port);
        fail(what, uv_translate_sys_error(errno));
    }
    return fd;
}

static struct server* make_server(int fd, bool http) {
    struct server* server = calloc(1, sizeof *server);
    if (!server || !(server->buffer = malloc(http ? output_size : input_size))) {
        fail("memory", UV_ENOMEM);
    }
    server->http = http;
    check("loop", uv_loop_init(&server->loop));
    server->loop.data = server;
    check("listener", uv_tcp_init(&server->loop, &server->listener));
    check("listener", uv_tcp_open(&server->listener, fd));
    check("listen", uv_listen((uv_stream_t*)&server->listener, backlog, on_connection));
    return server;
}

static void run_server(void* server) { uv_run(&((struct server*)server)->loop, UV_RUN_DEFAULT); }

static void on_terminate(uv_signal_t* handle, int number) {
    (void)handle;
    (void)number;
    _exit(0);  // Nothing here has to be brought to an end.
}

// --- the command line ----------------------------------------------------------------------------

struct options {
    bool http;
    int threads;
    int port;
};

static void misuse(const char* what, const char* argument) {
    fprintf(stderr, "libuv: %s: %s\n", what, argument);
    exit(2);
}

static int number_of(const char* text, int least, int most) {
    char* end;
    long value = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < least || value > most) misuse("no such number", text);
    return (int)value;
}

static struct options read_options(int count, char** arguments) {
    struct options options = {false, 1, -1};
    for (int i = 1; i < count; ++i) {
        const char* name = arguments[i];
        if (strcmp(name, "--version") == 0) {
            printf("libuv %s epoll\n", uv_version_string());
            exit(0);
        }
        if (strcmp(name, "--workload") && strcmp(name, "--threads") && strcmp(name, "--port")) {
            misuse("unknown argument", name);
        }
        if (++i == count) misuse("a value is missing after", name);
        const char* value = arguments[i];
        if (strcmp(name, "--threads") == 0) {
            options.threads = number_of(value, 1, threads_max);
        } else if (strcmp(name, "--port") == 0) {
            options.port = number_of(value, 0, 65535);
        } else if (strcmp(value, "echo") == 0 || strcmp(value, "http") == 0) {
            options.http = value[0] == 'h';
        } else {
            misuse("no such workload", value);
        }
    }
    if (options.port < 0) misuse("missing", "--port");
    return options;
}

int main(int count, char** arguments) {
    struct options options = read_options(count, arguments);
    bool shared = options.threads > 1;
    // Sockets that share a port would share it with another server, too: only one that does not tells.
    if (shared) close(bind_socket(options.port, false));

    struct server* servers[threads_max];
    for (int i = 0; i < options.threads; ++i) {
        servers[i] = make_server(bind_socket(options.port, shared), options.http);
    }
    uv_signal_t terminate;
    check("signal", uv_signal_init(&servers[0]->loop, &terminate));
    check("signal", uv_signal_start(&terminate, on_terminate, SIGTERM));
    for (int i = 1; i < options.threads; ++i) {
        uv_thread_t thread;
        check("thread", uv_thread_create(&thread, run_server, servers[i]));
    }
    puts("ready");
    fflush(stdout);
    run_server(servers[0]);
    return 1;  // A loop with a listener does not end.
}

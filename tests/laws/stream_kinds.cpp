// SPDX-License-Identifier: BSL-1.0
//
// The streams of the library itself: see stream_kinds.hpp.
#include <laws/stream_kinds.hpp>

#include <gyre/io/pipe.hpp>
#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/buffered.hpp>
#include <gyre/stream/chain_stream.hpp>
#include <gyre/stream/counted_stream.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/stream/null_stream.hpp>
#include <gyre/stream/split.hpp>
#include <gyre/stream/stream_ref.hpp>
#include <gyre/stream/take_stream.hpp>
#include <gyre/stream/tee_stream.hpp>
#include <gyre/stream/throttled_stream.hpp>
#include <gyre/sync/rate_limiter.hpp>

#include <support/conformance.hpp>
#include <support/harness.hpp>

#include <cstdint>
#include <utility>

namespace gyre::testing {
namespace {

using namespace std::chrono_literals;

/// Two connected ends, each kind under the same names.
struct over_memory {
    static constexpr const char* name = "memory pipe";
    explicit over_memory(io_context&) : pipe{64}, near{pipe.first}, far{pipe.second} {}

    memory_pipe pipe;
    memory_stream& near;
    memory_stream& far;
};

struct over_socket {
    explicit over_socket(socket_pair made) : ends{std::move(made)} {}
    over_socket(const over_socket&) = delete;
    over_socket& operator=(const over_socket&) = delete;

    socket_pair ends;
    stream_socket& near = ends.client;
    stream_socket& far = ends.server;
};

struct over_local : over_socket {
    static constexpr const char* name = "Unix-domain socket";
    explicit over_local(io_context& io) : over_socket{local_pair(io)} {}
};

struct over_tcp : over_socket {
    static constexpr const char* name = "TCP socket";
    explicit over_tcp(io_context& io) : over_socket{connected_pair(io)} {}
};

/// Two pipes of the kernel, one each way.
class pipe_end {
public:
    pipe_end(readable_pipe in, writable_pipe out) : in_{std::move(in)}, out_{std::move(out)} {}

    [[nodiscard]] auto read_some(read_space into) noexcept { return in_.read_some(into); }
    [[nodiscard]] auto write_some(const_buffer from) { return out_.write_some(from); }
    void shutdown_send() { static_cast<void>(out_.close()); }
    void close() {
        static_cast<void>(in_.close());
        static_cast<void>(out_.close());
    }

private:
    readable_pipe in_;
    writable_pipe out_;
};

struct over_pipes {
    static constexpr const char* name = "two pipes";
    static constexpr stream_traits traits{errc::closed};  // Its end is its closing.
    explicit over_pipes(io_context& io) : over_pipes{make_pipe(io), make_pipe(io)} {}
    over_pipes(io_result<readable_pipe, writable_pipe> there,
               io_result<readable_pipe, writable_pipe> back)
        : near{std::move(back.get<1>()), std::move(there.get<2>())},
          far{std::move(there.get<1>()), std::move(back.get<2>())} {}

    pipe_end near;
    pipe_end far;
};

/// The halves of a stream, each owned.
template <class Stream>
class halved_end {
public:
    explicit halved_end(Stream whole) : halves_{split(std::move(whole))} {}

    [[nodiscard]] auto read_some(read_space into) noexcept { return halves_.reads.read_some(into); }
    [[nodiscard]] auto write_some(const_buffer from) { return halves_.writes.write_some(from); }
    io_result<> shutdown_send() { return halves_.writes.shutdown_send(); }
    void close() { static_cast<void>(halves_.writes.whole().close()); }

private:
    stream_halves<Stream> halves_;
};

struct over_memory_halves {
    static constexpr const char* name = "halves of a memory pipe";
    explicit over_memory_halves(io_context&, memory_pipe pipe = memory_pipe{64})
        : near{std::move(pipe.first)}, far{std::move(pipe.second)} {}

    halved_end<memory_stream> near;
    halved_end<memory_stream> far;
};

struct over_socket_halves {
    static constexpr const char* name = "halves of a TCP socket";
    explicit over_socket_halves(io_context& io) : over_socket_halves{connected_pair(io)} {}
    explicit over_socket_halves(socket_pair ends)
        : near{std::move(ends.client)}, far{std::move(ends.server)} {}

    halved_end<stream_socket> near;
    halved_end<stream_socket> far;
};

/// An end of a memory pipe behind something that changes nothing, or nothing that shows: `Layer::over` makes
/// that. What can only read is written past.
template <class Layer>
class layered_end {
public:
    layered_end(memory_stream& end, Layer& layer) : end_{end}, layer_{layer.over(end)} {}

    [[nodiscard]] auto read_some(read_space into) { return layer_.read_some(into); }
    [[nodiscard]] auto write_some(const_buffer from) {
        if constexpr (write_stream<decltype(layer_)>) return layer_.write_some(from);
        else return end_.write_some(from);
    }
    void shutdown_send() noexcept { end_.shutdown_send(); }
    void close() noexcept { end_.close(); }

private:
    memory_stream& end_;
    decltype(std::declval<Layer&>().over(std::declval<memory_stream&>())) layer_;
};

template <class Layer>
struct over_layer {
    static constexpr const char* name = Layer::name;
    explicit over_layer(io_context& io) : layer{io} {}

    Layer layer;
    memory_pipe pipe{64};
    layered_end<Layer> near{pipe.first, layer};
    layered_end<Layer> far{pipe.second, layer};
};

struct needs_no_loop {
    explicit needs_no_loop(io_context&) noexcept {}
};

struct buffered_layer : needs_no_loop {
    static constexpr const char* name = "buffered_reader of a few bytes";
    using needs_no_loop::needs_no_loop;
    auto over(memory_stream& end) { return buffered_reader<memory_stream>{end, 16}; }
};

struct ref_layer : needs_no_loop {
    static constexpr const char* name = "stream_ref";
    using needs_no_loop::needs_no_loop;
    auto over(memory_stream& end) { return stream_ref{end}; }
};

struct take_layer : needs_no_loop {
    static constexpr const char* name = "take_stream without an end";
    using needs_no_loop::needs_no_loop;
    auto over(memory_stream& end) { return take_stream{stream_ref{end}, UINT64_MAX}; }
};

struct chain_layer : needs_no_loop {
    static constexpr const char* name = "chain_stream of nothing, one and nothing";
    using needs_no_loop::needs_no_loop;
    auto over(memory_stream& end) {
        return chain_stream{null_stream{}, chain_stream{stream_ref{end}, null_stream{}}};
    }
};

struct tee_layer : needs_no_loop {
    static constexpr const char* name = "tee_stream into nothing";
    using needs_no_loop::needs_no_loop;
    auto over(memory_stream& end) {
        return tee_stream{stream_ref{end}, null_stream{}, buffer_bounds{1, 32}};
    }
};

struct counted_layer : needs_no_loop {
    static constexpr const char* name = "counted_stream";
    using needs_no_loop::needs_no_loop;
    auto over(memory_stream& end) { return counted_stream{stream_ref{end}}; }
};

struct throttle_layer {
    static constexpr const char* name = "throttled_stream of a high rate";
    explicit throttle_layer(io_context& io) : limiter{io, {1'000'000'000, 1s, 1'000'000}} {}
    auto over(memory_stream& end) {
        return throttled_stream{stream_ref{end}, throttles{&limiter, &limiter}};
    }

    rate_limiter limiter;
};

/// Both ends of a connection of another kind, erased.
struct over_any {
    template <class Stream>
    over_any(Stream&& one, Stream&& other) : near{std::move(one)}, far{std::move(other)} {}

    any_stream near;
    any_stream far;
};

struct over_any_memory : over_any {
    static constexpr const char* name = "any_stream of a memory pipe";
    explicit over_any_memory(io_context&, memory_pipe pipe = memory_pipe{64})
        : over_any{std::move(pipe.first), std::move(pipe.second)} {}
};

struct over_any_socket : over_any {
    static constexpr const char* name = "any_stream of a TCP socket";
    explicit over_any_socket(io_context& io) : over_any_socket{connected_pair(io)} {}
    explicit over_any_socket(socket_pair ends)
        : over_any{std::move(ends.client), std::move(ends.server)} {}
};

[[maybe_unused]] const bool added =
    add_stream_kinds<over_memory, over_local, over_tcp, over_pipes, over_memory_halves,
                     over_socket_halves, over_any_memory, over_any_socket,
                     over_layer<buffered_layer>, over_layer<ref_layer>, over_layer<take_layer>,
                     over_layer<chain_layer>, over_layer<tee_layer>, over_layer<counted_layer>,
                     over_layer<throttle_layer>>();

void on_kind(const stream_kind& kind, const stream_law& law) {
    INFO(kind.name);
    const auto test = [&](io_context& io) -> task<> {
        const std::unique_ptr<stream_connection> connection = kind.connect(io);
        co_await law(*connection);
    };
    on_each_backend_of("streams of every kind", test);
}

}  // namespace

std::vector<stream_kind>& stream_kinds() {
    static std::vector<stream_kind> all;
    return all;
}

void on_every_stream(const stream_law& law) {
    for (const stream_kind& each : stream_kinds()) {
        if (each.traits.both_ways) on_kind(each, law);
    }
}

void on_every_direction(const stream_law& law) {
    for (const stream_kind& each : stream_kinds()) on_kind(each, law);
}

}  // namespace gyre::testing

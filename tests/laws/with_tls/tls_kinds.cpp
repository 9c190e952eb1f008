// SPDX-License-Identifier: BSL-1.0
//
// TLS, for the laws of streams.
#include <laws/stream_kinds.hpp>

#include <gyre/stream/any_stream.hpp>
#include <gyre/tls/stream.hpp>

#include <tls/stream_pair.hpp>

#include <utility>

namespace gyre::testing {
namespace {

/// Over a pipe that holds less than a record.
struct over_tls {
    static constexpr const char* name = "TLS on a memory pipe";
    explicit over_tls(io_context& io)
        : ends{connected_over(memory_pipe{64}, environment{io, &io, nullptr})} {}
    over_tls(const over_tls&) = delete;
    over_tls& operator=(const over_tls&) = delete;

    stream_pair ends;
    tls::stream& near = ends.client;
    tls::stream& far = ends.server;
};

struct over_any_tls {
    static constexpr const char* name = "any_stream of TLS on a memory pipe";
    explicit over_any_tls(io_context& io)
        : over_any_tls{connected_over(memory_pipe{64}, environment{io, &io, nullptr})} {}
    explicit over_any_tls(stream_pair ends)
        : near{std::move(ends.server)}, far{std::move(ends.client)} {}

    any_stream near;
    any_stream far;
};

[[maybe_unused]] const bool added = add_stream_kinds<over_tls, over_any_tls>();

}  // namespace
}  // namespace gyre::testing

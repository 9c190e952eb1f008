// SPDX-License-Identifier: BSL-1.0
//
// Two ends of TLS over every transport: in pieces of any size, delayed, cut after any byte and broken at any
// moment. A cut is never taken for an end.
#include <gyre/tls/stream.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/transports.hpp>

#include <doctest/doctest.h>

#include "stream_pair.hpp"

#include <array>
#include <chrono>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

std::string text_of_session() {
    std::string text(1500, ' ');
    for (std::size_t at = 0; at < text.size(); ++at) text[at] = static_cast<char>('a' + at % 23);
    return text;
}

// All up to the peer's close_notify.
task<io_result<>> read_to_end(tls::stream& from, std::string& into) {
    std::array<std::byte, 200> space;
    for (;;) {
        const io_result<std::size_t> got = co_await with_timeout(1min, from.read_some(space));
        if (got.error() == errc::eof) co_return io_result<>{};
        if (!got.ok()) co_return got.error();
        into += text_of(std::span{space}.first(got.value()));
    }
}

task<io_result<>> echo(any_stream below) {
    const tls::context settings = test_settings::get().server;
    io_result<tls::stream> shaken = co_await tls::accept(std::move(below), settings);
    if (!shaken.ok()) co_return shaken.error();
    tls::stream peer = shaken.take();
    std::string heard;
    const io_result<> whole = co_await read_to_end(peer, heard);
    if (!whole.ok()) co_return whole;
    CHECK(heard == text_of_session());
    const io_result<std::size_t> said = co_await write_all(peer, bytes_of(heard));
    if (!said.ok()) co_return said.error();
    const io_result<> ended = co_await peer.finish();
    co_return ended;
}

task<io_result<>> visit(any_stream below) {
    const tls::context settings = test_settings::get().client;
    io_result<tls::stream> shaken = co_await tls::connect(std::move(below), settings, "localhost");
    if (!shaken.ok()) co_return shaken.error();
    tls::stream peer = shaken.take();
    const std::string text = text_of_session();
    const io_result<std::size_t> said = co_await write_all(peer, bytes_of(text));
    if (!said.ok()) co_return said.error();
    const io_result<> last = peer.shutdown_send();
    if (!last.ok()) co_return last;
    std::string heard;
    const io_result<> whole = co_await read_to_end(peer, heard);
    if (!whole.ok()) co_return whole;
    CHECK(heard == text);
    const io_result<> ended = co_await peer.finish();
    co_return ended;
}

}  // namespace

TEST_CASE("TLS on every transport: a handshake, a text each way and both ends come through") {
    check_on_every_transport(echo, visit);
}

TEST_CASE("TLS on a pipe that is cut after any byte: both sides end, and no cut is an end") {
    check_cut_everywhere(echo, visit);
}

TEST_CASE("TLS in a world where connections break at any moment: both sides end") {
    check_broken_everywhere(echo, visit);
}

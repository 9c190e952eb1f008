// SPDX-License-Identifier: BSL-1.0
//
// What the laws of streams say and hear.
#pragma once

#include <laws/stream_kinds.hpp>

#include <gyre/stream/algorithms.hpp>

#include <cstddef>
#include <random>
#include <string>

namespace gyre::testing {

inline std::string random_text(std::mt19937& random, std::size_t size) {
    std::string text(size, ' ');
    for (char& each : text) each = static_cast<char>('a' + random() % 26);
    return text;
}

inline task<> send_text(stream_end& to, const char* text) {
    const io_result<std::size_t> sent = co_await write_all(to, bytes_of(text));
    CHECK(sent.ok());
    co_await to.flush();
}

inline task<> receive_text(stream_end& from, std::string& into, std::size_t size) {
    into.resize(size);
    const io_result<std::size_t> got = co_await read_exactly(from, into);
    CHECK(got.ok());
    into.resize(got.value());
}

}  // namespace gyre::testing

// SPDX-License-Identifier: BSL-1.0
//
// A wait of a resting loop, for tests that end it by something else than an answer.
#pragma once

#include <gyre/coro/resume.hpp>
#include <gyre/coro/stop.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/event.hpp>
#include <support/disposable.hpp>
#include <support/harness.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace gyre::testing {

/// A read that only the test answers, in a frame that any thread may destroy.
class endless_read {
public:
    explicit endless_read(io_context& on)
        : pair_{local_pair(on)}, given_{executor_ref{on}, &on, &chain_} {
        it_.frame.promise().env = &given_;
    }
    endless_read(const endless_read&) = delete;
    endless_read& operator=(const endless_read&) = delete;
    ~endless_read() { destroy(); }

    void begin() { gyre::resume(it_.frame); }
    void stop() noexcept { chain_.request(stop_level::stop); }
    void destroy() noexcept {
        if (std::exchange(lives_, false)) it_.frame.destroy();
    }
    [[nodiscard]] socket_pair& ends() noexcept { return pair_; }
    [[nodiscard]] bool waits() const noexcept { return chain_.pending() != nullptr; }

    error ended;
    int resumptions = 0;
    event over;  ///< Set behind the first of them.

private:
    disposable read() {
        std::array<std::byte, 8> space{};
        const auto got = co_await pair_.client.read_some(mutable_buffer{space});
        ended = got.error();
        ++resumptions;
        over.set();
    }

    socket_pair pair_;
    stop_chain chain_;
    environment given_;
    disposable it_ = read();
    bool lives_ = true;
};

}  // namespace gyre::testing

// SPDX-License-Identifier: BSL-1.0
//
// Finds out why a request's body ended early: its producer failed, or the server that it goes to.
//
// A proxy's producer reads from a client. One that leaves while it uploads must not count against the server.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/http/body_writer.hpp>
#include <web/sent_body.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace gyre::web {

/// Hands on what is written to it, and knows whether that failed.
class watched_sink final : public http::body_sink {
public:
    explicit watched_sink(http::body_writer to) noexcept : to_{to} {}

    // The sink behind alone knows how much it could take at once.
    [[nodiscard]] std::optional<io_result<std::size_t>> try_write(const_buffer) noexcept override {
        return std::nullopt;
    }
    [[nodiscard]] task<io_result<std::size_t>> write(const_buffer from) override {
        const io_result<std::size_t> put = co_await to_.write_some(from);
        failed_ = failed_ || !put.ok();
        co_return put;
    }
    [[nodiscard]] task<io_result<>> flush() override {
        const io_result<> flushed = co_await to_.flush();
        failed_ = failed_ || !flushed.ok();
        co_return flushed;
    }
    [[nodiscard]] http::fields& trailers() noexcept override { return to_.trailers(); }

    [[nodiscard]] bool failed() const noexcept { return failed_; }

private:
    http::body_writer to_;
    bool failed_ = false;
};

/// Lends the producer of a body as `lent_producer` does, and notes if it fails by itself.
class watched_producer final : public http::body_producer {
public:
    explicit watched_producer(std::shared_ptr<sent_body> of) noexcept : of_{std::move(of)} {}

    [[nodiscard]] std::optional<std::uint64_t> size() const noexcept override {
        return of_->content.size();
    }
    [[nodiscard]] task<io_result<>> write(http::body_writer to) override { return watch(of_, to); }

private:
    static task<io_result<>> watch(std::shared_ptr<sent_body> it, http::body_writer to) {
        it->produced = true;
        watched_sink sink{to};
        const io_result<> done = co_await it->content.producer()->write(http::body_writer{sink});
        // One that is stopped is so because the server has failed, or the request was stopped.
        const bool stopped = co_await this_task::stop_state() >= stop_level::stop;
        it->gave_up = !done.ok() && !sink.failed() && !stopped;
        co_return done;
    }

    std::shared_ptr<sent_body> of_;
};

}  // namespace gyre::web

// SPDX-License-Identifier: BSL-1.0
//
// Every kind of stream there is, behind one interface: what the laws of streams are asked of.
//
// A law is compiled once and runs on each kind. What a stream's own `read_some` and `write_some` return is
// kept as it is and awaited as it is, so that a law about an awaitable, one that was made before the stream
// was closed for instance, is about that of the stream. stream_kinds.cpp has the list; the protocols of a
// build add theirs from with_tls/ and with_http/.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/error.hpp>
#include <gyre/base/result.hpp>
#include <gyre/coro/awaitable.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/stream/concepts.hpp>

#include <doctest/doctest.h>

#include <coroutine>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace gyre::testing {

/// One transfer: the awaitable that a stream has made.
class [[nodiscard]] transfer_awaiter {
public:
    using bound_when_awaited = void;

    template <awaitable_of<io_result<std::size_t>> Awaiter>
    static transfer_awaiter of(Awaiter made) {
        return transfer_awaiter{std::make_unique<transfer_as<Awaiter>>(std::move(made))};
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter,
                                                        const environment* given) {
        std::coroutine_handle<> next = std::noop_coroutine();
        return it_->begin(waiter, given, next) ? next : waiter;
    }
    [[nodiscard]] io_result<std::size_t> await_resume() { return it_->end(); }

private:
    class transfer {
    public:
        transfer() noexcept = default;
        transfer(const transfer&) = delete;
        transfer& operator=(const transfer&) = delete;
        virtual ~transfer() = default;

        /// As `begin_await`.
        [[nodiscard]] virtual bool begin(std::coroutine_handle<> waiter, const environment* given,
                                         std::coroutine_handle<>& next) = 0;
        [[nodiscard]] virtual io_result<std::size_t> end() = 0;
    };

    template <class Awaiter>
    class transfer_as final : public transfer {
    public:
        explicit transfer_as(Awaiter&& it) : it_{std::move(it)} {}

        bool begin(std::coroutine_handle<> waiter, const environment* given,
                   std::coroutine_handle<>& next) override {
            return begin_await(it_, waiter, given, next);
        }
        io_result<std::size_t> end() override { return it_.await_resume(); }

    private:
        Awaiter it_;
    };

    explicit transfer_awaiter(std::unique_ptr<transfer> it) noexcept : it_{std::move(it)} {}

    std::unique_ptr<transfer> it_;
};

/// One end of a connection.
class stream_end {
public:
    stream_end() noexcept = default;
    stream_end(const stream_end&) = delete;
    stream_end& operator=(const stream_end&) = delete;

    virtual transfer_awaiter read_some(read_space into) = 0;
    virtual transfer_awaiter write_some(const_buffer from) = 0;

    /// Sends what was written, where that is collected.
    [[nodiscard]] virtual task<> flush() = 0;

    /// Sends that nothing follows.
    [[nodiscard]] virtual task<> finish() = 0;

    virtual void close() = 0;

protected:
    ~stream_end() = default;
};

static_assert(duplex_stream<stream_end>);

/// What is not the same of every kind.
struct stream_traits {
    errc refusal_after_end = errc::broken_pipe;  ///< What a write is told after `finish`.
    bool both_ways = true;          ///< If not, `near` only writes and `far` only reads.
    bool writes_after_stop = true;  ///< Whether another write may follow one that was stopped.
};

/// Two connected ends.
class stream_connection {
public:
    stream_connection(const stream_connection&) = delete;
    stream_connection& operator=(const stream_connection&) = delete;
    virtual ~stream_connection() = default;

    io_context& io;
    stream_end& near;
    stream_end& far;
    const stream_traits traits;

protected:
    stream_connection(io_context& on, stream_end& one, stream_end& other, stream_traits its)
        : io{on}, near{one}, far{other}, traits{its} {}
};

using stream_law = std::function<task<>(stream_connection&)>;

/// Asks a law of each kind on each backend and in a world.
void on_every_stream(const stream_law& law);

/// The same of one that only has `near` write and `far` read: also of what goes one way.
void on_every_direction(const stream_law& law);

struct stream_kind {
    const char* name;
    stream_traits traits;
    std::unique_ptr<stream_connection> (*connect)(io_context& io);
};

/// The list.
[[nodiscard]] std::vector<stream_kind>& stream_kinds();

// Implementation: from a kind as it is written down, a type with a `name`, the ends `near` and `far`, and
// `traits` if they are its own.

template <class Stream>
class end_as final : public stream_end {
public:
    explicit end_as(Stream& it) noexcept : it_{it} {}

    transfer_awaiter read_some(read_space into) override {
        if constexpr (read_stream<Stream>) {
            return transfer_awaiter::of(it_.read_some(mutable_buffer{into}));
        } else {
            std::abort();  // A law of both ways was asked of what goes one way.
        }
    }
    transfer_awaiter write_some(const_buffer from) override {
        if constexpr (write_stream<Stream>) return transfer_awaiter::of(it_.write_some(from));
        else std::abort();
    }
    task<> flush() override {
        if constexpr (requires { it_.flush(); }) {
            const io_result<> sent = co_await it_.flush();
            CHECK(sent.ok());
        }
        co_return;
    }
    task<> finish() override {
        if constexpr (requires { it_.end_body(); }) {
            const io_result<> sent = co_await it_.end_body();
            CHECK(sent.ok());
        } else {
            CHECK(end_sending(it_).ok());
        }
        co_return;
    }
    void close() override { static_cast<void>(it_.close()); }

private:
    Stream& it_;
};

template <class Kind>
struct kind_with_ends {
    explicit kind_with_ends(io_context& io) : kind{io} {}

    Kind kind;
    end_as<std::remove_reference_t<decltype(Kind::near)>> near_end{kind.near};
    end_as<std::remove_reference_t<decltype(Kind::far)>> far_end{kind.far};
};

template <class Kind>
[[nodiscard]] constexpr stream_traits traits_of() noexcept {
    if constexpr (requires { Kind::traits; }) return Kind::traits;
    else return {};
}

template <class Kind>
class connection_as final : private kind_with_ends<Kind>, public stream_connection {
public:
    explicit connection_as(io_context& on)
        : kind_with_ends<Kind>{on},
          stream_connection{on, this->near_end, this->far_end, traits_of<Kind>()} {}
};

template <class Kind>
std::unique_ptr<stream_connection> connect_as(io_context& io) {
    return std::make_unique<connection_as<Kind>>(io);
}

/// Puts `Kinds` on the list, before main.
template <class... Kinds>
bool add_stream_kinds() {
    (stream_kinds().push_back({Kinds::name, traits_of<Kinds>(), connect_as<Kinds>}), ...);
    return true;
}

}  // namespace gyre::testing

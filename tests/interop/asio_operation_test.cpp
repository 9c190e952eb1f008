// SPDX-License-Identifier: BSL-1.0
//
// What gyre/interop/asio_operation.hpp promises, with Asio on the same thread and on another one.
#include <base/ending.hpp>
#include <interop/asio_threads.hpp>

#include <gyre/base/buffer.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/concepts.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/sync/when_any.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

static_assert(awaitable<decltype(std::declval<asio::steady_timer&>().async_wait(use_io_result))>);

// snippet: stream
// An Asio stream as one of gyre's: borrowed, for as long as it is read and written.
template <class Stream>
class asio_stream {
public:
    explicit asio_stream(Stream& it) : it_{&it} {}

    auto read_some(gyre::mutable_buffer into) {
        return it_->async_read_some(asio::buffer(into.data(), into.size()), gyre::use_io_result);
    }
    auto write_some(gyre::const_buffer from) {
        return it_->async_write_some(asio::buffer(from.data(), from.size()), gyre::use_io_result);
    }

private:
    Stream* it_;
};
// end of snippet

// A user-defined operation, with a signature of choice, that keeps its handler.
template <class Signature, class Keep, class Token>
auto async_keep(Keep keep, Token&& token) {
    return asio::async_initiate<Token, Signature>(
        [](auto handler, Keep into) { into(std::move(handler)); }, token, std::move(keep));
}

// An operation of `context` that ends when `finish()` is called, and counts how often it is cancelled.
struct kept_operation {
    struct initiation {
        using executor_type = asio::io_context::executor_type;
        [[nodiscard]] executor_type get_executor() const noexcept {
            return self->context.get_executor();
        }
        template <class Handler>
        void operator()(Handler handler) const {
            auto slot = asio::get_associated_cancellation_slot(handler);
            slot.assign([it = self](asio::cancellation_type) { ++it->cancels; });
            self->handlers_on = asio::get_associated_executor(handler, get_executor());
            const auto kept = std::make_shared<Handler>(std::move(handler));
            self->finish = [kept] { (*kept)(); };
        }
        kept_operation* self;
    };

    template <class Token = const use_io_result_t&>
    [[nodiscard]] auto async_wait(Token&& token = use_io_result) {
        return asio::async_initiate<Token, void()>(initiation{this}, token);
    }

    asio::io_context& context;
    std::function<void()> finish;
    int cancels = 0;
    asio::io_context::executor_type handlers_on =
        context.get_executor();  // If it had any of its own.
};

// An operation of `context` that `begin(handler)` begins.
template <class Begin>
struct begin_on {
    using executor_type = asio::io_context::executor_type;
    [[nodiscard]] executor_type get_executor() const noexcept { return context->get_executor(); }
    template <class Handler>
    void operator()(Handler handler) const {
        begin(std::move(handler));
    }
    asio::io_context* context;
    Begin begin;
};
template <class Begin>
auto async_begin(asio::io_context& context, Begin begin) {
    return asio::async_initiate<const use_io_result_t&, void()>(begin_on<Begin>{&context, begin},
                                                                use_io_result);
}

// How a timer or a read has ended, with and without a tuple around it.
using wait_tuple = std::tuple<boost::system::error_code>;
bool fired(const io_result<>& wait) { return wait.ok(); }
bool fired(const io_result<wait_tuple>& wait) { return !std::get<0>(wait.value()); }
bool was_stopped(const io_result<>& wait) { return wait.error() == errc::canceled; }
bool was_stopped(const io_result<wait_tuple>& wait) {
    return std::get<0>(wait.value()) == asio::error::operation_aborted;
}
using read_tuple = std::tuple<boost::system::error_code, std::size_t>;
bool timed_out(const io_result<std::size_t>& read) { return read.error() == errc::timed_out; }
bool timed_out(const io_result<read_tuple>& read) {
    return std::get<0>(read.value()) == asio::error::operation_aborted;
}
std::size_t size_of(const io_result<std::size_t>& read) { return read.value(); }
std::size_t size_of(const io_result<read_tuple>& read) { return std::get<1>(read.value()); }

// Two contexts of which an operation belongs to the first.
struct two_hosts {
    asio::io_context own;
    asio::io_context other;
};

// A stop of an operation that is awaited with `token` is a message to `there` alone.
template <class Token>
void check_stop_goes_to(asio::io_context& there, two_hosts& hosts, Token token) {
    with_every_backend([&](const io_context_options& options) {
        io_context loop{options};
        kept_operation operation{hosts.own, {}};
        bool over = false;
        const auto wait = [&]() -> task<> {
            static_cast<void>(co_await operation.async_wait(token));
            over = true;
        };
        const stop_handle waiting = launch(loop, wait(), or_terminate{});
        loop.poll();
        CHECK(operation.handlers_on == there.get_executor());

        waiting.request_stop();
        loop.poll();
        (&there == &hosts.own ? hosts.other : hosts.own).poll();
        CHECK(operation.cancels == 0);
        there.restart();
        there.poll();
        CHECK(operation.cancels == 1);

        operation.finish();
        loop.poll();
        CHECK(over);
    });
}

// Stops reads that have begun their second part: of eight bytes two come.
template <class Executor, class Token>
task<> read_in_vain(asio::io_context& context, Executor on, Token token, int& stopped) {
    asio_pair pair{context};
    asio::ip::tcp::socket far{on, asio::ip::tcp::v4(), pair.far.release()};
    std::array<char, 8> space{};
    for (int round = 0; round < 300; ++round) {
        static_cast<void>(
            co_await asio::async_write(pair.near, asio::buffer("12", 2), use_io_result));
        const auto read =
            co_await with_timeout(50us, asio::async_read(far, asio::buffer(space), token));
        if (timed_out(read)) ++stopped;
        CHECK(size_of(read) <= space.size());
    }
}

// A timer that fires on one thread races with its stop on another.
template <class Token>
void check_race_of_stop_and_timer(Token token) {
    with_every_backend([&](const io_context_options& options) {
        constexpr int rounds = 3000;
        asio_thread there;
        io_context loop{options};
        int ended = 0;
        int stopped = 0;
        const auto race = [&]() -> task<> {
            for (int round = 0; round < rounds; ++round) {
                asio::steady_timer timer{there.context, 30us};
                const auto raced = co_await when_any(timer.async_wait(token), sleep_for(25us));
                if (fired(std::get<0>(raced.results))) ++ended;
                if (was_stopped(std::get<0>(raced.results))) ++stopped;
            }
        };
        launch(loop, race(), or_terminate{});
        loop.run_for(patience);
        CHECK(ended + stopped == rounds);
    });
}

// Reads in parts, of an object whose executor is `on`, are stopped from another thread than Asio's two.
template <class MakeExecutor, class MakeToken>
void check_stops_beside_two_threads(const MakeExecutor& executor_of, const MakeToken& token_for) {
    with_every_backend([&](const io_context_options& options) {
        asio_thread there;
        std::thread second{[&] { there.context.run(); }};
        {
            io_context loop{options};
            int stopped = 0;
            launch(loop,
                   read_in_vain(there.context, executor_of(there.context), token_for(there.context),
                                stopped),
                   or_terminate{});
            loop.run_for(patience);
            CHECK(stopped > 0);
        }
        there.context.stop();
        second.join();
    });
}

asio::awaitable<int> asio_answer(int value) { co_return value; }
// Without contents: both threads hold it for a moment, counted by code that TSan does not see.
struct thrown_in_asio {};

asio::awaitable<int> asio_throws() {
    throw thrown_in_asio{};
    co_return 0;
}

}  // namespace

TEST_CASE("a gyre task awaits a timer of Asio's") {
    beside_asio([](asio::io_context& context) -> task<> {
        asio::steady_timer timer{context, 1ms};
        const auto waited = co_await timer.async_wait(use_io_result);
        CHECK(waited.ok());
    });
}

TEST_CASE("values come beside the error, and the end of a stream is errc::eof") {
    beside_asio([](asio::io_context& context) -> task<> {
        asio_pair pair{context};
        std::array<char, 8> space{};
        const auto sent =
            co_await asio::async_write(pair.near, asio::buffer("hello", 5), use_io_result);
        CHECK(sent.ok());
        CHECK(sent.value() == 5);

        const auto [error, size] =
            co_await pair.far.async_read_some(asio::buffer(space), use_io_result);
        CHECK_FALSE(error);
        CHECK((std::string_view{space.data(), size} == "hello"));

        pair.near.close();
        const auto end = co_await pair.far.async_read_some(asio::buffer(space), use_io_result);
        CHECK(end.error() == errc::eof);
        CHECK(end.value() == 0);
    });
}

TEST_CASE("an Asio stream that is called as gyre's are is copied, written and erased as they are") {
    beside_asio([](asio::io_context& context) -> task<> {
        asio_pair left{context};
        asio_pair right{context};
        asio_stream source{left.far};
        any_stream sink{asio_stream{right.near}};
        std::string text(100'000, 'x');
        for (std::size_t each = 0; each < text.size(); ++each) {
            text[each] = static_cast<char>(each % 251);  // So that pieces in a wrong order show.
        }
        const auto speak = [&]() -> task<io_result<std::size_t>> {
            asio_stream to{left.near};
            const auto sent = co_await write_all(to, bytes_of(text));
            left.near.close();
            co_return sent;
        };
        const auto hear = [&]() -> task<io_result<std::size_t>> {
            std::string space(text.size(), ' ');
            asio_stream from{right.far};
            const auto got = co_await read_exactly(from, space);
            CHECK((space == text));
            co_return got;
        };
        const auto [sent, copied, heard] = co_await when_all(speak(), copy(source, sink), hear());
        CHECK(sent.ok());
        CHECK(copied.ok());
        CHECK(copied.value() == text.size());
        CHECK(heard.ok());
    });
}

TEST_CASE("an accepted socket comes in an optional, since it has no null state") {
    beside_asio([](asio::io_context& context) -> task<> {
        asio::ip::tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
        asio::ip::tcp::socket client{context};
        auto [accepted, connected] =
            co_await when_all(acceptor.async_accept(use_io_result),
                              client.async_connect(acceptor.local_endpoint(), use_io_result));
        CHECK(connected.ok());
        REQUIRE(accepted.ok());
        CHECK(accepted.value()->is_open());
    });
}

TEST_CASE("an accept that is stopped yields no socket") {
    beside_asio([](asio::io_context& context) -> task<> {
        asio::ip::tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
        const auto accepted = co_await with_timeout(1ms, acceptor.async_accept(use_io_result));
        CHECK(accepted.error() == errc::timed_out);
        CHECK_FALSE(accepted.value().has_value());
    });
}

TEST_CASE("a stop cancels an Asio operation, and what it had achieved is kept") {
    beside_asio([](asio::io_context& context) -> task<> {
        asio_pair pair{context};
        asio::ip::tcp::socket& from = pair.far;
        std::array<char, 8> space{};
        static_cast<void>(
            co_await asio::async_write(pair.near, asio::buffer("four", 4), use_io_result));

        const auto read =
            co_await with_timeout(20ms, asio::async_read(from, asio::buffer(space), use_io_result));

        CHECK(read.error() == errc::timed_out);
        CHECK(read.value() == 4);
        const auto again = co_await asio::async_write(pair.near, asio::buffer("more", 4),
                                                      use_io_result);  // The socket lives on.
        CHECK(again.ok());
    });
}

TEST_CASE("a wait that is stopped before it begins initiates nothing") {
    beside_asio([](asio::io_context&) -> task<> {
        bool initiated = false;
        error outcome;
        const auto body = [&](task_group& group) -> task<> {
            const auto child = [&]() -> task<> {
                co_await yield();
                const auto note = [&initiated](auto&&) { initiated = true; };
                const auto got = co_await async_keep<void()>(note, use_io_result);
                outcome = got.error();
            };
            group.spawn(child());
            group.request_stop();
            co_await group.join();
        };
        co_await with_group(body);
        CHECK(outcome == errc::canceled);
        CHECK_FALSE(initiated);
    });
}

TEST_CASE("gyre's own timers and Asio's race, and the loser is stopped") {
    beside_asio([](asio::io_context& context) -> task<> {
        asio::steady_timer slow{context, 1h};
        asio::steady_timer fast{context, 1ms};

        const auto first = co_await when_any(slow.async_wait(use_io_result), sleep_for(1ms));
        CHECK(first.winner == 1);
        CHECK(std::get<0>(first.results).error() == errc::canceled);

        const auto second = co_await when_any(fast.async_wait(use_io_result), sleep_for(1h));
        CHECK(second.winner == 0);
        CHECK(std::get<0>(second.results).ok());
    });
}

TEST_CASE("a handler that Asio destroys without a call ends the wait with broken_promise") {
    beside_asio([](asio::io_context&) -> task<> {
        const auto drop = [](auto&& handler) { const auto dies = std::move(handler); };
        const auto lost = co_await async_keep<void(int)>(drop, use_io_result);
        CHECK(lost.error() == errc::broken_promise);
    });
}

TEST_CASE("an Asio context that dies first ends the wait with broken_promise") {
    with_every_backend([](const io_context_options& options) {
        io_context loop{options};
        error outcome;
        auto host = std::make_unique<asio::io_context>();
        const auto wait = [&]() -> task<> {
            const auto posted = co_await asio::post(*host, use_io_result);
            outcome = posted.error();
        };
        launch(loop, wait(), or_terminate{});
        loop.poll();
        CHECK_FALSE(outcome);
        host.reset();
        loop.run_for(patience);
        CHECK(outcome == errc::broken_promise);
    });
}

TEST_CASE("an Asio context that dies with a cancellation on its way ends the wait all the same") {
    with_every_backend([](const io_context_options& options) {
        io_context loop{options};
        error outcome;
        auto host = std::make_unique<asio::io_context>();
        const auto wait = [&]() -> task<> {
            const auto posted = co_await asio::post(*host, use_io_result);
            outcome = posted.error();
        };
        const stop_handle waiting = launch(loop, wait(), or_terminate{});
        loop.poll();
        waiting.request_stop();
        loop.poll();
        CHECK_FALSE(outcome);  // The host does not run: the cancellation waits there, too.
        host.reset();
        loop.run_for(patience);
        CHECK(outcome == errc::broken_promise);
    });
}

TEST_CASE("a loop that dies first waits for Asio to let go of the operation") {
    with_every_backend([](const io_context_options& options) {
        asio_thread there;
        error outcome;
        const auto wait = [&]() -> task<> {
            asio::steady_timer timer{there.context, 1h};
            const auto waited = co_await timer.async_wait(use_io_result);
            outcome = waited.error();
        };
        {
            io_context loop{options};
            launch(loop, wait(), or_terminate{});
            loop.poll();
        }
        CHECK(outcome == errc::canceled);
    });
}

TEST_CASE("a stop races with the completion on another thread, and the wait ends once") {
    check_race_of_stop_and_timer(use_io_result);
    check_race_of_stop_and_timer(asio::as_tuple(use_io_result));
}

TEST_CASE("a stop goes to the executor of the operation, whatever stands around the token") {
    two_hosts it;
    check_stop_goes_to(it.own, it, use_io_result);
    check_stop_goes_to(it.own, it, asio::as_tuple(use_io_result));
    check_stop_goes_to(it.own, it, asio::as_tuple(asio::append(use_io_result, 1)));
}

TEST_CASE("a stop goes to the executor that bind_executor names, of several to the outermost") {
    two_hosts it;
    const auto bound = asio::bind_executor(it.other, use_io_result);
    check_stop_goes_to(it.other, it, bound);
    check_stop_goes_to(it.other, it, asio::as_tuple(bound));
    check_stop_goes_to(it.other, it, asio::bind_executor(it.other, asio::as_tuple(use_io_result)));
    check_stop_goes_to(it.own, it, asio::bind_executor(it.own, bound));
    check_stop_goes_to(it.own, it, asio::bind_executor(it.own, asio::as_tuple(bound)));
}

TEST_CASE("a read of several parts is stopped between them on another thread") {
    with_every_backend([](const io_context_options& options) {
        asio_thread there;
        io_context loop{options};
        int stopped = 0;
        launch(loop,
               read_in_vain(there.context, there.context.get_executor(),
                            asio::as_tuple(use_io_result), stopped),
               or_terminate{});
        loop.run_for(patience);
        CHECK(stopped > 0);
    });
}

TEST_CASE("an operation on a strand of a context with several threads is cancelled on its strand") {
    const auto strand = [](asio::io_context& of) { return asio::make_strand(of); };
    const auto plain = [](asio::io_context& of) { return of.get_executor(); };
    check_stops_beside_two_threads(strand, [](auto&) { return use_io_result; });
    check_stops_beside_two_threads(strand, [](auto&) { return asio::as_tuple(use_io_result); });
    check_stops_beside_two_threads(plain, [](asio::io_context& of) {
        return asio::bind_executor(asio::make_strand(of), use_io_result);
    });
}

TEST_CASE("what gyre has no code for is kept by as_tuple") {
    beside_asio([](asio::io_context&) -> task<> {
        const auto fail = [](auto&& handler) { handler(asio::error::host_not_found, 5); };
        using signature = void(boost::system::error_code, int);

        const auto plain = co_await async_keep<signature>(fail, use_io_result);
        CHECK(plain.error() == errc::foreign);
        CHECK(plain.value() == 5);

        const auto together = co_await async_keep<signature>(fail, asio::as_tuple(use_io_result));
        CHECK(std::get<0>(together.value()) == asio::error::host_not_found);
        CHECK(std::get<1>(together.value()) == 5);
    });
}

TEST_CASE("the token may be the default of an I/O object") {
    beside_asio([](asio::io_context& context) -> task<> {
        use_io_result_t::as_default_on_t<asio::steady_timer> timer{context};
        timer.expires_after(1ms);
        const auto waited = co_await timer.async_wait();
        CHECK(waited.ok());
    });
}

TEST_CASE("an exception of the initiating function is rethrown to the coroutine") {
    beside_asio([](asio::io_context&) -> task<> {
        std::string heard;
        const auto refuse = [](auto&&) { throw std::runtime_error{"cannot begin"}; };
        try {
            static_cast<void>(co_await async_keep<void()>(refuse, use_io_result));
        } catch (const std::runtime_error& it) {
            heard = it.what();
        }
        CHECK(heard == "cannot begin");
    });
}

TEST_CASE("an Asio coroutine is awaited, and its exception rethrown") {
    beside_asio([](asio::io_context& context) -> task<> {
        const auto answer = co_await asio::co_spawn(context, asio_answer(42), use_io_result);
        CHECK(answer.value() == 42);

        bool caught = false;
        try {
            static_cast<void>(co_await asio::co_spawn(context, asio_throws(), use_io_result));
        } catch (const thrown_in_asio&) {
            caught = true;
        }
        CHECK(caught);
    });
}

TEST_CASE("a frame that is destroyed too early says what still needs it") {
    const auto destroyed_in_its_wait = [](bool completed) {
        return ending_of([completed] {
            asio::io_context host;
            io_context loop;
            const auto wait = [&]() -> task<> {
                static_cast<void>(co_await asio::post(host, use_io_result));
            };
            const auto owner = [&]() -> task<> {
                stop_chain chain;
                const environment given{loop, &loop, &chain};
                callback_frame awaiter{[](callback_frame*) {}};
                std::optional<task<>> abandoned{wait()};
                gyre::resume(abandoned->await_suspend(awaiter.handle(), &given));
                if (completed) host.poll();
                abandoned.reset();
                co_return;
            };
            launch(loop, owner(), or_terminate{});
            loop.run();
        });
    };

    const ending begun = destroyed_in_its_wait(false);
    CHECK(begun.signal == SIGABRT);
    CHECK(begun.said_that("a frame is destroyed while an Asio operation may use it"));
    const ending over = destroyed_in_its_wait(true);
    CHECK(over.signal == SIGABRT);
    CHECK(over.said_that("a frame is destroyed before it was resumed, which is on its way"));
}

TEST_CASE("a coroutine does not go on while a cancellation that points into it is on its way") {
    with_every_backend([](const io_context_options& options) {
        asio::io_context host;
        io_context loop{options};
        kept_operation operation{host, {}};
        bool went_on = false;
        const auto wait = [&]() -> task<> {
            const auto got = co_await operation.async_wait();
            went_on = got.ok();
        };
        const stop_handle waiting = launch(loop, wait(), or_terminate{});
        loop.poll();
        waiting.request_stop();
        loop.poll();  // The message lies in the host's queue now.

        operation.finish();
        loop.poll();
        CHECK_FALSE(went_on);

        host.poll();
        loop.poll();
        CHECK(went_on);
        CHECK(operation.cancels == 0);  // It came too late.
    });
}

TEST_CASE("a cancellation that comes in time is passed on once, and the end is waited for") {
    with_every_backend([](const io_context_options& options) {
        asio::io_context host;
        io_context loop{options};
        kept_operation operation{host, {}};
        bool went_on = false;
        const auto wait = [&]() -> task<> {
            const auto got = co_await operation.async_wait();
            went_on = got.ok();
        };
        const stop_handle waiting = launch(loop, wait(), or_terminate{});
        loop.poll();
        waiting.request_drain();
        loop.poll();
        host.restart();
        host.poll();
        CHECK(operation.cancels == 0);
        waiting.request_stop();
        loop.poll();
        host.restart();
        host.poll();
        loop.poll();
        CHECK(operation.cancels == 1);
        CHECK_FALSE(went_on);

        operation.finish();
        CHECK_FALSE(went_on);  // Posted: the host does not run.
        loop.poll();
        CHECK(went_on);
    });
}

TEST_CASE("a coroutine that has itself stopped while it begins an operation cancels it") {
    with_every_backend([](const io_context_options& options) {
        asio::io_context host;
        io_context loop{options};
        kept_operation operation{host, {}};
        std::optional<io_result<>> got;
        const auto wait = [&]() -> task<> {
            const auto body = [&](task_group& group) -> task<> {
                const auto child = [&]() -> task<> {
                    const auto begin = [&](auto handler) {
                        kept_operation::initiation{&operation}(std::move(handler));
                        group.request_stop();
                    };
                    const auto result = co_await async_begin(host, begin);
                    got = result;
                };
                group.spawn(child());
                co_await group.join();
            };
            co_await with_group(body);
        };
        launch(loop, wait(), or_terminate{});
        loop.poll();
        host.poll();
        CHECK(operation.cancels == 1);
        CHECK_FALSE(got.has_value());

        operation.finish();
        loop.poll();
        CHECK(got.has_value());
    });
}

// SPDX-License-Identifier: BSL-1.0
//
// The mistakes of docs/guide/mistakes.md that show when a program runs, and what is none: one by each
// argument. tools/mistakes.py compares what each prints with what the page says that it prints.
#include <gyre/gyre.hpp>

#include <array>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;

namespace {

struct connection {
    gyre::stream_socket near;
    gyre::stream_socket far;
};

connection connect_here() {
    auto [failed, near, far] = gyre::stream_socket::connected_pair(*gyre::io_context::current());
    return {std::move(near), std::move(far)};
}

// snippet: two_readers
gyre::task<> read_one(gyre::stream_socket& from, const char* reader) {
    std::array<char, 1> space{};
    const auto got = co_await from.read_some(space);
    if (got.ok()) std::printf("%s has read %c\n", reader, space[0]);
}

gyre::task<> read_twice_at_once(gyre::stream_socket near, gyre::stream_socket far) {
    const auto body = [&](gyre::task_group& group) -> gyre::task<> {
        group.spawn(read_one(near, "the first"));
        group.spawn(read_one(near, "the second"));
        static_cast<void>(co_await gyre::write_all(far, gyre::bytes_of("ab")));
    };
    co_await gyre::with_group(body);
}
// end of snippet

// snippet: two_writers
gyre::task<> write_much(gyre::stream_socket& to, const char* writer) {
    const std::string text(4'000'000, '.');
    const auto written = co_await gyre::write_all(to, gyre::bytes_of(text));
    std::printf("%s: %s\n", writer, written.error().message().c_str());
}

gyre::task<> write_twice_at_once(gyre::stream_socket near, gyre::stream_socket far) {
    const auto body = [&](gyre::task_group& group) -> gyre::task<> {
        group.spawn(write_much(near, "the first"));
        group.spawn(write_much(near, "the second"));
        std::string all(4'000'000, ' ');
        static_cast<void>(co_await gyre::read_exactly(far, all));
    };
    co_await gyre::with_group(body);
}
// end of snippet

// snippet: two_line_readers
gyre::task<> read_line(gyre::buffered_reader<gyre::stream_socket>& from) {
    static_cast<void>(co_await from.read_until("\n"));
}

gyre::task<> read_two_lines_at_once(gyre::stream_socket near) {
    gyre::buffered_reader<gyre::stream_socket> lines{near, 1024};
    const auto body = [&](gyre::task_group& group) -> gyre::task<> {
        group.spawn(read_line(lines));
        group.spawn(read_line(lines));
        co_return;
    };
    co_await gyre::with_group(body);
}
// end of snippet

// snippet: destroyed_socket
gyre::task<> read_on(std::optional<gyre::stream_socket>& from) {
    std::array<char, 16> space{};
    const auto got = co_await from->read_some(space);
    std::printf("the read has ended: %s\n", got.error().message().c_str());
}

gyre::task<> hang_up(std::optional<gyre::stream_socket>& on) {
    on.reset();  // The other one reads.
    co_return;
}

gyre::task<> destroy_while_it_is_read(std::optional<gyre::stream_socket> near) {
    const auto body = [&](gyre::task_group& group) -> gyre::task<> {
        group.spawn(read_on(near));
        group.spawn(hang_up(near));
        co_return;
    };
    co_await gyre::with_group(body);
}
// end of snippet

// snippet: two_loops
gyre::task<> read_some_of(gyre::stream_socket& from) {
    std::array<char, 16> space{};
    static_cast<void>(co_await from.read_some(space));
}

void use_on_two_loops() {
    gyre::io_context first;
    gyre::io_context second;
    auto [failed, near, far] = gyre::stream_socket::connected_pair(first);
    gyre::launch(first, read_some_of(near), gyre::or_terminate{});
    first.poll();  // From now on the socket belongs to this loop.
    gyre::launch(second, read_some_of(near), gyre::or_terminate{});
    second.poll();
}
// end of snippet

// snippet: moved_socket
gyre::task<> say_what_comes(gyre::stream_socket& from) {
    std::array<char, 16> space{};
    const auto got = co_await from.read_some(space);
    std::printf("%zu bytes have come\n", got.value());
}

gyre::task<> greet(gyre::stream_socket& to) {
    static_cast<void>(co_await gyre::write_all(to, gyre::bytes_of("hello")));
}

void move_to_another_loop() {
    gyre::io_context first;
    gyre::io_context second;
    auto [failed, near, far] = gyre::stream_socket::connected_pair(first);
    gyre::launch(first, read_some_of(near), gyre::or_terminate{});
    first.poll();
    auto moved = gyre::stream_socket::adopt(second, near.release());  // Ends what was pending.
    first.run();
    gyre::launch(second, say_what_comes(moved), gyre::or_terminate{});
    gyre::launch(second, greet(far), gyre::or_terminate{});
    second.run();
}
// end of snippet

// snippet: awaited_twice
gyre::task<int> answer() { co_return 42; }

gyre::task<> ask_twice() {
    auto asked = answer();
    const int first = co_await std::move(asked);
    const int second = co_await std::move(asked);
    std::printf("%d, %d\n", first, second);
}
// end of snippet

// snippet: exception
gyre::task<double> price_of(std::string_view symbol) {
    co_await gyre::yield();
    if (symbol != "GYR") throw std::runtime_error{"no such symbol"};
    co_return 100.0;
}

gyre::task<> print_price() {
    const double price = co_await price_of("GYRE");
    std::printf("%.2f\n", price);
}

void launch_what_throws() {
    gyre::io_context loop;
    gyre::launch(loop, print_price(), gyre::or_terminate{});
    loop.run();
}
// end of snippet

// snippet: exception_heard_of
void launch_with_handler() {
    gyre::io_context loop;
    const auto on_end = [](gyre::task_outcome<void> outcome) noexcept {
        try {
            outcome.get();
        } catch (const std::exception& thrown) {
            std::printf("no price: %s\n", thrown.what());
        }
    };
    gyre::launch(loop, print_price(), on_end);
    loop.run();
}
// end of snippet

// A task that is made for a connection within it.
template <class Make>
gyre::task<> with_connection(Make make) {
    connection made = connect_here();
    co_await make(std::move(made));
}

}  // namespace

int main(int count, char** arguments) {
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    const std::string_view mistake = count == 2 ? arguments[1] : "";
    if (mistake == "two_readers") {
        gyre::run(with_connection([](connection it) {
            return read_twice_at_once(std::move(it.near), std::move(it.far));
        }));
    } else if (mistake == "two_writers") {
        gyre::run(with_connection([](connection it) {
            return write_twice_at_once(std::move(it.near), std::move(it.far));
        }));
    } else if (mistake == "two_line_readers") {
        gyre::run(with_connection(
            [](connection it) { return read_two_lines_at_once(std::move(it.near)); }));
    } else if (mistake == "destroyed_socket") {
        gyre::run(with_connection(
            [](connection it) { return destroy_while_it_is_read(std::move(it.near)); }));
    } else if (mistake == "two_loops") {
        use_on_two_loops();
    } else if (mistake == "moved_socket") {
        move_to_another_loop();
    } else if (mistake == "awaited_twice") {
        gyre::run(ask_twice());
    } else if (mistake == "exception") {
        launch_what_throws();
    } else if (mistake == "exception_heard_of") {
        launch_with_handler();
    } else {
        std::fprintf(stderr, "usage: mistakes MISTAKE\n");
        return 2;
    }
    return 0;
}

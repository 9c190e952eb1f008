// SPDX-License-Identifier: BSL-1.0
//
// Tasks in each of their forms: one after another, together, the first of several, so many at a time, and
// stopped.
//
// Sources answer after some milliseconds, as a network's would. docs/guide/tasks.md explains it.
#include <gyre/gyre.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

// snippet: task
// A task begins when it is awaited. Its arguments are its own.
gyre::task<gyre::io_result<int>> ask(std::string source, gyre::duration delay, int price) {
    if (source.empty()) co_return gyre::errc::host_not_found;
    const auto waited = co_await gyre::sleep_for(delay);  // A stop ends this wait.
    if (!waited.ok()) co_return waited.error();
    co_return price;
}
// end of snippet

// snippet: all
gyre::task<gyre::io_result<>> compare() {
    const auto [north, south] =
        co_await gyre::when_all(ask("north", 20ms, 101), ask("south", 10ms, 99));
    if (north.error()) co_return north.error();
    if (south.error()) co_return south.error();
    std::printf("together: %d and %d\n", north.value(), south.value());
    co_return gyre::io_result<>{};
}
// end of snippet

// snippet: any
gyre::task<gyre::io_result<>> first_of_two() {
    const auto answered = co_await gyre::when_any(ask("slow", 1h, 101), ask("fast", 10ms, 99));
    const auto& [slow, fast] = answered.results;
    std::printf("first: %d; the other: %s\n", fast.value(), slow.error().message().c_str());
    co_return gyre::io_result<>{};
}
// end of snippet

// snippet: group
// As many as there are, none of which outlives the block. The first error stops the others.
gyre::task<gyre::io_result<>> visit(const std::vector<std::string>& sources) {
    int sum = 0;
    const auto body = [&](gyre::task_group& group) -> gyre::task<gyre::io_result<>> {
        for (const std::string& each : sources) {
            group.spawn(ask(each, 10ms, 100), [&sum](gyre::io_result<int> price) {
                if (price.ok()) sum += price.value();
            });
        }
        co_await group.join();
        co_return group.first_error();
    };
    const auto visited =
        co_await gyre::with_group(body, gyre::group_options{gyre::group_mode::stop_on_first_error});
    std::printf("group: %d in all\n", sum);
    co_return visited;
}
// end of snippet

// snippet: set
// Two at a time, however many there are; the next one begins when one has ended.
gyre::task<gyre::io_result<>> visit_in_turn(const std::vector<std::string>& sources) {
    int answers = 0;
    const auto body = [&](gyre::task_group& group) -> gyre::task<gyre::io_result<>> {
        gyre::task_set<gyre::io_result<int>> asked{group, 2};
        for (const std::string& each : sources) {
            if (asked.full()) {
                const auto [stopped, price] = co_await asked.next();
                if (stopped) co_return stopped;
                ++answers;
            }
            asked.spawn(ask(each, 5ms, 100));
        }
        while (!asked.empty()) {
            const auto [stopped, price] = co_await asked.next();
            if (stopped) co_return stopped;
            ++answers;
        }
        co_return gyre::io_result<>{};
    };
    const auto visited = co_await gyre::with_group(body);
    std::printf("two at a time: %d answers\n", answers);
    co_return visited;
}
// end of snippet

// snippet: child
// A job that is canceled by its owner, and asked for what became of it.
gyre::task<gyre::io_result<>> change_of_mind() {
    const auto body = [](gyre::task_group& group) -> gyre::task<gyre::io_result<>> {
        gyre::child<gyre::io_result<int>> job = group.spawn_child(ask("far away", 1h, 0));
        const auto thought = co_await gyre::sleep_for(5ms);
        if (!thought.ok()) co_return thought;
        job.request_stop();
        const auto price = co_await job.result();
        std::printf("job: %s\n", price.error().message().c_str());
        co_return gyre::io_result<>{};
    };
    co_return co_await gyre::with_group(body);
}
// end of snippet

// snippet: values
// One price after another. Each is asked for when the caller wants the next one, and not before.
gyre::generator<gyre::io_result<int>> prices_of(std::vector<std::string> sources) {
    for (const std::string& each : sources) {
        auto price = co_await ask(each, 5ms, 100);  // A stop of the caller ends this wait.
        co_yield std::move(price);
    }
}

gyre::task<gyre::io_result<>> add_up(const std::vector<std::string>& sources) {
    int sum = 0;
    auto prices = prices_of(sources);
    for (;;) {
        const auto price = co_await prices.next();
        if (!price) break;  // The generator has returned.
        if (!price->ok()) co_return price->error();
        sum += price->value();
    }
    std::printf("one by one: %d in all\n", sum);
    co_return gyre::io_result<>{};
}
// end of snippet

// snippet: tokens
// A library that is stopped by std::stop_token, and a stop of ours that reaches it.
int count_until(std::stop_token stop) {
    int rounds = 0;
    while (!stop.stop_requested()) {
        ++rounds;
        std::this_thread::yield();
    }
    return rounds;
}

gyre::task<gyre::io_result<>> compute_for_a_while() {
    std::stop_source hurry;
    const auto count = [stop = hurry.get_token()] { return count_until(stop); };
    const auto [error, rounds] =
        co_await gyre::with_timeout(20ms, gyre::with_stop_source(hurry, gyre::blocking(count)));
    std::printf("computed: %s\n", error ? error.message().c_str() : rounds > 0 ? "yes" : "no");
    co_return gyre::io_result<>{};
}

// And a loop on a thread that is stopped as any std::jthread is.
gyre::task<gyre::io_result<int>> ask_until(std::stop_token asked) {
    co_return co_await gyre::with_stop_token(asked, ask("far away", 1h, 0));
}

void on_a_thread() {
    gyre::io_result<int> price;
    {
        std::jthread worker{
            [&price](std::stop_token asked) { price = gyre::run(ask_until(std::move(asked))); }};
    }  // Asks the thread to stop, and joins it.
    std::printf("thread: %s\n", price.error().message().c_str());
}
// end of snippet

// snippet: locals
inline constinit gyre::task_local<std::string> trace;

// Far below the handler that knows which request this is.
gyre::task<> log_line(std::string_view text) {
    const std::string* id = co_await gyre::this_task::local(trace);
    const std::string_view name = co_await gyre::this_task::name();
    std::printf("[%s] %.*s: %.*s\n", id == nullptr ? "-" : id->c_str(),
                static_cast<int>(name.size()), name.data(), static_cast<int>(text.size()),
                text.data());
}

gyre::task<> serve_request(std::string id) {
    gyre::local_scope traced{trace, std::move(id)};
    co_await traced;
    const auto body = [](gyre::task_group& group) -> gyre::task<> {
        group.spawn(gyre::with_name("quotes", log_line("asked")));  // Children inherit it.
        co_await group.join();
    };
    co_await gyre::with_group(body);
}
// end of snippet

gyre::task<gyre::io_result<>> all() {
    const std::vector<std::string> sources{"north", "east", "south", "west", "centre"};
    std::array<gyre::task<gyre::io_result<>>, 7> steps{
        compare(),        first_of_two(),  visit(sources),       visit_in_turn(sources),
        change_of_mind(), add_up(sources), compute_for_a_while()};
    for (auto& step : steps) {
        const auto done = co_await std::move(step);
        if (!done.ok()) co_return done;
    }
    co_await serve_request("4bf92f35");
    co_return gyre::io_result<>{};
}

int main() {
    on_a_thread();
    gyre::run_options options;
    options.dump_signal = SIGUSR1;  // Prints who waits for what.
    return gyre::run_until_signal(all(), options);
}

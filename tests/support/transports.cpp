// SPDX-License-Identifier: BSL-1.0
#include <support/transports.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/test/world.hpp>

#include <support/harness.hpp>
#include <support/world.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace gyre::testing {
namespace {

using namespace std::chrono_literals;

constexpr duration in_time = 1h;

struct transport {
    std::size_t pipe_bytes = 0;
    test::world* world = nullptr;
    test::machine* far = nullptr;
    std::uint16_t next_port = 7000;
};

thread_local transport* chosen = nullptr;  // Null: sockets of the kernel.

class on_transport {
public:
    explicit on_transport(transport& it) noexcept { chosen = &it; }
    on_transport(const on_transport&) = delete;
    on_transport& operator=(const on_transport&) = delete;
    ~on_transport() { chosen = nullptr; }
};

task<> note(const end_talk& it, any_stream on, io_result<>& into) {
    into = co_await it(std::move(on));
}

task<> talk_on(any_stream one, any_stream other, const end_talk& near, const end_talk& far,
               talk_results& into) {
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(note(near, std::move(one), into.near));
        group.spawn(note(far, std::move(other), into.far));
        co_return;
    };
    co_await with_group(body);
}

// Of a world: the far end is the other machine's.
task<> connect_and_talk(endpoint to, const end_talk& far, io_result<>& into, bool& done) {
    io_result<stream_socket> connected = co_await stream_socket::connect(to);
    CHECK(connected.ok());
    if (connected.ok()) into = co_await far(any_stream{connected.take()});
    done = true;
}

task<> talk_across(transport& by, const end_talk& near, const end_talk& far, talk_results& into) {
    io_context& io = *io_context::current();
    const endpoint where = machine_here()->at(by.next_port++);
    stream_acceptor acceptor = stream_acceptor::listen(io, where).take();
    bool done = false;
    by.world->start(*by.far, connect_and_talk(where, far, into.far, done));
    io_result<stream_socket> taken = co_await acceptor.accept();
    CHECK(taken.ok());
    if (taken.ok()) into.near = co_await near(any_stream{taken.take()});
    while (!done) static_cast<void>(co_await sleep_for(1ms));
}

test::link_options bad_link() {
    test::link_options options;
    options.latency = 20ms;
    options.jitter = 15ms;
    options.loss = 0.05;
    options.bytes_per_second = 1'000'000;
    return options;
}

}  // namespace

bool on_kernel_sockets() noexcept { return chosen == nullptr; }

void on_every_transport(const std::function<task<>(io_context&)>& body) {
    on_every_backend(body);
    for (const std::size_t bytes : {1, 2, 7, 1000}) {
        INFO("a pipe of ", bytes, " bytes");
        transport pipe{bytes};
        const on_transport mark{pipe};
        run_in_world(body);
    }
    INFO("a link that delays and loses");
    test::world world;
    world.set_links(bad_link());
    test::machine& near = world.add("near");
    test::machine& far = world.add("far");
    transport network{0, &world, &far};
    const on_transport mark{network};
    const on_machine here{near};
    auto outcome = world.run(near, body(near.io()), in_time);
    CHECK_MESSAGE(outcome.ok(), outcome.text());
    if (outcome.ok()) outcome.take();
}

task<talk_results> between_ends(end_talk near, end_talk far) {
    talk_results ended;
    if (chosen != nullptr && chosen->world != nullptr) {
        co_await talk_across(*chosen, near, far, ended);
    } else if (chosen != nullptr) {
        memory_pipe pipe{chosen->pipe_bytes};
        co_await talk_on(std::move(pipe.first), std::move(pipe.second), near, far, ended);
    } else {
        socket_pair pair = connected_pair(*io_context::current());
        co_await talk_on(std::move(pair.server), std::move(pair.client), near, far, ended);
    }
    co_return ended;
}

void check_on_every_transport(const end_talk& near, const end_talk& far) {
    on_every_transport([&](io_context&) -> task<> {
        const talk_results ended = co_await between_ends(near, far);
        INFO(ended.near.error().message(), "; ", ended.far.error().message());
        CHECK(ended.near.ok());
        CHECK(ended.far.ok());
    });
}

namespace {

// What stands between two pipes: carries so many bytes, then ends both.
class cutter {
public:
    cutter(memory_stream one, memory_stream other, std::size_t bytes)
        : one_{std::move(one)}, other_{std::move(other)}, left_{bytes} {}

    [[nodiscard]] task<> carry() {
        const auto body = [this](task_group& group) -> task<> {
            group.spawn(carry_one_way(one_, other_, group));
            group.spawn(carry_one_way(other_, one_, group));
            co_return;
        };
        co_await with_group(body);
        one_.close();
        other_.close();
    }

    [[nodiscard]] bool has_cut() const noexcept { return cut_; }
    [[nodiscard]] std::size_t carried() const noexcept { return carried_; }

private:
    task<> carry_one_way(memory_stream& from, memory_stream& to, task_group& both) {
        std::array<std::byte, 64> space;
        for (;;) {
            const io_result<std::size_t> got = co_await from.read_some(space);
            if (got.error() == errc::eof) break;
            if (!got.ok()) co_return;
            const std::size_t size = std::min(got.value(), left_);
            left_ -= size;
            carried_ += size;
            // Whoever has closed hears no more: what is still said to it is dropped.
            static_cast<void>(co_await write_all(to, std::span{space}.first(size)));
            if (size == got.value()) continue;
            cut_ = true;
            both.request_stop();
            co_return;
        }
        to.shutdown_send();
    }

    memory_stream one_;
    memory_stream other_;
    std::size_t left_;
    std::size_t carried_ = 0;
    bool cut_ = false;
};

struct cut_run {
    bool cut = false;
    std::size_t carried = 0;
    talk_results ended;
};

cut_run run_cut_after(std::size_t bytes, const end_talk& near, const end_talk& far) {
    cut_run run;
    const auto talks = [&]() -> task<> {
        memory_pipe one{100};
        memory_pipe other{100};
        cutter between{std::move(one.second), std::move(other.second), bytes};
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(between.carry());
            co_await talk_on(std::move(one.first), std::move(other.first), near, far, run.ended);
        };
        co_await with_group(body);
        run.cut = between.has_cut();
        run.carried = between.carried();
    };
    test::world world;
    test::machine& here = world.add("here");
    auto outcome = world.run(here, talks(), in_time);
    CHECK_MESSAGE(outcome.ok(), outcome.text());
    if (outcome.ok()) outcome.take();
    return run;
}

}  // namespace

void check_cut_everywhere(const end_talk& near, const end_talk& far) {
    constexpr std::size_t cuts_max = 400;
    const cut_run whole = run_cut_after(SIZE_MAX, near, far);
    CHECK(whole.ended.near.ok());
    CHECK(whole.ended.far.ok());
    CHECK(whole.carried > 0);
    const std::size_t step = whole.carried / cuts_max + 1;
    bool any = false;
    for (std::size_t bytes = 0; bytes < whole.carried; bytes += step) {
        CAPTURE(bytes);
        const cut_run run = run_cut_after(bytes, near, far);
        // Signatures do not have the same size each time.
        CHECK((run.ended.near.ok() && run.ended.far.ok()) == !run.cut);
        any = any || run.cut;
    }
    CHECK(any);
}

void check_broken_everywhere(const end_talk& near, const end_talk& far) {
    int told = 0;
    for (int moment = 0;; ++moment) {
        CAPTURE(moment);
        talk_results ended;  // These outlive the world, whose coroutines write them.
        bool near_done = false;
        bool far_done = false;
        test::world world;
        test::link_options link;
        link.latency = 1ms;
        world.set_links(link);
        test::machine& breaks = world.add("near");
        test::machine& other = world.add("far");
        const endpoint where = breaks.at(7000);
        stream_acceptor acceptor = stream_acceptor::listen(breaks.io(), where).take();
        const auto takes = [&]() -> task<> {
            io_result<stream_socket> taken = co_await acceptor.accept();
            CHECK(taken.ok());
            if (taken.ok()) ended.near = co_await near(any_stream{taken.take()});
            near_done = true;
        };
        world.start(breaks, takes());
        world.start(other, connect_and_talk(where, far, ended.far, far_done));
        // The three steps of a connect, which are no protocol's.
        static_cast<void>(world.run_for(2500us));
        for (int each = 0; each < moment && !(near_done && far_done); ++each) {
            static_cast<void>(world.step());
        }
        const bool whole = near_done && far_done;
        if (!whole) breaks.break_connections();
        const auto outcome = world.run_until([&] { return near_done && far_done; }, in_time);
        CHECK_MESSAGE(outcome.ok(), outcome.text());
        if (!outcome.ok()) return;
        if (!ended.near.ok() || !ended.far.ok()) ++told;
        if (!whole) continue;
        CHECK(ended.near.ok());
        CHECK(ended.far.ok());
        break;
    }
    CHECK(told > 0);
}

}  // namespace gyre::testing

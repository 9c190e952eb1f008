// SPDX-License-Identifier: BSL-1.0
//
// Coroutines of children: see supervisor.hpp.
#include <exchange/bin/supervisor.hpp>

#include <exchange/bin/exchange_process.hpp>
#include <exchange/management/lifeline.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/stream/buffered.hpp>
#include <gyre/stream/codecs.hpp>
#include <gyre/stream/framed.hpp>
#include <gyre/sync/when_all.hpp>

#include <algorithm>
#include <csignal>
#include <utility>

namespace exchange {
namespace {

constexpr std::size_t line_bytes_max = 4096;
constexpr std::string_view ready_word = "ready: ";

}  // namespace

served_supervisor::served_supervisor(gyre::io_context& context, const supervisor_config& how,
                                     std::string programs, event_log& log)
    : context_{context},
      how_{how},
      programs_{std::move(programs)},
      log_{log},
      machine_{how.children},
      running_(how.children.size()),
      clock_{context} {}

gyre::error served_supervisor::start() {
    auto [failed, of_children, held] = gyre::make_pipe(context_);
    if (failed) return failed;
    lifeline_ = std::move(of_children);
    lifeline_held_ = std::move(held);
    gyre::launch(context_, keep_time(), gyre::or_terminate{});
    machine_.begin(context_.now());
    obey();
    return {};
}

std::string served_supervisor::how() const {
    return std::to_string(how_.children.size()) + " children in " + how_.folder;
}
std::string served_supervisor::ready_line() const {
    return std::to_string(how_.children.size()) + " children";
}

std::string served_supervisor::summary() const {
    std::string made;
    for (std::size_t each = 0; each < how_.children.size(); ++each)
        made += how_.children[each].name + ": started " +
                std::to_string(machine_.children()[each].starts) + " times\n";
    return made;
}

void served_supervisor::say_state(std::FILE* to) const {
    for (std::size_t each = 0; each < how_.children.size(); ++each)
        std::fprintf(to, "%s: %s, process %d\n", how_.children[each].name.c_str(),
                     std::string{describe(machine_.children()[each].state)}.c_str(),
                     running_[each].process.id());
}

void served_supervisor::tell(admin_report& to) const {
    std::uint64_t starts = 0;
    for (std::size_t each = 0; each < how_.children.size(); ++each) {
        const supervision::child& it = machine_.children()[each];
        starts += it.starts;
        to.children.push_back({.name = how_.children[each].name,
                               .state = describe(it.state),
                               .pid = running_[each].process.id(),
                               .starts = it.starts,
                               .failures = it.failures});
    }
    to.figures.push_back({"child_starts", starts, "Processes that were started"});
    if (!machine_.ready() && to.state == process_state::ready) to.state = process_state::starting;
}

// ---------------------------------------------------------------------------------------------
// From the first to the last
// ---------------------------------------------------------------------------------------------

gyre::task<> served_supervisor::until_ready() { static_cast<void>(co_await all_ready_.wait()); }

gyre::task<> served_supervisor::drain(gyre_timer& pause) {
    machine_.drain(context_.now());
    obey();
    co_await look_until<gyre_traits>(context_, pause, gyre::never,
                                     [this](gyre::time_point) { return machine_.over(); });
}

void served_supervisor::stop() {
    over_ = true;
    all_ready_.set();
    clock_.cancel();
}

void served_supervisor::kill() noexcept {
    for (running& each : running_) static_cast<void>(each.process.signal_group(SIGKILL));
}

gyre::task<> served_supervisor::keep_time() {
    while (!over_) {
        static_cast<void>(co_await clock_.wait());
        if (over_) break;
        clock_.expire_at(gyre::never);
        machine_.on_timer(context_.now());
        obey();
    }
}

void served_supervisor::obey() {
    for (const supervision::order& each : machine_.take_orders()) {
        switch (each.what) {
            case child_action::start:
                running_[each.child] = {};
                gyre::launch(context_, run_child(each.child), gyre::or_terminate{});
                break;
            case child_action::ask_to_end:
                log_.info("child_draining", {{"name", how_.children[each.child].name}});
                send(each.child, SIGTERM);
                break;
            case child_action::kill:
                log_.warning("child_killed", {{"name", how_.children[each.child].name}});
                send(each.child, SIGKILL);
                break;
        }
    }
    clock_.expire_at(machine_.deadline());
    if (machine_.ready() && !std::exchange(was_ready_, true)) all_ready_.set();
    if (machine_.gave_up() && !std::exchange(asked_to_end_, true))
        ::raise(SIGTERM);  // As an operator would.
}

void served_supervisor::send(std::size_t which, int signal) {
    running& it = running_[which];
    if (!it.process.is_open()) {
        (signal == SIGKILL ? it.to_be_killed : it.asked) = true;
    } else if (signal == SIGKILL) {
        static_cast<void>(it.process.signal_group(signal));
    } else {
        static_cast<void>(it.process.signal(signal));
    }
}

// ---------------------------------------------------------------------------------------------
// A child
// ---------------------------------------------------------------------------------------------

std::string served_supervisor::path_of(const supervised_child& it) const {
    const bool is_path = it.program.find('/') != std::string::npos;
    return is_path ? it.program : programs_ + '/' + it.program;
}

gyre::task<> served_supervisor::run_child(std::size_t which) {
    const supervised_child& child = how_.children[which];
    gyre::process_options options;
    options.arguments = child.arguments;
    options.directory = how_.folder;
    options.input = gyre::child_stream::null();
    options.output = gyre::child_stream::piped();
    options.passed.push_back({lifeline_.native_handle(), "lifeline", lifeline_variable});
    options.kill_group =
        true;  // A terminal's interrupt is ours alone; what a child starts ends with it.
    auto started = co_await gyre::process::start(path_of(child), std::move(options));
    if (!started.ok()) {
        log_.error("child_not_started", {{"name", child.name},
                                         {"program", path_of(child)},
                                         {"why", started.error().message()}});
        co_return ended(which, "could not be started");
    }
    running& it = running_[which];
    it.process = started.take();
    log_.info("child_started", {{"name", child.name},
                                {"pid", it.process.id()},
                                {"start", machine_.children()[which].starts}});
    if (it.asked) send(which, SIGTERM);
    if (it.to_be_killed) send(which, SIGKILL);
    co_await run_started(which);
}

gyre::task<> served_supervisor::run_started(std::size_t which) {
    const auto [heard, outcome] =
        co_await gyre::when_all(listen_to(which), running_[which].process.wait());
    static_cast<void>(heard);
    running_[which].process = {};
    ended(which, outcome.ok() ? outcome.value().message() : outcome.error().message());
}

void served_supervisor::ended(std::size_t which, std::string_view how) {
    const child_state before = machine_.children()[which].state;
    machine_.on_ended(which, context_.now());
    const supervision::child& it = machine_.children()[which];
    const bool expected = before == child_state::draining;
    log_.write(expected ? log_level::info : log_level::error, "child_ended",
               {{"name", how_.children[which].name},
                {"how", how},
                {"was", describe(before)},
                {"failures", it.failures}});
    if (it.state == child_state::backing_off)
        log_.warning("child_backing_off",
                     {{"name", how_.children[which].name},
                      {"milliseconds", std::chrono::duration_cast<std::chrono::milliseconds>(
                                           it.due - context_.now())
                                           .count()}});
    if (machine_.gave_up() && machine_.given_up() == which)
        log_.error("gave_up", {{"name", how_.children[which].name}, {"failures", it.failures}});
    obey();
}

gyre::task<> served_supervisor::listen_to(std::size_t which) {
    gyre::readable_pipe& from = running_[which].process.output();
    gyre::buffered_reader reader{from, {1024, line_bytes_max + 2}};
    gyre::framed_reader lines{reader, gyre::lines_codec{line_bytes_max}};
    for (;;) {
        const auto [error, line] = co_await lines.next();
        if (!error) {
            hear(which, line);
        } else if (error == gyre::errc::limit_exceeded) {
            hear(which, "(a long line was left out)");
            lines.skip();
        } else {
            if (!reader.window().empty()) hear(which, gyre::text_of(reader.window()));
            // Else it would wait for us once the pipe is full. As it is, what it says next ends it.
            static_cast<void>(from.close());
            co_return;
        }
    }
}

void served_supervisor::hear(std::size_t which, std::string_view line) {
    std::printf("%s: %.*s\n", how_.children[which].name.c_str(), static_cast<int>(line.size()),
                line.data());
    std::fflush(stdout);
    if (!line.starts_with(ready_word)) return;
    const bool starting = machine_.children()[which].state == child_state::starting;
    machine_.on_ready(which, context_.now());
    if (starting)
        log_.info("child_ready",
                  {{"name", how_.children[which].name}, {"said", line.substr(ready_word.size())}});
    obey();
}

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// Coroutines of children: see supervisor.hpp.
#include <exchange/bin/supervisor.hpp>

#include <exchange/bin/exchange_process.hpp>
#include <exchange/management/lifeline.hpp>
#include <exchange/management/received_listeners.hpp>
#include <exchange/management/write_within.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/stream/buffered.hpp>
#include <gyre/stream/codecs.hpp>
#include <gyre/stream/framed.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <utility>
#include <vector>

namespace exchange {
namespace {

constexpr std::size_t line_bytes_max = 4096;
/// What a process said last is in the pipe when it has ended, so this is long.
constexpr gyre::duration rest_heard_within = std::chrono::seconds{1};
constexpr std::string_view ready_word = "ready: ";

/// What a process says of its own admin port when it is ready; empty if it has none.
[[nodiscard]] std::string_view admin_in(std::string_view ready_line) {
    constexpr std::string_view word = ", admin ";
    const std::size_t at = ready_line.find(word);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = ready_line.substr(at + word.size());
    return rest.substr(0, rest.find(','));
}

}  // namespace

served_supervisor::served_supervisor(gyre::io_context& context, const supervisor_config& how,
                                     std::string programs, event_log& log)
    : context_{context},
      how_{how},
      programs_{std::move(programs)},
      log_{log},
      machine_{how.children},
      listeners_(how.children.size()),
      clock_{context} {}

gyre::error served_supervisor::start() {
    auto [failed, of_children, held] = gyre::make_pipe(context_);
    if (failed) return failed;
    lifeline_ = std::move(of_children);
    lifeline_held_ = std::move(held);
    if (const gyre::error refused = listen_for_children()) return refused;
    gyre::launch(context_, keep_time(), gyre::or_terminate{});
    machine_.begin(context_.now());
    obey();
    return {};
}

gyre::error served_supervisor::listen_for_children() {
    for (std::size_t each = 0; each < how_.children.size(); ++each)
        for (const gyre::endpoint& at : how_.children[each].listen) {
            const gyre::error refused = start_patiently([&] {
                auto listening = gyre::stream_acceptor::listen(context_, at);
                if (listening.ok()) listeners_[each].push_back(listening.take());
                return listening.error();
            });
            if (!refused) continue;
            log_.error(
                "cannot_listen",
                {{"name", name_of(each)}, {"at", at.to_string()}, {"why", refused.message()}});
            return refused;
        }
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
    for (std::size_t each = 0; each < how_.children.size(); ++each) {
        const supervision::child& it = machine_.children()[each];
        std::fprintf(to, "%s: %s, process %d\n", name_of(each).c_str(),
                     std::string{describe(it.state)}.c_str(), id_of(each, it.generation));
    }
}

void served_supervisor::tell(admin_report& to) const {
    std::uint64_t starts = 0;
    for (std::size_t each = 0; each < how_.children.size(); ++each) {
        starts += machine_.children()[each].starts;
        to.children.push_back(told_of(each));
    }
    to.figures.push_back({"child_starts", starts, "Processes that were started"});
    to.figures.push_back({"child_lines_lost", lines_lost_,
                          "Lines of children for which standard output had no room"});
    if (!machine_.ready() && to.state == process_state::ready) to.state = process_state::starting;
}

admin_child served_supervisor::told_of(std::size_t which) const {
    const supervision::child& it = machine_.children()[which];
    const auto since =
        std::chrono::duration_cast<std::chrono::milliseconds>(context_.now() - it.since);
    admin_child made{.name = name_of(which),
                     .state = describe(it.state),
                     .pid = id_of(which, it.generation),
                     .starts = it.starts,
                     .failures = it.failures,
                     .since_ms = static_cast<std::uint64_t>(since.count())};
    if (const running* const found = find(which, it.generation)) made.admin = found->admin;
    const bool starts_another = it.next.generation != 0;
    if (!starts_another && it.before.generation == 0) return made;
    made.beside = describe(starts_another ? child_state::starting : child_state::draining);
    made.beside_pid = id_of(which, starts_another ? it.next.generation : it.before.generation);
    return made;
}

const served_supervisor::running* served_supervisor::find(std::size_t child,
                                                          unsigned generation) const {
    const auto found = std::ranges::find_if(running_, [&](const running& it) {
        return it.child == child && it.generation == generation;
    });
    return found != running_.end() ? &*found : nullptr;
}
served_supervisor::running* served_supervisor::find(std::size_t child, unsigned generation) {
    return const_cast<running*>(std::as_const(*this).find(child, generation));
}

int served_supervisor::id_of(std::size_t child, unsigned generation) const {
    const running* const found = find(child, generation);
    return found != nullptr ? found->process.id() : -1;
}

admin_outcome served_supervisor::command(std::string_view name, std::string_view child) {
    using kind = admin_outcome::kind;
    const auto found = std::ranges::find(how_.children, child, &supervised_child::name);
    if (found == how_.children.end())
        return {kind::unknown_child, "no child is called \"" + std::string{child} + "\""};
    const auto which = static_cast<std::size_t>(found - how_.children.begin());
    const bool beside = name == "replace";
    if (beside && !found->replaceable)
        return {kind::not_now, found->name + " is not replaceable: only restarted"};
    const bool begun =
        beside ? machine_.replace(which, context_.now()) : machine_.restart(which, context_.now());
    if (!begun) return {kind::not_now, found->name + " is not ready, or is being replaced"};
    if (beside) log_.info("child_replacing", {{"name", found->name}});
    obey();
    return {kind::begun, found->name + (beside ? " is being replaced" : " is being restarted")};
}

// ---------------------------------------------------------------------------------------------
// From the first to the last
// ---------------------------------------------------------------------------------------------

gyre::task<> served_supervisor::until_ready() { static_cast<void>(co_await all_ready_.wait()); }

gyre::task<> served_supervisor::drain(gyre_timer& pause) {
    for (auto& each : listeners_) each.clear();  // No process will come for those who wait.
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
                running_.push_back({each.child, each.generation});
                gyre::launch(context_, run_child(std::prev(running_.end())), gyre::or_terminate{});
                break;
            case child_action::ask_to_end:
                log_.info("child_draining", {{"name", name_of(each.child)}});
                send(each, SIGTERM);
                break;
            case child_action::kill:
                log_.warning("child_killed", {{"name", name_of(each.child)}});
                send(each, SIGKILL);
                break;
        }
    }
    clock_.expire_at(machine_.deadline());
    if (machine_.ready() && !std::exchange(was_ready_, true)) all_ready_.set();
    if (machine_.gave_up() && !std::exchange(asked_to_end_, true))
        ::raise(SIGTERM);  // As an operator would.
}

void served_supervisor::send(const supervision::order& order, int signal) {
    running* const it = find(order.child, order.generation);
    if (it == nullptr) return;
    if (!it->process.is_open()) {
        (signal == SIGKILL ? it->to_be_killed : it->asked) = true;
    } else if (signal == SIGKILL) {
        static_cast<void>(it->process.signal_group(signal));
    } else {
        static_cast<void>(it->process.signal(signal));
    }
}

// ---------------------------------------------------------------------------------------------
// A child
// ---------------------------------------------------------------------------------------------

std::string served_supervisor::path_of(const supervised_child& it) const {
    const bool is_path = it.program.find('/') != std::string::npos;
    return is_path ? it.program : programs_ + '/' + it.program;
}

gyre::task<> served_supervisor::run_child(running_list::iterator it) {
    const supervised_child& child = how_.children[it->child];
    gyre::process_options options;
    options.arguments = child.arguments;
    options.directory = how_.folder;
    options.input = gyre::child_stream::null();
    options.output = gyre::child_stream::piped();
    for (const gyre::stream_acceptor& each : listeners_[it->child])
        options.passed.push_back({each.native_handle(), child.name});
    options.passed.push_back({lifeline_.native_handle(), "lifeline", lifeline_variable});
    if (machine_.children()[it->child].next.generation == it->generation)
        options.environment = environment_of_replacement();
    options.kill_group =
        true;  // A terminal's interrupt is ours alone; what a child starts ends with it.
    auto started = co_await gyre::process::start(path_of(child), std::move(options));
    if (!started.ok()) {
        log_.error("child_not_started", {{"name", child.name},
                                         {"program", path_of(child)},
                                         {"why", started.error().message()}});
        co_return ended(it, "could not be started");
    }
    it->process = started.take();
    log_.info("child_started",
              {{"name", child.name}, {"pid", it->process.id()}, {"start", it->generation}});
    const supervision::order to_it{it->child, it->generation, child_action::ask_to_end};
    if (it->asked) send(to_it, SIGTERM);
    if (it->to_be_killed) send(to_it, SIGKILL);
    co_await run_started(it);
}

gyre::task<> served_supervisor::run_started(running_list::iterator it) {
    gyre::event heard_all;
    const auto [heard, outcome] =
        co_await gyre::when_all(listen_to(*it, heard_all), wait_for_end(*it, heard_all));
    static_cast<void>(heard);
    ended(it, outcome.ok() ? outcome.value().message() : outcome.error().message());
}

void served_supervisor::ended(running_list::iterator it, std::string_view how) {
    const std::size_t which = it->child;
    const unsigned generation = it->generation;
    running_.erase(it);
    const child_state before = machine_.children()[which].state;
    switch (machine_.on_ended(which, generation, context_.now())) {
        case supervision::end_of::child: tell_end(which, before, how); break;
        case supervision::end_of::replacement:
            log_.error("replacement_failed", {{"name", name_of(which)}, {"how", how}});
            break;
        case supervision::end_of::replaced:
            log_.info("child_ended", {{"name", name_of(which)},
                                      {"how", how},
                                      {"was", "replaced"},
                                      {"failures", machine_.children()[which].failures}});
            break;
    }
    obey();
}

void served_supervisor::tell_end(std::size_t which, child_state before, std::string_view how) {
    const supervision::child& it = machine_.children()[which];
    const bool expected = before == child_state::draining;
    log_.write(expected ? log_level::info : log_level::error, "child_ended",
               {{"name", name_of(which)},
                {"how", how},
                {"was", describe(before)},
                {"failures", it.failures}});
    if (it.state == child_state::backing_off)
        log_.warning("child_backing_off",
                     {{"name", name_of(which)},
                      {"milliseconds", std::chrono::duration_cast<std::chrono::milliseconds>(
                                           it.due - context_.now())
                                           .count()}});
    if (machine_.gave_up() && machine_.given_up() == which)
        log_.error("gave_up", {{"name", name_of(which)}, {"failures", it.failures}});
}

gyre::task<gyre::io_result<gyre::exit_status>> served_supervisor::wait_for_end(
    running& it, gyre::event& heard_all) {
    auto outcome = co_await it.process.wait();
    // What it has started may have left its group, and hold the pipe for as long as it likes.
    static_cast<void>(co_await gyre::with_timeout(rest_heard_within, heard_all.wait()));
    static_cast<void>(it.process.output().close());
    co_return outcome;
}

gyre::task<> served_supervisor::listen_to(running& it, gyre::event& heard_all) {
    gyre::readable_pipe& from = it.process.output();
    gyre::buffered_reader reader{from, {1024, line_bytes_max + 2}};
    gyre::framed_reader lines{reader, gyre::lines_codec{line_bytes_max}};
    for (;;) {
        const auto [error, line] = co_await lines.next();
        if (!error) {
            hear(it, line);
        } else if (error == gyre::errc::limit_exceeded) {
            hear(it, "(a long line was left out)");
            lines.skip();
        } else {
            if (!reader.window().empty()) hear(it, gyre::text_of(reader.window()));
            // Else it would wait for us once the pipe is full. As it is, what it says next ends it.
            static_cast<void>(from.close());
            heard_all.set();
            co_return;
        }
    }
}

void served_supervisor::hear(running& it, std::string_view line) {
    // All children would wait with us for a reader that does not read.
    if (!write_line(::fileno(stdout), name_of(it.child) + ": ", line)) ++lines_lost_;
    if (line.starts_with(ready_word)) hear_ready(it, line.substr(ready_word.size()));
}

void served_supervisor::hear_ready(running& it, std::string_view said) {
    const supervision::child& child = machine_.children()[it.child];
    const unsigned before = child.generation;
    const bool starting = child.state == child_state::starting;
    machine_.on_ready(it.child, it.generation, context_.now());
    const bool replaced = child.generation != before;
    if (replaced || (starting && child.state == child_state::ready)) {
        it.admin = admin_in(said);
        log_.info("child_ready", {{"name", name_of(it.child)}, {"said", said}});
    }
    if (replaced)
        log_.info("child_replaced", {{"name", name_of(it.child)}, {"start", it.generation}});
    obey();
}

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// From options to a child, and from its end to a value: see include/gyre/io/process.hpp.
#include <gyre/io/process.hpp>

#include <gyre/io/file.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/read_all.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <string_view>

namespace gyre {
namespace {

std::vector<std::string> own_environment() {
    std::vector<std::string> all;
    for (char** each = environ; each != nullptr && *each != nullptr; ++each)
        all.emplace_back(*each);
    return all;
}

bool has_nul(const std::string& text) noexcept { return text.find('\0') != std::string::npos; }

bool is_assignment(const std::string& text) noexcept {
    const std::size_t sign = text.find('=');
    return sign != 0 && sign != std::string::npos && !has_nul(text);
}

// Names are listed with colons between them (sd_listen_fds(3)).
bool is_passable(const passed_descriptor& it) noexcept {
    return it.number >= 0 && !has_nul(it.name) && it.name.find(':') == std::string::npos &&
           !has_nul(it.variable) && it.variable.find('=') == std::string::npos;
}

bool is_valid(const std::string& program, const process_options& how) noexcept {
    if (!std::all_of(how.passed.begin(), how.passed.end(), is_passable)) return false;
    if (program.empty() || has_nul(program) || has_nul(how.directory)) return false;
    if (std::any_of(how.arguments.begin(), how.arguments.end(), has_nul)) return false;
    return !how.environment ||
           std::all_of(how.environment->begin(), how.environment->end(), is_assignment);
}

bool is_announcement(const std::string& assigned) noexcept {
    constexpr std::array<std::string_view, 4> all{
        "LISTEN_FDS=", "LISTEN_FDNAMES=", "LISTEN_PID=", "LISTEN_PIDFDID="};
    return std::any_of(all.begin(), all.end(),
                       [&](std::string_view each) { return assigned.starts_with(each); });
}

// The child is told how many listeners it has, what they are called, and the numbers of the others.
void announce_passed(process_options& how) {
    constexpr std::size_t first_number = 3;  // SD_LISTEN_FDS_START
    std::vector<passed_descriptor> ordered;
    for (const passed_descriptor& each : how.passed) {
        if (each.variable.empty()) ordered.push_back(each);
    }
    const std::size_t listeners = ordered.size();
    for (const passed_descriptor& each : how.passed) {
        if (!each.variable.empty()) ordered.push_back(each);
    }
    how.passed = std::move(ordered);
    if (!how.environment) how.environment = own_environment();
    std::erase_if(*how.environment, is_announcement);
    std::string names;
    for (std::size_t each = 0; each < how.passed.size(); ++each) {
        const passed_descriptor& it = how.passed[each];
        if (each < listeners) {
            if (each > 0) names += ':';
            names += it.name;
        } else {
            const std::string assigned = it.variable + '=';
            std::erase_if(*how.environment,
                          [&](const std::string& old) { return old.starts_with(assigned); });
            how.environment->push_back(assigned + std::to_string(first_number + each));
        }
    }
    if (listeners == 0) return;
    how.environment->push_back("LISTEN_FDS=" + std::to_string(listeners));
    how.environment->push_back("LISTEN_FDNAMES=" + names);
}

// As exec(3) wants them, which does not write through them.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> all;
    all.reserve(texts.size() + 1);
    for (std::string& each : texts) all.push_back(each.data());
    all.push_back(nullptr);
    return all;
}

/// What a child's streams are made of: its ends, which are closed here when it has them, and ours.
struct stream_ends {
    std::array<int, 3> numbers{inherited_stream, inherited_stream, inherited_stream};
    std::array<handle, 3> theirs;
    std::array<handle, 3> ours;
    std::array<file, 3> nulls;
};

error open_pipe(io_context& on, std::size_t stream, stream_ends& ends) noexcept {
    constexpr bool blocking = true;  // Most programs expect it.
    make_pipe_operation op{blocking};
    op.result = on.host().perform_now(op);
    if (const error failed = error_of(op)) return failed;
    const bool child_reads = stream == 0;
    ends.theirs[stream] = handle{on.host(), op.numbers[child_reads ? 0 : 1]};
    ends.ours[stream] = handle{on.host(), op.numbers[child_reads ? 1 : 0]};
    ends.numbers[stream] = ends.theirs[stream].number();
    return {};
}

task<error> open_null(std::size_t stream, stream_ends& ends) {
    io_result<file> opened =
        co_await file::open("/dev/null", file_options{file_access::read_write});
    if (!opened.ok()) co_return opened.error();
    ends.nulls[stream] = opened.take();
    ends.numbers[stream] = ends.nulls[stream].native_handle();
    co_return error{};
}

task<error> open_streams(io_context& on, const process_options& how, stream_ends& ends) {
    const std::array wanted{how.input, how.output, how.error};
    for (std::size_t stream = 0; stream < wanted.size(); ++stream) {
        error failed;
        switch (wanted[stream].what()) {
            case child_stream::kind::inherited: break;
            case child_stream::kind::null: failed = co_await open_null(stream, ends); break;
            case child_stream::kind::pipe: failed = open_pipe(on, stream, ends); break;
            case child_stream::kind::number: ends.numbers[stream] = wanted[stream].number(); break;
            case child_stream::kind::output:
                ends.numbers[stream] =
                    ends.numbers[1] == inherited_stream ? STDOUT_FILENO : ends.numbers[1];
                break;
        }
        if (failed) co_return failed;
    }
    co_return error{};
}

// Of a process that has ended by now or will: it is not waited for longer than a kill takes.
constexpr duration kill_patience = std::chrono::seconds{10};

// Of several outcomes the one that has stopped the others.
error cause_among(std::initializer_list<error> outcomes) noexcept {
    error stopped;
    for (const error each : outcomes) {
        if (each && each != errc::canceled) return each;
        if (each) stopped = each;
    }
    return stopped;
}

task<io_result<>> feed(process& to, const_buffer input) {
    const io_result<std::size_t> written = co_await write_all(to.input(), input);
    static_cast<void>(to.input().close());
    // A program need not read all that it is given.
    if (!written.ok() && written.error() != errc::broken_pipe) co_return written.error();
    co_return io_result<>{};
}

}  // namespace

/// Makes the process of what has been spawned, so that it has an owner from the first moment on.
struct finish_spawn {
    [[nodiscard]] std::int32_t prepare(spawn_operation& op, io_context& on) noexcept {
        op.image = image;
        system = &on.host();
        return 0;
    }
    [[nodiscard]] io_result<process> operator()(const spawn_operation& op) noexcept {
        if (op.result < 0) return error::from_errno(-op.result, op.during);
        return process{handle{*system, op.result}, op.id, image->group == 0 || image->session,
                       kills_group};
    }

    const program_image* image;
    bool kills_group;
    host* system = nullptr;
};

std::string exit_status::message() const {
    if (signal_ == 0) return "exited with " + std::to_string(code_);
    const char* name = ::sigabbrev_np(signal_);
    std::string text = "killed by ";
    text += name != nullptr ? "SIG" + std::string{name} : "signal " + std::to_string(signal_);
    return core_dumped_ ? text + ", core dumped" : text;
}

process& process::operator=(process&& other) noexcept {
    if (this == &other) return *this;
    let_go(true);
    basic_descriptor::operator=(std::move(static_cast<basic_descriptor&>(other)));
    input_ = std::move(other.input_);
    output_ = std::move(other.output_);
    error_ = std::move(other.error_);
    id_ = std::exchange(other.id_, -1);
    leads_group_ = other.leads_group_;
    kills_group_ = other.kills_group_;
    ended_ = std::move(other.ended_);
    return *this;
}

process::~process() { let_go(true); }

void process::detach() noexcept {
    let_go(false);
    input_ = {};
    output_ = {};
    error_ = {};
}

void process::let_go(bool killed) noexcept {
    if (!is_open()) return;
    // In a forked process it is no child, and none of its business.
    const bool runs = !ended_->status && view().take_status().error() == errc::resource_unavailable;
    if (!runs) {
        static_cast<void>(basic_descriptor::close());
        return;
    }
    if (killed) static_cast<void>(kills_group_ ? signal_group(SIGKILL) : signal(SIGKILL));
    host& system = on();
    disown_operation op{basic_descriptor::release()};
    op.result = system.perform_now(op);
}

task<io_result<process>> process::start(std::string program, process_options options) {
    if (!is_valid(program, options)) {
        co_return gyre::error{errc::invalid_argument, activity::start_process};
    }
    io_context& on = *io_context::current();
    stream_ends ends;
    const gyre::error failed = co_await open_streams(on, options, ends);
    if (failed) co_return failed;

    program_image image;
    options.arguments.insert(options.arguments.begin(), program);
    std::vector<char*> arguments = pointers_to(options.arguments);
    if (!options.passed.empty()) announce_passed(options);
    std::vector<char*> variables;
    if (options.environment) variables = pointers_to(*options.environment);
    image.path = program.c_str();
    image.arguments = arguments.data();
    if (options.environment) image.environment = variables.data();
    if (!options.directory.empty()) image.directory = options.directory.c_str();
    std::vector<int> numbers{ends.numbers.begin(), ends.numbers.end()};
    for (const passed_descriptor& each : options.passed) numbers.push_back(each.number);
    image.descriptors = numbers;
    if (options.own_group || options.kill_group) image.group = 0;
    image.session = options.own_session;
    if (options.user) image.user = &*options.user;
    image.limits = options.limits;
    if (options.file_mask) image.file_mask = static_cast<int>(*options.file_mask);

    submission<spawn_operation, finish_spawn> spawning{spawn_operation{},
                                                       finish_spawn{&image, options.kill_group}};
    io_result<process> started = co_await spawning;
    if (!started.ok()) co_return started.error();
    process child = started.take();
    child.input_ = writable_pipe{std::move(ends.ours[0])};
    child.output_ = readable_pipe{std::move(ends.ours[1])};
    child.error_ = readable_pipe{std::move(ends.ours[2])};
    co_return child;
}

io_result<> process::ending::take_status() noexcept {
    reap_operation op{*of.of};
    op.killed_group = kills_group ? id : 0;
    op.usage = &ended->usage;
    op.result = on->perform_now(op);
    if (const gyre::error failed = error_of(op)) return failed;
    const bool by_itself = op.code == CLD_EXITED;
    ended->status = by_itself ? exit_status::exited(op.status)
                              : exit_status::killed(op.status, op.code == CLD_DUMPED);
    return {};
}

io_result<> process::ending::signal(int number) noexcept {
    if (!of.lasts()) return gyre::error{errc::closed, activity::signal};
    signal_operation op{*of.of, id, number, signal_operation::to::process};
    op.result = on->perform_now(op);
    return error_of(op);
}

task<io_result<exit_status>> process::wait_for(ending it) {
    if (!it.of.lasts()) co_return gyre::error{errc::closed, activity::wait};
    for (;;) {
        if (it.ended->status) co_return *it.ended->status;
        const io_result<> taken = it.take_status();
        if (taken.ok()) continue;
        if (taken.error() != errc::resource_unavailable) co_return taken.error();
        submission<wait_ready_operation, finish_wait> waiting{it.of, wait_ready_operation{POLLIN}};
        const io_result<> ready = co_await waiting;
        if (!ready.ok()) co_return ready.error();
        // Its owner has let it go: who reaps it now does not tell.
        if (!it.of.lasts()) co_return gyre::error{errc::canceled, activity::wait};
    }
}

task<io_result<exit_status>> process::terminate(ending it, duration grace) {
    static_cast<void>(it.signal(SIGTERM));
    io_result<exit_status> ended = co_await with_timeout(grace, wait_for(it));
    if (ended.ok() || !it.of.lasts()) co_return ended;
    // Whatever has ended the wait, a process that runs on is not what was asked for.
    static_cast<void>(it.signal(SIGKILL));
    ended = co_await shielded(wait_for(it), kill_patience);
    co_return ended;
}

io_result<> process::signal(int number) noexcept { return view().signal(number); }

io_result<> process::signal_group(int number) noexcept {
    if (!is_open()) return gyre::error{errc::closed, activity::signal};
    if (!leads_group_) return gyre::error{errc::invalid_argument, activity::signal};
    // Once it is reaped, its number may be another group's.
    if (ended_->status) return gyre::error{errc::no_such_process, activity::signal};
    signal_operation op{slot(), id_, number, signal_operation::to::group};
    return perform_now(op);
}

task<io_result<process_output>> run_process(std::string program, process_options options,
                                            const_buffer input, std::size_t kept_bytes_max) {
    options.input = options.output = options.error = child_stream::piped();
    io_result<process> started = co_await process::start(std::move(program), std::move(options));
    if (!started.ok()) co_return started.error();
    process child = started.take();
    process_output said;
    auto ended = co_await when_all(feed(child, input), read_all(child.output(), kept_bytes_max),
                                   read_all(child.error(), kept_bytes_max), child.wait());
    auto& [fed, output, errors, status] = ended;
    if (const gyre::error failed =
            cause_among({fed.error(), output.error(), errors.error(), status.error()}))
        co_return failed;
    said.output = output.take();
    said.error = errors.take();
    said.status = status.value();
    said.usage = child.usage();
    co_return said;
}

}  // namespace gyre

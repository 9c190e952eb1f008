// SPDX-License-Identifier: BSL-1.0
//
// The thread of a log: see include/gyre/runtime/log_writer.hpp.
#include <gyre/runtime/log_writer.hpp>

#include <gyre/base/buffer.hpp>
#include <gyre/base/last_words.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/runtime/handle.hpp>
#include <runtime/fork_count.hpp>
#include <runtime/started_thread.hpp>
#include <runtime/system_host.hpp>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace gyre {
namespace {

constexpr int standard_error_number = 2;
constexpr duration last_words_time = std::chrono::seconds{1};

std::uint64_t lines_in(std::string_view text) noexcept {
    return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string missing_lines(std::uint64_t lines, const std::string& why) {
    return "gyre: " + std::to_string(lines) + " lines are missing here: " + why + '\n';
}

// Never waits for a FIFO's reader, nor makes a terminal the program's own.
io_result<handle> open_to_append(const std::string& path, const log_options& how) noexcept {
    if (path.find('\0') != std::string::npos) return error{errc::invalid_argument, activity::open};
    constexpr int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    const int number = ::open(path.c_str(), flags, static_cast<mode_t>(how.permissions));
    if (number < 0) return error::from_errno(errno, activity::open);
    return handle{system_host::instance(), number};
}

}  // namespace

class log_writer::state {
public:
    state(handle target, std::string path, const log_options& how)
        : target_{std::move(target)}, path_{std::move(path)}, how_{how} {
        learn_target();
        waiting_.reserve(how.bytes_max);
        taken_.reserve(how.bytes_max);
    }
    state(const state&) = delete;
    state& operator=(const state&) = delete;

    [[nodiscard]] int start() noexcept;
    bool write(std::string_view line) noexcept;
    void reopen() noexcept;
    io_result<> flush(time_point deadline) noexcept;
    [[nodiscard]] log_counters counters() const noexcept;

    /// Writes the rest, and ends the thread.
    void end() noexcept;

    /// Whether this is a child, in which there is no such thread.
    [[nodiscard]] bool forked() const noexcept { return forks_ != fork_count(); }

private:
    static void speak(void* it) noexcept;
    [[nodiscard]] bool has_work() const noexcept;
    [[nodiscard]] bool in_haste() const noexcept;
    void work_until_closed() noexcept;
    void gather(std::unique_lock<std::mutex>& hold) noexcept;
    void write_taken(std::uint64_t dropped) noexcept;
    [[nodiscard]] std::size_t write_out(std::string_view lines) noexcept;
    [[nodiscard]] std::size_t write_bytes(std::string_view text) noexcept;
    [[nodiscard]] bool wait_for_room() noexcept;
    void open_anew() noexcept;
    void learn_target() noexcept;
    void note(error failed) noexcept;

    // The thread's.
    handle target_;
    const std::string path_;  // Empty of standard error.
    const log_options how_;
    std::string taken_;
    bool torn_ = false;         // A line was written in part.
    std::uint64_t untold_ = 0;  // Lines that were lost, and of which nothing was said yet.

    const unsigned forks_ = fork_count();
    pthread_t thread_{};
    mutable std::mutex mutex_;  // Of all below.
    std::condition_variable wanted_;
    std::condition_variable done_;
    std::string waiting_;
    std::uint64_t asked_ = 0;     // Lines, and times that it was to be opened again.
    std::uint64_t finished_ = 0;  // Of these.
    std::uint64_t untold_dropped_ = 0;
    int flushing_ = 0;
    bool reopening_ = false;
    bool closed_ = false;
    time_point end_by_ = never;
    log_counters counters_;
    last_words at_failed_check_{&speak, this};
};

int log_writer::state::start() noexcept {
    const auto body = [](void* it) -> void* {
        static_cast<state*>(it)->work_until_closed();
        return nullptr;
    };
    const started_thread made = start_with_signals_blocked(body, this);
    thread_ = made.thread;
    return made.failed;
}

bool log_writer::state::write(std::string_view line) noexcept {
    if (forked()) return false;
    bool wakes = false;
    bool fits = false;
    {
        const std::lock_guard hold{mutex_};
        const bool hurried = in_haste();
        fits = line.size() < how_.bytes_max - waiting_.size();
        wakes = !has_work();
        if (fits) {
            waiting_.append(line).push_back('\n');
            ++asked_;
        } else {
            ++counters_.dropped;
            ++untold_dropped_;
        }
        wakes = wakes || hurried != in_haste();
    }
    if (wakes) wanted_.notify_one();
    return fits;
}

void log_writer::state::reopen() noexcept {
    if (forked() || path_.empty()) return;
    {
        const std::lock_guard hold{mutex_};
        reopening_ = true;
        ++asked_;
    }
    wanted_.notify_one();
}

io_result<> log_writer::state::flush(time_point deadline) noexcept {
    if (forked()) return error{errc::closed, activity::write};
    std::unique_lock hold{mutex_};
    const std::uint64_t up_to = asked_;
    const std::uint64_t lost = counters_.lost;
    const auto is_done = [&] { return finished_ >= up_to; };
    ++flushing_;
    wanted_.notify_one();
    bool done = true;
    if (deadline == never) {
        done_.wait(hold, is_done);
    } else {
        done = done_.wait_until(hold, deadline, is_done);
    }
    --flushing_;
    if (!done) return error{errc::timed_out, activity::write};
    return counters_.lost == lost ? error{} : counters_.failure;
}

log_counters log_writer::state::counters() const noexcept {
    if (forked()) return {};
    const std::lock_guard hold{mutex_};
    return counters_;
}

void log_writer::state::end() noexcept {
    {
        const std::lock_guard hold{mutex_};
        closed_ = true;
        end_by_ = deadline_after(system_host::instance().now(), how_.end_time_max);
    }
    wanted_.notify_one();
    ::pthread_join(thread_, nullptr);
}

void log_writer::state::speak(void* it) noexcept {
    static_cast<void>(static_cast<state*>(it)->flush(
        deadline_after(system_host::instance().now(), last_words_time)));
}

bool log_writer::state::has_work() const noexcept {
    return !waiting_.empty() || untold_dropped_ > 0 || reopening_ || closed_;
}

bool log_writer::state::in_haste() const noexcept {
    return flushing_ > 0 || reopening_ || closed_ || waiting_.size() >= how_.bytes_max / 2;
}

void log_writer::state::work_until_closed() noexcept {
    std::unique_lock hold{mutex_};
    for (;;) {
        wanted_.wait(hold, [this] { return has_work(); });
        gather(hold);
        std::swap(waiting_, taken_);
        const std::uint64_t up_to = asked_;
        const std::uint64_t dropped = std::exchange(untold_dropped_, 0);
        const bool reopening = std::exchange(reopening_, false);
        const bool last = closed_;
        hold.unlock();
        write_taken(dropped);
        if (reopening) open_anew();
        hold.lock();
        finished_ = up_to;
        done_.notify_all();
        if (last && waiting_.empty()) return;
    }
}

void log_writer::state::gather(std::unique_lock<std::mutex>& hold) noexcept {
    const auto is_over = [this] { return in_haste(); };
    const time_point until = deadline_after(system_host::instance().now(), how_.gather_time);
    if (until == never) wanted_.wait(hold, is_over);
    else static_cast<void>(wanted_.wait_until(hold, until, is_over));
}

// What was lost is said in front, where it is missing, what was dropped behind.
void log_writer::state::write_taken(std::uint64_t dropped) noexcept {
    if (untold_ > 0) {
        const std::string text = missing_lines(untold_, counters().failure.message());
        if (write_out(text) == text.size()) untold_ = 0;
    }
    const std::size_t out = write_out(taken_);
    const std::uint64_t lost = lines_in(std::string_view{taken_}.substr(out));
    untold_ += lost;
    {
        const std::lock_guard hold{mutex_};
        counters_.written += lines_in(taken_) - lost;
        counters_.lost += lost;
    }
    taken_.clear();
    if (dropped == 0) return;
    const std::string text = missing_lines(dropped, "there was no room for them");
    if (write_out(text) != text.size()) untold_ += dropped;
}

// Lines, behind the end of one of which only a part was written.
std::size_t log_writer::state::write_out(std::string_view lines) noexcept {
    if (torn_) torn_ = write_bytes("\n") == 0;
    if (torn_) return 0;
    const std::size_t out = write_bytes(lines);
    torn_ = out > 0 && lines[out - 1] != '\n';
    return out;
}

std::size_t log_writer::state::write_bytes(std::string_view text) noexcept {
    std::size_t out = 0;
    while (out < text.size()) {
        write_operation op{bytes_of(text.substr(out))};
        op.target = &target_.slot();
        const int result = target_.on().perform_now(op);
        if (result > 0) {
            out += static_cast<std::size_t>(result);
        } else if (result == -EAGAIN) {
            if (wait_for_room()) continue;
            note({errc::timed_out, activity::write});
            break;
        } else if (result != -EINTR) {
            note(error::from_errno(result == 0 ? EIO : -result, activity::write));
            break;
        }
    }
    return out;
}

// A reader may never come back: now and then it is looked whether that is still to be waited for.
bool log_writer::state::wait_for_room() noexcept {
    constexpr int look_every_ms = 50;
    for (;;) {
        pollfd it{target_.number(), POLLOUT, 0};
        if (::poll(&it, 1, look_every_ms) > 0) return true;
        const std::lock_guard hold{mutex_};
        if (end_by_ != never && system_host::instance().now() >= end_by_) return false;
    }
}

void log_writer::state::open_anew() noexcept {
    io_result<handle> opened = open_to_append(path_, how_);
    if (opened.ok()) {
        target_ = opened.take();
        learn_target();
        torn_ = false;
        return;
    }
    note(opened.error());
    const std::string text = "gyre: this log goes on: " + opened.error().message() + '\n';
    static_cast<void>(write_out(text));
}

void log_writer::state::learn_target() noexcept {
    learn_kind_operation op{target_.slot()};
    static_cast<void>(target_.on().perform_now(op));  // Of an open one it succeeds.
}

void log_writer::state::note(error failed) noexcept {
    const std::lock_guard hold{mutex_};
    counters_.failure = failed;
}

log_writer::log_writer() noexcept = default;
log_writer::log_writer(std::unique_ptr<state> of) noexcept : state_{std::move(of)} {}
log_writer::log_writer(log_writer&& other) noexcept = default;

log_writer& log_writer::operator=(log_writer&& other) noexcept {
    log_writer taken{std::move(other)};
    std::swap(state_, taken.state_);
    return *this;
}

log_writer::~log_writer() {
    if (state_ == nullptr) return;
    if (state_->forked()) {
        // A thread may have held its locks at the fork, which then stay so.
        [[maybe_unused]] const auto* const left = state_.release();
    } else {
        state_->end();
    }
}

io_result<log_writer> log_writer::begun(handle target, std::string path, const log_options& how) {
    auto made = std::make_unique<state>(std::move(target), std::move(path), how);
    if (const int failed = made->start(); failed != 0)
        return error::from_errno(failed, activity::start_thread);
    return log_writer{std::move(made)};
}

io_result<log_writer> log_writer::open(std::string path, const log_options& options) {
    io_result<handle> opened = open_to_append(path, options);
    if (!opened.ok()) return opened.error();
    return begun(opened.take(), std::move(path), options);
}

io_result<log_writer> log_writer::to_standard_error(const log_options& options) {
    duplicate_operation op{standard_error_number};
    op.terminal_anew = true;
    const int number = system_host::instance().perform_now(op);
    if (number < 0) return error::from_errno(-number, activity::open);
    return begun(handle{system_host::instance(), number}, {}, options);
}

bool log_writer::write(std::string_view line) noexcept {
    return state_ != nullptr && state_->write(line);
}

void log_writer::reopen() noexcept {
    if (state_ != nullptr) state_->reopen();
}

io_result<> log_writer::flush_blocking(time_point deadline) noexcept {
    if (state_ == nullptr) return error{errc::closed, activity::write};
    return state_->flush(deadline);
}

// The loop may have a clock of its own, which a worker's thread does not wait by.
task<io_result<>> log_writer::flush(time_point deadline) {
    loop& home = co_await this_task::loop();
    if (deadline != never) {
        const duration left = time_left(deadline, home.read_clock());
        deadline = deadline_after(system_host::instance().now(), left);
    }
    io_result<> flushed;
    const auto wait = [&] { flushed = flush_blocking(deadline); };
    const io_result<> ran = co_await blocking(wait);
    co_return ran.ok() ? flushed : ran;
}

log_counters log_writer::counters() const noexcept {
    return state_ != nullptr ? state_->counters() : log_counters{};
}

}  // namespace gyre

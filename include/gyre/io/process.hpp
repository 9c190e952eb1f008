// SPDX-License-Identifier: BSL-1.0
//
// Other programs: started without a shell, talked to through pipes, waited for, and never left behind.
//
// A process is waited for by a descriptor of its own (pidfd_open(2)), so no signal is involved, and its
// number cannot be mistaken for another's. A child is given what is asked for here and nothing else: no
// descriptor, no blocked or ignored signal of ours.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/basic_descriptor.hpp>
#include <gyre/io/pipe.hpp>
#include <gyre/runtime/process_user.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gyre {

/// What one of a child's standard streams is.
class child_stream {
public:
    /// Ours.
    constexpr child_stream() noexcept = default;
    /// The stream of this process, as by default.
    [[nodiscard]] static constexpr child_stream inherited() noexcept { return {}; }

    /// /dev/null.
    [[nodiscard]] static constexpr child_stream null() noexcept { return child_stream{kind::null}; }

    /// A pipe, whose other end the `process` has.
    [[nodiscard]] static constexpr child_stream piped() noexcept {
        return child_stream{kind::pipe};
    }

    /// An open descriptor of this program's, borrowed until the process has started. The error stream of a
    /// child that is to go where its output goes is given this with the same number, or `same_as_output`.
    [[nodiscard]] static constexpr child_stream descriptor(int number) noexcept {
        child_stream it{kind::number};
        it.number_ = number;
        return it;
    }

    /// Of the error stream: where the output goes.
    [[nodiscard]] static constexpr child_stream same_as_output() noexcept {
        return child_stream{kind::output};
    }

    // Implementation: for process.cpp.
    enum class kind : std::uint8_t { inherited, null, pipe, number, output };
    [[nodiscard]] constexpr kind what() const noexcept { return kind_; }
    [[nodiscard]] constexpr int number() const noexcept { return number_; }

private:
    constexpr explicit child_stream(kind what) noexcept : kind_{what} {}

    kind kind_ = kind::inherited;
    int number_ = -1;
};

/// A descriptor that a child is given besides its streams.
struct passed_descriptor {
    int number = -1;   ///< Open here; borrowed until the process has started.
    std::string name;  ///< For the child to tell several apart by; without colons.

    /// If not empty, it is no listener, and stands behind those: the child finds its number in the
    /// environment variable of this name.
    std::string variable{};
};

/// How a program is started.
struct process_options {
    process_options() noexcept = default;

    /// Without the program's name. Each is handed over as it is: there is no shell that could take it for
    /// something else.
    std::vector<std::string> arguments;

    /// "NAME=value" each; ours if not given.
    std::optional<std::vector<std::string>> environment;

    /// Where it works; where we do if empty.
    std::string directory;

    child_stream input;
    child_stream output;
    child_stream error;

    /// Such as listeners, which the child then has as 3, 4, ... and learns of as systemd's services do
    /// (LISTEN_FDS and LISTEN_FDNAMES; inherited_descriptors.hpp takes them over). LISTEN_PID is not set,
    /// because the child's number is not known before it runs; sd_listen_fds(3) insists on it, and has it if
    /// the program is started by way of a shell, which execution leaves its number to: docs/guide/servers.md.
    std::vector<passed_descriptor> passed;

    /// In a group of its own, so that a signal from the terminal is not sent to it as well, and
    /// `process::signal_group` reaches its children, too.
    bool own_group = false;

    /// The same, and what is left of the group is killed (SIGKILL) when the process has ended and is waited
    /// for, or is destroyed: nothing that it has started outlives it, but for what has left the group
    /// (setsid(2)).
    bool kill_group = false;

    /// In a session of its own, and a group: without our terminal (setsid(2)).
    bool own_session = false;

    /// The user that it is, with its groups and no others; ours if not given. `find_user` knows names. It
    /// takes privileges (CAP_SETUID, CAP_SETGID). Variables such as HOME stay as they are. The directory is
    /// entered, and the program looked for, as this user.
    std::optional<process_user> user;

    /// Of what it may use, in place of ours: `{RLIMIT_NOFILE, 1024}`. Set before the user.
    std::vector<resource_limit> limits;

    /// The permissions that the files it makes do not get (umask(2)); ours if not given.
    std::optional<std::filesystem::perms> file_mask;
};

/// How a process has ended.
class exit_status {
public:
    constexpr exit_status() noexcept = default;
    [[nodiscard]] static constexpr exit_status exited(int code) noexcept {
        return {code, 0, false};
    }
    [[nodiscard]] static constexpr exit_status killed(int signal, bool core_dumped) noexcept {
        return {0, signal, core_dumped};
    }

    /// It has ended by itself, and said 0.
    [[nodiscard]] constexpr bool success() const noexcept { return code_ == 0 && signal_ == 0; }

    /// What it said, 0 to 255; 0 if a signal has ended it.
    [[nodiscard]] constexpr int code() const noexcept { return code_; }

    /// The signal that has ended it, or 0.
    [[nodiscard]] constexpr int signal() const noexcept { return signal_; }
    [[nodiscard]] constexpr bool core_dumped() const noexcept { return core_dumped_; }

    /// A sentence for people: "exited with 1", "killed by SIGKILL". Allocates.
    [[nodiscard]] std::string message() const;

    [[nodiscard]] friend constexpr bool operator==(const exit_status&,
                                                   const exit_status&) noexcept = default;

private:
    constexpr exit_status(int code, int signal, bool core_dumped) noexcept
        : code_{code}, signal_{signal}, core_dumped_{core_dumped} {}

    int code_ = 0;
    int signal_ = 0;
    bool core_dumped_ = false;
};

/// A child process, or none. Moves.
///
/// Destroying it kills what still runs (SIGKILL), so that no process outlives its owner by accident;
/// `detach` lets one go on purpose. Nothing becomes a zombie either way: a process that was not waited for is
/// reaped when the next process is started or let go. That is the process alone, as in `terminate`: what it
/// has started itself ends with it by `kill_group`, or is reached by `signal_group` as long as its own end
/// was not waited for.
///
/// A program that ignores SIGCHLD, or whose handler waits for all children, takes the statuses away from
/// here: `wait` then ends with `errc::no_child_process` when the process has ended; nothing else changes. May
/// be moved, let go of or destroyed while `wait` or `terminate` waits, which then ends with `errc::canceled`,
/// wherever it was moved to before.
class process : private basic_descriptor {
public:
    /// None: everything ends with `errc::closed`.
    process() noexcept = default;
    process(process&& other) noexcept = default;
    process& operator=(process&& other) noexcept;
    ~process();

    /// Starts `program`, which is looked for in PATH if it has no slash.
    ///
    /// @return The process, whose program runs by now.
    ///
    /// Errors:        `errc::no_such_file`, `errc::permission_denied`, ... of the program, its directory or
    ///                its streams; `errc::operation_not_permitted` for a user, or a limit that is raised;
    ///                `errc::invalid_argument` for text with a NUL, for a limit above its maximum,
    ///                `errc::process_descriptors_exhausted`, `errc::resource_unavailable` at the limit of
    ///                processes. Then there is no child. `error::during`, and so the message, tells the step:
    ///                descriptors, limits, user, directory, or the start.
    /// Cancellation:  `errc::canceled` if it has not begun; a start that has is waited for, and its process
    ///                killed if the caller does not take it.
    /// Threads:       a worker of the loop starts it; resumes on the caller's executor.
    /// Cost:          a few hundred microseconds, most of them the kernel's; no copy of this program's
    ///                memory.
    [[nodiscard]] static task<io_result<process>> start(std::string program,
                                                        process_options options = {});

    /// Waits for its end. Again, it yields the same at once.
    ///
    /// Errors:        `errc::closed`, `errc::no_child_process`.
    /// Cancellation:  `errc::canceled`; it goes on, and can be waited for again.
    /// Threads:       resumes on the caller's executor. Several may wait.
    /// Cost:          a frame; as a wait for readiness.
    [[nodiscard]] task<io_result<exit_status>> wait() { return wait_for(view()); }

    /// Asks it to end (SIGTERM), kills it where it has not within `grace` (SIGKILL), and waits for its end.
    ///
    /// Errors:        `errc::closed`, `errc::no_child_process`.
    /// Cancellation:  kills it at once and waits for its end.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          frames; as `wait`.
    [[nodiscard]] task<io_result<exit_status>> terminate(duration grace) {
        return terminate(view(), grace);
    }

    /// Sends it a signal. Never another process, even if it has ended. Outside of coroutines too.
    /// Errors: `errc::no_such_process` once its end was waited for, `errc::closed`. Before that a process
    ///         that has ended takes signals without effect (kill(2)).
    io_result<> signal(int number) noexcept;

    /// The same for all of the group that it leads. Errors: as above; `errc::invalid_argument` if it was
    /// started without one of its own.
    io_result<> signal_group(int number) noexcept;

    /// Of the process, for people and other programs; -1 for none.
    [[nodiscard]] int id() const noexcept { return is_open() ? id_ : -1; }

    /// Whether it is one, ended or not.
    [[nodiscard]] bool is_open() const noexcept { return basic_descriptor::is_open(); }

    /// What it has used, once its end was waited for; zeros before, and where the status was taken away.
    [[nodiscard]] process_usage usage() const noexcept {
        return ended_ != nullptr ? ended_->usage : process_usage{};
    }

    /// Our ends of its piped streams; not open for the others. Closing the input is how it hears the end.
    [[nodiscard]] writable_pipe& input() noexcept { return input_; }
    [[nodiscard]] readable_pipe& output() noexcept { return output_; }
    [[nodiscard]] readable_pipe& error() noexcept { return error_; }

    /// Lets it go on without an owner, pipes included; this is none then.
    void detach() noexcept;

private:
    friend struct finish_spawn;

    /// What is known of its end.
    struct record {
        std::optional<exit_status> status;
        process_usage usage;
    };

    /// What waits for it has, which may outlive it.
    struct ending {
        [[nodiscard]] io_result<> take_status() noexcept;
        io_result<> signal(int number) noexcept;

        opening of;
        host* on = nullptr;
        std::shared_ptr<record> ended;
        int id = -1;
        bool kills_group = false;
    };

    process(handle of, int id, bool leads_group, bool kills_group)
        : basic_descriptor{std::move(of)},
          id_{id},
          leads_group_{leads_group},
          kills_group_{kills_group},
          ended_{std::make_shared<record>()} {}

    [[nodiscard]] ending view() const noexcept {
        return {opened(), is_open() ? &on() : nullptr, ended_, id_, kills_group_};
    }
    [[nodiscard]] static task<io_result<exit_status>> wait_for(ending it);
    [[nodiscard]] static task<io_result<exit_status>> terminate(ending it, duration grace);
    void let_go(bool killed) noexcept;

    writable_pipe input_;
    readable_pipe output_;
    readable_pipe error_;
    int id_ = -1;
    bool leads_group_ = false;
    bool kills_group_ = false;  // Invariant: only if it leads one.
    std::shared_ptr<record> ended_;
};

/// What a program has said, and how it ended.
struct process_output {
    exit_status status;
    std::string output;
    std::string error;
    process_usage usage;
};

/// Runs `program` to its end, gives it `input` and keeps what it says. Its streams are pipes, whatever
/// `options` says of them, and are read until they end: a program that it leaves behind with them is waited
/// for as well, unless `kill_group` ends that.
///
/// @param  input           Borrowed until completion.
/// @param  kept_bytes_max  Of its output, and of its errors. A program that says more is killed.
///
/// Errors:        of the start; `errc::limit_exceeded`. A program that fails is none: see the status.
/// Cancellation:  `errc::canceled`; it is killed.
/// Threads:       resumes on the caller's executor.
/// Cost:          as a start, plus frames and the memory for what it says.
[[nodiscard]] task<io_result<process_output>> run_process(
    std::string program, process_options options = {}, const_buffer input = {},
    std::size_t kept_bytes_max = std::size_t{1} << 20);

}  // namespace gyre

// SPDX-License-Identifier: BSL-1.0
//
// A program under test: started, listened to, signalled, and collected.
//
// Everything waits for what the program prints or for its end, and gives up after the harness's
// patience, so a broken program fails its test instead of hanging it.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/io/endpoint.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace gyre::testing {

/// A child process with its outputs on a pipe. Killed at the latest by the destructor.
class program {
public:
    struct variable {
        std::string name;
        std::string value;
    };

    /// Starts `path` with `arguments`, `input` as its whole standard input, and `variables` added to
    /// the environment.
    explicit program(const std::string& path, std::vector<std::string> arguments = {},
                     const std::vector<variable>& variables = {}, std::string_view input = {});
    program(const program&) = delete;
    program& operator=(const program&) = delete;
    ~program();

    /// The next line of its output, without the end; empty at the end of the output.
    [[nodiscard]] std::string next_line();

    /// Whether `text` is in what it has printed by now and nobody has read. Does not wait.
    [[nodiscard]] bool has_printed(std::string_view text);

    /// Everything it still prints, up to its end.
    [[nodiscard]] std::string rest_of_output();

    /// Waits for the line `listening on ADDRESS`.
    [[nodiscard]] endpoint listening_on();

    void send(int signal) const;

    /// Waits for its end: the exit status, or 128 + the signal that ended it.
    [[nodiscard]] int wait();

private:
    [[nodiscard]] bool read_more();

    int id_ = -1;
    int output_ = -1;
    int status_ = -1;
    std::string unread_;
};

/// The whole of a small file.
[[nodiscard]] std::string text_of_file(const std::string& path);

/// A plain connected socket, blocking; the caller closes it.
[[nodiscard]] int plain_connect(const endpoint& to);

/// Raises the soft limit of open descriptors, and returns what it is then.
std::size_t raise_descriptor_limit(std::size_t wanted);

}  // namespace gyre::testing

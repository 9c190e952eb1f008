// SPDX-License-Identifier: BSL-1.0
//
// A matching facility as a process, with a configuration of its own, for tests of whole programs.
//
// The sample configuration is what users begin with, so it is what is tested; only its ports and its group
// are replaced, so that tests neither meet each other nor another running facility.
#pragma once

#include <exchange/management/config.hpp>

#include <nlohmann/json.hpp>
#include <programs/program.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace exchange::testing {

/// A file that is there as long as this, and that nobody else can read.
class written_config {
public:
    explicit written_config(const std::string& text);
    written_config(const written_config&) = delete;
    written_config& operator=(const written_config&) = delete;
    ~written_config();

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
};

/// The sample, with ports and a group of its own, changed by `change`.
[[nodiscard]] std::string sample_text(const std::function<void(nlohmann::json&)>& change = {});

/// The passwords of the sample's users, as a client's file has them.
[[nodiscard]] std::string sample_passwords(const std::function<void(nlohmann::json&)>& change = {});

/// All backends of the exchange's programs.
[[nodiscard]] std::vector<std::string> backends();

class running_exchange {
public:
    /// Starts it and waits until it is ready.
    ///
    /// @param  passwords  What the file says that its clients are given.
    explicit running_exchange(const std::string& backend,
                              const std::function<void(nlohmann::json&)>& change = {},
                              const std::string& passwords = sample_passwords());

    /// Ends it at once, as a crash does.
    void kill();
    /// Starts it anew, on the same ports, and waits until it is ready.
    void start_again();

    /// What a program of the exchange says, given this configuration, and how it ended.
    struct answer {
        int status;
        std::string text;
    };
    [[nodiscard]] answer ctl(std::vector<std::string> words) const;
    /// Its command line.
    [[nodiscard]] std::vector<std::string> ctl_words(std::vector<std::string> words) const;
    [[nodiscard]] answer load(std::vector<std::string> words) const;
    /// The same, as it runs.
    [[nodiscard]] gyre::testing::program start_load(std::vector<std::string> words) const;

    [[nodiscard]] gyre::testing::program& facility() noexcept { return *facility_; }
    [[nodiscard]] const std::string& ready_line() const noexcept { return ready_; }
    [[nodiscard]] const std::string& config_path() const noexcept { return configs_.back().path(); }
    [[nodiscard]] const std::string& passwords_path() const noexcept { return passwords_.path(); }
    /// What the audit trail says until now.
    [[nodiscard]] std::string trail() const;
    [[nodiscard]] const std::string& order_entry() const noexcept { return order_entry_; }
    [[nodiscard]] const std::string& requests() const noexcept { return requests_; }
    /// Where gateways connect; empty if there are to be none.
    [[nodiscard]] const std::string& gateways() const noexcept { return gateways_; }
    /// The name of the life that it is in.
    [[nodiscard]] std::string life() const;

private:
    /// The configuration of a start, but for what `last` changes.
    [[nodiscard]] std::string changed_sample(
        const std::function<void(nlohmann::json&)>& last) const;
    void start();

    written_config trail_;
    written_config passwords_;
    std::string backend_;
    std::function<void(nlohmann::json&)> change_;
    std::deque<written_config>
        configs_;  // Of each start: another program may still read the first.
    std::optional<gyre::testing::program> facility_;
    std::string ready_;
    std::string order_entry_;
    std::string requests_;
    std::string gateways_;
};

/// Waits for the end of a program.
[[nodiscard]] running_exchange::answer outcome_of(gyre::testing::program& it);

/// Runs a program to its end.
[[nodiscard]] running_exchange::answer outcome_of(const std::string& path,
                                                  std::vector<std::string> words);

}  // namespace exchange::testing

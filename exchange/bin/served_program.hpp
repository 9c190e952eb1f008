// SPDX-License-Identifier: BSL-1.0
//
// The command line of a process with clients of its own (a gateway, a distributor), from its arguments to
// what serves them: `NAME CONFIG [--backend NAME] [--check]`.
#pragma once

#include <exchange/bin/command_line.hpp>
#include <exchange/management/config_with_credentials.hpp>
#include <exchange/management/descriptor_limit.hpp>
#include <exchange/management/door_security.hpp>
#include <exchange/management/exchange_check.hpp>
#include <exchange/management/received_listeners.hpp>
#include <exchange/management/text_file.hpp>
#include <exchange/management/write_within.hpp>
#include <exchange/server/server_transport.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace exchange {

inline constexpr const char* served_program_exit_codes =
    "Exit status: 0 after an orderly end, 1 if it could not begin, 2 if the configuration is bad\n"
    "or needs more descriptors than there are.";

/// @tparam  Config  Has a `backend`, a `credentials_file` and `tls`.
template <class Config>
struct served_program {
    const char* name;
    const char* section;  ///< Of the configuration, about its clients.
    secret_reading<Config> (*load)(const std::string& path);
    client_server_options& (*doors_of)(Config& of);
    int (*run)(const Config& how);
};

class served_arguments {
public:
    explicit served_arguments(CLI::App& options) {
        options.footer(served_program_exit_codes);
        options.add_option("config", path_, "The configuration file");
        options.add_option("--backend", backend_, "Instead of the file's: " + all_backends);
        options.add_flag("--check", only_check_,
                         "Read the configuration, say what is wrong with it, and end");
    }

    /// Reads the configuration and serves. To be called when the arguments are parsed.
    ///
    /// @return  The exit status; what went wrong was said.
    template <class Config>
    [[nodiscard]] int serve(const served_program<Config>& it) const {
        ignore_broken_pipes();
        if (path_.empty()) {
            std::fputs("config is required\nRun with --help for more information.\n", stderr);
            return misunderstood;
        }
        secret_reading<Config> reading = it.load(path_);
        if (!backend_.empty()) {
            if (const auto found = find_backend(backend_)) reading.value.backend = *found;
            else
                reading.errors.push_back({"--backend", std::string{"expected one of "} +
                                                           all_backends + ", but found \"" +
                                                           backend_ + '"'});
        }
        client_server_options& doors = it.doors_of(reading.value);
        for (config_error& each : secure_doors(reading.value.tls, it.section, doors))
            reading.errors.push_back(std::move(each));
        if (!reading.errors.empty()) return complain(path_, reading.errors);
        if (doors.tls && is_open_to_others(reading.value.tls.private_key))
            note_on_error_output(std::string{it.name} + ": warning: others than you can read " +
                                 reading.value.tls.private_key + '\n');
        if (reading.open_to_others)
            note_on_error_output(std::string{it.name} + ": warning: others than you can read " +
                                 reading.value.credentials_file + '\n');
        if (const auto error = allow_descriptors(descriptors_needed(reading.value), it.section))
            return complain(path_, {*error});
        if (only_check_) {
            const std::vector<config_error> faults = check_interfaces(reading.value);
            if (!faults.empty()) return complain(path_, faults);
            std::printf("%s: in order\n", path_.c_str());
            return 0;
        }
        inherited_listeners inherited;
        if (const auto error = receive_listeners(inherited, std::array{doors.tcp, doors.websocket}))
            return complain(path_, {*error});
        doors.inherited = &inherited;
        const bool replaces = is_replacement();
        reading.value.process.admin.waits_for_place = replaces;
        if constexpr (requires { reading.value.replaces; }) reading.value.replaces = replaces;
        return it.run(reading.value);
    }

private:
    std::string path_;
    std::string backend_;
    bool only_check_ = false;
};

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// The file that tells all programs of the exchange where it is and what is traded.
//
// It is JSON in which comments are allowed; exchange/bin/exchange.json is a sample with every part but
// what accounts hold from the day before, which programs may write into a file of its own (`start_of_day`).
// Who may log in stands in another file (`credentials_file`), which only the facility reads.
// Nothing in it is guessed: a key that is not known, or a value that cannot be, is an error that names
// its place and says what was expected, and all of them are found in one reading.
#pragma once

#include <exchange/management/process_options.hpp>
#include <exchange/net/application/facility_options.hpp>
#include <exchange/net/application/order_entry_host.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace exchange {

class json_section;

/// Kernel interface that carries a process.
enum class process_backend : std::uint8_t { gyre_uring, gyre_epoll };

/// "gyre_uring", ...; static storage.
[[nodiscard]] std::string_view describe(process_backend backend) noexcept;
[[nodiscard]] std::optional<process_backend> find_backend(std::string_view name) noexcept;
inline const std::string all_backends = "gyre_uring, gyre_epoll";

/// What is carried out before any client can connect.
struct opening_command {
    command what;
    std::string where;  ///< In the configuration, such as "instruments[0]".
};

struct config {
    process_backend backend = process_backend::gyre_uring;
    std::optional<unsigned> cpu;  ///< The processor to stay on.
    facility_options facility{};
    order_entry_host_options host{};     ///< Users are those of `credentials_file`.
    std::string credentials_file;        ///< As a path from where the configuration is.
    std::string audit_file;              ///< As above; empty: there is no trail.
    std::size_t participants_max = 0;    ///< 0: some more than the file names.
    bool connections_max_given = false;  ///< Else it follows from who may log in.
    /// Definitions, then positions, then phases: an open market takes no position. The core accepts all of
    /// it, but for the phase of a market whose last day is over: that stays closed.
    std::vector<opening_command> opening;
    gyre::duration drain_within =
        std::chrono::seconds{5};  ///< For clients to read the end of the day.
    process_options process{};
};

struct config_error {
    std::string where;  ///< "participants[1].username"; empty: the whole.
    std::string what;   ///< A clause that goes on behind it.

    [[nodiscard]] std::string message() const { return where.empty() ? what : where + ": " + what; }
};

/// A configuration, or everything that is wrong with it.
struct config_reading {
    config value;  ///< Meaningful if there are no errors.
    std::vector<config_error> errors;
};

/// Reads the text of a configuration.
///
/// Whether the machine has the memory that it takes is another question: memory_need.hpp.
///
/// Errors:  those that `errors` lists: text that is no JSON (with line and column), keys that are doubled,
///          unknown or missing, values of the wrong type or out of range, a feed that could not be sent or
///          asked for, ticks too rare for heartbeats, definitions that the core refuses, positions that are
///          given twice; and all of these in the file that `start_of_day` names.
///
/// @param  folder  Where other files are looked for, unless they have an absolute path.
[[nodiscard]] config_reading read_config(std::string_view text, const std::string& folder = ".");

/// Reads a file; that it cannot be read is an error like any other. Others are looked for beside it.
[[nodiscard]] config_reading load_config(const std::string& path);

/// Reads the file of credentials that a configuration names, into it, and judges the whole.
///
/// Errors:  as of a configuration, with the name of that file before their place: users who cannot be told
///          apart, what is no hash or takes too long, roles that there are not; and more of them than there
///          are connections, or sessions.
void add_credentials(config_reading& to);

/// What a facility needs: `load_config`, and the credentials.
[[nodiscard]] config_reading load_facility_config(const std::string& path);

/// What the configuration defines under this number, or null.
template <class Command, class Id>
[[nodiscard]] const Command* find_definition(const config& in, Id Command::* number_of, Id wanted) {
    for (const opening_command& each : in.opening) {
        const auto* const found = std::get_if<Command>(&each.what);
        if (found != nullptr && found->*number_of == wanted) return found;
    }
    return nullptr;
}

/// Reads what a section `order_entry`, a facility's or a gateway's, says of clients of WebSocket.
///
/// @param  at  Where they connect: as it was, if the section names no place.
void read_websockets(json_section& in, gyre::endpoint& at, websocket_options& into);

}  // namespace exchange

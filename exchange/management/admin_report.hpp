// SPDX-License-Identifier: BSL-1.0
//
// What a process of the exchange tells of itself to who runs it, and the forms in which it is told.
//
// A process fills one in on its own loop when it is asked; admin_server.hpp asks, and serves the forms.
#pragma once

#include <exchange/management/latency_histogram.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace exchange {

enum class process_state : std::uint8_t { starting, ready, draining };

/// "starting", "ready", "draining"; static storage.
[[nodiscard]] std::string_view describe(process_state state) noexcept;

/// A number. The words are literals.
struct admin_figure {
    std::string_view name;  ///< In snake case, with its unit if it has one: "unread_bytes".
    std::uint64_t value = 0;
    std::string_view about;  ///< A sentence without a full stop.
    bool falls = false;      ///< May it become less? Else it counts since the start.
};

/// A client, or who else is connected.
struct admin_session {
    std::string user{};
    std::uint32_t session = 0;     ///< 0: it trades through none.
    std::string_view transport{};  ///< "soup", "websocket", "link", ...; empty if it is not known.
    std::string address{};         ///< Empty while it is not connected.
    bool connected = false;
    std::uint64_t sequence = 0;  ///< Of the next message that it is told.
    // What is not known is not told.
    std::optional<std::uint64_t> unread_messages{};  ///< That wait for it here
    std::optional<std::uint64_t> unread_bytes{};     ///< and how many bytes do.
    std::optional<std::uint64_t>
        dropped{};  ///< Messages that it was not told, since it reads too slowly.
};

/// A process that a supervisor runs.
struct admin_child {
    std::string name{};
    std::string_view state{};
    int pid = -1;  ///< -1: it does not run.
    unsigned starts = 0;
    unsigned failures = 0;       ///< In a row.
    std::uint64_t since_ms = 0;  ///< For so long it has been in its state.
    std::string admin{};         ///< Where its own admin port is; empty if it has told none.
    std::string_view beside{};   ///< What another process of it does: "starting", "draining", or
                                 ///< nothing, as there is none.
    int beside_pid = -1;
};

struct admin_report {
    static constexpr std::size_t sessions_max =
        1024;  ///< In one report; of more their number is told.

    std::string_view process{};  ///< "order_entry_gateway"
    std::string name{};          ///< Which of several; may be empty.
    std::string backend{};
    std::string life{};  ///< Of the facility; empty while it is not known.
    process_state state = process_state::starting;
    std::uint64_t uptime_ms = 0;
    std::vector<admin_figure> figures{};
    std::vector<admin_session> sessions{};
    std::size_t sessions_omitted = 0;
    std::optional<latency_histogram> latency{};
    std::vector<admin_child> children{};  ///< Of a supervisor.

    /// Adds a session, or counts that there was no room for it.
    void add(admin_session it) {
        if (sessions.size() < sessions_max) sessions.push_back(std::move(it));
        else ++sessions_omitted;
    }
};

/// As an object of JSON: docs/admin.md has its members.
[[nodiscard]] std::string status_json(const admin_report& of);
/// The buckets of its latency, as JSON: {"unit":"ns","buckets":[[last value, count], ...]}.
[[nodiscard]] std::string latency_json(const admin_report& of);
/// As text for Prometheus, version 0.0.4.
[[nodiscard]] std::string metrics_text(const admin_report& of);

}  // namespace exchange

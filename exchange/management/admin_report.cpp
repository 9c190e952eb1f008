// SPDX-License-Identifier: BSL-1.0
//
// The same figures for people's programs and for Prometheus: see admin_report.hpp.
#include <exchange/management/admin_report.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

#include <unistd.h>

namespace exchange {
namespace {

using json = nlohmann::ordered_json;

struct told_quantile {
    const char* name;
    double share;
    const char* label;
};
constexpr std::array<told_quantile, 4> quantiles{{
    {"p50", 0.5, "0.5"},
    {"p90", 0.9, "0.9"},
    {"p99", 0.99, "0.99"},
    {"p999", 0.999, "0.999"},
}};

json session_json(const admin_session& it) {
    json made;
    made["user"] = it.user;
    made["session"] = it.session;
    made["transport"] = it.transport;
    made["address"] = it.address;
    made["connected"] = it.connected;
    made["sequence"] = it.sequence;
    if (it.unread_messages) made["unread_messages"] = *it.unread_messages;
    if (it.unread_bytes) made["unread_bytes"] = *it.unread_bytes;
    if (it.dropped) made["dropped"] = *it.dropped;
    return made;
}

json child_json(const admin_child& it) {
    json made;
    made["name"] = it.name;
    made["state"] = it.state;
    made["pid"] = it.pid;
    made["since_ms"] = it.since_ms;
    made["starts"] = it.starts;
    made["restarts"] = it.starts == 0 ? 0 : it.starts - 1;
    made["failures"] = it.failures;
    if (!it.admin.empty()) made["admin"] = it.admin;
    if (!it.beside.empty()) made["beside"] = {{"state", it.beside}, {"pid", it.beside_pid}};
    return made;
}

json quantiles_json(const latency_histogram& of) {
    json made;
    made["count"] = of.count();
    made["min"] = of.least_ns();
    for (const told_quantile& each : quantiles) made[each.name] = of.quantile_ns(each.share);
    made["max"] = of.most_ns();
    return made;
}

std::string text_of(const json& it) {
    return it.dump(-1, ' ', true, json::error_handler_t::replace) + '\n';
}

/// A label's value: Prometheus escapes these three, and takes all else as it is.
std::string label(std::string_view text) {
    std::string made;
    for (const char each : text) {
        if (each == '\n') made += "\\n";
        else if (each == '"' || each == '\\') made.append(1, '\\').append(1, each);
        else made += each;
    }
    return made;
}

class metrics_writer {
public:
    explicit metrics_writer(const admin_report& of)
        : labels_{"process=\"" + std::string{of.process} + "\",name=\"" + label(of.name) + "\""} {}

    void begin(std::string_view name, std::string_view about, std::string_view type) {
        text_.append("# HELP exchange_").append(name).append(" ").append(about).append(".\n");
        text_.append("# TYPE exchange_").append(name).append(" ").append(type).append("\n");
    }
    void value(std::string_view name, std::string_view more, std::uint64_t value) {
        text_.append("exchange_")
            .append(name)
            .append("{")
            .append(labels_)
            .append(more)
            .append("} ");
        text_.append(std::to_string(value)).append("\n");
    }
    void figure(const admin_figure& of) {
        const std::string name = std::string{of.name} + (of.falls ? "" : "_total");
        begin(name, of.about, of.falls ? "gauge" : "counter");
        value(name, "", of.value);
    }

    /// What `of_session` knows of each session.
    template <class Value>
    void sessions(const admin_report& of, const admin_figure& about, const Value& of_session) {
        bool begun = false;
        for (const admin_session& each : of.sessions) {
            const std::optional<std::uint64_t> known = of_session(each);
            if (!known) continue;
            if (!std::exchange(begun, true))
                begin(about.name, about.about, about.falls ? "gauge" : "counter");
            value(about.name, ",user=\"" + label(each.user) + "\"", *known);
        }
    }

    void latency(const latency_histogram& of) {
        begin("latency_nanoseconds", "How long what this process measures took", "summary");
        for (const told_quantile& each : quantiles)
            value("latency_nanoseconds", std::string{",quantile=\""} + each.label + "\"",
                  of.quantile_ns(each.share));
        value("latency_nanoseconds_count", "", of.count());
    }

    [[nodiscard]] std::string take() && { return std::move(text_); }

private:
    std::string labels_;
    std::string text_;
};

}  // namespace

std::string_view describe(process_state state) noexcept {
    switch (state) {
        case process_state::starting: return "starting";
        case process_state::ready: return "ready";
        case process_state::draining: return "draining";
    }
    return "unknown";
}

std::string status_json(const admin_report& of) {
    json made;
    made["process"] = of.process;
    made["name"] = of.name;
    made["pid"] = ::getpid();
    made["backend"] = of.backend;
    made["life"] = of.life;
    made["state"] = describe(of.state);
    made["uptime_ms"] = of.uptime_ms;
    made["counts"] = json::object();
    made["gauges"] = json::array();
    for (const admin_figure& each : of.figures) {
        made["counts"][std::string{each.name}] = each.value;
        if (each.falls) made["gauges"].push_back(each.name);
    }
    made["sessions"] = json::array();
    for (const admin_session& each : of.sessions) made["sessions"].push_back(session_json(each));
    made["sessions_omitted"] = of.sessions_omitted;
    if (of.latency) made["latency_ns"] = quantiles_json(*of.latency);
    for (const admin_child& each : of.children) made["children"].push_back(child_json(each));
    return text_of(made);
}

std::string latency_json(const admin_report& of) {
    json made;
    made["unit"] = "ns";
    made["buckets"] = json::array();
    if (of.latency)
        of.latency->for_each([&made](std::uint64_t last, std::uint64_t count) {
            made["buckets"].push_back({last, count});
        });
    return text_of(made);
}

std::string metrics_text(const admin_report& of) {
    metrics_writer to{of};
    to.begin("ready", "Whether clients are let in", "gauge");
    to.value("ready", "", of.state == process_state::ready ? 1 : 0);
    to.begin("uptime_milliseconds", "Since the process was started", "gauge");
    to.value("uptime_milliseconds", "", of.uptime_ms);
    for (const admin_figure& each : of.figures) to.figure(each);
    to.sessions(of, {"session_connected", 0, "Whether a user is connected", true},
                [](const admin_session& it) { return std::uint64_t{it.connected}; });
    to.sessions(of, {"session_unread_messages", 0, "Messages that wait for a user", true},
                [](const admin_session& it) { return it.unread_messages; });
    to.sessions(of, {"session_unread_bytes", 0, "Bytes that wait for a user", true},
                [](const admin_session& it) { return it.unread_bytes; });
    to.sessions(of, {"session_dropped_total", 0, "Messages that a user was not told", false},
                [](const admin_session& it) { return it.dropped; });
    if (of.latency) to.latency(*of.latency);
    return std::move(to).take();
}

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// A matching facility as a process: the part that exchange_process.hpp serves, from its configuration to the
// end of its day.
#pragma once

#include <exchange/bin/exchange_process.hpp>
#include <exchange/bin/span_latency.hpp>
#include <exchange/management/config.hpp>
#include <exchange/management/log_limit.hpp>
#include <exchange/management/login_log.hpp>
#include <exchange/management/write_within.hpp>
#include <exchange/net/application/life_name.hpp>
#include <exchange/net/application/matching_facility.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

namespace exchange {

/// What happens at a facility, as lines of its log. Ten refused logins a second are told at most, and ten
/// clients shed.
class logged_facility final : public host_watcher {
public:
    /// @param  log  Borrowed; outlives this.
    explicit logged_facility(event_log& log) : log_{log}, refusals_{log} {}

    void login_refused(const refused_login& what) noexcept override { refusals_.refused(what); }
    void client_shed(std::string_view user, const gyre::endpoint& peer) noexcept override {
        if (!log_.tells(log_level::warning)) return;
        if (const auto untold = sheds_.admit(log_limit::clock::now()))
            log_.warning("client_shed",
                         {{"user", user}, {"address", peer.to_string()}, {"untold", *untold}});
    }

private:
    event_log& log_;
    login_log refusals_;
    log_limit sheds_{10};
};

/// @tparam  X         A side of the seam.
/// @tparam  Facility  A matching_facility, or what has its members.
template <executor_traits X, class Facility>
class served_facility {
public:
    using task = typename X::template task<void>;
    static constexpr std::string_view name = "matching_facility";

    /// @param  context  Borrowed; outlives this.
    /// @param  how      Borrowed; outlives this. Read without errors.
    /// @param  log      Borrowed; outlives this.
    served_facility(typename X::context& context, const config& how, event_log& log)
        : context_{context},
          how_{how},
          watch_{log},
          host_{how.host, X::now(context)},
          facility_{context, host_, how.facility,
                    how.process.admin.wanted() ? &latency_ : nullptr} {
        for (const opening_command& each : how_.opening) host_.apply(each.what);
        outwait_own_name();
        host_.be_watched(&watch_);
    }

    [[nodiscard]] gyre::error start() { return facility_.start().error(); }
    [[nodiscard]] std::string how() const {
        return "order entry " + how_.facility.order_entry.to_string() + ", feed from " +
               how_.facility.feed_from.to_string() + through(how_.facility.feed_interface) +
               ", requests " + how_.facility.feed_requests.to_string();
    }
    [[nodiscard]] std::string ready_line() const {
        std::string made = "order entry " + facility_.order_entry().to_string() + ", feed " +
                           how_.facility.feed.to_string() + ", requests " +
                           facility_.feed_requests().to_string() + ", backend " +
                           std::string{describe(how_.backend)} + ", life " + life();
        if constexpr (requires { facility_.gateways(); }) {
            if (how_.facility.websocket.kind() != gyre::endpoint::family::none)
                made += ", websocket " + facility_.websocket().to_string();
            if (how_.facility.gateways.wanted())
                made += ", gateways " + facility_.gateways().to_string();
        }
        return made;
    }

    [[nodiscard]] std::string summary() {
        const feed_counts& feed = facility_.feed();
        const auto part = [](const char* what, std::uint64_t count) {
            return std::string{what} + ' ' + std::to_string(count);
        };
        return part("commands", host_.counts().commands) +
               part(", malformed", host_.counts().malformed) +
               part(", feed messages", feed_messages()) +
               part(", lost unsent", host_.feed().unsent_lost()) +
               part(", datagrams", feed.datagrams) + part(", not sent", feed.refused) +
               part(", requests answered", feed.answers) + part(", refused", feed.faults) +
               part(", over the limit", feed.unanswered) +
               part(", failures to hear requests", feed.failures) + '\n';
    }

    void say_state(std::FILE* to) {
        for (const participant& each : host_.participants())
            if (!each.removed())
                std::fprintf(
                    to, "%s: %s, next message %llu\n",
                    std::string{each.who().username.view()}.c_str(),
                    each.connection() != nullptr ? "connected" : "away",
                    static_cast<unsigned long long>(each.stream().messages().next_sequence()));
        for (const operator_session& each : host_.operators()) {
            if (each.free()) continue;
            std::fprintf(to, "%s (%s): connected from %s\n",
                         std::string{each.user().username.view()}.c_str(),
                         std::string{describe(each.user().role)}.c_str(),
                         each.peer().to_string().c_str());
        }
    }

    /// Lets clients read the end of their day, also those whose connection was lost and who may be coming
    /// again just now; and listeners that of the feed, which the next tick sends.
    task drain(typename X::timer& pause) {
        facility_.drain();
        const gyre::time_point begun = X::now(context_);
        const gyre::time_point least = gyre::deadline_after(begun, 3 * how_.facility.timer_tick);
        co_await look_until<X>(context_, pause, gyre::deadline_after(begun, how_.drain_within),
                               [this, least](gyre::time_point now) {
                                   return facility_.idle() && !somebody_is_expected() &&
                                          now >= least;
                               });
        std::string late;
        if (!facility_.idle()) late = "matching_facility: some clients did not leave in time\n";
        for (const participant& each : host_.participants())
            if (each.is_expected() && each.connection() == nullptr)
                late += "matching_facility: " + std::string{each.who().username.view()} +
                        " was lost, and did not come for the end\n";
        note_on_error_output(late);
    }
    void stop() { facility_.stop(); }

    void tell(admin_report& to) {
        const host_counts host = host_.counts();
        const feed_counts& feed = facility_.feed();
        to.life = life();
        to.figures = {
            {"commands", host.commands, "Commands that got a place in the sequence"},
            {"commands_malformed", host.malformed, "Messages refused before they got one"},
            {"commands_not_permitted", host.not_permitted,
             "Commands of operators that their roles do not permit"},
            {"orders_resting", host_.market().state().memory.orders.in_use(),
             "Orders in the books, and stops that wait", true},
            {"logins", host.logins, "Logins that were right, also through gateways"},
            {"logins_refused", host.logins_refused, "Logins that were not"},
            {"clients_shed", host.shed, "Clients that read too slowly"},
            {"feed_messages", feed_messages(), "Messages of the public feed"},
            {"feed_messages_lost", host_.feed().unsent_lost(), "Those that made room unsent"},
            {"feed_datagrams", feed.datagrams, "Datagrams sent to the group"},
            {"feed_datagrams_not_sent", feed.refused, "Datagrams that the kernel did not take"},
            {"feed_requests_answered", feed.answers, "Requests for retransmission answered"},
            {"feed_requests_refused", feed.faults, "Requests for what there is not"},
            {"feed_requests_over_limit", feed.unanswered, "Requests beyond the limit of answers"},
            {"feed_request_failures", feed.failures,
             "Failures to hear requests, each followed by a pause"},
            {"stream_memory_bytes", host_.streams().in_use() * host_.streams().segment_bytes(),
             "Memory that all streams have taken", true},
        };
        for (const participant& each : host_.participants())
            if (!each.removed()) to.add(session_of(each));
        for (const operator_session& each : host_.operators())
            if (!each.free())
                to.add({.user = std::string{each.user().username.view()},
                        .transport = "operator",
                        .address = each.peer().to_string(),
                        .connected = true,
                        .sequence = each.stream().messages().next_sequence()});
        to.latency = latency_.seen();
    }

private:
    [[nodiscard]] std::string life() const { return std::string{how_.host.feed.session.view()}; }
    [[nodiscard]] std::uint64_t feed_messages() {
        return host_.feed().messages().next_sequence() - how_.host.feed.first_sequence;
    }
    [[nodiscard]] bool somebody_is_expected() const {
        return std::ranges::any_of(host_.participants(), &participant::is_expected);
    }

    [[nodiscard]] static admin_session session_of(const participant& it) {
        const message_log& messages = it.stream().messages();
        admin_session made{.user = std::string{it.who().username.view()},
                           .session = number(it.who().session),
                           .sequence = messages.next_sequence()};
        if (const order_entry_session* const connection = it.connection()) {
            made.connected = true;
            made.transport = connection->transport();
            made.address = connection->peer().to_string();
            made.unread_messages = messages.next_sequence() -
                                   std::min(connection->next_to_send(), messages.next_sequence());
        }
        return made;
    }

    // Another facility that is started behind this one, once it has said anything, must be called otherwise.
    // Usually building all the memory has taken longer than that.
    void outwait_own_name() const {
        while (life_name(wall_time()) == how_.host.feed.session)
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }

    typename X::context& context_;
    const config& how_;
    logged_facility watch_;
    span_latency latency_;
    order_entry_host host_;
    Facility facility_;
};

/// @tparam  Facility  A matching_facility<X, ...>, or what has its members.
template <executor_traits X, class Facility>
[[nodiscard]] int run_facility(typename X::context& context, const config& how) {
    return run_served<X, served_facility<X, Facility>>(context, how);
}

/// Runs a facility on the backend of `how`.
///
/// @return  The exit status; errors were printed.
[[nodiscard]] int run_facility(const config& how);

}  // namespace exchange

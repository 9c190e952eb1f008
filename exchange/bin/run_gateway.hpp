// SPDX-License-Identifier: BSL-1.0
//
// An order entry gateway as a process: the part that exchange_process.hpp serves.
#pragma once

#include <exchange/bin/exchange_process.hpp>
#include <exchange/management/gateway_config.hpp>
#include <exchange/management/login_log.hpp>
#include <exchange/management/write_within.hpp>
#include <exchange/net/gyre/timer.hpp>
#include <exchange/server/order_entry_gateway.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace exchange {

/// What happens at a gateway, as lines of its log. Of logins that are refused ten a second at most are told,
/// since strangers decide how often.
class logged_gateway final : public gateway_watcher {
public:
    /// @param  log       Borrowed; outlives this.
    /// @param  facility  Where it is.
    logged_gateway(event_log& log, const gyre::endpoint& facility)
        : log_{log}, facility_{facility.to_string()}, refusals_{log} {}

    void link_up(const soup_session& life) noexcept override {
        log_.info("link_up", {{"facility", facility_}, {"life", life.view()}});
    }
    void link_lost() noexcept override { log_.warning("link_lost", {{"facility", facility_}}); }
    void link_replaced() noexcept override {
        log_.warning("link_replaced", {{"facility", facility_}});
    }
    void link_refused(link_ending why) noexcept override {
        log_.error("link_refused", {{"facility", facility_}, {"why", describe(why)}});
    }
    void login_refused(const refused_login& what) noexcept override { refusals_.refused(what); }
    void client_shed(const gateway_client& which) noexcept override {
        log_.warning("client_shed", {{"user", which.username().view()},
                                     {"address", which.peer().to_string()},
                                     {"unread_bytes", which.unread_bytes()}});
    }

private:
    event_log& log_;
    std::string facility_;
    login_log refusals_;
};

class served_gateway {
public:
    static constexpr std::string_view name = "order_entry_gateway";

    /// @param  context  Borrowed; outlives this.
    /// @param  how      Borrowed; outlives this. Read without errors.
    /// @param  log      Borrowed; outlives this.
    served_gateway(gyre::io_context& context, const gateway_config& how, event_log& log)
        : context_{context},
          how_{how},
          watch_{log, how.gateway.facility},
          host_{how.host, context.now()},
          gateway_{host_, options_of(how, log)} {
        host_.be_watched(&watch_);
    }

    [[nodiscard]] gyre::error start() {
        const gyre::error failed =
            start_patiently([this] { return gateway_.listen(context_).error(); });
        if (failed) return failed;
        serving_ = gyre::launch(
            context_, gateway_.serve(),
            [this](gyre::task_outcome<gyre::io_result<>> end) { note_end(end.get().error()); });
        return {};
    }
    /// One that is to replace another is ready when the facility has welcomed it: until then the other one
    /// serves all clients. Else they may come at once, and wait.
    gyre::task<> until_ready() {
        if (!how_.replaces) co_return;
        while (!host_.link_up() && !host_.draining()) {
            const auto [ended] = co_await gyre::sleep_for(look_again);
            if (ended) co_return;
        }
    }
    [[nodiscard]] std::string how() const {
        return "order entry " + how_.gateway.clients.tcp.to_string();
    }
    [[nodiscard]] std::string ready_line() const {
        std::string made = "order entry " + gateway_.order_entry().to_string() + ", facility " +
                           how_.gateway.facility.to_string() + ", backend " +
                           std::string{describe(how_.backend)};
        if (gateway_.websocket().kind() != gyre::endpoint::family::none)
            made += ", websocket " + gateway_.websocket().to_string();
        return made;
    }

    [[nodiscard]] std::string summary() const {
        const gateway_counts& it = host_.counts();
        return "logins " + std::to_string(it.logins) + ", refused " + std::to_string(it.refused) +
               ", messages forwarded " + std::to_string(it.forwarded) + ", over the rate " +
               std::to_string(it.held_back) + ", facility not there " +
               std::to_string(it.unreachable) + ", clients shed " + std::to_string(it.shed) +
               ", links " + std::to_string(it.links) + '\n';
    }

    void say_state(std::FILE* to) {
        std::fprintf(to, "facility %s: %s\n", how_.gateway.facility.to_string().c_str(),
                     host_.link_up() ? "connected" : "away");
        gateway_.for_each_client([to](const gateway_client& each) {
            if (!each.logged_in()) return;
            std::fprintf(to, "%s: %s, next message %llu\n",
                         std::string{each.username().view()}.c_str(),
                         each.is_open() ? "connected" : "waits for the facility",
                         static_cast<unsigned long long>(each.next_sequence()));
        });
    }

    /// Lets clients finish what they do; one that is still here then is told to come again, elsewhere or
    /// later.
    gyre::task<> drain(gyre_timer&) {
        serving_.request_drain();
        const auto [late] = co_await gyre::with_timeout(how_.drain_within, ended_.wait());
        if (!late) co_return;
        note_on_error_output("order_entry_gateway: some clients did not leave in time\n");
        gateway_.send_away();
        static_cast<void>(co_await gyre::with_timeout(last_words_max, ended_.wait()));
    }
    void stop() { serving_.request_stop(); }
    /// The exit status of an orderly end.
    [[nodiscard]] int status() const { return failed_ ? 1 : 0; }

    void tell(admin_report& to) {
        const gateway_counts& it = host_.counts();
        to.name = host_.options().name.view();
        if (host_.link_up()) to.life = host_.life().view();
        to.figures = {
            {"logins", it.logins, "Logins that were right"},
            {"logins_refused", it.refused, "Logins that were not"},
            {"messages_forwarded", it.forwarded, "Messages of clients that went to the facility"},
            {"messages_held_back", it.held_back, "Messages of clients beyond their rate"},
            {"messages_unreachable", it.unreachable,
             "Messages of clients refused since the facility was away"},
            {"clients_shed", it.shed, "Clients that read too slowly"},
            {"links", it.links, "Times that the facility has welcomed this gateway"},
            {"links_unreached", it.unreached, "Attempts to connect to the facility that failed"},
            {"link_up", host_.link_up() ? 1U : 0U, "Whether the facility is there", true},
            {"clients", gateway_.clients(), "Clients that are connected, logged in or not", true},
        };
        gateway_.for_each_client([&to](const gateway_client& each) {
            if (!each.logged_in()) return;
            to.add({.user = std::string{each.username().view()},
                    .transport = each.transport(),
                    .address = each.peer().to_string(),
                    .connected = true,
                    .sequence = each.next_sequence(),
                    .unread_bytes = each.unread_bytes()});
        });
    }

private:
    static constexpr std::chrono::milliseconds look_again{5};

    // After a failure the process ends as if it was asked to.
    void note_end(gyre::error failure) {
        failed_ = static_cast<bool>(failure);
        ended_.set();
        if (!failed_) return;
        note_on_error_output("order_entry_gateway: cannot let clients in: " + failure.message() +
                             '\n');
        static_cast<void>(std::raise(SIGTERM));
    }
    [[nodiscard]] static gateway_options options_of(const gateway_config& how, event_log& log) {
        gateway_options made = how.gateway;
        made.opens_with_link = how.replaces;
        made.clients.on_insecure = insecure_connections_in(log);
        return made;
    }

    gyre::io_context& context_;
    const gateway_config& how_;
    logged_gateway watch_;
    gateway_host host_;
    order_entry_gateway gateway_;
    gyre::stop_handle serving_;
    gyre::event ended_;
    bool failed_ = false;
};

/// Runs an order entry gateway on the backend of `how`.
///
/// @return  The exit status; errors were printed.
[[nodiscard]] int run_gateway(const gateway_config& how);

}  // namespace exchange

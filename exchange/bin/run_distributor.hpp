// SPDX-License-Identifier: BSL-1.0
//
// A market data distributor as a process: the part that exchange_process.hpp serves.
#pragma once

#include <exchange/bin/exchange_process.hpp>
#include <exchange/management/distributor_config.hpp>
#include <exchange/management/log_limit.hpp>
#include <exchange/management/login_log.hpp>
#include <exchange/management/write_within.hpp>
#include <exchange/net/gyre/timer.hpp>
#include <exchange/server/market_data_distributor.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace exchange {

/// What happens at a distributor, as lines of its log. Of losses ten a second at most are told, since a bad
/// network decides how often.
class logged_distributor final : public distributor_watcher, public login_watcher {
public:
    /// @param  log  Borrowed; outlives this.
    explicit logged_distributor(event_log& log) : log_{log}, refusals_{log} {}

    void life_begun(const soup_session& life) noexcept override {
        log_.info("life_begun", {{"life", life.view()}});
    }
    void feed_lost(std::uint64_t next) noexcept override {
        if (!log_.tells(log_level::warning)) return;
        if (const auto untold = losses_.admit(log_limit::clock::now()))
            log_.warning("feed_lost", {{"next", next}, {"untold", *untold}});
    }
    void feed_silent() noexcept override { log_.warning("feed_silent"); }
    void feed_ended() noexcept override { log_.info("feed_ended"); }
    void exchange_refuses() noexcept override {
        log_.error("exchange_refuses", {{"what", "to log in the user who asks for books"}});
    }

    void login_refused(const refused_login& what) noexcept override { refusals_.refused(what); }

private:
    event_log& log_;
    log_limit losses_{10};
    login_log refusals_;
};

class served_distributor {
public:
    static constexpr std::string_view name = "market_data_distributor";

    /// @param  context  Borrowed; outlives this.
    /// @param  how      Borrowed; outlives this. Read without errors.
    /// @param  log      Borrowed; outlives this.
    served_distributor(gyre::io_context& context, const distributor_config& how, event_log& log)
        : context_{context},
          how_{how},
          watch_{log},
          books_{how.books, false},
          host_{how.host, books_, context.now()},
          distributor_{context, books_, host_, options_of(how, log)} {
        distributor_.be_watched(&watch_);
        host_.be_watched(&watch_);
    }

    [[nodiscard]] gyre::error start() {
        const gyre::error failed =
            start_patiently([this] { return distributor_.listen().error(); });
        if (failed) return failed;
        serving_ = gyre::launch(
            context_, distributor_.serve(),
            [this](gyre::task_outcome<gyre::io_result<>> end) { note_end(end.get().error()); });
        return {};
    }
    /// One that is to replace another is ready when it knows all books: until then the other one serves all
    /// subscribers. Else they may come at once, and wait.
    gyre::task<> until_ready() {
        if (!how_.replaces) co_return;
        while (!distributor_.has_opened()) {
            const auto [ended] = co_await gyre::sleep_for(look_again);
            if (ended) co_return;
        }
    }
    [[nodiscard]] std::string how() const {
        return "subscribers " + how_.distributor.clients.tcp.to_string() + ", feed from " +
               how_.distributor.feed.source.group.to_string() +
               through(how_.distributor.feed.source.interface);
    }
    [[nodiscard]] std::string ready_line() const {
        std::string made = "subscribers " + distributor_.tcp().to_string() + ", feed " +
                           distributor_.source().to_string() + ", backend " +
                           std::string{describe(how_.backend)};
        if (distributor_.websocket().kind() != gyre::endpoint::family::none)
            made += ", websocket " + distributor_.websocket().to_string();
        if (distributor_.relay() != nullptr)
            made += ", redistribution " + how_.distributor.feed.out.group.to_string() +
                    ", requests " + distributor_.requests().to_string();
        return made;
    }

    [[nodiscard]] std::string summary() const {
        const market_data_counts& it = host_.counts();
        return "feed messages " + std::to_string(distributor_.counts().heard) + ", losses " +
               std::to_string(distributor_.counts().losses) + ", pages asked for " +
               std::to_string(distributor_.recovery().pages) + ", logins " +
               std::to_string(it.logins) + ", refused " + std::to_string(it.refused) +
               ", messages " + std::to_string(it.messages) + ", trades dropped " +
               std::to_string(it.dropped) + ", subscribers shed " + std::to_string(it.shed) + '\n';
    }

    void say_state(std::FILE* to) {
        std::fprintf(to, "life %s, exchange %s\n", std::string{host_.life().view()}.c_str(),
                     distributor_.reaches_exchange() ? "connected" : "away");
        for (const market_book& each : books_.all())
            std::fprintf(to, "instrument %u: %s\n",
                         static_cast<unsigned>(number(each.instrument())), state_of(each));
        distributor_.for_each_client([to](const market_data_client& each) {
            if (!each.logged_in()) return;
            std::fprintf(to, "%s: %zu subscriptions, %zu bytes unread\n",
                         std::string{each.username().view()}.c_str(), each.subscriptions(),
                         each.unread_bytes());
        });
    }

    /// Subscribers read on until they leave; one that is still here then is told to go to another one, or to
    /// the next process of this one.
    gyre::task<> drain(gyre_timer&) {
        serving_.request_drain();
        const auto [late] = co_await gyre::with_timeout(how_.drain_within, ended_.wait());
        if (!late || distributor_.clients() == 0) co_return;
        distributor_.send_away();
        static_cast<void>(co_await gyre::with_timeout(last_words_max, ended_.wait()));
    }
    void stop() {
        distributor_.be_watched(nullptr);
        serving_.request_stop();
    }
    /// The exit status of an orderly end.
    [[nodiscard]] int status() const { return failed_ ? 1 : 0; }

    void tell(admin_report& to) {
        const market_data_counts& it = host_.counts();
        const distributor_counts& heard = distributor_.counts();
        const auto incomplete = std::ranges::count_if(books_.all(), [](const market_book& each) {
            return each.book() != market_book::state::complete;
        });
        to.life = host_.life().view();
        to.figures = {
            {"feed_messages", heard.heard, "Messages of the feed"},
            {"feed_losses", heard.losses, "Times that books had to be asked for anew"},
            {"feed_silences", heard.silences, "Times that the feed was silent for too long"},
            {"feed_unread", heard.unread, "Messages of the feed that are not understood"},
            {"recovery_questions", distributor_.recovery().questions, "Questions to the exchange"},
            {"feed_unfollowed", books_.unfollowed(),
             "Messages about instruments beyond limits.instruments_max"},
            {"recovery_refused", distributor_.recovery().refused,
             "Questions that the exchange refused"},
            {"recovery_in_vain", distributor_.recovery().in_vain,
             "Questions without an answer in time, and books that changed too fast"},
            {"exchange_refused", distributor_.refused_by_exchange(),
             "Logins at the exchange that were refused"},
            {"logins", it.logins, "Logins that were right"},
            {"logins_refused", it.refused, "Logins that were not"},
            {"subscriptions", it.subscriptions, "Subscriptions that were granted"},
            {"messages", it.messages, "Messages of markets to all subscribers"},
            {"trades_dropped", it.dropped, "Trades for which subscribers read too slowly"},
            {"subscribers_shed", it.shed, "Subscribers that read nothing for too long"},
            {"exchange_up", distributor_.reaches_exchange() ? 1U : 0U,
             "Whether books can be asked for", true},
            {"books_incomplete", static_cast<std::uint64_t>(incomplete),
             "Books of which messages are missing", true},
            {"clients", distributor_.clients(), "Subscribers that are connected, logged in or not",
             true},
        };
        if (const auto* const relay = distributor_.relay())
            tell(to, relay->counts(), relay->sent());
        distributor_.for_each_client([&to](const market_data_client& each) {
            if (!each.logged_in()) return;
            to.add({.user = std::string{each.username().view()},
                    .transport = each.transport(),
                    .address = each.peer().to_string(),
                    .connected = true,
                    .sequence = 0,
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
        note_on_error_output(
            "market_data_distributor: cannot let subscribers in: " + failure.message() + '\n');
        static_cast<void>(std::raise(SIGTERM));
    }
    [[nodiscard]] static distributor_options options_of(const distributor_config& how,
                                                        event_log& log) {
        distributor_options made = how.distributor;
        made.clients.on_insecure = insecure_connections_in(log);
        made.opens_with_feed = how.replaces;
        return made;
    }

    /// What the relay has sent once more.
    static void tell(admin_report& to, const feed_relay_counts& it, const feed_counts& sent) {
        const auto figures = std::to_array<admin_figure>({
            {"relay_messages", it.messages, "Messages of the feed that were passed on"},
            {"relay_lives", it.lives, "Lives of the exchange that were passed on"},
            {"relay_gaps", it.gaps, "Losses of the feed behind which the relay goes on"},
            {"relay_too_long", it.too_long, "Messages too long to be passed on"},
            {"relay_unsent", it.unsent, "Messages that made room unsent"},
            {"relay_after_end", it.after_end, "Messages behind the end of their life"},
            {"relay_datagrams", sent.datagrams, "Datagrams sent to the relay's group"},
            {"relay_datagrams_not_sent", sent.refused, "Datagrams that the kernel did not take"},
            {"relay_requests_answered", sent.answers, "Requests to the relay that were answered"},
            {"relay_requests_refused", sent.faults, "Requests to the relay for what there is not"},
            {"relay_requests_over_limit", sent.unanswered,
             "Requests to the relay beyond the limit of answers"},
            {"relay_request_failures", sent.failures,
             "Failures to hear requests, each followed by a pause"},
        });
        to.figures.insert(to.figures.end(), figures.begin(), figures.end());
    }

    [[nodiscard]] static const char* state_of(const market_book& it) noexcept {
        switch (it.book()) {
            case market_book::state::incomplete: return "messages are missing";
            case market_book::state::recovering: return "is asked for";
            case market_book::state::complete: break;
        }
        return "complete";
    }

    gyre::io_context& context_;
    const distributor_config& how_;
    logged_distributor watch_;
    market_books books_;
    market_data_host host_;
    market_data_distributor distributor_;
    gyre::stop_handle serving_;
    gyre::event ended_;
    bool failed_ = false;
};

/// Runs a market data distributor on the backend of `how`.
///
/// @return  The exit status; errors were printed.
[[nodiscard]] int run_distributor(const distributor_config& how);

}  // namespace exchange

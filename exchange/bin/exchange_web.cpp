// SPDX-License-Identifier: BSL-1.0
//
// The page of the exchange, as a process: web/page_server.hpp on a loop of its own.
//
// It is no part of trading, so it runs on gyre alone and on epoll, beside whichever backends the others use.
#include <exchange/bin/command_line.hpp>
#include <exchange/bin/exchange_process.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/web/page_server.hpp>

#include <cstdio>
#include <string>
#include <string_view>

using namespace exchange;

namespace {

constexpr const char* about = R"(Serves the page of the exchange until SIGTERM or SIGINT.

When browsers may come it prints `ready: page http://ADDRESS/`. Processes that are away
are shown so. The first signal lets pages go, a second one ends the process at once.)";

constexpr const char* exit_codes =
    "Exit status: 0 after an orderly end, 1 if it could not begin, 2 if the configuration is bad.";

class served_page {
public:
    static constexpr std::string_view name = "exchange_web";

    served_page(gyre::io_context& context, const page_config& how)
        : context_{context}, how_{how}, server_{context, how} {}

    [[nodiscard]] gyre::error start() { return server_.start(); }
    [[nodiscard]] std::string how() const { return "page " + how_.at.to_string(); }
    [[nodiscard]] std::string ready_line() const {
        return "page http://" + server_.at().to_string() + "/";
    }
    [[nodiscard]] std::string summary() {
        return "answers of processes " + std::to_string(server_.answers()) + ", silences " +
               std::to_string(server_.silences()) + ", messages to pages " +
               std::to_string(server_.counters().delivered) + '\n';
    }
    void say_state(std::FILE* to) {
        std::fprintf(to, "pages open: %llu\n", static_cast<unsigned long long>(server_.pages()));
    }
    gyre::task<> drain(gyre_traits::timer& pause) {
        server_.drain();
        co_await look_until<gyre_traits>(
            context_, pause, gyre::deadline_after(context_.now(), std::chrono::seconds{2}),
            [this](gyre::time_point) { return server_.ended(); });
    }
    void stop() { server_.stop(); }
    void tell(admin_report& to) {
        const gyre::websocket::hub_counters sent = server_.counters();
        to.figures = {
            {"pages", server_.pages(), "Pages that are open", true},
            {"answers", server_.answers(), "Answers of admin ports"},
            {"silences", server_.silences(), "Questions to admin ports that had no answer"},
            {"messages_delivered", sent.delivered, "Messages that pages took"},
            {"messages_conflated", sent.conflated, "Messages replaced by newer ones"},
            {"messages_dropped", sent.dropped, "Messages for pages that had no room"},
        };
    }

private:
    gyre::io_context& context_;
    const page_config& how_;
    page_server server_;
};

int serve(const page_config& how) {
    gyre::io_context_options options;
    options.backend = gyre::backend_choice::epoll;
    gyre::io_context context{options};
    if (const gyre::error refused = context.status()) {
        std::fprintf(stderr, "exchange_web: epoll does not work here: %s\n",
                     refused.message().c_str());
        return 1;
    }
    event_log log{::fileno(stderr), "exchange_web", how.process.log};
    served_page page{context, how};
    return exchange_process<gyre_traits, served_page>{context, page, how.process, "gyre_epoll", log}
        .run();
}

}  // namespace

int main(int count, char** arguments) {
    std::string path;
    bool only_check = false;
    CLI::App options{about, "exchange_web"};
    options.footer(exit_codes);
    options.add_option("config", path, "The configuration file")->required();
    options.add_flag("--check", only_check,
                     "Read the configuration, say what is wrong with it, and end");
    if (const auto status = parse_command_line(options, count, arguments)) return *status;
    const page_config_reading reading = load_page_config(path);
    if (!reading.errors.empty()) return complain(path, reading.errors);
    if (only_check) {
        std::printf("%s: in order\n", path.c_str());
        return 0;
    }
    return serve(reading.value);
}

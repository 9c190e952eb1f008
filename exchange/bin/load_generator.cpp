// SPDX-License-Identifier: BSL-1.0
//
// Random traders that check a running exchange by what it tells them.
//
// They log in as the participants of a file of passwords, trade at a rate or as fast as answers come, and
// compare in the end what each was told with what the public was. load_client.hpp is one of them.
#include <exchange/bin/command_line.hpp>
#include <exchange/bin/load_run.hpp>
#include <exchange/bin/login_arguments.hpp>
#include <exchange/management/lifeline.hpp>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <utility>

using namespace exchange;

namespace {

constexpr const char* about = R"(Trades at random on a running exchange, and checks what it is told.

Each user of the file of credentials that has a session becomes a trader. Before they
begin, they cancel what an earlier run has left of theirs, and `ready: N traders` is printed.
In the end, orders that rest and trades that were made must be in the public feed as the
traders know them. SIGINT and SIGTERM bring that end about; a second one ends the program.)";

constexpr const char* exit_codes =
    "Exit status: 0 if everything agrees, 1 if it does not (an acknowledged order is lost, an "
    "answer is\n"
    "missing, the feed has a gap), 2 if the command line or the configuration is bad, 3 if the "
    "exchange\n"
    "cannot be reached or does not let us trade.";

/// What the command line says beside the configuration.
struct load_arguments {
    std::string path;
    login_arguments login;
    std::string order_entry;
    std::string requests;
    std::vector<std::uint32_t> instruments;
    load_options run;
    double patience_seconds = 10;
};

void replace_endpoint(const char* name, const std::string& text, gyre::endpoint& into,
                      std::vector<config_error>& errors) {
    if (text.empty()) return;
    const auto parsed = gyre::endpoint::parse(text);
    if (parsed.ok()) into = parsed.value();
    else errors.push_back({name, "expected ADDRESS:PORT, but found " + text});
}

void add_options(CLI::App& options, load_arguments& it) {
    options.footer(exit_codes);
    options.add_option("-c,--config", it.path, "The facility's configuration file")->required();
    add_credentials_option(options, it.login)->required();
    options.add_option("--order-entry", it.order_entry, "Instead of the file's ADDRESS:PORT");
    options.add_option("--requests", it.requests, "Instead of the file's ADDRESS:PORT");
    options.add_option("--orders", it.run.messages, "Messages in all")->capture_default_str();
    options
        .add_option("--rate", it.run.messages_per_second, "A second, of all traders; 0: unbounded")
        ->capture_default_str();
    options
        .add_option("--window", it.run.window,
                    "Unanswered messages of a trader at most, if unbounded")
        ->capture_default_str()
        ->check(CLI::Range(1, 10'000));
    options.add_option("--resting", it.run.mix.resting_max, "Resting orders of a trader, about")
        ->capture_default_str();
    options.add_option("--seed", it.run.seed, "Of the dice; else a random one, which is printed");
    options.add_option("--instrument", it.instruments,
                       "Only in these markets of the configuration");
    options.add_flag("--no-feed{false}", it.run.with_feed, "Do not listen to the public feed");
    options.add_flag("--clean", it.run.clean, "Cancel what rests in the end");
    options.add_option("--timeout", it.patience_seconds, "Seconds to wait for an answer")
        ->capture_default_str()
        ->check(CLI::Range(0.01, 3600.0));
}

}  // namespace

int main(int count, char** arguments) {
    load_arguments it;
    it.run.seed = std::random_device{}();
    CLI::App options{about, "load_generator"};
    add_options(options, it);
    if (const auto status = parse_command_line(options, count, arguments)) return *status;

    config_reading reading = load_config(it.path);
    config& where = reading.value;
    replace_endpoint("--order-entry", it.order_entry, where.facility.order_entry, reading.errors);
    replace_endpoint("--requests", it.requests, where.facility.feed_requests, reading.errors);
    if (reading.errors.empty()) {
        std::string failure = find_markets(where, it.instruments, it.run.mix.markets);
        if (!failure.empty()) reading.errors.push_back({"instruments", failure});
    }
    if (!reading.errors.empty()) return complain(it.path, reading.errors);
    auto users = read_users("load_generator", it.login);
    if (!users) return misunderstood;
    it.run.patience = std::chrono::duration_cast<gyre::duration>(
        std::chrono::duration<double>{it.patience_seconds});
    std::printf("seed %llu\n", static_cast<unsigned long long>(it.run.seed));
    std::fflush(stdout);
    follow_lifeline();
    gyre::io_context context;
    load_run run{context, where, std::move(*users), it.run};
    return run.carry_out();
}

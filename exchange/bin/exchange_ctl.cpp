// SPDX-License-Identifier: BSL-1.0
//
// The operator's tool: sends one command or question to a running exchange, and prints the answer.
//
// It finds the exchange in the configuration that the facility was started with, and its password in a file
// of its own. ctl_commands.hpp has the words, operator_client.hpp the connection.
#include <exchange/bin/command_line.hpp>
#include <exchange/bin/ctl_commands.hpp>
#include <exchange/bin/login_arguments.hpp>
#include <exchange/bin/page_reader.hpp>
#include <exchange/client/operator_client.hpp>
#include <exchange/codec/book_codec.hpp>
#include <exchange/codec/command_subject.hpp>
#include <exchange/codec/participant_codec.hpp>
#include <exchange/management/password_hash.hpp>
#include <exchange/management/words.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

using namespace exchange;

namespace {

constexpr const char* program = "exchange_ctl";
constexpr int refused = 1;
constexpr int unreachable = 3;

constexpr const char* about = R"(Tells a running exchange what its operator wants.

It logs in as an operator, gives one command or asks one question, prints the answer and
leaves. Several may do so at once, also as one user. The password comes from a file, or
from the environment as EXCHANGE_PASSWORD.)";

constexpr const char* exit_codes =
    "Exit status: 0 if it was accepted, 1 if the exchange refused it, 2 if the command line or "
    "the\n"
    "configuration is bad, 3 if the exchange cannot be reached or does not let us in.";

/// What is answered, such as "set_phase 1", "change_account 3", "retire_session 2".
template <class Command>
std::string name_of(const Command& it) {
    std::string word = word_for(it.kind);
    if constexpr (requires { it.action; }) {
        if (it.action == definition_action::change) word.replace(0, word.find('_'), "change");
    }
    if constexpr (std::is_same_v<Command, retire>) word += '_' + word_for(it.what);
    constexpr bool of_all =
        std::is_same_v<Command, expire_instruments> || std::is_same_v<Command, advance_phases>;
    if constexpr (of_all) return word;
    else return word + ' ' + std::to_string(subject_of(it));
}

int complain_of(const char* what) {
    std::fprintf(stderr, "exchange_ctl: %s\n", what);
    return unreachable;
}

/// Of a message that is no command of the exchange's.
std::string not_understood(const message_rejected& it) {
    return "not understood, field " + std::to_string(it.refused_field) + ", error " +
           std::to_string(number(it.error));
}

gyre::task<int> give(operator_client& client, const command& order, gyre::time_point deadline) {
    const std::string name = std::visit([](const auto& it) { return name_of(it); }, order);
    const command_answer answer = co_await client.give(order, deadline);
    const auto say_refusal = [&name](const std::string& why) {
        std::fprintf(stderr, "refused: %s: %s\n", name.c_str(), why.c_str());
        return refused;
    };
    switch (answer.outcome) {
        case command_outcome::accepted: std::printf("accepted: %s\n", name.c_str()); co_return 0;
        case command_outcome::refused: co_return say_refusal(word_for(answer.reason));
        case command_outcome::not_understood:
            co_return say_refusal(not_understood(answer.rejection));
        case command_outcome::not_sent: co_return complain_of("the connection is lost");
        case command_outcome::unanswered: break;
    }
    co_return complain_of("no answer; it may have been carried out or not");
}

/// Finds the answer to a question about a book.
struct book_reader {
    std::optional<book_page> page{};
    std::optional<book_refused> refusal{};

    void operator()(const book_page& it) { page = it; }
    void operator()(const book_refused& it) { refusal = it; }
};

void print(const book_page& page, std::size_t levels) {
    const bool buys = page.side == order_side::buy;
    for (std::size_t each = 0; each < levels; ++each) {
        const book_level& it = page.levels[each];
        std::printf("%s %lld: %llu in %u orders\n", buys ? "bid" : "ask",
                    static_cast<long long>(it.price), static_cast<unsigned long long>(it.quantity),
                    it.orders);
    }
}

/// Asks for one side, page by page.
gyre::task<int> show(operator_client& client, show_book what, order_side side,
                     gyre::time_point deadline) {
    std::size_t left = what.levels == 0 ? SIZE_MAX : what.levels;
    price_ticks from = best_of(side);
    bool first = side == order_side::sell;
    for (;;) {
        std::array<std::byte, message_bytes_of<book_request>> question;
        encode(book_request{what.instrument, from, side}, question);
        if (!client.say(question)) co_return complain_of("the connection is lost");
        book_reader answer;
        while (!answer.page && !answer.refusal) {
            const auto message = co_await client.hear(deadline);
            if (!message) co_return complain_of("no answer");
            static_cast<void>(decode_book_answer(*message, answer));
        }
        if (answer.refusal && answer.refusal->reason == reject_reason::message_rate &&
            std::chrono::steady_clock::now() < deadline) {
            static_cast<void>(co_await gyre::sleep_for(question_pause));
            continue;
        }
        if (answer.refusal) {
            std::fprintf(stderr, "refused: show book %u: %s\n", number(what.instrument),
                         word_for(answer.refusal->reason).c_str());
            co_return refused;
        }
        const book_page& page = *answer.page;
        if (first)
            std::printf("instrument %u, %s, feed from %llu\n", number(page.instrument),
                        word_for(page.phase).c_str(),
                        static_cast<unsigned long long>(page.next_in_feed));
        first = false;
        const std::size_t shown = std::min<std::size_t>(left, page.count);
        print(page, shown);
        left -= shown;
        if (page.last || left == 0 || page.count == 0) co_return 0;
        const price_ticks worst = page.levels[page.count - 1u].price;
        from = side == order_side::buy ? worst - 1 : worst + 1;
    }
}

gyre::task<int> show_both(operator_client& client, show_book what, gyre::time_point deadline) {
    const int asks = co_await show(client, what, order_side::sell, deadline);
    if (asks != 0) co_return asks;
    const int bids = co_await show(client, what, order_side::buy, deadline);
    co_return bids;
}

template <class Row>
gyre::task<int> show_rows(operator_client& client, show_list what, gyre::duration patience) {
    const read_list<Row> read = co_await read_pages<Row>(client, what.question, patience);
    if (!read.failure.empty()) co_return complain_of(read.failure.c_str());
    if (read.refused) {
        std::fprintf(stderr, "refused: show %s: %s\n", word_for(what.question.subject).c_str(),
                     word_for(*read.refused).c_str());
        co_return refused;
    }
    const std::string text = listing_of(read.rows, what.how);
    std::fwrite(text.data(), 1, text.size(), stdout);
    co_return 0;
}

gyre::task<int> show(operator_client& client, show_list what, gyre::duration patience) {
    switch (what.question.subject) {
        case query_subject::orders: return show_rows<order_row>(client, what, patience);
        case query_subject::positions: return show_rows<position_row>(client, what, patience);
        case query_subject::accounts: return show_rows<account_row>(client, what, patience);
        case query_subject::sessions: return show_rows<session_row>(client, what, patience);
        case query_subject::instruments: return show_rows<instrument_row>(client, what, patience);
        case query_subject::report: return show_rows<report_row>(client, what, patience);
        case query_subject::products: break;
    }
    return show_rows<product_row>(client, what, patience);
}

/// A change of who may log in, as it is sent.
struct participant_request {
    std::vector<std::byte> bytes;
    std::string name;
};

participant_request to_request(const participant_words& said, const std::string& hash) {
    participant_request made;
    const auto put = [&made](const auto& it) {
        constexpr std::size_t size = message_bytes_of<std::remove_cvref_t<decltype(it)>>;
        made.bytes.resize(size);
        encode(it, std::span{made.bytes}.first<size>());
    };
    if (said.session == session_id::none) {
        put(remove_participant{to_field<6>(said.name)});
        made.name = "remove_participant " + said.name;
    } else {
        put(define_participant{to_field<6>(said.name), to_field<128>(hash), said.session,
                               said.action});
        const bool changes = said.action == definition_action::change;
        made.name = (changes ? "change_participant " : "define_participant ") + said.name;
    }
    return made;
}

/// Finds out that a message was not understood.
struct rejection_finder {
    std::optional<message_rejected> found{};

    void operator()(const event_stamp&, const auto&) {}
    void operator()(const message_rejected& it) { found = it; }
};

gyre::task<int> change(operator_client& client, participant_request what,
                       gyre::time_point deadline) {
    if (!client.say(what.bytes)) co_return complain_of("the connection is lost");
    std::optional<participant_changed> answer;
    rejection_finder other;
    while (!answer) {
        const auto message = co_await client.hear(deadline);
        if (!message) co_return complain_of("no answer; it may have been carried out or not");
        static_cast<void>(decode_participant_answer(
            *message, [&answer](const participant_changed& it) { answer = it; }));
        static_cast<void>(decode_operator_event(*message, other));
        if (other.found) {  // An exchange that knows no such message.
            std::fprintf(stderr, "refused: %s: %s\n", what.name.c_str(),
                         not_understood(*other.found).c_str());
            co_return refused;
        }
    }
    const bool done = answer->outcome == participant_outcome::done;
    if (done) std::printf("accepted: %s\n", what.name.c_str());
    else
        std::fprintf(stderr, "refused: %s: %s\n", what.name.c_str(),
                     word_for(answer->outcome).c_str());
    co_return done ? 0 : refused;
}

/// What is asked for, ready to be sent: one of these.
struct whole_request {
    std::optional<command> order;
    std::optional<show_book> question;
    std::optional<show_list> list;
    std::optional<participant_request> participant;
};

gyre::task<> carry_out(operator_client& client, whole_request what, std::string whom,
                       gyre::duration patience, int& status) {
    const gyre::time_point deadline = std::chrono::steady_clock::now() + patience;
    const std::string failure = co_await client.log_in(deadline);
    if (!failure.empty()) {
        status = complain_of((whom + ": " + failure).c_str());
    } else if (what.order) {
        status = co_await give(client, *what.order, deadline);
    } else if (what.participant) {
        status = co_await change(client, *what.participant, deadline);
    } else if (what.question) {
        status = co_await show_both(client, *what.question, deadline);
    } else if (what.list) {
        status = co_await show(client, *what.list, patience);
    }
    client.leave();
}

/// Prints what stands in a file of credentials for a password.
int print_hash() {
    const auto password = read_password(program);
    if (!password) return misunderstood;
    std::printf("%s\n", hash_password(password->view()).c_str());
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    std::string path;
    login_arguments login;
    std::string address;
    double patience_seconds = 5;
    ctl_request request;
    CLI::App options{about, "exchange_ctl"};
    options.footer(exit_codes);
    options.add_option("-c,--config", path, "The facility's configuration file");
    add_credentials_option(options, login);
    options.add_option("--user", login.user,
                       "Who gives the command; else the file's first one without a session");
    options.add_option("--order-entry", address,
                       "Where the exchange is, instead of the file's ADDRESS:PORT");
    options.add_option("--timeout", patience_seconds, "Seconds to wait for the exchange")
        ->capture_default_str()
        ->check(CLI::Range(0.001, 3600.0));
    add_ctl_commands(options, request);
    if (const auto status = parse_command_line(options, count, arguments)) return *status;

    if (request.hashes_password) return print_hash();
    if (path.empty()) {
        std::fprintf(stderr, "%s: --config is required\n", program);
        return misunderstood;
    }
    config_reading reading = load_config(path);
    order_entry_client_options connection;
    connection.exchange = reading.value.facility.order_entry;
    if (!address.empty()) {
        const auto parsed = gyre::endpoint::parse(address);
        if (parsed.ok()) connection.exchange = parsed.value();
        else
            reading.errors.push_back(
                {"--order-entry", "expected ADDRESS:PORT, but found " + address});
    }
    whole_request what{.order = std::nullopt,
                       .question = request.question,
                       .list = request.list,
                       .participant = std::nullopt};
    if (request.order && reading.errors.empty()) {
        what.order = request.order(reading.value);
        if (!what.order)
            reading.errors.push_back(
                {"", "does not define it, so --product, --firm or --account must be said as well"});
    }
    if (!reading.errors.empty()) return complain(path, reading.errors);

    const std::optional<client_user> who = find_operator(program, login);
    if (!who) return misunderstood;
    if (request.participant) {
        std::string hash;
        if (request.participant->session != session_id::none) {
            const auto password = read_password(program);
            if (!password) return misunderstood;
            hash = hash_password(password->view());
        }
        what.participant = to_request(*request.participant, hash);
    }
    connection.login = {who->username, who->password, {}, 0};
    const std::string whom =
        connection.exchange.to_string() + " as " + std::string{who->username.view()};
    const auto patience =
        std::chrono::duration_cast<gyre::duration>(std::chrono::duration<double>{patience_seconds});
    int status = unreachable;
    gyre::io_context context;
    operator_client client{context, connection};
    gyre::launch(context, client.run(), gyre::or_terminate{});
    gyre::launch(context, carry_out(client, what, whom, patience, status), gyre::or_terminate{});
    context.run();
    return status;
}

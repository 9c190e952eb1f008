// SPDX-License-Identifier: BSL-1.0
//
// One function for each word: see ctl_commands.hpp.
#include <exchange/bin/ctl_commands.hpp>

#include <exchange/management/words.hpp>

#include <charconv>
#include <limits>
#include <memory>
#include <string>

namespace exchange {
namespace {

/// A number that names something, at `place` of the words.
template <class Id>
CLI::Option* add_id(CLI::App* to, const char* name, Id& into, const char* help) {
    using base = std::underlying_type_t<Id>;
    return to->add_option_function<base>(
                 name, [&into](const base& it) { into = Id{it}; }, help)
        ->check(CLI::Range(base{1}, std::numeric_limits<base>::max()));
}

/// One of the words of an enumeration.
template <class Enum>
CLI::Option* add_word(CLI::App* to, const char* name, Enum& into, const char* help) {
    const auto take = [&into, name](const std::string& text) {
        const auto meant = meaning_of<Enum>(text);
        if (!meant) throw CLI::ValidationError{name, "expected one of " + all_words<Enum>()};
        into = *meant;
    };
    return to->add_option_function<std::string>(name, take,
                                                std::string{help} + ": " + all_words<Enum>());
}

CLI::Option* add_price(CLI::App* to, const char* name, price_ticks& into, const char* help) {
    return to->add_option(name, into, help)->check(CLI::Range(-price_ticks_max, price_ticks_max));
}

/// "FROM:STEP"; the last one may leave out nothing.
tick_band parse_tick(const std::string& text) {
    tick_band made{};
    const char* const end = text.data() + text.size();
    const auto from = std::from_chars(text.data(), end, made.from);
    const bool parted = from.ec == std::errc{} && from.ptr != end && *from.ptr == ':';
    const auto step = parted ? std::from_chars(from.ptr + 1, end, made.step) : from;
    if (!parted || step.ec != std::errc{} || step.ptr != end)
        throw CLI::ValidationError{"--tick", "expected FROM:STEP, such as 0:5"};
    return made;
}

/// A word that gives a command, which `fill` adds the options of.
template <class Command, class Fill>
void add_order(CLI::App* to, const char* name, const char* help, ctl_request& into,
               const Fill& fill) {
    CLI::App* const word = to->add_subcommand(name, help);
    const auto order = std::make_shared<Command>();  // Until the parser calls back.
    fill(word, *order);
    word->callback([order, &into] { into.order = *order; });
}

void define_product_options(CLI::App* word, define_product& it) {
    it.multiplier = 1;
    it.lot = 1;
    add_id(word, "product", it.product, "Its number")->required();
    word->add_option("--multiplier", it.multiplier, "Value of one contract per tick");
    word->add_option("--lot", it.lot, "Quantities are multiples of it");
    const auto take = [&it](const std::vector<std::string>& bands) {
        for (const std::string& each : bands) it.ticks[it.bands++] = parse_tick(each);
    };
    word->add_option_function<std::vector<std::string>>(
            "--tick", take, "FROM:STEP: prices from FROM upward are multiples of STEP")
        ->expected(1, tick_bands_max);
}

void define_instrument_options(CLI::App* word, define_instrument& it) {
    it.type = instrument_kind::future;
    add_id(word, "instrument", it.instrument, "Its number")->required();
    add_id(word, "--product", it.product, "Of which product")->required();
    add_word(word, "--type", it.type, "What it is");
    add_word(word, "--lone-orders", it.lone_orders, "An IOC without a counterparty");
    word->add_option("--expiry", it.expiry_yyyymmdd, "YYYYMMDD");
    add_price(word, "--strike", it.strike, "Of an option");
    add_price(word, "--settlement-price", it.settlement_price, "What the collar is around");
    add_price(word, "--collar", it.collar, "Prices lie within settlement +- this; 0: none");
    word->add_option("--order-quantity-max", it.order_quantity_max, "0: no limit");
    word->add_option("--order-value-max", it.order_value_max, "0: no limit");
}

void define_account_options(CLI::App* word, define_account& it) {
    it.self_trade = self_trade_action::cancel_resting;
    add_id(word, "account", it.account, "Its number")->required();
    add_id(word, "--firm", it.firm, "Whose it is")->required();
    add_id(word, "--group", it.group, "Accounts of a group do not trade with each other");
    add_word(word, "--self-trade", it.self_trade, "What happens when they would");
    word->add_option("--order-quantity-max", it.order_quantity_max, "0: no limit");
    word->add_option("--open-orders-max", it.open_orders_max, "0: no limit");
    word->add_option("--messages-per-second-max", it.messages_per_second_max, "0: no limit");
    word->add_option("--position-max", it.position_max, "0: no limit");
}

void define_session_options(CLI::App* word, define_session& it) {
    add_id(word, "session", it.session, "Its number")->required();
    add_id(word, "--account", it.account, "Whom it trades for")->required();
    add_word(word, "--on-disconnect", it.on_disconnect, "What becomes of its orders");
}

void add_definitions(CLI::App& options, ctl_request& into) {
    CLI::App* const define = options.add_subcommand("define", "Define something new");
    define->require_subcommand(1);
    add_order<define_product>(define, "product", "What instruments have in common", into,
                              define_product_options);
    add_order<define_instrument>(define, "instrument", "A market, closed at first", into,
                                 define_instrument_options);
    add_order<define_account>(define, "account", "Who trades, and how much at most", into,
                              define_account_options);
    add_order<define_session>(define, "session", "Through which an account trades", into,
                              define_session_options);
}

void add_switches(CLI::App& options, ctl_request& into) {
    add_order<set_phase>(&options, "phase", "Open, halt or close a market", into,
                         [](CLI::App* word, set_phase& it) {
                             add_id(word, "instrument", it.instrument, "Which market")->required();
                             add_word(word, "phase", it.phase, "Its phase")->required();
                         });
    add_order<set_account_state>(&options, "account",
                                 "The kill switch: blocking cancels all of an account's orders",
                                 into, [](CLI::App* word, set_account_state& it) {
                                     add_id(word, "account", it.account, "Whose")->required();
                                     add_word(word, "state", it.state, "From now on")->required();
                                 });
    add_order<set_settlement_price>(
        &options, "settle", "Set a settlement price, and with it the collar", into,
        [](CLI::App* word, set_settlement_price& it) {
            add_id(word, "instrument", it.instrument, "Which market")->required();
            add_price(word, "price", it.settlement_price, "In ticks")->required();
        });
    add_order<end_session>(&options, "end-session", "Do what a lost connection does", into,
                           [](CLI::App* word, end_session& it) {
                               add_id(word, "session", it.session, "Which")->required();
                           });
    add_order<end_day>(&options, "end-day", "Cancel the Day orders of a market", into,
                       [](CLI::App* word, end_day& it) {
                           add_id(word, "instrument", it.instrument, "Which market")->required();
                       });
}

void add_questions(CLI::App& options, ctl_request& into) {
    CLI::App* const show = options.add_subcommand("show", "Look at something");
    show->require_subcommand(1);
    CLI::App* const book = show->add_subcommand("book", "The levels of a market, best first");
    const auto question = std::make_shared<show_book>(show_book{instrument_id::none, 10});
    add_id(book, "instrument", question->instrument, "Which market")->required();
    book->add_option("--levels", question->levels, "Of each side, at most; 0: all")
        ->capture_default_str();
    book->callback([question, &into] { into.question = *question; });
}

}  // namespace

void add_ctl_commands(CLI::App& options, ctl_request& into) {
    options.require_subcommand(1);
    add_definitions(options, into);
    add_switches(options, into);
    add_questions(options, into);
}

}  // namespace exchange

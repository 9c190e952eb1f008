// SPDX-License-Identifier: BSL-1.0
//
// One function for each word: see ctl_commands.hpp.
#include <exchange/bin/ctl_commands.hpp>

#include <exchange/management/words.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace exchange {
namespace {

/// What is said of a command's terms, in order; each is put into a command that has the rest already.
template <class Command>
struct terms {
    CLI::App* word;
    std::vector<std::function<void(Command&)>> said{};

    template <class Value>
    void say(Value Command::* member, Value value) {
        said.emplace_back([member, value](Command& it) { it.*member = value; });
    }
};

/// A number that names something.
template <class Command, class Id>
CLI::Option* add_id(terms<Command>& to, const char* name, Id Command::* into, const char* help,
                    std::underlying_type_t<Id> least = 1) {
    using base = std::underlying_type_t<Id>;
    return to.word
        ->template add_option_function<base>(
            name, [&to, into](const base& it) { to.say(into, Id{it}); }, help)
        ->check(CLI::Range(least, std::numeric_limits<base>::max()));
}

/// One of the words of an enumeration.
template <class Command, class Enum>
CLI::Option* add_word(terms<Command>& to, const char* name, Enum Command::* into,
                      const char* help) {
    const auto take = [&to, into, name](const std::string& text) {
        const auto meant = meaning_of<Enum>(text);
        if (!meant) throw CLI::ValidationError{name, "expected one of " + all_words<Enum>()};
        to.say(into, *meant);
    };
    return to.word->template add_option_function<std::string>(
        name, take, std::string{help} + ": " + all_words<Enum>());
}

template <class Command, class Number>
CLI::Option* add_number(terms<Command>& to, const char* name, Number Command::* into,
                        const char* help) {
    return to.word->template add_option_function<Number>(
        name, [&to, into](const Number& it) { to.say(into, it); }, help);
}

template <class Command>
CLI::Option* add_price(terms<Command>& to, const char* name, price_ticks Command::* into,
                       const char* help) {
    return add_number(to, name, into, help)->check(CLI::Range(-price_ticks_max, price_ticks_max));
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
    const auto it = std::make_shared<terms<Command>>(to->add_subcommand(name, help));
    fill(*it);
    it->word->callback([it, &into] {  // Which the word keeps alive.
        into.order = [said = it->said](const config&) {
            Command made{};
            for (const auto& each : said) each(made);
            return std::optional<command>{made};
        };
    });
}

// ---------------------------------------------------------------------------------------------
// Definitions and their terms
// ---------------------------------------------------------------------------------------------

// The number that it is known by, whether it has what it must have, and what it is if nothing else is
// said.

constexpr auto number_of(const define_product&) { return &define_product::product; }
constexpr auto number_of(const define_instrument&) { return &define_instrument::instrument; }
constexpr auto number_of(const define_account&) { return &define_account::account; }
constexpr auto number_of(const define_session&) { return &define_session::session; }

bool is_complete(const define_product&) { return true; }
bool is_complete(const define_instrument& it) { return it.product != product_id::none; }
bool is_complete(const define_account& it) { return it.firm != firm_id::none; }
bool is_complete(const define_session& it) { return it.account != account_id::none; }

void set_defaults(define_product& it) { it.multiplier = it.lot = 1; }
void set_defaults(define_instrument& it) { it.type = instrument_kind::future; }
void set_defaults(define_account& it) { it.self_trade = self_trade_action::cancel_resting; }
void set_defaults(define_session&) {}

// Adds the options of its terms, and returns the one that it must have, if there is one.

CLI::Option* add_terms(terms<define_product>& to) {
    using it = define_product;
    add_number(to, "--multiplier", &it::multiplier, "Value of one contract per tick");
    add_number(to, "--lot", &it::lot, "Quantities are multiples of it");
    const auto take = [&to](const std::vector<std::string>& bands) {
        std::vector<tick_band> read(bands.size());
        std::ranges::transform(bands, read.begin(), parse_tick);
        to.said.emplace_back([read](define_product& into) {
            into.bands = static_cast<std::uint32_t>(read.size());
            std::ranges::copy(read, into.ticks);
        });
    };
    to.word
        ->add_option_function<std::vector<std::string>>(
            "--tick", take, "FROM:STEP: prices from FROM upward are multiples of STEP")
        ->expected(1, tick_bands_max);
    return nullptr;
}

CLI::Option* add_terms(terms<define_instrument>& to) {
    using it = define_instrument;
    CLI::Option* const needed = add_id(to, "--product", &it::product, "Of which product");
    add_word(to, "--type", &it::type, "What it is");
    add_word(to, "--lone-orders", &it::lone_orders, "An IOC without a counterparty");
    add_number(to, "--expiry", &it::expiry_yyyymmdd, "YYYYMMDD, its last day; 0: none");
    add_price(to, "--strike", &it::strike, "Of an option");
    add_price(to, "--settlement-price", &it::settlement_price, "What the collar is around");
    add_price(to, "--collar", &it::collar, "Prices lie within settlement +- this; 0: none");
    add_price(to, "--market-band", &it::market_band,
              "Market orders trade within best price +- this; 0: none");
    add_number(to, "--order-quantity-max", &it::order_quantity_max, "0: no limit");
    add_number(to, "--order-value-max", &it::order_value_max, "0: no limit");
    return needed;
}

CLI::Option* add_terms(terms<define_account>& to) {
    using it = define_account;
    CLI::Option* const needed = add_id(to, "--firm", &it::firm, "Whose it is");
    add_id(to, "--group", &it::group, "Accounts of a group do not trade with each other; 0: none",
           0);
    add_word(to, "--self-trade", &it::self_trade,
             "What happens when its orders meet each other, or its group's");
    add_number(to, "--order-quantity-max", &it::order_quantity_max, "0: no limit");
    add_number(to, "--open-orders-max", &it::open_orders_max, "0: no limit");
    add_number(to, "--position-max", &it::position_max, "0: no limit");
    add_number(to, "--messages-per-second-max", &it::messages_per_second_max,
               "Entries, amends and quotes; 0: no limit");
    add_number(to, "--message-burst-max", &it::message_burst_max,
               "At once, after a rest; 0: those of a second");
    add_number(to, "--cancels-per-second-max", &it::cancels_per_second_max, "0: no limit");
    add_number(to, "--cancel-burst-max", &it::cancel_burst_max,
               "At once, after a rest; 0: those of a second");
    return needed;
}

CLI::Option* add_terms(terms<define_session>& to) {
    using it = define_session;
    CLI::Option* const needed = add_id(to, "--account", &it::account, "Whom it trades for");
    add_word(to, "--on-disconnect", &it::on_disconnect, "What becomes of its orders");
    return needed;
}

/// Makes something, or replaces its terms, by the configuration's if there are any.
template <class Command>
void add_definition(CLI::App* to, const char* name, const std::string& help,
                    definition_action action, ctl_request& into) {
    constexpr auto its_number = number_of(Command{});
    const auto it = std::make_shared<terms<Command>>(to->add_subcommand(name, help));
    add_id(*it, name, its_number, "Its number")->required();
    CLI::Option* const needed = add_terms(*it);
    if (needed != nullptr && action == definition_action::create) needed->required();
    it->word->callback([it, action, &into] {
        into.order = [said = it->said, action](const config& in) -> std::optional<command> {
            Command made{};
            set_defaults(made);
            for (const auto& each : said) each(made);
            const auto* const configured = find_definition(in, its_number, made.*its_number);
            if (action == definition_action::change && configured != nullptr) {
                made = *configured;
                for (const auto& each : said) each(made);
            }
            made.action = action;
            if (!is_complete(made)) return std::nullopt;
            return made;
        };
    });
}

void add_definitions(CLI::App& options, ctl_request& into) {
    using enum definition_action;
    CLI::App* const define = options.add_subcommand(
        "define", "Define something new; what is not said of it has its default");
    define->require_subcommand(1);
    add_definition<define_product>(define, "product", "What instruments have in common", create,
                                   into);
    add_definition<define_instrument>(define, "instrument", "A market, closed at first", create,
                                      into);
    add_definition<define_account>(define, "account", "Who trades, and how much at most", create,
                                   into);
    add_definition<define_session>(define, "session", "Through which an account trades", create,
                                   into);
    CLI::App* const changed = options.add_subcommand("change", "Replace the terms of something");
    changed->require_subcommand(1);
    const std::string rest =
        ". What is not said becomes what the configuration says of it, or its default if that does "
        "not define it";
    const auto help = [&rest](const char* what) { return what + rest; };
    add_definition<define_product>(changed, "product", help("The multiplier stays"), change, into);
    add_definition<define_instrument>(
        changed, "instrument",
        help("Product, type and strike stay") +
            "; also the settlement price, if settle has moved it since",
        change, into);
    add_definition<define_account>(changed, "account", help("The firm stays"), change, into);
    add_definition<define_session>(changed, "session", help("The account stays"), change, into);
}

void add_retirements(CLI::App& options, ctl_request& into) {
    CLI::App* const word = options.add_subcommand(
        "retire", "Take something out of use for good, and cancel its orders");
    word->require_subcommand(1);
    const auto add = [&](definition_kind what, const char* name, const char* help) {
        add_order<retire>(word, name, help, into, [what, name](terms<retire>& to) {
            to.say(&retire::what, what);
            add_number(to, name, &retire::number, "Its number")
                ->required()
                ->check(CLI::PositiveNumber);
        });
    };
    add(definition_kind::product, "product", "Nothing new is defined of it; instruments stay");
    add(definition_kind::instrument, "instrument", "The market ends");
    add(definition_kind::account, "account", "It may enter nothing any more");
    add(definition_kind::session, "session", "It is unknown from then on");
}

void add_switches(CLI::App& options, ctl_request& into) {
    add_order<set_phase>(
        &options, "phase", "Open, halt or close a market, or collect orders for an auction", into,
        [](terms<set_phase>& to) {
            add_id(to, "instrument", &set_phase::instrument, "Which market")->required();
            add_word(to, "phase", &set_phase::phase, "Its phase")->required();
        });
    add_order<set_account_state>(
        &options, "account", "The kill switch: blocking cancels all of an account's orders", into,
        [](terms<set_account_state>& to) {
            add_id(to, "account", &set_account_state::account, "Whose")->required();
            add_word(to, "state", &set_account_state::state, "From now on")->required();
        });
    add_order<set_settlement_price>(
        &options, "settle", "Set a settlement price, and with it the collar", into,
        [](terms<set_settlement_price>& to) {
            using it = set_settlement_price;
            add_id(to, "instrument", &it::instrument, "Which market")->required();
            add_price(to, "price", &it::settlement_price, "In ticks")->required();
        });
    add_order<set_position>(
        &options, "position", "Set what an account holds in a market that is closed", into,
        [](terms<set_position>& to) {
            using it = set_position;
            add_id(to, "account", &it::account, "Whose")->required();
            add_id(to, "instrument", &it::instrument, "In which market")->required();
            add_number(to, "position", &it::position, "Bought less sold")
                ->required()
                ->check(CLI::Range(-position_limit, position_limit));
        });
    add_order<end_session>(&options, "end-session", "Do what a lost connection does", into,
                           [](terms<end_session>& to) {
                               add_id(to, "session", &end_session::session, "Which")->required();
                           });
    add_order<end_day>(
        &options, "end-day", "Cancel the Day orders of a market", into, [](terms<end_day>& to) {
            add_id(to, "instrument", &end_day::instrument, "Which market")->required();
        });
    add_order<uncross>(
        &options, "uncross",
        "End a market's auction: trade at one price, then go on, or close behind a closing auction",
        into, [](terms<uncross>& to) {
            add_id(to, "instrument", &uncross::instrument, "Which market")->required();
        });
    add_order<set_interruption>(
        &options, "interruption", "Say what interrupts a market, and for how long", into,
        [](terms<set_interruption>& to) {
            using it = set_interruption;
            add_id(to, "instrument", &it::instrument, "Which market")->required();
            add_price(to, "collar", &it::collar,
                      "Farther from the last price an order interrupts it; 0: none does")
                ->required()
                ->check(CLI::Range(price_ticks{0}, price_ticks_max));
            add_number(to, "--duration-ns", &it::duration_ns,
                       "How long it is in an auction then; 0: until that is ended by hand");
        });
    add_order<schedule_phase>(
        &options, "schedule", "Say when a market enters a phase every day by itself", into,
        [](terms<schedule_phase>& to) {
            using it = schedule_phase;
            add_id(to, "instrument", &it::instrument, "Which market")->required();
            add_word(to, "phase", &it::phase, "The phase")->required();
            add_number(to, "second", &it::second_of_day, "Of the day in UTC; 86400: not any more")
                ->required()
                ->check(CLI::Range(0u, seconds_of_day));
        });
    add_order<advance_phases>(&options, "advance-phases",
                              "End interruptions whose time is over, and follow schedules", into,
                              [](auto&) {});
    add_order<bust_trade>(
        &options, "bust", "Undo a trade of this day", into, [](terms<bust_trade>& to) {
            add_id(to, "instrument", &bust_trade::instrument, "Of which market")->required();
            add_id(to, "trade", &bust_trade::trade, "Its number")->required();
        });
    add_order<expire_instruments>(&options, "expire", "End each market whose last day is over",
                                  into, [](auto&) {});
}

enum class narrowed_by : std::uint8_t { nothing = 0, account = 1, instrument = 2, both = 3 };

/// A word that asks for a list, and what it may be narrowed down by.
void add_list(CLI::App* to, query_subject subject, const char* help, narrowed_by by,
              ctl_request& into) {
    CLI::App* const word = to->add_subcommand(word_for(subject), help);
    const auto asked = std::make_shared<show_list>();
    asked->question.subject = subject;
    constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    if ((number(by) & number(narrowed_by::account)) != 0) {
        const auto take = [asked](const std::uint32_t& it) {
            asked->question.account = account_id{it};
        };
        word->add_option_function<std::uint32_t>("--account", take, "Only of this account")
            ->check(CLI::Range(1u, most));
    }
    if ((number(by) & number(narrowed_by::instrument)) != 0) {
        const auto take = [asked](const std::uint32_t& it) {
            asked->question.instrument = instrument_id{it};
        };
        word->add_option_function<std::uint32_t>("--instrument", take, "Only in this market")
            ->check(CLI::Range(1u, most));
    }
    word->add_flag_callback(
        "--json", [asked] { asked->how = listing_format::json; }, "Print JSON instead of a table");
    word->callback([asked, &into] { into.list = *asked; });
}

constexpr const char* report_help =
    "What accounts bought and sold in the day of a market, and held before and after it";

void add_lists(CLI::App* to, ctl_request& into) {
    using enum query_subject;
    add_list(to, orders, "The orders that rest", narrowed_by::both, into);
    add_list(to, positions,
             "What accounts hold and have open. As JSON: what they hold, as a configuration's "
             "start_of_day reads it",
             narrowed_by::both, into);
    add_list(to, accounts, "Accounts, their limits and states", narrowed_by::account, into);
    add_list(to, sessions, "Sessions, and who is logged in", narrowed_by::account, into);
    add_list(to, instruments, "Instruments, their phases and the sums of the day",
             narrowed_by::instrument, into);
    add_list(to, products, "Products", narrowed_by::nothing, into);
    add_list(to, report, report_help, narrowed_by::both, into);
}

void add_questions(CLI::App& options, ctl_request& into) {
    CLI::App* const show = options.add_subcommand("show", "Look at something");
    show->require_subcommand(1);
    CLI::App* const book = show->add_subcommand("book", "The levels of a market, best first");
    const auto question = std::make_shared<show_book>(show_book{instrument_id::none, 10});
    book->add_option_function<std::uint32_t>(
            "instrument",
            [question](const std::uint32_t& it) { question->instrument = instrument_id{it}; },
            "Which market")
        ->check(CLI::Range(1u, std::numeric_limits<std::uint32_t>::max()))
        ->required();
    book->add_option("--levels", question->levels, "Of each side, at most; 0: all")
        ->capture_default_str();
    book->callback([question, &into] { into.question = *question; });
    add_lists(show, into);
    add_list(&options, query_subject::report, report_help, narrowed_by::both, into);
}

void add_participants(CLI::App& options, ctl_request& into) {
    CLI::App* const word = options.add_subcommand(
        "participant", "Say who may log in until the facility ends; its file stays as it is");
    word->require_subcommand(1);
    const auto said = std::make_shared<participant_words>();
    const auto add = [&](const char* name, const char* help, definition_action action,
                         bool has_session) {
        CLI::App* const it = word->add_subcommand(name, help);
        it->add_option("username", said->name, "At most 6 characters")
            ->required()
            ->check([](const std::string& text) {
                return text.size() <= 6 && !text.empty() ? "" : "expected 1 to 6 characters";
            });
        if (has_session)
            it->add_option_function<std::uint16_t>(
                  "--session",
                  [said](const std::uint16_t& number) { said->session = session_id{number}; },
                  "Through which it trades")
                ->required()
                ->check(CLI::Range(1, 0xffff));
        it->callback([said, action, &into] {
            said->action = action;
            into.participant = *said;
        });
    };
    add("add", "Let somebody log in; the password is read from standard input",
        definition_action::create, true);
    add("change", "Another password, read from standard input, or session; cuts the connection",
        definition_action::change, true);
    add("remove", "Let somebody log in no more, and cut the connection", definition_action::create,
        false);
}

void add_passwords(CLI::App& options, ctl_request& into) {
    options
        .add_subcommand("hash-password",
                        "Read a password from standard input, and print what stands for it in the "
                        "facility's file of credentials")
        ->callback([&into] { into.hashes_password = true; });
}

}  // namespace

void add_ctl_commands(CLI::App& options, ctl_request& into) {
    options.require_subcommand(1);
    add_definitions(options, into);
    add_retirements(options, into);
    add_switches(options, into);
    add_questions(options, into);
    add_participants(options, into);
    add_passwords(options, into);
}

}  // namespace exchange

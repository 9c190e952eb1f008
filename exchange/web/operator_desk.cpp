// SPDX-License-Identifier: BSL-1.0
//
// Words of a page as commands, and answers as words: see operator_desk.hpp.
#include <exchange/web/operator_desk.hpp>

#include <exchange/client/operator_client.hpp>
#include <exchange/codec/command_subject.hpp>
#include <exchange/management/password_file.hpp>
#include <exchange/management/words.hpp>

#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/sync/when_any.hpp>

#include <nlohmann/json.hpp>

#include <charconv>
#include <chrono>
#include <limits>
#include <type_traits>
#include <utility>

namespace exchange {
namespace {

using nlohmann::json;
namespace websocket = gyre::websocket;

// A login takes up to eight seconds at the facility, after wrong passwords.
constexpr gyre::duration login_within = std::chrono::seconds{10};
constexpr gyre::duration answer_within = std::chrono::seconds{5};

/// Takes member after member of an object, and remembers the first that is wrong.
class member_reader {
public:
    explicit member_reader(const json& of) : of_{of} {}

    template <class Id>
    void read_number(const char* name, Id& into) {
        using base = std::underlying_type_t<Id>;
        const json* const it = find(name);
        if (it == nullptr) return;
        constexpr bool is_large = std::numeric_limits<base>::max() > exact_in_json;
        const std::uint64_t meant = is_large && it->is_string() ? digits_of(*it) : number_of(*it);
        if (meant == 0 || meant > std::numeric_limits<base>::max())
            return wrong(name, "expected a number from 1");
        if (!it->is_string() && meant > exact_in_json)
            return wrong(name, "expected its digits as a string");
        into = Id{static_cast<base>(meant)};
    }
    template <class Enum>
    void read_word(const char* name, Enum& into) {
        const json* const it = find(name);
        if (it == nullptr) return;
        const auto meant =
            it->is_string() ? meaning_of<Enum>(it->get_ref<const std::string&>()) : std::nullopt;
        if (!meant) return wrong(name, "expected one of " + all_words<Enum>());
        into = *meant;
    }
    /// What is wrong; empty if nothing is, and every member was read.
    [[nodiscard]] std::string result() {
        if (why_.empty() && read_ != of_.size()) why_ = "there are members that mean nothing";
        return std::move(why_);
    }

private:
    /// A reader that has doubles only would have made another number of a larger one, without a word.
    static constexpr std::uint64_t exact_in_json = std::uint64_t{1} << 53;

    [[nodiscard]] static std::uint64_t number_of(const json& it) {
        return it.is_number_unsigned() ? it.get<std::uint64_t>() : 0;
    }
    [[nodiscard]] static std::uint64_t digits_of(const json& it) {
        const std::string& text = it.get_ref<const std::string&>();
        const char* const end = text.data() + text.size();
        std::uint64_t made = 0;
        const auto [rest, failed] = std::from_chars(text.data(), end, made);
        return failed == std::errc{} && rest == end ? made : 0;
    }
    [[nodiscard]] const json* find(const char* name) {
        const auto it = of_.find(name);
        if (it == of_.end()) {
            wrong(name, "is missing");
            return nullptr;
        }
        ++read_;
        return &*it;
    }
    void wrong(const char* name, const std::string& why) {
        if (why_.empty()) why_ = std::string{name} + ": " + why;
    }

    const json& of_;
    std::size_t read_ = 1;  // "message" was.
    std::string why_;
};

void read_members(member_reader& from, set_phase& into) {
    from.read_number("instrument", into.instrument);
    from.read_word("phase", into.phase);
}
void read_members(member_reader& from, uncross& into) {
    from.read_number("instrument", into.instrument);
}
void read_members(member_reader& from, set_account_state& into) {
    from.read_number("account", into.account);
    from.read_word("state", into.state);
}
void read_members(member_reader& from, end_session& into) {
    from.read_number("session", into.session);
}
void read_members(member_reader& from, bust_trade& into) {
    from.read_number("instrument", into.instrument);
    from.read_number("trade", into.trade);
}

/// Reads it if it is one of these.
template <class... Commands>
operator_order read_one_of(const json& said, std::string_view word) {
    operator_order made{{},
                        "message: expected one of set_phase, uncross, set_account_state, "
                        "end_session, bust_trade"};
    const auto read = [&]<class Command>(Command it) {
        if (word_for(Command::kind) != word) return;
        member_reader members{said};
        read_members(members, it);
        made.why = members.result();
        if (made.why.empty()) made.meant = it;
    };
    (read(Commands{}), ...);
    return made;
}

std::string text_member(const json& of, const char* name) {
    const auto it = of.find(name);
    return it != of.end() && it->is_string() ? it->get<std::string>() : std::string{};
}

/// The login that a page asks for, if it does.
std::optional<soup_login> read_operator_login(std::string_view text) {
    const json said = json::parse(text, nullptr, false);
    if (!said.is_object() || text_member(said, "message") != "login") return std::nullopt;
    const std::string name = text_member(said, "username");
    const auto password = to_soup_password(text_member(said, "password"));
    if (name.empty() || name.size() > 6 || !password) return std::nullopt;
    return soup_login{std::string_view{name}, *password, {}, 0};
}

std::string reply(json what) { return what.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string login_answer(const std::string& failure) {
    if (failure.empty()) return reply({{"message", "login_accepted"}});
    return reply({{"message", "login_rejected"}, {"reason", failure}});
}

std::string misunderstanding(const std::string& why) {
    return reply({{"message", "answer"}, {"outcome", "refused"}, {"reason", why}});
}

std::string answer_text(const command& asked, const command_answer& answer) {
    json made{{"message", "answer"}};
    std::visit(
        [&made](const auto& it) {
            made["command"] = word_for(it.kind);
            made["subject"] = subject_of(it);
        },
        asked);
    const auto say = [&made](const char* outcome, std::string reason) {
        made["outcome"] = outcome;
        if (!reason.empty()) made["reason"] = std::move(reason);
    };
    switch (answer.outcome) {
        case command_outcome::accepted: say("accepted", {}); break;
        case command_outcome::refused: say("refused", word_for(answer.reason)); break;
        case command_outcome::not_understood:
            say("refused", "the exchange reads it otherwise");
            break;
        case command_outcome::not_sent:
            say("refused", "the exchange is not connected; nothing was sent");
            break;
        case command_outcome::unanswered:
            say("unanswered", "no answer came; it may have been carried out or not");
            break;
    }
    return reply(std::move(made));
}

/// Carries out what the page says, until it says no more, or the exchange is gone.
gyre::task<> take_orders(operator_client& client, websocket::connection& page) {
    for (;;) {
        auto next = co_await gyre::when_any(page.receive(), client.over());
        const auto [ended, said] = std::get<0>(std::move(next.results));
        if (ended) co_return;
        const operator_order order = read_operator_order(said.text());
        std::string answer;
        bool goes_on = true;
        if (order.meant) {
            const command_answer got = co_await client.give(
                *order.meant, std::chrono::steady_clock::now() + answer_within);
            goes_on = got.outcome != command_outcome::unanswered;
            answer = answer_text(*order.meant, got);
        } else {
            answer = misunderstanding(order.why);
        }
        const auto [failed] = co_await page.send_text(answer);
        if (failed || !goes_on) co_return;
    }
}

// There is no such market: a number is less than the most that there may be.
constexpr instrument_id no_market{0xffff'fffe};

/// Logs in. A trader's name opens a session as well, in which no command is understood: so one is given that
/// changes nothing.
///
/// @return  Why not; empty if an operator is in.
gyre::task<std::string> let_in(operator_client& client) {
    const gyre::time_point deadline = std::chrono::steady_clock::now() + login_within;
    std::string failure = co_await client.log_in(deadline);
    if (!failure.empty()) co_return failure;
    const command_answer told = co_await client.give(uncross{no_market}, deadline);
    const bool answered = told.outcome == command_outcome::refused;
    co_return answered ? std::string{} : std::string{"the login is refused: no operator's"};
}

/// Behind the login's request: the answer, and what follows.
gyre::task<> serve_login(operator_client& client, websocket::connection& page) {
    const std::string failure = co_await let_in(client);
    const auto [failed] = co_await page.send_text(login_answer(failure));
    if (!failed && failure.empty()) co_await take_orders(client, page);
    client.leave();
}

}  // namespace

operator_order read_operator_order(std::string_view text) {
    const json said = json::parse(text, nullptr, false);
    if (!said.is_object()) return {{}, "expected an object of JSON"};
    return read_one_of<set_phase, uncross, set_account_state, end_session, bust_trade>(
        said, text_member(said, "message"));
}

gyre::task<> serve_operator(gyre::io_context& context, gyre::endpoint facility,
                            websocket::connection& page) {
    const auto [late, said] = co_await gyre::with_timeout(login_within, page.receive());
    if (late) co_return;
    const std::optional<soup_login> login = read_operator_login(said.text());
    if (!login) {
        const std::string why = login_answer(
            "expected a login with a name of 1 to 6 characters and a password of at most 10");
        static_cast<void>(co_await page.send_text(why));
        co_return;
    }
    order_entry_client_options options;
    options.exchange = facility;
    options.login = *login;
    operator_client client{context, options};
    co_await gyre::when_all(client.run(), serve_login(client, page));
}

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// Commands as JSON, and lines that are whole: see audit_file.hpp.
#include <exchange/management/audit_file.hpp>

#include <exchange/management/words.hpp>
#include <exchange/management/write_within.hpp>

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <type_traits>
#include <utility>

namespace exchange {
namespace {

using json = nlohmann::ordered_json;

void add_action(json& to, definition_action action) {
    to["action"] = action == definition_action::change ? "change" : "create";
}

void add_fields(json& to, const define_product& it) {
    to["product"] = number(it.product);
    to["multiplier"] = it.multiplier;
    to["lot"] = it.lot;
    to["ticks"] = json::array();
    for (std::uint32_t band = 0; band < it.bands && band < tick_bands_max; ++band)
        to["ticks"].push_back({{"from", it.ticks[band].from}, {"step", it.ticks[band].step}});
    add_action(to, it.action);
}
void add_fields(json& to, const define_instrument& it) {
    to["instrument"] = number(it.instrument);
    to["product"] = number(it.product);
    to["type"] = word_for(it.type);
    to["lone_orders"] = word_for(it.lone_orders);
    to["expiry_yyyymmdd"] = it.expiry_yyyymmdd;
    to["strike"] = it.strike;
    to["settlement_price"] = it.settlement_price;
    to["collar"] = it.collar;
    to["order_quantity_max"] = it.order_quantity_max;
    to["order_value_max"] = it.order_value_max;
    to["market_band"] = it.market_band;
    add_action(to, it.action);
}
void add_fields(json& to, const define_account& it) {
    to["account"] = number(it.account);
    to["firm"] = number(it.firm);
    to["group"] = number(it.group);
    to["self_trade"] = word_for(it.self_trade);
    to["order_quantity_max"] = it.order_quantity_max;
    to["open_orders_max"] = it.open_orders_max;
    to["messages_per_second_max"] = it.messages_per_second_max;
    to["message_burst_max"] = it.message_burst_max;
    to["cancels_per_second_max"] = it.cancels_per_second_max;
    to["cancel_burst_max"] = it.cancel_burst_max;
    to["position_max"] = it.position_max;
    add_action(to, it.action);
}
void add_fields(json& to, const define_session& it) {
    to["session"] = number(it.session);
    to["account"] = number(it.account);
    to["on_disconnect"] = word_for(it.on_disconnect);
    add_action(to, it.action);
}
void add_fields(json& to, const set_phase& it) {
    to["instrument"] = number(it.instrument);
    to["phase"] = word_for(it.phase);
}
void add_fields(json& to, const set_account_state& it) {
    to["account"] = number(it.account);
    to["state"] = word_for(it.state);
}
void add_fields(json& to, const set_settlement_price& it) {
    to["instrument"] = number(it.instrument);
    to["settlement_price"] = it.settlement_price;
}
void add_fields(json& to, const end_session& it) { to["session"] = number(it.session); }
void add_fields(json& to, const end_day& it) { to["instrument"] = number(it.instrument); }
void add_fields(json& to, const retire& it) {
    to["what"] = word_for(it.what);
    to["number"] = it.number;
}
void add_fields(json& to, const set_position& it) {
    to["account"] = number(it.account);
    to["instrument"] = number(it.instrument);
    to["position"] = it.position;
}
void add_fields(json& to, const uncross& it) { to["instrument"] = number(it.instrument); }
void add_fields(json& to, const set_interruption& it) {
    to["instrument"] = number(it.instrument);
    to["collar"] = it.collar;
    to["duration_ns"] = it.duration_ns;
}
void add_fields(json& to, const schedule_phase& it) {
    to["instrument"] = number(it.instrument);
    to["phase"] = word_for(it.phase);
    to["second_of_day"] = it.second_of_day;
}
void add_fields(json& to, const bust_trade& it) {
    to["instrument"] = number(it.instrument);
    to["trade"] = number(it.trade);
}
void add_fields(json&, const auto&) {
}  // What timers ask has none, and clients' commands do not come here.

void add_command(json& to, const command& what) {
    std::visit(
        [&to](const auto& it) {
            to["command"] = word_for(std::remove_cvref_t<decltype(it)>::kind);
            add_fields(to, it);
        },
        what);
}

void add_participant(json& to, const audit_participant& it) {
    to["command"] = it.action ? "define_participant" : "remove_participant";
    to["username"] = it.name;
    if (it.outcome) {
        const bool done = *it.outcome == participant_outcome::done;
        to["answer"] = done ? "accepted" : "rejected";
        if (!done) to["reason"] = word_for(*it.outcome);
    } else if (it.action) {
        to["session"] = number(it.session);
        add_action(to, *it.action);
    }
}

std::string_view name_of(audit_event what) {
    switch (what) {
        case audit_event::login: return "login";
        case audit_event::login_refused: return "login_refused";
        case audit_event::logout: return "logout";
        case audit_event::command: return "command";
        case audit_event::answer: return "answer";
    }
    return "unknown";
}

std::string line_of(const json& it) {
    return it.dump(-1, ' ', true, json::error_handler_t::replace);
}

std::string line_of(const audit_entry& it, const std::string& life) {
    json made;
    made["time_ns"] = it.time;
    made["life"] = life;
    made["event"] = name_of(it.what);
    const bool is_exchange = it.who.user.empty() && it.what != audit_event::login_refused;
    made["user"] = is_exchange ? std::string_view{"exchange"} : it.who.user;
    if (it.who.role) made["role"] = describe(*it.who.role);
    if (it.who.operator_session != 0) made["connection"] = it.who.operator_session;
    if (it.who.peer != nullptr && it.who.peer->kind() != gyre::endpoint::family::none)
        made["peer"] = it.who.peer->to_string();
    if (it.refused != login_refusal::none) made["why"] = describe(it.refused);
    if (it.given != nullptr) add_command(made, *it.given);
    if (it.participant != nullptr) {
        add_participant(made, *it.participant);
    } else if (it.what == audit_event::answer) {
        made["command"] = word_for(it.answered);
        made["subject"] = it.subject;
        made["in_seq"] = it.in_seq;
        made["answer"] = it.reason ? "rejected" : "accepted";
        if (it.reason) made["reason"] = word_for(*it.reason);
    }
    return line_of(made) + '\n';
}

}  // namespace

std::string describe(const command& what) {
    json made;
    add_command(made, what);
    return line_of(made);
}

audit_file::~audit_file() {
    if (file_ != nullptr) std::fclose(file_);
}

bool audit_file::open(const std::string& path) {
    namespace files = std::filesystem;
    path_ = path;
    std::error_code ignored;
    const bool is_new = !files::exists(path, ignored);
    const bool has_lines = files::is_regular_file(path, ignored);
    file_ = std::fopen(path.c_str(), "a+be");
    if (file_ == nullptr) return false;
    // What cannot be written now must not be tried again behind the next line.
    if (std::setvbuf(file_, nullptr, _IONBF, 0) != 0) return false;
    if (is_new)
        files::permissions(path, files::perms::owner_read | files::perms::owner_write, ignored);
    return !has_lines || end_torn_line();
}

// A line that was cut off in its middle must not spoil the next one.
bool audit_file::end_torn_line() noexcept {
    if (std::fseek(file_, -1, SEEK_END) != 0) return true;  // There is none.
    const int last = std::fgetc(file_);
    std::fseek(file_, 0, SEEK_END);
    return last == '\n' || last == EOF || std::fputc('\n', file_) != EOF;
}

void audit_file::record(const audit_entry& entry) noexcept {
    if (file_ == nullptr) return;
    const std::string line = line_of(entry, life_);
    if (torn_ && !end_torn_line()) return note_loss();
    const bool written = std::fwrite(line.data(), 1, line.size(), file_) == line.size();
    torn_ = !written;
    if (!written) note_loss();
}

void audit_file::note_loss() noexcept {
    const int why = errno;
    if (lost_++ == 0)
        note_on_error_output("audit trail " + path_ + ": cannot be written: " + std::strerror(why) +
                             '\n');
    std::clearerr(file_);
}

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// Random commands in five shapes, made from a seed: what no hand-written test would think of.
//
// Whatever a client or an operator could send is in there, in and out of phase, right and wrong. The
// shapes differ in what is frequent; climates, in what the exchange is like that it falls on. The same
// seed gives the same storm on every machine, and five seeds in a row give five climates.
//
// Some things last: a few instruments, accounts and sessions that most commands are about. Others the
// operator defines and retires all the time, and late in an episode some of those that last as well;
// instrument 1 stays, so that a storm never runs dry. In the mild and the restless climate a midnight comes
// in the middle of an episode, at which some instruments expire.
#pragma once

#include <exchange/tests/support/duel.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace exchange::testing {

enum class storm_shape : std::uint8_t {
    near_touch,
    wide_sparse,
    heavy_cancel,
    heavy_amend,
    many_accounts,
};

[[nodiscard]] std::string_view name_of(storm_shape shape);

enum class storm_climate : std::uint8_t {
    mild,      ///< Some hundred orders stand.
    deep,      ///< Thousands stand.
    cramped,   ///< Every table of the partition is about full.
    restless,  ///< The operator halts, blocks, ends, defines and retires all the time.
    hasty,     ///< Time hardly moves, so message rates are reached.
};

inline constexpr std::uint32_t storm_climates = 5;

/// What is in the foreground: two of five commands, as far as a book has room for them.
enum class storm_accent : std::uint8_t {
    none,
    stops,
    icebergs,
    minimum_quantities,
    last_days,  ///< Orders that are good till a date.
    quotes,
    protections,  ///< Set and changed, beside what is protected: quotes.
    phases,       ///< Auctions, interruptions and schedules.
};

[[nodiscard]] std::string_view name_of(storm_accent accent);

class storm {
public:
    storm(storm_shape shape, std::uint64_t seed, storm_accent accent = storm_accent::none);

    /// Products, instruments, accounts, sessions, and orders that stand: the first steps.
    [[nodiscard]] std::vector<step> prelude();

    /// The next step, given who rests in the book.
    [[nodiscard]] step next(const model& at);

    /// Commands until now that were its accent's.
    [[nodiscard]] std::uint64_t accented() const { return accented_; }

    /// Of the partition that this storm is for.
    [[nodiscard]] partition_limits limits() const;

private:
    static constexpr std::uint32_t instruments = 3;
    static constexpr std::uint32_t instruments_max = 8;
    static constexpr std::uint32_t passing_accounts = 4;  // Behind the lasting ones.

    [[nodiscard]] std::uint32_t below(std::uint32_t end);
    [[nodiscard]] bool chance(std::uint32_t per_mille) { return below(1'000) < per_mille; }
    [[nodiscard]] std::uint16_t accounts() const;
    [[nodiscard]] std::uint32_t slowest_step() const;
    [[nodiscard]] std::size_t orders_wanted() const;
    [[nodiscard]] session_id any_session();
    [[nodiscard]] instrument_id any_instrument();
    [[nodiscard]] client_sequence next_seq(session_id of);
    [[nodiscard]] client_sequence any_jump(std::uint64_t& last);
    [[nodiscard]] bool restless() const { return climate_ == storm_climate::restless; }
    [[nodiscard]] bool cramped() const { return climate_ == storm_climate::cramped; }
    [[nodiscard]] bool sees_midnight() const {
        return climate_ == storm_climate::mild || restless();
    }
    [[nodiscard]] bool has_leaper() const;
    [[nodiscard]] bool is_late() const { return played_ > 1'500; }
    [[nodiscard]] price_ticks far_distance();
    [[nodiscard]] price_ticks any_price();
    [[nodiscard]] contracts any_quantity();
    [[nodiscard]] enter_order any_order();
    [[nodiscard]] command any_entry();
    [[nodiscard]] set_protection any_protection();
    [[nodiscard]] define_instrument any_price_protection();
    [[nodiscard]] command any_accented();
    /// @param  kind  0 to 3: a stop, 4 and 5: an iceberg, 6: a minimum quantity, 7: a last day.
    [[nodiscard]] enter_advanced_order any_advanced_order(std::optional<std::uint32_t> kind = {});
    [[nodiscard]] enter_advanced_order any_iceberg();
    void make_stop(enter_advanced_order& it);
    [[nodiscard]] price_ticks any_trigger(order_side side, instrument_id in);
    [[nodiscard]] contracts any_part(contracts quantity);
    [[nodiscard]] std::uint32_t any_last_day();
    [[nodiscard]] amend_stop any_stop_change(const model_order* resting, const amend_order& plain);
    [[nodiscard]] enter_quote any_quote();
    [[nodiscard]] cancel_orders any_mass_cancel();
    [[nodiscard]] std::vector<command> definitions() const;
    [[nodiscard]] define_instrument lasting_terms(std::uint32_t instrument) const;
    [[nodiscard]] enter_order standing_order();
    [[nodiscard]] command operator_command();
    [[nodiscard]] instrument_id any_market();
    [[nodiscard]] account_id whose();
    [[nodiscard]] retire any_retirement();
    [[nodiscard]] set_position any_position();
    [[nodiscard]] command any_definition();
    [[nodiscard]] define_product any_product();
    [[nodiscard]] define_product any_product_change();
    [[nodiscard]] define_instrument any_terms();
    [[nodiscard]] define_instrument any_terms_change();
    [[nodiscard]] define_account any_account(definition_action action);
    [[nodiscard]] define_session any_session_definition(definition_action action);
    void spoil(define_instrument& it);
    template <class Number, std::size_t Size>
    [[nodiscard]] Number any_of(const Number (&these)[Size]) {
        return these[below(Size)];
    }
    [[nodiscard]] const model_order* any_resting(const model& at);
    [[nodiscard]] bust_trade any_bust(const model& at);
    [[nodiscard]] command any_phase_command();
    [[nodiscard]] step aimed(const model& at, bool amend);

    storm_shape shape_;
    storm_climate climate_;
    storm_accent accent_;
    std::uint64_t random_;
    timestamp_ns now_ = 0;
    std::uint32_t played_ = 0;
    std::uint64_t accented_ = 0;
    std::vector<std::uint64_t> sequences_;
    std::vector<order_name> past_;  // Some of the orders entered, mostly over by now.
    std::uint32_t past_next_ = 0;
    trade_id last_bust_ = trade_id::none;
};

}  // namespace exchange::testing

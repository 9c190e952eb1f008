// SPDX-License-Identifier: BSL-1.0
//
// The partition and its model, told the same commands: they must say the same, message for message.
//
// After every command the public books, the ledger and the positions of those who traded are held against
// the real ones as well, and all there is after every 256 of them and at the end. How much the partition
// does at a time, `step_work_max` of its limits says; no message may depend on it. A step names the order
// it means by session and sequence even where the command goes by id, so a list of steps keeps its
// meaning when some are taken out: that is how a failure shrinks.
#pragma once

#include <exchange/core/partition.hpp>
#include <exchange/tests/support/ledger.hpp>
#include <exchange/tests/support/model.hpp>
#include <exchange/tests/support/public_book.hpp>
#include <exchange/tests/support/tally.hpp>

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace exchange::testing {

/// An order as its owner knows it. The sides of a quote share all but the side.
struct order_name {
    session_id session;
    client_sequence client_seq;
    order_side side;

    auto operator<=>(const order_name&) const = default;
};

struct step {
    timestamp_ns now;
    command what;
    order_name by_id;  ///< Not none: amend or cancel goes by the id of this order instead.
};

/// A step as the code that would make it.
[[nodiscard]] std::string as_code(const step& it);

class duel {
public:
    explicit duel(const partition_limits& limits)
        : limits_{limits}, real_{limits}, model_{limits} {}

    /// Lets a test spoil what the partition says, to see that it is noticed.
    void spoil_with(std::function<void(event&)> spoil) { spoil_ = std::move(spoil); }

    /// False if something was wrong; `complaint()` says what.
    bool play(const step& it);

    /// Nothing follows: what is compared only now and then is compared once more. As above.
    bool finish();

    [[nodiscard]] const std::string& complaint() const { return complaint_; }
    [[nodiscard]] const model& judge() const { return model_; }
    [[nodiscard]] const partition& real() const { return real_; }
    [[nodiscard]] std::uint64_t messages() const { return out_seq_; }
    [[nodiscard]] const tally& seen() const { return seen_; }

private:
    static constexpr std::uint32_t full_comparison_every = 256;

    struct both_ids {
        order_id real;
        order_id model;
    };

    void hear(const event_batch& batch);
    void compare(std::vector<event> expected);
    void complain(const std::string& what);
    void learn(const event& said, const event& expected);
    void carry_out(timestamp_ns now, const command& what);
    [[nodiscard]] std::string compare_answer(const command& what) const;
    [[nodiscard]] order_id real_of(order_id id) const;
    void compare_whole();
    [[nodiscard]] std::string compare_fills() const;
    [[nodiscard]] std::string compare_accounts() const;
    [[nodiscard]] std::string compare_holdings() const;
    [[nodiscard]] std::string compare_orders() const;
    [[nodiscard]] std::string compare_stops() const;
    [[nodiscard]] bool same_day(account_id whose, std::uint16_t market) const;
    [[nodiscard]] std::string compare_far_nodes() const;

    partition_limits limits_;
    partition real_;
    model model_;
    public_book public_;
    ledger ledger_;
    tally seen_;
    std::function<void(event&)> spoil_;
    std::string complaint_;
    std::vector<event> said_;
    out_sequence out_seq_ = 0;
    in_sequence steps_ = 0;
    timestamp_ns now_ = 0;
    bool complete_ = true;
    std::map<order_name, both_ids> ids_;
    std::vector<order_id> real_by_model_;
    std::unordered_map<std::uint32_t, order_id> last_in_place_;
};

/// The shortest part of `steps` found that still fails, given that all of them do.
[[nodiscard]] std::vector<step> shrink(std::vector<step> steps,
                                       const std::function<bool(const std::vector<step>&)>& fails);

}  // namespace exchange::testing

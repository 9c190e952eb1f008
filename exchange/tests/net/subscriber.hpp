// SPDX-License-Identifier: BSL-1.0
//
// A subscriber of market data for tests: it keeps books as it is told them, and can be waited for.
#pragma once

#include <exchange/codec/market_subscription_codec.hpp>
#include <exchange/tests/net/trader.hpp>

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace exchange::testing {

/// What a subscriber has been told of one instrument.
struct told_market {
    std::map<price_ticks, told_level> sides[2];
    market_summary summary{};
    std::uint64_t state = 0;
    std::size_t snapshots = 0;
    std::size_t deltas = 0;
    std::size_t trades = 0;
    std::uint64_t dropped = 0;

    /// "100x5 99x3 | 101x2", best first.
    [[nodiscard]] std::string book() const {
        std::string made;
        for (auto each = sides[0].rbegin(); each != sides[0].rend(); ++each)
            made += text_of_level(each->second);
        made += "|";
        for (const auto& [price, level] : sides[1]) made += text_of_level(level);
        return made;
    }

private:
    [[nodiscard]] static std::string text_of_level(const told_level& it) {
        return std::to_string(it.price) + "x" + std::to_string(it.quantity) + " ";
    }
};

template <executor_traits X>
class subscriber final : public order_entry_handler, public ear<X> {
public:
    subscriber(typename X::context& context, const order_entry_client_options& options)
        : client{context, transport_of<X>::adapt(options), *this} {
        X::launch(context, run());
    }

    typename X::template task<void> in() {
        co_await this->until([this] { return client.machine().logged_in(); });
    }
    typename X::template task<void> gone() {
        co_await this->until([this] { return ended; });
    }
    /// Waits until it has been told so much of a book.
    typename X::template task<void> until_book(std::string wanted,
                                               instrument_id which = instrument_id{1}) {
        co_await this->until([&] { return markets[which].book() == wanted; });
    }
    void want(instrument_id which, std::uint16_t depth = 0) {
        ask(subscribe{++requests, which, depth, true, true, true});
    }
    template <class Record>
    void ask(const Record& it) {
        std::array<std::byte, message_bytes_of<Record>> bytes;
        CHECK(client.send(std::span<const std::byte>{bytes}.first(encode_market(it, bytes))));
    }

    void operator()(const subscribed&) { ++granted; }
    void operator()(const subscription_refused& it) { refused.push_back(it.reason); }
    void operator()(const book_snapshot& it) {
        told_market& to = markets[it.instrument];
        if (it.first) to.sides[0] = to.sides[1] = {};
        apply(to, it);
        to.state = it.state;
        ++to.snapshots;
    }
    void operator()(const book_delta& it) {
        told_market& to = markets[it.instrument];
        CHECK(to.state == it.previous);  // Nothing is left out.
        apply(to, it);
        if (it.last) to.state = it.state;
        ++to.deltas;
    }
    void operator()(const trades_printed& it) {
        markets[it.instrument].trades += it.count;
        markets[it.instrument].dropped += it.dropped;
    }
    void operator()(const market_summary& it) { markets[it.instrument].summary = it; }
    void operator()(const subscribe&) { FAIL_CHECK("a distributor does not subscribe"); }
    void operator()(const unsubscribe&) { FAIL_CHECK("a distributor does not unsubscribe"); }

    std::map<instrument_id, told_market> markets;
    std::vector<subscription_refusal> refused;
    std::vector<soup_session> lives;
    std::uint32_t requests = 0;
    int granted = 0;
    int disconnects = 0;
    bool ended = false;
    order_entry_client<X, typename transport_of<X>::type> client;

private:
    template <class Levels>
    static void apply(told_market& to, const Levels& it) {
        for (std::uint16_t each = 0; each < it.count; ++each) {
            const told_level& level = it.levels[each];
            auto& side = to.sides[level.side == order_side::buy ? 0 : 1];
            if (level.orders == 0) side.erase(level.price);
            else side[level.price] = level;
        }
    }
    void logged_in() noexcept override { this->note_change(); }
    void heard(std::uint64_t sequence, std::span<const std::byte> message) noexcept override {
        CHECK(sequence == 0);
        const decode_fault fault = decode_market_message(message, *this);
        CHECK_FALSE(fault);
        this->note_change();
    }
    void disconnected(soup_ending) noexcept override {
        ++disconnects;
        this->note_change();
    }
    next_life life_ended(const soup_session&, const soup_session& next) noexcept override {
        lives.push_back(next);
        markets.clear();
        this->note_change();
        return next_life::join;
    }
    typename X::template task<void> run() {
        co_await client.run();
        ended = true;
        this->note_change();
    }
};

}  // namespace exchange::testing

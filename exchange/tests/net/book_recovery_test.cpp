// SPDX-License-Identifier: BSL-1.0
#include <exchange/net/application/book_recovery.hpp>

#include <exchange/codec/event_codec.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace exchange;
using namespace std::chrono_literals;

namespace {

constexpr instrument_id first{1};
constexpr instrument_id second{2};
const gyre::time_point begun = gyre::time_point{} + 1h;

using bytes_of_message = std::vector<std::byte>;

/// An exchange of two markets: what is true, what its feed says of that, and what it answers.
class exchange_of_two {
public:
    bytes_of_message set(instrument_id in, order_side side, price_ticks price,
                         std::uint32_t orders) {
        levels& of = sides_[in][side];
        if (orders == 0) of.erase(price);
        else of[price] = orders;
        return say(price_level_update{price, orders * 10ULL, in, orders, side});
    }
    bytes_of_message print(instrument_id in, price_ticks price) {
        market_statistics& of = sums_[in];
        of.instrument = in;
        of.last = price;
        ++of.trades;
        return say(of);
    }
    [[nodiscard]] std::uint64_t next() const noexcept { return next_; }

    /// Nothing, if it is no question.
    [[nodiscard]] std::optional<bytes_of_message> answer(std::span<const std::byte> question) {
        answer_.reset();
        if (decode_book_request(question, *this))
            static_cast<void>(decode_question(question, *this));
        return answer_;
    }
    void operator()(const book_request& it) {
        ++book_questions;
        if (refusal != reject_reason::none && (of == instrument_id::none || of == it.instrument)) {
            bytes_of_message made(message_bytes_of<book_refused>);
            encode(book_refused{it.instrument, refusal},
                   std::span<std::byte, message_bytes_of<book_refused>>{made});
            answer_ = made;
            return;
        }
        book_page page{};
        page.next_in_feed = next_;
        page.from = it.from;
        page.instrument = it.instrument;
        page.side = it.side;
        page.phase = market_phase::continuous;
        page.last = true;
        const auto add = [&](price_ticks price, std::uint32_t orders) {
            const bool wanted = it.side == order_side::buy ? price <= it.from : price >= it.from;
            if (!wanted) return;
            if (page.count == 3) page.last = false;  // A small page is soon full.
            else page.levels[page.count++] = {price, orders * 10ULL, orders};
        };
        const levels& known = sides_[it.instrument][it.side];
        if (it.side == order_side::buy)
            for (auto each = known.rbegin(); each != known.rend(); ++each)
                add(each->first, each->second);
        else
            for (const auto& [price, orders] : known) add(price, orders);
        bytes_of_message made(book_answer_bytes_max);
        made.resize(encode(page, std::span<std::byte, book_answer_bytes_max>{made}));
        answer_ = made;
    }
    void operator()(const query& it) {
        ++list_questions;
        query_page<instrument_row> page{};
        page.from = it.from;
        page.last = it.from != 0;  // Two pages of one.
        page.next = page.last ? 0 : 2;
        page.count = 1;
        const instrument_id which = it.from == 0 ? first : second;
        page.rows[0].instrument = which;
        page.rows[0].product = product_id{1};
        page.rows[0].type = instrument_kind::future;
        page.rows[0].lone_orders = lone_order_policy{};
        page.rows[0].phase = market_phase::halted;
        page.rows[0].last = sums_[which].last;
        page.rows[0].trades = sums_[which].trades;
        bytes_of_message made(4096);
        made.resize(encode(page, std::span{made}));
        answer_ = made;
    }

    /// The book as it is, and as it is known.
    [[nodiscard]] std::string truth(instrument_id in) {
        std::string made;
        for (const auto& [price, orders] : sides_[in][order_side::buy]) made += text(price, orders);
        made += "|";
        for (const auto& [price, orders] : sides_[in][order_side::sell])
            made += text(price, orders);
        return made;
    }
    [[nodiscard]] static std::string known(const market_book& of) {
        std::string made;
        for (const book_level& each : of.levels(order_side::buy))
            made += text(each.price, each.orders);
        made += "|";
        const auto sells = of.levels(order_side::sell);
        for (std::size_t each = sells.size(); each > 0; --each)
            made += text(sells[each - 1].price, sells[each - 1].orders);
        return made;
    }

    reject_reason refusal = reject_reason::none;  ///< Of books,
    instrument_id of{};                           ///< or of this one alone.
    int book_questions = 0;
    int list_questions = 0;

private:
    using levels = std::map<price_ticks, std::uint32_t>;

    [[nodiscard]] static std::string text(price_ticks price, std::uint32_t orders) {
        return std::to_string(price) + "x" + std::to_string(orders) + " ";
    }
    template <class Event>
    bytes_of_message say(const Event& it) {
        bytes_of_message made(message_bytes_of<Event>);
        const event_stamp stamp{out_sequence{next_}, in_sequence{next_}, timestamp_ns{next_}, 0,
                                true};
        encode(it, stamp, std::span<std::byte, message_bytes_of<Event>>{made});
        ++next_;
        return made;
    }

    std::map<instrument_id, std::map<order_side, levels>> sides_;
    std::map<instrument_id, market_statistics> sums_;
    std::optional<bytes_of_message> answer_;
    std::uint64_t next_ = 1;
};

struct listening {
    explicit listening(const book_recovery_options& options = {},
                       const market_books_options& limits = {})
        : books{limits, false}, recovery{books, options} {}

    void hear(const bytes_of_message& message) { REQUIRE_FALSE(books.hear(at++, message)); }
    /// It joins at the message that comes next.
    void join_late(std::uint64_t next) {
        at = next;
        books.lose(next);
        recovery.note_loss();
    }
    /// Asks and is answered until it asks no more at this time.
    void ask_all(exchange_of_two& whom) {
        for (int rounds = 0; rounds < 1000; ++rounds) {
            const auto question = recovery.question(now);
            if (question.empty()) return;
            const auto answer = whom.answer(question);
            REQUIRE(answer);
            recovery.hear(*answer, now);
        }
        FAIL("it asks for ever");
    }

    market_books books;
    book_recovery recovery;
    std::uint64_t at = 1;
    gyre::time_point now = begun;
};

}  // namespace

TEST_CASE("recovery asks nothing while nothing is missing") {
    exchange_of_two truth;
    listening it;
    it.books.begin_anew();
    it.recovery.connect();
    it.hear(truth.set(first, order_side::buy, 100, 1));
    it.ask_all(truth);
    CHECK(it.recovery.counts().questions == 0);
}

TEST_CASE("recovery learns of all instruments, their books, phases and sums") {
    exchange_of_two truth;
    for (price_ticks price = 1; price <= 10; ++price) {
        static_cast<void>(truth.set(first, order_side::buy, price, 2));
        static_cast<void>(truth.set(first, order_side::sell, 20 + price, 3));
    }
    static_cast<void>(truth.print(second, 77));
    listening it;
    it.join_late(truth.next());
    it.ask_all(truth);
    CHECK(it.recovery.counts().questions == 0);  // It is not connected yet.
    it.recovery.connect();
    it.ask_all(truth);
    REQUIRE(it.books.all().size() == 2);
    for (const market_book& each : it.books.all()) {
        CHECK(each.book() == market_book::state::complete);
        CHECK(exchange_of_two::known(each) == truth.truth(each.instrument()));
    }
    CHECK(it.books.find(second)->statistics().trades == 1);
    CHECK(it.books.find(second)->statistics().last == 77);
    CHECK(truth.list_questions == 2);
    CHECK(truth.book_questions == 4 + 4 + 1 + 1);  // Of three levels each, and of nothing.
}

TEST_CASE(
    "what the feed has said of sums and phase since the question is not undone by the answer") {
    exchange_of_two truth;
    static_cast<void>(truth.print(first, 50));
    listening it;
    it.join_late(truth.next());
    it.recovery.connect();
    const auto question = it.recovery.question(it.now);
    const auto answer = truth.answer(question);
    it.hear(truth.print(first, 60));  // Behind the answer, and heard before it.
    REQUIRE(answer);
    it.recovery.hear(*answer, it.now);
    CHECK(it.books.find(first)->phase() == market_phase::halted);
    CHECK(it.books.find(first)->statistics().last == 60);
    CHECK(it.books.find(first)->statistics().trades == 2);
}

TEST_CASE("a question without an answer is put again, later each time") {
    exchange_of_two truth;
    listening it{{.answer_within = 1s, .again_after = 10ms, .again_after_max = 30ms}};
    it.join_late(5);
    it.recovery.connect();
    CHECK_FALSE(it.recovery.question(it.now).empty());
    CHECK(it.recovery.deadline() == it.now + 1s);
    for (const gyre::duration pause : {10ms, 20ms, 30ms, 30ms}) {
        it.now += 999ms;
        CHECK(it.recovery.question(it.now).empty());
        it.now += 1ms;
        CHECK(it.recovery.question(it.now).empty());  // It is noticed, and a pause begins.
        it.now += pause - 1ms;
        CHECK(it.recovery.question(it.now).empty());
        it.now += 1ms;
        CHECK_FALSE(it.recovery.question(it.now).empty());
    }
    CHECK(it.recovery.counts().in_vain == 4);
}

TEST_CASE("a page that comes too late is no answer to the question that was put anew") {
    exchange_of_two truth;
    for (price_ticks price = 1; price <= 6; ++price)
        static_cast<void>(truth.set(first, order_side::buy, price, 1));
    listening it;
    it.join_late(truth.next());
    it.recovery.connect();
    while (truth.list_questions < 2)
        it.recovery.hear(*truth.answer(it.recovery.question(it.now)), it.now);
    const auto late = truth.answer(it.recovery.question(it.now));
    it.now += 2s;
    CHECK(it.recovery.question(it.now).empty());
    it.hear(truth.set(first, order_side::buy, 7, 1));
    it.now += 20ms;
    const auto answer = truth.answer(it.recovery.question(it.now));
    REQUIRE(truth.book_questions == 2);

    it.recovery.hear(*late, it.now);
    CHECK(it.recovery.question(it.now).empty());  // It waits for its answer.
    CHECK(it.recovery.counts().pages == 0);
    it.recovery.hear(*answer, it.now);
    it.ask_all(truth);

    CHECK(exchange_of_two::known(*it.books.find(first)) == truth.truth(first));
    CHECK(it.books.find(first)->book() == market_book::state::complete);
    CHECK(it.recovery.counts().pages == 3 + 1 + 1 + 1);  // Of seven levels, and of nothing.
    CHECK(it.recovery.counts().in_vain == 1);
}

TEST_CASE("a loss while the list is read has it read anew at once, and what came before is void") {
    for (const int pages_before : {0, 1}) {
        CAPTURE(pages_before);
        exchange_of_two truth;
        static_cast<void>(truth.print(first, 50));
        static_cast<void>(truth.print(second, 60));
        listening it;
        it.join_late(truth.next());
        it.recovery.connect();
        while (truth.list_questions < pages_before)
            it.recovery.hear(*truth.answer(it.recovery.question(it.now)), it.now);
        const auto of_before = truth.answer(it.recovery.question(it.now));
        static_cast<void>(truth.print(first, 51));  // Lost.
        static_cast<void>(truth.print(second, 61));
        it.join_late(truth.next());
        it.recovery.hear(*of_before, it.now);
        it.ask_all(truth);

        REQUIRE(it.books.all().size() == 2);
        CHECK(it.books.find(first)->statistics().last == 51);
        CHECK(it.books.find(second)->statistics().last == 61);
        CHECK(truth.list_questions == pages_before + 1 + 2);
        CHECK(it.recovery.counts().in_vain == 0);
    }
}

TEST_CASE("a list whose answer comes late says nothing that the feed has not said since") {
    exchange_of_two truth;
    static_cast<void>(truth.print(first, 50));
    listening it;
    it.join_late(truth.next());
    it.recovery.connect();
    const auto late = truth.answer(it.recovery.question(it.now));
    it.now += 2s;
    CHECK(it.recovery.question(it.now).empty());
    it.hear(truth.print(first, 51));
    it.now += 20ms;
    CHECK_FALSE(it.recovery.question(it.now).empty());
    it.recovery.hear(*late, it.now);
    CHECK(it.books.find(first)->statistics().last == 51);
}

TEST_CASE("a loss between two pages of a book has it begun anew, and nothing is asked in vain") {
    exchange_of_two truth;
    for (price_ticks price = 1; price <= 6; ++price)
        static_cast<void>(truth.set(first, order_side::buy, price, 1));
    listening it;
    it.join_late(truth.next());
    it.recovery.connect();
    while (truth.book_questions < 1)
        it.recovery.hear(*truth.answer(it.recovery.question(it.now)), it.now);
    static_cast<void>(truth.set(first, order_side::buy, 2, 3));  // Lost.
    it.join_late(truth.next());
    it.ask_all(truth);
    CHECK(exchange_of_two::known(*it.books.find(first)) == truth.truth(first));
    CHECK(it.books.find(first)->book() == market_book::state::complete);
    CHECK(it.recovery.counts().in_vain == 0);
}

TEST_CASE("a question that comes too fast is put again as it is, and nothing is begun anew") {
    exchange_of_two truth;
    for (price_ticks price = 1; price <= 6; ++price)
        static_cast<void>(truth.set(first, order_side::buy, price, 1));
    listening it;
    it.join_late(truth.next());
    it.recovery.connect();
    while (truth.book_questions < 1) {
        const auto question = it.recovery.question(it.now);
        const auto answer = truth.answer(question);
        it.recovery.hear(*answer, it.now);
    }
    truth.refusal = reject_reason::message_rate;
    const auto refused = truth.answer(it.recovery.question(it.now));
    it.recovery.hear(*refused, it.now);
    truth.refusal = reject_reason::none;
    CHECK(it.recovery.question(it.now).empty());
    it.now += 20ms;
    it.ask_all(truth);
    CHECK(exchange_of_two::known(*it.books.find(first)) == truth.truth(first));
    CHECK(it.recovery.counts().refused == 1);
    CHECK(it.recovery.counts().pages == 2 + 1 + 1 + 1);
}

TEST_CASE(
    "a connection that is lost is followed by one that asks again for what was not answered") {
    exchange_of_two truth;
    for (price_ticks price = 1; price <= 9; ++price)
        static_cast<void>(truth.set(first, order_side::sell, price, 1));
    listening it;
    it.join_late(truth.next());
    it.recovery.connect();
    while (truth.book_questions < 3) {
        const auto answer = truth.answer(it.recovery.question(it.now));
        it.recovery.hear(*answer, it.now);
    }
    CHECK_FALSE(it.recovery.question(it.now).empty());
    it.recovery.disconnect();
    CHECK(it.recovery.question(it.now).empty());
    it.hear(truth.set(first, order_side::sell, 2, 0));  // On a page that was here.
    it.recovery.connect();
    it.ask_all(truth);
    CHECK(exchange_of_two::known(*it.books.find(first)) == truth.truth(first));
    CHECK(it.books.find(first)->book() == market_book::state::complete);
    CHECK(it.recovery.counts().in_vain == 0);
}

TEST_CASE("a book that the exchange does not tell keeps no other one from being told") {
    exchange_of_two truth;
    for (const instrument_id each : {first, second})
        static_cast<void>(truth.set(each, order_side::buy, 5, 1));
    truth.refusal = reject_reason::unknown_instrument;
    truth.of = first;
    listening it;
    it.join_late(truth.next());
    it.recovery.connect();
    for (int turn = 0; turn < 20; ++turn) {
        it.now += 1s;
        it.ask_all(truth);
    }
    CHECK(it.books.find(first)->book() != market_book::state::complete);
    CHECK(it.books.find(second)->book() == market_book::state::complete);
    CHECK(it.recovery.counts().refused > 2);
}

TEST_CASE("a book that is too large is asked for less and less often, though pages of it come") {
    exchange_of_two truth;
    for (price_ticks price = 1; price <= 9; ++price)
        static_cast<void>(truth.set(first, order_side::buy, price, 1));
    static_cast<void>(truth.set(second, order_side::buy, 5, 1));
    listening it{{}, {.levels_max = 5}};
    it.join_late(truth.next());
    it.recovery.connect();
    for (int turn = 0; turn < 1000; ++turn) {
        it.now += 10ms;
        it.ask_all(truth);
    }
    CHECK(it.books.find(first)->book() != market_book::state::complete);
    CHECK(it.books.find(second)->book() == market_book::state::complete);
    CHECK(truth.book_questions < 50);
    CHECK(it.recovery.counts().in_vain > 5);
}

TEST_CASE("whatever is lost, late or cut off, books are the exchange's in the end") {
    const std::uint64_t seed = std::random_device{}();
    INFO("seed ", seed);
    std::mt19937_64 dice{seed};
    const auto below = [&dice](std::uint64_t limit) { return dice() % limit; };
    for (int round = 0; round < 200; ++round) {
        exchange_of_two truth;
        listening it{{.answer_within = 50ms, .again_after = 5ms, .again_after_max = 20ms}};
        std::vector<bytes_of_message> late;     // Said, and not heard yet.
        std::vector<bytes_of_message> answers;  // On their way.
        it.join_late(1);
        const auto hear_late = [&] {
            for (const bytes_of_message& each : late) it.hear(each);
            late.clear();
        };
        for (int step = 0; step < 300; ++step) {
            it.now += std::chrono::milliseconds{below(4)};
            const auto in = below(2) == 0 ? first : second;
            switch (below(8)) {
                case 0: it.recovery.connect(); break;
                case 1:
                    if (below(5) == 0) {
                        it.recovery.disconnect();
                        answers.clear();
                    }
                    break;
                case 2: {
                    if (below(10) != 0) break;
                    late.clear();
                    it.join_late(truth.next());
                    break;
                }
                case 3: hear_late(); break;
                case 4:
                    if (!answers.empty() && below(6) != 0)
                        it.recovery.hear(answers.front(), it.now);
                    if (!answers.empty()) answers.erase(answers.begin());
                    break;
                case 5: {
                    const auto question = it.recovery.question(it.now);
                    if (!question.empty()) answers.push_back(*truth.answer(question));
                    break;
                }
                default:
                    late.push_back(truth.set(in, below(2) == 0 ? order_side::buy : order_side::sell,
                                             static_cast<price_ticks>(below(12)),
                                             static_cast<std::uint32_t>(below(3))));
            }
        }
        hear_late();
        it.recovery.connect();
        for (int turn = 0; turn < 20; ++turn) {
            it.now += 100ms;
            it.ask_all(truth);
        }
        REQUIRE(it.books.all().size() == 2);
        for (const market_book& each : it.books.all()) {
            REQUIRE(each.book() == market_book::state::complete);
            REQUIRE(exchange_of_two::known(each) == truth.truth(each.instrument()));
        }
    }
}

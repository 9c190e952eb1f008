// SPDX-License-Identifier: BSL-1.0
//
// Asks the exchange for what market_books.hpp cannot know: the books of a life that was not heard from its
// beginning, and what was lost on the way.
//
// One question at a time: which instruments there are, then page by page each book that is not complete. A
// function of answers and time; book_recovery_client.hpp carries both.
#pragma once

#include <exchange/codec/book_codec.hpp>
#include <exchange/codec/query_codec.hpp>
#include <exchange/net/application/market_books.hpp>

#include <gyre/base/time.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace exchange {

struct book_recovery_options {
    gyre::duration answer_within = std::chrono::seconds{2};      ///< Then it is asked again.
    gyre::duration again_after = std::chrono::milliseconds{20};  ///< Of a question in vain. Doubles
    gyre::duration again_after_max = std::chrono::seconds{1};    ///< each time, up to this.
};

struct book_recovery_counts {
    std::uint64_t questions = 0;
    std::uint64_t pages = 0;    ///< Of books.
    std::uint64_t refused = 0;  ///< Questions, by the exchange.
    std::uint64_t in_vain =
        0;  ///< Questions without an answer in time, and books that changed too fast.
};

/// Threads:  One at a time, with its books.
/// Cost:     A look at each book for a question.
class book_recovery {
public:
    /// @param  books  Borrowed; outlives this.
    book_recovery(market_books& books, const book_recovery_options& options) noexcept
        : books_{books}, options_{options}, pause_{options.again_after} {}
    book_recovery(const book_recovery&) = delete;
    book_recovery& operator=(const book_recovery&) = delete;

    /// Messages are lost, which `books` was told: there may be instruments that it does not know.
    void note_loss() noexcept;
    /// Another life has begun, and is heard from its beginning: nothing is missing.
    void begin_anew() noexcept;

    /// The exchange may be asked from here on.
    void connect() noexcept;
    /// What was asked will not be answered any more.
    void disconnect() noexcept;

    /// The question that is due, and counts as asked; empty if none is. Borrowed until the next call.
    [[nodiscard]] std::span<const std::byte> question(gyre::time_point now);
    /// What the exchange says; what is no answer to the last question is ignored.
    void hear(std::span<const std::byte> message, gyre::time_point now);
    /// When `question` is wanted next, if nothing is heard or lost before; `never` if it is not.
    [[nodiscard]] gyre::time_point deadline() const noexcept;

    /// Is all here that `books` was ever found to miss? Costs a look at each book.
    [[nodiscard]] bool complete() const noexcept;

    [[nodiscard]] const book_recovery_counts& counts() const noexcept { return counts_; }

private:
    enum class question_kind : std::uint8_t { none, instruments, page };
    struct answer;

    void on_page(const book_page& page, gyre::time_point now);
    void on_instruments(const query_page<instrument_row>& page);
    void on_refusal(reject_reason why, gyre::time_point now) noexcept;
    void ask_later(gyre::time_point now) noexcept;
    void begin_book(instrument_id which, order_side side) noexcept;
    [[nodiscard]] bool find_book();
    [[nodiscard]] std::span<const std::byte> ask(question_kind what, std::size_t size,
                                                 gyre::time_point now) noexcept;

    market_books& books_;
    book_recovery_options options_;
    book_recovery_counts counts_;
    question_kind asked_ = question_kind::none;
    gyre::time_point patient_until_ = gyre::never;  // For the answer.
    gyre::time_point not_before_{};                 // The next question.
    gyre::duration pause_;
    query_place list_from_ = 0;        // Where the list of instruments goes on,
    std::uint64_t list_asked_at_ = 0;  // and how far the feed had come when it became due.
    std::size_t turn_ =
        0;  // Which book is looked at next: one that is asked for in vain keeps no other.
    book_request next_{};  // The next page; of no instrument: none is begun.
    bool connected_ = false;
    bool list_due_ = false;
    bool list_void_ = false;  // The answer that is waited for may be one of before the loss.
    std::array<std::byte, std::max(message_bytes_of<query>, message_bytes_of<book_request>)>
        message_{};
};

}  // namespace exchange

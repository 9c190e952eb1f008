// SPDX-License-Identifier: BSL-1.0
//
// Answers questions about what the exchange holds: books, orders, positions, accounts, sessions, instruments
// and products, of all partitions.
//
// For operators, and for clients that come back after they were cut off, or that have missed more than can be
// repeated. It reads the state, so a page is a whole truth, and costs no more than a step of a command does.
// query.hpp says what a page is worth; order_entry_host.hpp lets those ask who are logged in.
#pragma once

#include <exchange/codec/query_codec.hpp>
#include <exchange/net/application/book_responder.hpp>

#include <array>
#include <span>

namespace exchange {

/// Knows who is here.
class login_table {
public:
    [[nodiscard]] virtual bool is_logged_in(session_id which) const noexcept = 0;

protected:
    ~login_table() = default;
};

/// Who asks.
struct query_origin {
    session_id session = session_id::none;  ///< Asks about its own account.
    account_id account =
        account_id::none;  ///< Of a user who is told of this one. Of neither: may ask about all.
    std::uint64_t next_in_stream = 0;  ///< The number of the next message of its own stream.
    timestamp_ns now = 0;
    timestamp_ns& queries_until;  ///< Of its connection: see `let_through`.
};

/// How many orders, holdings or numbers are looked at for a page, at most.
inline constexpr std::uint32_t query_work_max = 2'048;

/// Threads:  One at a time, with its sequencer.
class query_responder {
public:
    /// @param  from    Borrowed, as `feed` and `logins`.
    /// @param  pace    Of the questions of each connection.
    query_responder(const sequencer& from, const mold_sender& feed, const login_table& logins,
                    const message_rate& pace) noexcept
        : sequencer_{from}, books_{from, feed}, logins_{logins}, pace_{pace} {}

    /// Answers a question.
    ///
    /// @param  message  One SBE message. Borrowed during the call.
    /// @return The answer, borrowed until the next call; empty if this is no question.
    ///
    /// Cost:  No allocation. At most `query_work_max` looks, or the levels of a book's page.
    [[nodiscard]] std::span<const std::byte> answer(std::span<const std::byte> message,
                                                    const query_origin& who) noexcept;

private:
    template <class Row>
    class page_maker;

    [[nodiscard]] std::size_t answer(const book_request& question,
                                     const query_origin& who) noexcept;
    [[nodiscard]] std::size_t answer(query question, const query_origin& who) noexcept;

    /// Why this cannot be answered, or `none`. Of a session, `question` gets its account.
    [[nodiscard]] reject_reason check(query& question, const query_origin& who) const noexcept;
    [[nodiscard]] reject_reason check_own(query& question, const query_origin& who) const noexcept;
    [[nodiscard]] reject_reason check_known(const query& question) const noexcept;

    template <class Row>
    [[nodiscard]] std::size_t write_page(const query& question, const query_origin& who) noexcept;

    void list(const query& question, page_maker<order_row>& into) const noexcept;
    /// Of one partition, from a place on: by the places of all accounts, or by an account's own list.
    void list_places(const query& question, std::size_t partition, order_index at,
                     page_maker<order_row>& into) const noexcept;
    void list_account(const query& question, std::size_t partition, order_index at,
                      page_maker<order_row>& into) const noexcept;
    void list(const query& question, page_maker<position_row>& into) const noexcept;
    void list(const query& question, page_maker<account_row>& into) const noexcept;
    void list(const query& question, page_maker<session_row>& into) const noexcept;
    void list(const query& question, page_maker<instrument_row>& into) const noexcept;
    void list(const query& question, page_maker<product_row>& into) const noexcept;
    void list(const query& question, page_maker<report_row>& into) const noexcept;
    /// Of one partition, from a place on, those of an account or of all: calls `add` with each.
    template <class Row, class Add>
    void list_holdings(const query& question, page_maker<Row>& into, const Add& add) const noexcept;

    /// What is common to lists that lie in several partitions, one after the other.
    template <class Row, class ListOne>
    void list_partitions(const query& question, page_maker<Row>& into,
                         const ListOne& list_one) const noexcept;

    [[nodiscard]] const venue& state(std::size_t which) const noexcept {
        return sequencer_.at(which).state();
    }

    const sequencer& sequencer_;
    book_responder books_;
    const login_table& logins_;
    message_rate pace_;
    std::array<std::byte, query_answer_bytes_max> bytes_{};
};

}  // namespace exchange

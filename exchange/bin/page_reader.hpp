// SPDX-License-Identifier: BSL-1.0
//
// Asks for page after page of a list until it has all of it, at the pace that the exchange lets through.
//
// codec/query.hpp says what several pages are worth together.
#pragma once

#include <exchange/client/operator_client.hpp>
#include <exchange/codec/query_codec.hpp>

#include <gyre/sync/sleep.hpp>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace exchange {

/// Before a question that came too fast is asked again.
inline constexpr gyre::duration question_pause = std::chrono::milliseconds{20};

/// All rows of a list, or why not.
template <class Row>
struct read_list {
    std::vector<Row> rows;
    std::optional<reject_reason> refused;  ///< By the exchange.
    std::string failure;                   ///< Of the connection; empty if there was none.
};

/// Keeps the answer that is a page of these rows, or a refusal.
template <class Row>
struct page_answer {
    std::optional<query_page<Row>> page{};
    std::optional<query_refused> refusal{};

    void operator()(const query_page<Row>& it) { page = it; }
    void operator()(const query_refused& it) { refusal = it; }
    void operator()(const auto&) {}

    [[nodiscard]] bool known() const noexcept { return page || refusal; }
};

/// Reads a list to its end.
///
/// @param  client    Logged in. Borrowed; outlives the task.
/// @param  patience  For each page.
///
/// Cancellation:  ends the wait, and counts as no answer.
/// Threads:       the context's.
/// Cost:          a frame, and the rows.
template <class Row>
gyre::task<read_list<Row>> read_pages(operator_client& client, query question,
                                      gyre::duration patience) {
    read_list<Row> made;
    gyre::time_point deadline = std::chrono::steady_clock::now() + patience;
    for (;;) {
        std::array<std::byte, message_bytes_of<query>> bytes;
        encode(question, bytes);
        if (!client.say(bytes)) {
            made.failure = "the connection is lost";
            co_return made;
        }
        page_answer<Row> answer;
        while (!answer.known()) {
            const auto message = co_await client.hear(deadline);
            if (!message) {
                made.failure = "no answer";
                co_return made;
            }
            static_cast<void>(decode_query_answer(*message, answer));
        }
        if (answer.refusal && answer.refusal->reason == reject_reason::message_rate &&
            std::chrono::steady_clock::now() < deadline) {
            static_cast<void>(co_await gyre::sleep_for(question_pause));
            continue;
        }
        if (answer.refusal) {
            made.refused = answer.refusal->reason;
            co_return made;
        }
        const query_page<Row>& page = *answer.page;
        made.rows.insert(made.rows.end(), page.rows.begin(), page.rows.begin() + page.count);
        if (page.last) co_return made;
        question.from = page.next;
        deadline = std::chrono::steady_clock::now() + patience;
    }
}

}  // namespace exchange

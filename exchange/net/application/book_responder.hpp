// SPDX-License-Identifier: BSL-1.0
//
// Answers questions about what a book looks like, as a listener needs them that comes late, or that
// has missed more than can be repeated.
//
// It reads the state between two commands, so each page is a whole truth, and says with which
// message of the feed the next truth begins. query_responder.hpp asks for whoever is logged in.
#pragma once

#include <exchange/codec/book_codec.hpp>
#include <exchange/codec/mold_sender.hpp>
#include <exchange/net/application/sequencer.hpp>

#include <span>

namespace exchange {

/// Threads:  One at a time, with its sequencer.
class book_responder {
public:
    /// @param  from  Borrowed, as `feed`.
    book_responder(const sequencer& from, const mold_sender& feed) noexcept
        : sequencer_{from}, feed_{feed} {}

    /// Answers a question.
    ///
    /// @return How many bytes of `into` are the answer.
    ///
    /// Cost:  No allocation. At most `book_page_levels_max` levels, wherever they are.
    [[nodiscard]] std::size_t answer(
        const book_request& question,
        std::span<std::byte, book_answer_bytes_max> into) const noexcept;

private:
    [[nodiscard]] book_page page_for(const book_request& question,
                                     const venue& state) const noexcept;

    const sequencer& sequencer_;
    const mold_sender& feed_;
};

}  // namespace exchange

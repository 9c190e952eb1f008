// SPDX-License-Identifier: BSL-1.0
//
// Readers with messages that their connections were not told of.
//
// Messages are written when a command is carried out, and leave when all of a batch of commands is through;
// if the exchange keeps a journal, when it has them. So this stands between the two.
#pragma once

#include <gyre/base/check.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace exchange {

/// @tparam  Reader  Has `announce_output`, `seal_stream` and `release_stream`.
///
/// Threads:  One at a time, as everything of its host.
/// Cost:     Memory is taken by `reserve`.
template <class Reader>
class release_list {
public:
    /// For so many readers.
    void reserve(std::size_t readers) {
        newest_.reserve(readers);
        sealed_.reserve(readers);
    }

    /// It has got a message. Not in the list since the last `announce` or `seal`.
    void add(Reader& it) noexcept { newest_.push_back(&it); }
    /// It is to be told nothing.
    void remove(Reader& it) noexcept {
        std::erase(newest_, &it);
        std::erase(sealed_, &it);
    }

    /// Tells all of them. Of streams that are not held.
    void announce() noexcept {
        for (Reader* const each : newest_) each->announce_output();
        newest_.clear();
    }

    /// Of streams that are held: draws the line, and lets go what stands before it. One after the other.
    void seal() noexcept {
        gyre::expects(sealed_.empty(), "what was sealed is released first");
        for (Reader* const each : newest_) each->seal_stream();
        std::swap(newest_, sealed_);
    }
    void release() noexcept {
        for (Reader* const each : sealed_) each->release_stream();
        sealed_.clear();
    }

private:
    std::vector<Reader*> newest_;
    std::vector<Reader*> sealed_;
};

}  // namespace exchange

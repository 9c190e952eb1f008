// SPDX-License-Identifier: BSL-1.0
//
// One stream after another, as one: a head that was made up and a body that is read, parts of a file.
//
// The second may be a chain in turn.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/concepts.hpp>

#include <cstddef>
#include <utility>

namespace gyre {

template <read_stream First, read_stream Second>
class chain_read_awaiter;

/// Owns its streams, or refers to them by `stream_ref`. Moves. Both live until it dies.
template <read_stream First, read_stream Second>
class chain_stream {
public:
    chain_stream(First first, Second second) noexcept
        : first_{std::move(first)}, second_{std::move(second)} {}

    /// As those of its streams, except that `errc::eof` of the first is not told: the second begins. What
    /// the first may still have after its end is not read.
    ///
    /// Cost:  no allocation; at the end of the first, two reads.
    [[nodiscard]] chain_read_awaiter<First, Second> read_some(read_space into) noexcept {
        return {*this, into};
    }

private:
    friend chain_read_awaiter<First, Second>;

    First first_;
    Second second_;
    bool first_ended_ = false;
};

/// Made by `chain_stream::read_some`.
template <read_stream First, read_stream Second>
class [[nodiscard]] chain_read_awaiter
    : public one_transfer<chain_read_awaiter<First, Second>,
                          either_step<read_step<First>, read_step<Second>>> {
    using step_type = either_step<read_step<First>, read_step<Second>>;

public:
    chain_read_awaiter(chain_stream<First, Second>& of, mutable_buffer into) noexcept
        : of_{of}, into_{into} {}

    [[nodiscard]] step_type step() {
        if (of_.first_ended_) return {std::in_place_index<1>, of_.second_.read_some(into_)};
        return {std::in_place_index<0>, of_.first_.read_some(into_)};
    }
    [[nodiscard]] bool take(io_result<std::size_t> got) noexcept {
        this->keep(got);
        if (got.error() != errc::eof) return false;
        return !std::exchange(of_.first_ended_, true);
    }

private:
    chain_stream<First, Second>& of_;
    mutable_buffer into_;
};

}  // namespace gyre

// SPDX-License-Identifier: BSL-1.0
//
// A stream whose bytes are also written to another as they are read: a recording, a checksum, a mirror.
//
// Nothing is read before all that was read is in the copy, so neither a stop nor a failure leaves a hole.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/check.hpp>
#include <gyre/base/error.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/concepts.hpp>
#include <gyre/stream/flat_buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace gyre {

template <read_stream From, write_stream To>
class tee_read_awaiter;

/// Owns its streams, or refers to them by `stream_ref`. Moves while nothing is pending.
template <read_stream From, write_stream To>
class tee_stream {
public:
    /// @param  bounds  What is read at once, and kept until it is in the copy.
    tee_stream(From from, To copy, buffer_bounds bounds) noexcept
        : from_{std::move(from)}, copy_{std::move(copy)}, uncopied_{bounds} {}

    /// As that of `from`, but not over before the copy has taken what was read.
    ///
    /// Errors:        those of `from`, which `errc::eof` is; then the copy has everything, and is not shut
    ///                down. A failure of the copy is told by the read after the one whose bytes it did
    ///                not take, and by all that follow: see `copy_failure`. Nothing is read any more.
    /// Cancellation:  `errc::canceled` if nothing was read; else the read succeeds, and the next one goes on
    ///                with the copy.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no allocation unless the buffer grows; a copy, and the time of the slower stream.
    [[nodiscard]] tee_read_awaiter<From, To> read_some(read_space into) noexcept {
        return {*this, into};
    }

    /// Why the copy ended; ok while it goes on.
    [[nodiscard]] error copy_failure() const noexcept { return copy_failure_; }

    /// Bytes that were read and are not in the copy.
    [[nodiscard]] std::size_t uncopied() const noexcept { return uncopied_.size(); }

    [[nodiscard]] From& stream() noexcept { return from_; }
    [[nodiscard]] To& copy() noexcept { return copy_; }

private:
    friend tee_read_awaiter<From, To>;

    From from_;
    To copy_;
    flat_buffer uncopied_;
    error copy_failure_;
};

/// Made by `tee_stream::read_some`: writes what is left of the copy, reads, writes again.
template <read_stream From, write_stream To>
class [[nodiscard]] tee_read_awaiter
    : public one_transfer<tee_read_awaiter<From, To>,
                          either_step<read_step<From>, plain_write_step<To>>> {
    using step_type = either_step<read_step<From>, plain_write_step<To>>;

public:
    tee_read_awaiter(tee_stream<From, To>& of, mutable_buffer into) noexcept
        : of_{of}, into_{into} {}

    [[nodiscard]] bool over() noexcept {
        if (!of_.copy_failure_ || into_.empty()) return false;
        this->keep(of_.copy_failure_);
        return true;
    }
    [[nodiscard]] step_type step() {
        copies_ = !of_.uncopied_.empty() && !into_.empty();
        if (copies_) return {std::in_place_index<1>, of_.copy_.write_some(of_.uncopied_.data())};
        const std::size_t size = std::min(into_.size(), of_.uncopied_.max_size());
        return {std::in_place_index<0>, of_.from_.read_some(into_.first(size))};
    }
    [[nodiscard]] bool take(io_result<std::size_t> ended) noexcept {
        return copies_ ? take_written(ended) : take_read(ended);
    }

private:
    [[nodiscard]] bool has_read() const noexcept { return this->kept().value() > 0; }

    bool take_read(io_result<std::size_t> got) noexcept {
        this->keep(got);
        of_.uncopied_.append(into_.first(got.value()));
        return got.value() > 0;
    }
    bool take_written(io_result<std::size_t> put) noexcept {
        of_.uncopied_.consume(put.value());
        if (put.ok()) return !of_.uncopied_.empty() || !has_read();
        if (put.error() != errc::canceled) of_.copy_failure_ = put.error();
        if (!has_read()) this->keep(put.error());
        return false;
    }

    tee_stream<From, To>& of_;
    mutable_buffer into_;
    bool copies_ = false;
};

}  // namespace gyre

// SPDX-License-Identifier: BSL-1.0
//
// Reading input whose length only its content tells, and writing many small pieces as one.
//
// The reader keeps what a read brought beyond the message; the writer keeps small writes until there
// are enough of them. Both have a bound that no peer can exceed.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/exclusive_use.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/concepts.hpp>
#include <gyre/stream/flat_buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string_view>

namespace gyre {

template <read_stream Stream>
class fill_awaiter;
template <read_stream Stream>
class read_until_awaiter;
template <read_stream Stream>
class read_at_least_awaiter;
template <read_stream Stream>
class read_window_awaiter;
template <write_stream Stream>
class buffered_write_awaiter;
template <write_stream Stream>
class flush_awaiter;

/// A stream with a window of bytes that were read and not yet consumed.
///
/// What it returns refers to it, so it outlives every await; one await at a time.
///
/// @tparam  Stream  Borrowed; this is its only reader.
template <read_stream Stream>
class buffered_reader {
public:
    /// @param  bounds  The largest message it can hold: a number of bytes, allocated once, or
    ///                 `{first, max}`, which grows by doubling: a peer has memory for what it has sent,
    ///                 not for what it has announced.
    buffered_reader(Stream& from, buffer_bounds bounds) noexcept : from_{from}, space_{bounds} {}
    buffered_reader(const buffered_reader&) = delete;
    buffered_reader& operator=(const buffered_reader&) = delete;

    /// The largest message it can hold.
    [[nodiscard]] std::size_t bytes_max() const noexcept { return space_.max_size(); }

    /// Bytes that it has memory for now.
    [[nodiscard]] std::size_t capacity() const noexcept { return space_.capacity(); }

    /// Gives back the memory that the window does not need, and invalidates it.
    void shrink_to_fit() noexcept { space_.shrink_to_fit(); }

    /// What was read and not consumed; valid until the next call that reads.
    [[nodiscard]] const_buffer window() const noexcept { return space_.data(); }

    /// Drops the first `count` bytes of the window. They stay where they are until the next call that reads.
    void consume(std::size_t count) noexcept { space_.consume(count); }

    /// Reads more behind the window.
    ///
    /// @return The bytes added.
    ///
    /// Errors:        `errc::limit_exceeded` if the window has reached its bound; `errc::eof`; those of
    ///                the stream.
    /// Cancellation:  `errc::canceled`; the window stays.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no frame, no allocation; one read.
    [[nodiscard]] fill_awaiter<Stream> fill() noexcept;

    /// Reads until the window holds `delimiter`.
    ///
    /// @param  delimiter  Borrowed until completion. An empty one is found at once.
    /// @return The message including the delimiter, a part of the window: consume it when done. Empty
    ///         with an error.
    ///
    /// Errors:        `errc::limit_exceeded` if it does not fit; `errc::eof` if the stream ended
    ///                before it, what came being in the window.
    /// Cancellation:  `errc::canceled`; the window stays, and the call may be repeated.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no frame, no allocation; a search of each byte once.
    [[nodiscard]] read_until_awaiter<Stream> read_until(
        std::string_view delimiter GYRE_LIFETIMEBOUND) noexcept;

    /// Reads until the window holds at least `count` bytes, and returns all of it; the rest as
    /// `read_until`.
    [[nodiscard]] read_at_least_awaiter<Stream> read_at_least(std::size_t count) noexcept;

    /// Makes the reader a stream itself: the window first, then what follows. With an empty window, what has
    /// as much room as the reader is read into without being copied.
    [[nodiscard]] read_window_awaiter<Stream> read_some(read_space into) noexcept;

private:
    template <class Self, read_stream From>
    friend class filling;
    friend class read_window_awaiter<Stream>;

    static constexpr const char* rule =
        "a buffered reader is awaited by one coroutine at a time; let one read, and hand on by a "
        "channel what has come";

    // Room behind the window, for `missing` bytes if that takes no more memory; more is taken only for the
    // first byte that has no room. Empty if the window has reached the bound.
    [[nodiscard]] mutable_buffer room(std::size_t missing = 1) noexcept {
        const std::size_t unused = space_.capacity() - space_.size();
        return space_.prepare(std::clamp(unused, std::size_t{1}, missing));
    }

    Stream& from_;
    flat_buffer space_;
    bool awaited_ = false;
};

/// Reads into a reader's window until `Self` is content with it.
///
/// `Self` has three functions: `content(window)` says whether what is there is enough, `missing()` how many
/// bytes are missing at least after it has said no, and `attainable(size)` whether that much space can ever
/// be.
template <class Self, read_stream Stream>
class filling : public repeated<Self, read_step<Stream>> {
public:
    [[nodiscard]] bool over() noexcept {
        use_.begin(reader_.rule);
        if (!self().attainable(reader_.bytes_max())) return exceed_limit();
        return settled();
    }
    [[nodiscard]] auto step() noexcept {
        return reader_.from_.read_some(reader_.room(self().missing()));
    }
    [[nodiscard]] bool take(io_result<std::size_t> got) noexcept {
        reader_.space_.commit(got.value());
        added_ += got.value();
        error_ = got.error();
        return got.ok() && !settled();
    }

protected:
    explicit filling(buffered_reader<Stream>& reader) noexcept
        : reader_{reader}, use_{reader.awaited_} {}

    void end_await() {
        use_.end();
        this->rethrow_if_any();
    }

    [[nodiscard]] buffered_reader<Stream>& reader() const noexcept { return reader_; }
    [[nodiscard]] gyre::error failure() const noexcept { return error_; }
    [[nodiscard]] std::size_t added() const noexcept { return added_; }
    [[nodiscard]] static std::size_t missing() noexcept { return 1; }

private:
    [[nodiscard]] Self& self() noexcept { return static_cast<Self&>(*this); }

    bool settled() noexcept {
        if (self().content(reader_.window())) return true;
        return reader_.room().empty() && exceed_limit();
    }
    bool exceed_limit() noexcept {
        error_ = {errc::limit_exceeded, activity::read};
        return true;
    }

    buffered_reader<Stream>& reader_;
    exclusive_use use_;
    std::size_t added_ = 0;
    error error_;
};

/// Made by `buffered_reader::fill`.
template <read_stream Stream>
class [[nodiscard]] fill_awaiter : public filling<fill_awaiter<Stream>, Stream> {
public:
    explicit fill_awaiter(buffered_reader<Stream>& reader) noexcept
        : filling<fill_awaiter, Stream>{reader} {}

    [[nodiscard]] io_result<std::size_t> await_resume() {
        this->end_await();
        return {this->failure(), this->added()};
    }

    [[nodiscard]] static bool attainable(std::size_t) noexcept { return true; }
    [[nodiscard]] bool content(const_buffer) const noexcept { return this->added() > 0; }
};

/// Made by `buffered_reader::read_until`.
template <read_stream Stream>
class [[nodiscard]] read_until_awaiter : public filling<read_until_awaiter<Stream>, Stream> {
public:
    read_until_awaiter(buffered_reader<Stream>& reader, std::string_view delimiter) noexcept
        : filling<read_until_awaiter, Stream>{reader}, delimiter_{delimiter} {}

    [[nodiscard]] io_result<const_buffer> await_resume() {
        this->end_await();
        if (this->failure()) return this->failure();
        return io_result<const_buffer>{this->reader().window().first(message_size_)};
    }

    [[nodiscard]] static bool attainable(std::size_t) noexcept { return true; }
    [[nodiscard]] bool content(const_buffer window) noexcept {
        const std::size_t at = text_of(window).find(delimiter_, searched_);
        if (at == std::string_view::npos) {
            // All but what may be the beginning of a delimiter that is split.
            searched_ = window.size() - std::min(window.size(), delimiter_.size() - 1);
            return false;
        }
        message_size_ = at + delimiter_.size();
        return true;
    }

private:
    std::string_view delimiter_;
    std::size_t searched_ = 0;
    std::size_t message_size_ = 0;
};

/// Made by `buffered_reader::read_at_least`.
template <read_stream Stream>
class [[nodiscard]] read_at_least_awaiter : public filling<read_at_least_awaiter<Stream>, Stream> {
public:
    read_at_least_awaiter(buffered_reader<Stream>& reader, std::size_t count) noexcept
        : filling<read_at_least_awaiter, Stream>{reader}, count_{count} {}

    [[nodiscard]] io_result<const_buffer> await_resume() {
        this->end_await();
        if (this->failure()) return this->failure();
        return io_result<const_buffer>{this->reader().window()};
    }

    [[nodiscard]] bool attainable(std::size_t size) const noexcept { return count_ <= size; }
    [[nodiscard]] bool content(const_buffer window) const noexcept {
        return window.size() >= count_;
    }
    [[nodiscard]] std::size_t missing() const noexcept {
        return count_ - this->reader().window().size();
    }

private:
    std::size_t count_;
};

/// Made by `buffered_reader::read_some`.
template <read_stream Stream>
class [[nodiscard]] read_window_awaiter
    : public repeated<read_window_awaiter<Stream>, read_step<Stream>> {
public:
    read_window_awaiter(buffered_reader<Stream>& reader, mutable_buffer into) noexcept
        : reader_{reader}, use_{reader.awaited_}, into_{into} {}

    [[nodiscard]] bool over() noexcept {
        use_.begin(reader_.rule);
        return into_.empty() || !reader_.window().empty();
    }
    [[nodiscard]] auto step() noexcept {
        return reader_.from_.read_some(goes_directly() ? into_ : reader_.room());
    }
    [[nodiscard]] bool take(io_result<std::size_t> got) noexcept {
        if (goes_directly()) direct_ = got.value();
        else reader_.space_.commit(got.value());
        error_ = got.error();
        return false;
    }

    [[nodiscard]] io_result<std::size_t> await_resume() {
        use_.end();
        this->rethrow_if_any();
        if (error_ || direct_ > 0) return {error_, direct_};
        const const_buffer window = reader_.window();
        const std::size_t count = std::min(into_.size(), window.size());
        if (count > 0) std::memcpy(into_.data(), window.data(), count);
        reader_.consume(count);
        return io_result<std::size_t>{count};
    }

private:
    [[nodiscard]] bool goes_directly() const noexcept {
        return into_.size() >= reader_.space_.capacity();
    }

    buffered_reader<Stream>& reader_;
    exclusive_use use_;
    mutable_buffer into_;
    std::size_t direct_ = 0;  // Bytes that are in `into_` already.
    error error_;
};

template <read_stream Stream>
fill_awaiter<Stream> buffered_reader<Stream>::fill() noexcept {
    return fill_awaiter<Stream>{*this};
}

template <read_stream Stream>
read_until_awaiter<Stream> buffered_reader<Stream>::read_until(
    std::string_view delimiter) noexcept {
    return {*this, delimiter};
}

template <read_stream Stream>
read_at_least_awaiter<Stream> buffered_reader<Stream>::read_at_least(std::size_t count) noexcept {
    return {*this, count};
}

template <read_stream Stream>
read_window_awaiter<Stream> buffered_reader<Stream>::read_some(read_space into) noexcept {
    return {*this, into};
}

/// Collects small writes. The user must `flush` it at the end: a destructor cannot wait.
///
/// What it returns refers to it, so it outlives every await; one await at a time.
///
/// @tparam  Stream  Borrowed; this is its only writer.
template <write_stream Stream>
class buffered_writer {
public:
    /// @param  bounds  How much it collects before it writes: a number of bytes, allocated once, or
    ///                 `{first, max}`, which grows by doubling.
    buffered_writer(Stream& to, buffer_bounds bounds) noexcept : to_{to}, space_{bounds} {}
    buffered_writer(const buffered_writer&) = delete;
    buffered_writer& operator=(const buffered_writer&) = delete;

    /// Bytes collected and not written.
    [[nodiscard]] std::size_t buffered() const noexcept { return space_.size(); }

    /// How much it collects before it writes.
    [[nodiscard]] std::size_t bytes_max() const noexcept { return space_.max_size(); }

    /// Adds `from`, writing what has been collected if it does not fit; larger pieces go directly.
    ///
    /// @param  from  Borrowed until completion; copied then.
    /// @return The bytes of `from` taken: all, unless the error is set.
    ///
    /// Errors:        those of the stream, so `errc::closed` if it was closed between two steps;
    ///                the message is torn then.
    /// Cancellation:  `errc::canceled`; torn as well if anything was written.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no frame, no allocation; a copy.
    [[nodiscard]] buffered_write_awaiter<Stream> write(
        const_buffer from GYRE_LIFETIMEBOUND) noexcept;

    /// Writes everything collected; errors and cancellation as `write`. What was not written then
    /// stays collected, and the next flush goes on there.
    [[nodiscard]] flush_awaiter<Stream> flush() noexcept;

private:
    template <class Self, write_stream To>
    friend class draining;

    static constexpr const char* rule =
        "a buffered writer is awaited by one coroutine at a time; let one write what others send "
        "it "
        "by a channel";

    [[nodiscard]] bool has_room_for(std::size_t count) const noexcept {
        return count <= bytes_max() - buffered();
    }

    Stream& to_;
    flat_buffer space_;
    bool awaited_ = false;
};

/// Writes what a writer has collected, then a piece that is larger than all its space.
template <class Self, write_stream Stream>
class draining : public repeated<Self, write_step<Stream>> {
public:
    [[nodiscard]] bool over() noexcept {
        use_.begin(writer_.rule);
        if (writer_.has_room_for(wanted_)) return true;
        if (piece_.size() > writer_.bytes_max()) direct_ = piece_;
        return next().empty();
    }
    [[nodiscard]] auto step() noexcept { return to_.write_some(next()); }
    [[nodiscard]] bool take(io_result<std::size_t> written) noexcept {
        error_ = written.error();
        if (writer_.buffered() > 0) {
            writer_.space_.consume(written.value());
        } else {
            direct_ = direct_.subspan(written.value());
        }
        if (written.ok() && !next().empty()) return true;
        to_.end();
        return false;
    }

protected:
    // Begins only if there is no room for `wanted` bytes.
    draining(buffered_writer<Stream>& writer, const_buffer piece, std::size_t wanted) noexcept
        : writer_{writer}, use_{writer.awaited_}, to_{writer.to_}, piece_{piece}, wanted_{wanted} {}

    void end_await() {
        use_.end();
        this->rethrow_if_any();
    }

    [[nodiscard]] gyre::error failure() const noexcept { return error_; }

    // Keeps the piece unless it was written directly, and returns how much of it was taken.
    [[nodiscard]] std::size_t keep_piece() noexcept {
        if (piece_.size() > writer_.bytes_max()) return piece_.size() - direct_.size();
        if (error_) return 0;
        keep(piece_);
        return piece_.size();
    }

    // There is room for it, once there has been no failure.
    void keep(const_buffer piece) noexcept { writer_.space_.append(piece); }

private:
    [[nodiscard]] const_buffer next() const noexcept {
        return writer_.buffered() > 0 ? writer_.space_.data() : direct_;
    }

    buffered_writer<Stream>& writer_;
    exclusive_use use_;
    message_writer_of<Stream> to_;
    const_buffer piece_;   // All that is to be added.
    const_buffer direct_;  // What of it is still to be written without being collected.
    std::size_t wanted_;
    error error_;
};

/// Made by `buffered_writer::write`.
template <write_stream Stream>
class [[nodiscard]] buffered_write_awaiter
    : public draining<buffered_write_awaiter<Stream>, Stream> {
public:
    buffered_write_awaiter(buffered_writer<Stream>& writer, const_buffer piece) noexcept
        : draining<buffered_write_awaiter, Stream>{writer, piece, piece.size()} {}

    [[nodiscard]] io_result<std::size_t> await_resume() {
        this->end_await();
        const std::size_t taken = this->keep_piece();
        return {this->failure(), taken};
    }
};

/// Made by `buffered_writer::flush`.
template <write_stream Stream>
class [[nodiscard]] flush_awaiter : public draining<flush_awaiter<Stream>, Stream> {
public:
    explicit flush_awaiter(buffered_writer<Stream>& writer) noexcept
        : draining<flush_awaiter, Stream>{writer, {}, std::numeric_limits<std::size_t>::max()} {}

    [[nodiscard]] io_result<> await_resume() {
        this->end_await();
        return this->failure();
    }
};

template <write_stream Stream>
buffered_write_awaiter<Stream> buffered_writer<Stream>::write(const_buffer from) noexcept {
    return {*this, from};
}

template <write_stream Stream>
flush_awaiter<Stream> buffered_writer<Stream>::flush() noexcept {
    return flush_awaiter<Stream>{*this};
}

}  // namespace gyre

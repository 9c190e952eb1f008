// SPDX-License-Identifier: BSL-1.0
//
// A stream of bytes as a stream of frames: where one begins and ends is a codec's business, reading and
// writing them is done here.
//
// Frames are views of the reader's buffer, so none is copied, and a frame of which a part has come when a
// read is stopped is there whole at the next one. codecs.hpp has lines, lengths and fixed sizes.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/check.hpp>
#include <gyre/base/result.hpp>
#include <gyre/stream/buffered.hpp>
#include <gyre/stream/concepts.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace gyre {

/// What a codec says of the bytes at hand.
struct found_frame {
    /// No whole frame yet. @param  missing  At least so many bytes; 1 if only their content tells. Above 0.
    [[nodiscard]] static constexpr found_frame partial(std::size_t missing) noexcept {
        expects(missing > 0, "a frame without the bytes that it lacks");
        found_frame it;
        it.missing = missing;
        return it;
    }
    /// A frame: `size` bytes from `offset` on are its content, and `total`, above 0, belong to it.
    [[nodiscard]] static constexpr found_frame whole(std::size_t offset, std::size_t size,
                                                     std::size_t total) noexcept {
        expects(total > 0 && size <= total && offset <= total - size, "a frame within its bytes");
        found_frame it;
        it.offset = offset;
        it.size = size;
        it.total = total;
        return it;
    }
    /// What is there can be no frame, or none that is wanted.
    [[nodiscard]] static constexpr found_frame refused(errc why) noexcept {
        found_frame it;
        it.failure = why;
        return it;
    }

    [[nodiscard]] constexpr bool decided() const noexcept {
        return total > 0 || failure != errc::ok;
    }

    std::size_t offset = 0;
    std::size_t size = 0;
    std::size_t total = 0;
    std::size_t missing = 1;
    errc failure = errc::ok;
};

/// How many bytes are dropped in front, and whether the frame that they belong to ends with them.
struct dropped_bytes {
    std::size_t count = 0;
    bool over = false;
};

/// A few bytes of a codec's own.
struct frame_edge {
    [[nodiscard]] constexpr const_buffer bytes() const noexcept GYRE_LIFETIMEBOUND {
        return const_buffer{space}.first(size);
    }

    std::array<std::byte, 16> space{};
    std::size_t size = 0;
};

/// What stands around the content of a frame.
struct frame_edges {
    frame_edge before;
    frame_edge after;
};

/// Finds frames. `find(bytes, seen)` looks at the front of `bytes`, of which the first `seen` were shown to
/// it in vain, and takes nothing; `view(content)` makes what the program is given of the bytes of one.
template <class Codec>
concept frame_decoder = requires(const Codec& codec, const_buffer bytes, std::size_t seen) {
    { codec.find(bytes, seen) } noexcept -> std::same_as<found_frame>;
    { codec.view(bytes) } noexcept -> std::default_initializable;
};

/// One that finds the end of frames it does not want, too: `drop(bytes)` is called with what there is until
/// it says that the frame is over, and remembers in between what it has to.
template <class Codec>
concept skipping_decoder = frame_decoder<Codec> && requires(Codec& codec, const_buffer bytes) {
    { codec.drop(bytes) } noexcept -> std::same_as<dropped_bytes>;
};

/// Makes frames. `enclose(content)` tells what to put around a content, or why it can be no frame.
template <class Codec>
concept frame_encoder = requires(const Codec& codec, const_buffer content) {
    { codec.enclose(content) } noexcept -> std::same_as<io_result<frame_edges>>;
};

template <read_stream Stream, frame_decoder Codec>
class next_frame_awaiter;
template <write_stream Stream, frame_encoder Codec>
class write_frame_awaiter;

/// The frames that a stream brings.
///
/// What it returns refers to it, so it outlives every await; one await at a time.
template <read_stream Stream, frame_decoder Codec>
class framed_reader {
public:
    /// @param  from   Borrowed, this being its only user meanwhile. Its bound is one of the frames, with what
    ///                stands around them. Another may go on with it between two frames: what was read
    ///                and belongs to none is in its window.
    /// @param  codec  Owned.
    framed_reader(buffered_reader<Stream>& from, Codec codec) noexcept
        : from_{from}, codec_{std::move(codec)} {}
    framed_reader(const framed_reader&) = delete;
    framed_reader& operator=(const framed_reader&) = delete;

    /// The next frame.
    ///
    /// @return What the codec makes of the content: a view of the reader's buffer, valid until the next call
    ///         that reads.
    ///
    /// Errors:        `errc::eof`, with the beginning of a frame that did not end in the reader's window: a
    ///                file that has grown meanwhile is read on. `errc::limit_exceeded` if the frame is larger
    ///                than the codec or the reader allows, told as soon as that is known; those of the codec
    ///                and of the stream. After each of them nothing is lost, and the same call tells the
    ///                same, or goes on after `skip`.
    /// Cancellation:  `errc::canceled`; what has come of a frame is kept, and the next call yields it whole.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no frame on the heap, no copy; allocates only where the reader grows.
    [[nodiscard]] next_frame_awaiter<Stream, Codec> next() noexcept;

    /// Drops one frame: the next `next` yields the one behind it. For one that is too large, which is dropped
    /// as it comes. Stops leave what is still to be dropped to the call after.
    void skip() noexcept
        requires skipping_decoder<Codec>
    {
        skipping_ = true;
    }

private:
    friend next_frame_awaiter<Stream, Codec>;

    // False while the end of what is to be dropped has not come.
    [[nodiscard]] bool finish_skipping() noexcept {
        if constexpr (skipping_decoder<Codec>) {
            if (skipping_) {
                const dropped_bytes dropped = codec_.drop(from_.window());
                from_.consume(dropped.count);
                skipping_ = !dropped.over;
            }
        }
        return !skipping_;
    }

    buffered_reader<Stream>& from_;
    Codec codec_;
    bool skipping_ = false;
};

/// Made by `framed_reader::next`.
template <read_stream Stream, frame_decoder Codec>
class [[nodiscard]] next_frame_awaiter : public filling<next_frame_awaiter<Stream, Codec>, Stream> {
public:
    using content_type = decltype(std::declval<const Codec&>().view(const_buffer{}));

    explicit next_frame_awaiter(framed_reader<Stream, Codec>& of) noexcept
        : filling<next_frame_awaiter, Stream>{of.from_}, of_{of} {}

    [[nodiscard]] io_result<content_type> await_resume() {
        this->end_await();
        if (this->failure()) return this->failure();
        if (found_.failure != errc::ok) return error{found_.failure, activity::read};
        const const_buffer content = this->reader().window().subspan(found_.offset, found_.size);
        this->reader().consume(found_.total);
        return io_result<content_type>{of_.codec_.view(content)};
    }

    [[nodiscard]] static bool attainable(std::size_t) noexcept { return true; }
    [[nodiscard]] std::size_t missing() const noexcept { return found_.missing; }
    [[nodiscard]] bool content(const_buffer) noexcept {
        if (!of_.finish_skipping()) return false;
        const const_buffer window = this->reader().window();
        found_ = of_.codec_.find(window, std::exchange(seen_, window.size()));
        if (!found_.decided() && found_.missing > this->reader().bytes_max() - window.size()) {
            found_ = found_frame::refused(errc::limit_exceeded);
        }
        return found_.decided();
    }

private:
    framed_reader<Stream, Codec>& of_;
    found_frame found_;
    std::size_t seen_ = 0;
};

template <read_stream Stream, frame_decoder Codec>
next_frame_awaiter<Stream, Codec> framed_reader<Stream, Codec>::next() noexcept {
    return next_frame_awaiter<Stream, Codec>{*this};
}

/// The frames that a stream takes.
///
/// What it returns refers to it, so it outlives every await; one await at a time.
template <write_stream Stream, frame_encoder Codec>
class framed_writer {
public:
    /// @param  to     Borrowed, this being its only user meanwhile. Its bound is one of the frames, with what
    ///                stands around them.
    /// @param  codec  Owned.
    framed_writer(buffered_writer<Stream>& to, Codec codec) noexcept
        : to_{to}, codec_{std::move(codec)} {}
    framed_writer(const framed_writer&) = delete;
    framed_writer& operator=(const framed_writer&) = delete;

    /// Adds a frame with this content, writing what has been collected if it does not fit beside it. It is
    /// taken whole or, with an error, not at all.
    ///
    /// @param  content  Borrowed until completion; copied then.
    ///
    /// Errors:        `errc::limit_exceeded` if the codec or the writer does not hold so much; those of the
    ///                codec and of the stream.
    /// Cancellation:  `errc::canceled`; what was collected before stays, and is written on later.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no frame on the heap, a copy; allocates only where the writer grows.
    [[nodiscard]] write_frame_awaiter<Stream, Codec> write(
        const_buffer content GYRE_LIFETIMEBOUND) noexcept;

    /// Writes everything collected: as `buffered_writer::flush`.
    [[nodiscard]] flush_awaiter<Stream> flush() noexcept { return to_.flush(); }

private:
    friend write_frame_awaiter<Stream, Codec>;

    buffered_writer<Stream>& to_;
    Codec codec_;
};

/// Made by `framed_writer::write`.
template <write_stream Stream, frame_encoder Codec>
class [[nodiscard]] write_frame_awaiter
    : public draining<write_frame_awaiter<Stream, Codec>, Stream> {
    using base = draining<write_frame_awaiter, Stream>;

public:
    write_frame_awaiter(framed_writer<Stream, Codec>& of, const_buffer content) noexcept
        : write_frame_awaiter{of.to_, content, of.codec_.enclose(content)} {}

    [[nodiscard]] bool over() noexcept { return refusal_ || base::over(); }
    [[nodiscard]] io_result<> await_resume() {
        this->end_await();
        if (refusal_) return refusal_;
        if (this->failure()) return this->failure();
        for (const const_buffer part : {edges_.before.bytes(), content_, edges_.after.bytes()}) {
            this->keep(part);
        }
        return {};
    }

private:
    write_frame_awaiter(buffered_writer<Stream>& to, const_buffer content,
                        const io_result<frame_edges>& edges) noexcept
        : base{to, {}, content.size() + edges.value().before.size + edges.value().after.size},
          content_{content},
          edges_{edges.value()},
          refusal_{edges.error()} {
        const std::size_t around = edges_.before.size + edges_.after.size;
        const bool fits = around <= to.bytes_max() && content.size() <= to.bytes_max() - around;
        if (!refusal_ && !fits) refusal_ = {errc::limit_exceeded, activity::write};
    }

    const_buffer content_;
    frame_edges edges_;
    error refusal_;
};

template <write_stream Stream, frame_encoder Codec>
write_frame_awaiter<Stream, Codec> framed_writer<Stream, Codec>::write(
    const_buffer content) noexcept {
    return {*this, content};
}

}  // namespace gyre

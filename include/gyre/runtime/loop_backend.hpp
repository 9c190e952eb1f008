// SPDX-License-Identifier: BSL-1.0
//
// The line between "what the program wants" and "how the kernel does it".
//
// Everything above this file behaves the same on io_uring, epoll, the worlds of gyre/test/world.hpp and
// the tests' script; whatever differs is behind these functions. A program may have a backend of its own:
// with a `host` (host.hpp), which keeps the time, the descriptors and what is answered at once, it is all
// that a loop needs: `io_context{std::move(backend), host}`. gyre/test/backend_laws.hpp judges it. What only
// stands before the kernel's own backends is a loop_decorator.
// One backend serves one loop and is called on its thread, but for `wake`.
#pragma once

#include <gyre/base/error.hpp>
#include <gyre/base/single_writer_counter.hpp>
#include <gyre/base/time.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/operation.hpp>

#include <cstddef>
#include <cstdint>

namespace gyre {

/// How operations are carried out for one loop, and how it waits. Implemented outside of a loop, called by
/// it alone. Made before the loop, which owns it; outlived by its host.
///
/// An operation that waits is listed with its descriptor, `descriptor_slot::pending`, oldest first: a
/// backend needs no list of its own. Of those that read one descriptor, and of those that write it, the
/// older ones are served first.
class loop_backend {
public:
    loop_backend() noexcept = default;
    loop_backend(const loop_backend&) = delete;
    loop_backend& operator=(const loop_backend&) = delete;
    virtual ~loop_backend() = default;

    /// Called once, before anything else.
    virtual void attach(io_context& owner) noexcept = 0;

    /// The calling thread is about to run the loop, and has not run it before. Nothing is in
    /// flight. An error means that this backend cannot run there at all.
    [[nodiscard]] virtual error bind_thread() noexcept = 0;

    /// Begins `op`, which is armed and listed with its descriptor. True if it finished on the spot,
    /// with `op.result` set; otherwise `io_context::complete` is called for it, exactly once, from
    /// within `turn` or `cancel`, and never from within `submit`.
    [[nodiscard]] virtual bool submit(operation& op) noexcept = 0;

    /// Asks for the end of `op`, which is armed. It still completes exactly once, with -ECANCELED or
    /// with whatever it had achieved first.
    virtual void cancel(operation& op) noexcept = 0;

    /// Hands what was submitted to the kernel, and delivers completions. Waits until there is one,
    /// or a wake-up, or `deadline` has passed; not at all for `no_wait`. An error means that the
    /// kernel has withdrawn this backend; nothing was lost and everything in flight is still armed.
    [[nodiscard]] virtual error turn(time_point deadline) noexcept = 0;
    static constexpr time_point no_wait = time_point::min();

    /// Bytes that a `turn` may receive and the program still finds in its cache. Beyond them epoll leaves the
    /// rest to the next turn (docs/decisions/0022), and io_uring fetches no further blocks for leases.
    static constexpr std::size_t received_bytes_warm = 128 * 1024;

    /// After `turn` has failed: lets go of everything in flight. What had been achieved is delivered;
    /// the rest is neither completed nor touched any more, and may be begun again elsewhere.
    virtual void abandon() noexcept {}

    /// In a forked child, before it is destroyed: drops what is the parent's, its descriptors included, and
    /// touches none of it.
    virtual void leave_to_parent() noexcept {}

    /// Ends the wait of a `turn`, the current one or the next. Any thread.
    virtual void wake() noexcept = 0;

    /// Drops what it remembers of a descriptor that is about to close or to leave this loop. Nothing
    /// is pending on it.
    virtual void forget(descriptor_slot& it) noexcept = 0;

    /// Readable, for poll(2), whenever `turn` would have something to deliver.
    [[nodiscard]] virtual int wait_handle() noexcept = 0;

    /// Operations held by the kernel; 0 allows a move to another thread.
    [[nodiscard]] virtual std::size_t in_flight() const noexcept = 0;

    /// Whether a `turn` that does not wait could neither hand over nor deliver anything.
    [[nodiscard]] virtual bool idle() const noexcept { return in_flight() == 0; }

    /// Whether a `turn` is due that no event announces: it would hand something over that the
    /// kernel has not been told of yet, or deliver what the last one has left.
    [[nodiscard]] virtual bool holds_back() const noexcept { return false; }

    /// Whether it takes `op`, a file's, a call or the start of a program; else a worker does.
    [[nodiscard]] virtual bool takes(const operation& op) const noexcept {
        static_cast<void>(op);
        return false;
    }

    /// See io_context::tries_first.
    [[nodiscard]] virtual bool tries_first() const noexcept { return false; }

    [[nodiscard]] virtual backend_info info() const noexcept = 0;

    /// Goes on counting where `before`, which it replaces and which is at rest, has stopped. Before any
    /// other thread knows of it.
    void count_on_from(const loop_backend& before) noexcept {
        visits_.add(before.visits());
        rearms_.add(before.rearms());
        shortages_.add(before.shortages());
    }

    /// System calls made to hear of the kernel's news. Any thread.
    [[nodiscard]] virtual std::uint64_t visits() const noexcept { return visits_.value(); }

    /// Operations begun once more, because what was to be there was not. Any thread.
    [[nodiscard]] virtual std::uint64_t rearms() const noexcept { return rearms_.value(); }

    /// Receives for which the kernel had no block at hand. Any thread.
    [[nodiscard]] virtual std::uint64_t shortages() const noexcept { return shortages_.value(); }

protected:
    single_writer_counter visits_;
    single_writer_counter rearms_;
    single_writer_counter shortages_;
};

}  // namespace gyre

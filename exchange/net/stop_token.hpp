// SPDX-License-Identifier: BSL-1.0
//
// How a pipeline that runs on either side of the seam can be asked to end.
//
// The facilities need none, as they close their own sockets (docs/decisions/0016-seam.md).
// Neither side's own way crosses the seam: a gyre stop ends every wait below a coroutine, Asio's
// cancellation costs each operation a slot. What both can do is an event and a coroutine that waits
// for it and then closes what others wait on; their waits end with `errc::canceled`.
#pragma once

namespace exchange {

/// Asked once, for good. Shared by reference; must outlive those who wait for it.
///
/// @tparam  Event  The event of one side of the seam.
template <class Event>
class stop_token {
public:
    stop_token() = default;
    stop_token(const stop_token&) = delete;
    stop_token& operator=(const stop_token&) = delete;

    /// Threads:  that of the context; from others, `context.post([&] { token.request_stop(); })`.
    void request_stop() noexcept { asked_.set(); }
    [[nodiscard]] bool stop_requested() const noexcept { return asked_.is_set(); }

    /// Waits for the request; at once if it was made already. Yields `io_result<>`.
    ///
    /// Errors, cancellation, threads, cost:  those of the event.
    [[nodiscard]] auto wait() noexcept { return asked_.wait(); }

private:
    Event asked_;
};

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// The connections of a server from which no request has come, or none yet: one of them can make room.
//
// A peer that connects and says nothing, or half of a head, costs its server a place, and a few thousand such
// peers all of them. So a server that is full lets the one go that has waited longest, as it may between two
// requests (RFC 9112, 9.5), and only when another connection is there: web/server.hpp does.
//
// Connections of HTTP/2 stand here during their handshake only. Between requests they make no room: the end
// of one is GOAWAY in two steps with an answer of the peer in between, and lasts seconds with a peer that is
// silent, so that one place that is wanted would end many of them. `idle_time_max` ends them.
#pragma once

#include <gyre/base/intrusive.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/stop.hpp>

#include <chrono>
#include <cstdint>

namespace gyre::http {

/// The list. On one loop; outlives its places.
class waiting_connections {
public:
    /// What a peer is given at least, so that those who come to a full server do not chase each other out
    /// before their requests can be there: for the first byte of a request,
    static constexpr duration request_time_min = std::chrono::milliseconds{100};
    /// and for a handshake, or for all of a head.
    static constexpr duration head_time_min = std::chrono::seconds{1};

    /// Where one connection stands.
    class place : public list_link<> {
    public:
        /// @param  in  Borrowed; null: it is in no list, and waits as long as its own limits let it.
        explicit place(waiting_connections* in) noexcept : in_{in} {}
        place(const place&) = delete;
        place& operator=(const place&) = delete;
        ~place() { unlink(); }

        /// It waits for a request. Nothing new if it waits already.
        ///
        /// @param  chain    Of the coroutine that waits. Borrowed until `end_wait`.
        /// @param  ends_by  The level that ends the wait at once: of a first request, a stop.
        void wait_for_request(stop_chain& chain, time_point now,
                              stop_level ends_by = stop_level::drain) noexcept {
            if (waits_for_ == what::nothing) wait(what::request, chain, now, ends_by);
        }
        /// It waits for a handshake, or for the rest of a head; only a stop ends that.
        void wait_for_head(stop_chain& chain, time_point now) noexcept {
            if (waits_for_ != what::head) wait(what::head, chain, now, stop_level::stop);
        }
        void end_wait() noexcept {
            unlink();
            waits_for_ = what::nothing;
        }

    private:
        friend class waiting_connections;
        enum class what : std::uint8_t { nothing, request, head };

        void wait(what for_it, stop_chain& chain, time_point now, stop_level ends_by) noexcept {
            if (in_ == nullptr) return;
            unlink();
            waits_for_ = for_it;
            ends_by_ = ends_by;
            chain_ = &chain;
            if (for_it == what::head) {
                may_go_at_ = deadline_after(now, head_time_min);
                in_->heads_.push_back(*this);
            } else {
                may_go_at_ = deadline_after(now, request_time_min);
                in_->requests_.push_back(*this);
            }
        }

        waiting_connections* in_;
        stop_chain* chain_ = nullptr;
        time_point may_go_at_ = never;
        what waits_for_ = what::nothing;
        stop_level ends_by_ = stop_level::drain;
    };

    /// Lets the one go that has been waited for longest, if it has had its time.
    ///
    /// @return  After what time to ask again, if there is no room by then.
    /// Cost:    a few ns.
    [[nodiscard]] duration make_room(time_point now) noexcept {
        place* longest = nullptr;
        for (list<place>* each : {&requests_, &heads_}) {
            if (each->empty()) continue;
            if (longest == nullptr || each->front().may_go_at_ < longest->may_go_at_)
                longest = &each->front();
        }
        if (longest == nullptr || longest->may_go_at_ > now) return ask_again_after;
        longest->unlink();  // It is asked once.
        longest->chain_->request(longest->ends_by_);
        return ask_again_after;
    }

private:
    static constexpr duration ask_again_after = std::chrono::milliseconds{20};

    // In the order in which they may go.
    list<place> requests_;
    list<place> heads_;
};

}  // namespace gyre::http

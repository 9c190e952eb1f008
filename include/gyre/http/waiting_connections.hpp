// SPDX-License-Identifier: BSL-1.0
//
// The connections of a server that wait for a request: one of them can make room for another.
//
// A peer that connects and says nothing costs its server a place, and a few thousand such peers all of them.
// So a server that is full lets the one go that has waited longest, as it may between two requests (RFC 9112,
// 9.5), and only when another connection is there: web/server.hpp does.
#pragma once

#include <gyre/base/intrusive.hpp>
#include <gyre/coro/stop.hpp>

namespace gyre::http {

/// The list. On one loop; outlives its places.
class waiting_connections {
public:
    /// Where one connection stands while it waits.
    class place : public list_link<> {
    public:
        /// @param  in  Borrowed; null: it is in no list, and waits as long as its own limits let it.
        explicit place(waiting_connections* in) noexcept : in_{in} {}
        place(const place&) = delete;
        place& operator=(const place&) = delete;
        ~place() {
            end_wait();
            if (in_ != nullptr) in_->wanted_ = false;  // This connection's end is room.
        }

        /// It begins to wait. May ask `chain` to drain at once.
        ///
        /// @param  chain  Of the coroutine that waits. Borrowed until `end_wait`.
        void begin_wait(stop_chain& chain) noexcept {
            if (in_ == nullptr) return;
            chain_ = &chain;
            in_->waiting_.push_back(*this);
            if (in_->wanted_) in_->make_room();
        }
        void end_wait() noexcept { unlink(); }

    private:
        friend class waiting_connections;

        waiting_connections* in_;
        stop_chain* chain_ = nullptr;
    };

    /// Asks the one that has waited longest to drain; where none waits, the next one that begins to, unless
    /// one ends before.
    ///
    /// Cost:  a few ns.
    void make_room() noexcept {
        wanted_ = waiting_.empty();
        if (wanted_) return;
        place& longest = waiting_.front();
        longest.unlink();
        longest.chain_->request(stop_level::drain);
    }

private:
    list<place> waiting_;
    bool wanted_ = false;
};

}  // namespace gyre::http

// SPDX-License-Identifier: BSL-1.0
//
// Sessions that are the same for every library, so that none of them does more or less than another: they
// make the players of a case, begin them, run the loop, and count.
//
// A `Library` has `settings`, a `loop` of one thread, a `team` of threads with a place for each of their
// players, and `stream_pair`; gyre/library.hpp and asio/library.hpp are the two. A `Player` is made from a
// context and its part of the case; `begin(operations, slice)` starts it, and once it has nothing left to
// do `end(slice)` says what was done, where that is more than latencies. What happens in between is the
// library's own matter, or for coroutines that of coroutines.hpp.
#pragma once

#include <lab/kit/crew.hpp>
#include <lab/kit/session.hpp>
#include <lab/kit/thread_tally.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace lab {

/// A session on one loop of one thread.
template <class Library>
class loop_session : public session {
public:
    using settings = typename Library::settings;

    explicit loop_session(const settings& how, bool others_post = false)
        : loop_{how, others_post} {}

    std::vector<counter> counted() override { return loop_.counted(); }

protected:
    typename Library::loop loop_;
};

/// For players whose latencies say all.
struct no_end {
    void end(slice&) const noexcept {}
};

/// A player on one loop.
template <class Library, class Player>
class player_session final : public loop_session<Library> {
public:
    template <class... Arguments>
    explicit player_session(const typename Library::settings& how, const Arguments&... arguments)
        : loop_session<Library>{how}, player_{this->loop_.context(), arguments...} {}

    void play(slice& now) override {
        player_.begin(now.operations, now);
        this->loop_.run();
    }

    void mark_done(slice& now) override { player_.end(now); }

private:
    Player player_;
};

/// Players on one loop that have equal shares.
template <class Player>
class several : public no_end {
public:
    template <class Context, class... Arguments>
    several(Context& context, std::size_t count, const Arguments&... arguments) {
        for (std::size_t i = 0; i < count; ++i) players_.emplace_back(context, arguments...);
    }

    void begin(std::uint64_t operations, slice& now) {
        for (Player& each : players_) each.begin(operations / players_.size(), now);
    }

private:
    std::deque<Player> players_;
};

/// Players on several threads, each on one of them, that have equal shares.
template <class Library, class Player>
class threads_session final : public session {
public:
    template <class... Arguments>
    threads_session(const typename Library::settings& how, std::size_t threads, std::size_t players,
                    const Arguments&... arguments)
        : all_{how, threads}, shares_(players, slice{0}) {
        for (std::size_t i = 0; i < players; ++i) {
            all_.places.emplace_back(all_.context(i), arguments...);
        }
    }

    void get_ready(slice& now) override {
        for (slice& each : shares_) each = slice{now.operations / shares_.size(), now.how};
    }

    void play(slice&) override {
        for (std::size_t i = 0; i < shares_.size(); ++i) {
            all_.places[i].begin(shares_[i].operations, shares_[i]);
        }
        all_.go();
        all_.finish();
    }

    void mark_done(slice& now) override {
        for (std::size_t i = 0; i < shares_.size(); ++i) {
            all_.places[i].end(shares_[i]);
            now.done += shares_[i].done;
            now.latency.add(shares_[i].latency);
        }
    }

    std::vector<counter> counted() override { return all_.counted(); }

private:
    typename Library::template team<Player> all_;
    std::deque<slice> shares_;  // Threads cannot share one.
};

/// A pair of sockets, and one direction or both through it.
///
/// @param Direction  Made from a context, two streams, an `outgoing_stream` and an `incoming_stream`, it
///                   has these two by name, and `begin()`.
template <class Library, class Direction>
class transfer {
public:
    transfer(typename Library::context& context, const throughput_case& work)
        : sockets_{context, work.via}, buffer_bytes_{work.buffer_bytes} {
        add(context, sockets_.client, sockets_.server);
        if (work.directions == 2) add(context, sockets_.server, sockets_.client);
    }

    void begin(std::uint64_t buffers, slice& now) {
        const std::uint64_t bytes = buffers / directions_.size() * buffer_bytes_;
        for (Direction& each : directions_) {
            each.outgoing.begin(bytes);
            each.incoming.begin(bytes, now.how);
            each.begin();
        }
    }

    void end(slice& now) const {
        for (const Direction& each : directions_) {
            now.done += each.incoming.amount() / buffer_bytes_;
        }
    }

private:
    void add(typename Library::context& context, typename Library::stream& from,
             typename Library::stream& to) {
        directions_.push_back(
            {context, from, to, outgoing_stream{buffer_bytes_}, incoming_stream{buffer_bytes_}});
    }

    typename Library::stream_pair sockets_;
    std::size_t buffer_bytes_;
    std::deque<Direction> directions_;
};

/// @param Items  Made from a case, it posts with `post(runner, count, tally)`, and has something on the
///               loop post batches, and then itself, with `begin_batches(runner, batch, count, tally)`.
template <class Library, class Items>
class dispatch_session final : public loop_session<Library> {
public:
    dispatch_session(const typename Library::settings& how, const dispatch_case& work)
        : loop_session<Library>{how, is_foreign(work)},
          work_{work},
          items_{work.item},
          from_outside_{is_foreign(work) ? std::size_t{1} : 0, [this](std::size_t) {
                            items_.post(loop_.context(), count_, tally_);
                            loop_.release();
                        }} {}

    void play(slice& now) override {
        const std::uint64_t before = tally_.sum();
        count_ = now.operations;
        switch (work_.order) {
            case dispatch_order::all_then_run:
                items_.post(loop_.context(), count_, tally_);
                loop_.run();
                break;
            case dispatch_order::batches_from_inside:
                items_.begin_batches(loop_.context(), work_.batch, count_, tally_);
                loop_.run();
                break;
            case dispatch_order::interleaved:
                for (std::uint64_t posted = 0; posted < count_; posted += work_.batch) {
                    items_.post(loop_.context(), work_.batch, tally_);
                    loop_.poll();
                }
                break;
            case dispatch_order::from_another_thread:
                loop_.hold();
                from_outside_.go();
                loop_.run();
                from_outside_.wait();
                break;
        }
        now.done = tally_.sum() - before;
    }

private:
    using loop_session<Library>::loop_;

    static bool is_foreign(const dispatch_case& work) {
        return work.order == dispatch_order::from_another_thread;
    }

    dispatch_case work_;
    Items items_;
    tally tally_;
    std::uint64_t count_ = 0;
    crew from_outside_;
};

/// @param Items  As above; a team has `queues()` of its own to post to, each a `queue(number)`.
template <class Library, class Items>
class shared_dispatch_session final : public session {
public:
    shared_dispatch_session(const typename Library::settings& how, const shared_dispatch_case& work)
        : work_{work},
          items_{work.item},
          all_{how, work.threads, true},
          others_{
              work.posters == 0 ? 0 : work.posters - 1,  // One is the thread with the stopwatch.
              [this](std::size_t) { post_share(); }} {}

    void get_ready(slice& now) override {
        before_ = tally_.sum();
        const bool outside = work_.order == shared_order::from_outside;
        share_ = now.operations / (outside ? work_.posters : work_.threads);
        switch (work_.order) {
            case shared_order::from_outside:
            case shared_order::batches_from_inside: all_.run_and_stay(); break;
            case shared_order::post_then_run: break;
            case shared_order::queued:
                all_.hold();
                items_.post(all_.queue(0), now.operations, tally_);
                break;
        }
    }

    void play(slice&) override {
        switch (work_.order) {
            case shared_order::from_outside:
                others_.go();
                post_share();
                others_.wait();
                break;
            case shared_order::batches_from_inside:
                for (std::size_t i = 0; i < work_.threads; ++i) {
                    items_.begin_batches(all_.queue(0), work_.batch, share_, tally_);
                }
                break;
            case shared_order::post_then_run:
                all_.on_each_thread([this] { items_.post(all_.queue(0), share_, tally_); });
                break;
            case shared_order::queued: all_.go(); break;
        }
        all_.finish();
    }

    void mark_done(slice& now) override { now.done = tally_.sum() - before_; }

    std::vector<counter> counted() override { return all_.counted(); }

private:
    // To several queues in turns.
    void post_share() {
        if (all_.queues() == 1) return items_.post(all_.queue(0), share_, tally_);
        for (std::uint64_t item = 0; item < share_; ++item) {
            items_.post(all_.queue(item), 1, tally_);
        }
    }

    struct nothing {};

    shared_dispatch_case work_;
    Items items_;
    thread_tally tally_;
    std::uint64_t before_ = 0;
    std::uint64_t share_ = 0;
    typename Library::template team<nothing> all_;
    crew others_;
};

/// Senders on the loop of the thread with the stopwatch, a receiver on that of another one.
///
/// @param Channel  Made from two contexts and a case, it begins both sides: `send(sender, from, count)`
///                 on the first, `receive(count, tally)` on the second, on the thread of each.
template <class Library, class Channel>
class channel_session final : public session {
public:
    channel_session(const typename Library::settings& how, const channel_case& work)
        : work_{work},
          tally_{work.senders},
          sending_{how, true},
          receiving_{how, true},
          channel_{sending_.context(), receiving_.context(), work},
          receiver_{1, [this](std::size_t) {
                        channel_.receive(count_, tally_);
                        receiving_.run();
                    }} {}

    void play(slice& now) override {
        count_ = now.operations;
        receiver_.go();
        for (std::size_t sender = 0; sender < work_.senders; ++sender) {
            channel_.send(sender, sent_, count_ / work_.senders);
        }
        sending_.run();
        receiver_.wait();
    }

    // That each came in its place has been seen by the tally.
    void mark_done(slice& now) override {
        for (std::size_t sender = 0; sender < work_.senders; ++sender) {
            now.done += tally_.next_of(sender) - sent_;
        }
        sent_ += count_ / work_.senders;
    }

    std::vector<counter> counted() override {
        std::vector<counter> all = sending_.counted();
        const std::vector<counter> other = receiving_.counted();
        for (std::size_t each = 0; each < all.size(); ++each) all[each].count += other[each].count;
        return all;
    }

private:
    channel_case work_;
    number_tally tally_;
    std::uint64_t count_ = 0;
    std::uint64_t sent_ = 0;  // By each sender, before this slice.
    typename Library::loop sending_;
    typename Library::loop receiving_;
    Channel channel_;
    crew receiver_;
};

/// Makes the session of a case from a library's players, which are types of these names.
template <class Players>
class prepare_with {
public:
    using settings = typename Players::settings;

    static preparation of(const settings& how, const dispatch_case& work) {
        return prepared<dispatch_session<Players, typename Players::items>>(how, work);
    }

    static preparation of(const settings& how, const shared_dispatch_case& work) {
        return prepared<shared_dispatch_session<Players, typename Players::items>>(how, work);
    }

    static preparation of(const settings& how, const throughput_case& work) {
        using pair = transfer<Players, typename Players::direction>;
        if (work.threads > 0) return on_threads<pair>(how, work.threads, work.threads, work);
        return on_one_loop<pair>(how, work);
    }

    static preparation of(const settings& how, const latency_case& work) {
        return on_one_loop<several<typename Players::ping_pong_pair>>(how, work.pairs, work);
    }

    static preparation of(const settings& how, const http_case& work) {
        using connection = typename Players::http_connection;
        if (work.threads > 0) return on_threads<connection>(how, work.threads, work.connections);
        return on_one_loop<several<connection>>(how, work.connections);
    }

    static preparation of(const settings& how, const timers_case& work) {
        switch (work.use) {
            case timer_use::fire_together: return prepared<typename Players::crowd>(how, work);
            case timer_use::push_back: return prepared<typename Players::pushing>(how, work);
            default: return on_one_loop<typename Players::one_timer>(how, work);
        }
    }

    static preparation of(const settings& how, const churn_case& work) {
        return on_one_loop<typename Players::churn>(how, work);
    }

    static preparation of(const settings& how, const fan_out_case& work) {
        return on_one_loop<typename Players::parents>(how, work);
    }

    static preparation of(const settings& how, const files_case& work) {
        if constexpr (requires { typename Players::random_reads; }) {
            switch (work.play) {
                case files_play::random_reads:
                    return on_one_loop<typename Players::random_reads>(how, work);
                case files_play::group_commit:
                    return on_one_loop<typename Players::committers>(how, work);
                default: return on_one_loop<typename Players::passes>(how, work);
            }
        } else {
            return cannot_run{"has no files where it waits with epoll"};
        }
    }

    static preparation of(const settings& how, const channel_case& work) {
        if constexpr (requires { typename Players::channel; }) {
            return prepared<channel_session<Players, typename Players::channel>>(how, work);
        } else {
            return cannot_run{"takes no part in rows of channels"};
        }
    }

private:
    template <class Player, class... Arguments>
    static preparation on_one_loop(const settings& how, const Arguments&... arguments) {
        return prepared<player_session<Players, Player>>(how, arguments...);
    }

    template <class Player, class... Arguments>
    static preparation on_threads(const settings& how, const Arguments&... arguments) {
        return prepared<threads_session<Players, Player>>(how, arguments...);
    }
};

}  // namespace lab

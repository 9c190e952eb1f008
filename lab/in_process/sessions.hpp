// SPDX-License-Identifier: BSL-1.0
//
// Sessions that are the same for every library, so that none of them does more or less than another: they
// make the parts of a case, begin them, run the loop, and count.
//
// A `Library` has `settings`, a `loop` of one thread, a `team` of threads with a place for each of their
// parts, and `stream_pair`; gyre/library.hpp and asio/library.hpp are the two. What a part does is the
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

/// @param Items  Made from a case, it posts with `post(context, count, tally)`, and has something on the
///               loop post batches, and then itself, with `begin_batches(context, batch, count, tally)`.
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

/// Round trips of several members at once, which are pairs or connections.
///
/// @param Member  Has `begin(count, latency)`: plays that many.
template <class Library, class Member>
class rounds_session final : public loop_session<Library> {
public:
    template <class... Arguments>
    rounds_session(const typename Library::settings& how, std::size_t members,
                   const Arguments&... arguments)
        : loop_session<Library>{how} {
        for (std::size_t i = 0; i < members; ++i) {
            members_.emplace_back(this->loop_.context(), arguments...);
        }
    }

    void play(slice& now) override {
        const std::uint64_t rounds = now.operations / members_.size();
        for (Member& each : members_) each.begin(rounds, now.latency);
        this->loop_.run();
        now.done = now.latency.count();
    }

private:
    std::deque<Member> members_;
};

/// The same on several threads, each member on one of them.
template <class Library, class Member>
class threads_rounds_session final : public session {
public:
    threads_rounds_session(const typename Library::settings& how, std::size_t threads,
                           std::size_t members)
        : all_{how, threads}, latencies_(members) {
        for (std::size_t i = 0; i < members; ++i) all_.places.emplace_back(all_.context(i));
    }

    void get_ready(slice&) override {
        for (histogram& each : latencies_) each = {};
    }

    void play(slice& now) override {
        const std::uint64_t rounds = now.operations / latencies_.size();
        for (std::size_t i = 0; i < latencies_.size(); ++i) {
            all_.places[i].begin(rounds, latencies_[i]);
        }
        all_.go();
        all_.finish();
    }

    void mark_done(slice& now) override {
        for (const histogram& each : latencies_) now.latency.add(each);
        now.done = now.latency.count();
    }

    std::vector<counter> counted() override { return all_.counted(); }

private:
    typename Library::template team<Member> all_;
    std::deque<histogram> latencies_;  // Threads cannot share one.
};

/// @param Churn  Has `begin(count, latency)`, and `check()`, which fails if a byte was lost.
template <class Library, class Churn>
class churn_session final : public loop_session<Library> {
public:
    churn_session(const typename Library::settings& how, const churn_case& work)
        : loop_session<Library>{how}, all_{this->loop_.context(), work} {}

    void play(slice& now) override {
        all_.begin(now.operations, now.latency);
        this->loop_.run();
        all_.check();
        now.done = now.latency.count();
    }

private:
    Churn all_;
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

    void begin(std::uint64_t buffers, verification how) {
        const std::uint64_t bytes = buffers / directions_.size() * buffer_bytes_;
        for (Direction& each : directions_) {
            each.outgoing.begin(bytes);
            each.incoming.begin(bytes, how);
            each.begin();
        }
    }

    /// Buffers.
    [[nodiscard]] std::uint64_t arrived() const {
        std::uint64_t bytes = 0;
        for (const Direction& each : directions_) bytes += each.incoming.amount();
        return bytes / buffer_bytes_;
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

template <class Library, class Direction>
class throughput_session final : public loop_session<Library> {
public:
    throughput_session(const typename Library::settings& how, const throughput_case& work)
        : loop_session<Library>{how}, all_{this->loop_.context(), work} {}

    void play(slice& now) override {
        all_.begin(now.operations, now.how);
        this->loop_.run();
        now.done = all_.arrived();
    }

private:
    transfer<Library, Direction> all_;
};

template <class Library, class Direction>
class threads_throughput_session final : public session {
public:
    threads_throughput_session(const typename Library::settings& how,
                               const threads_throughput_case& work)
        : all_{how, work.threads} {
        for (std::size_t i = 0; i < work.threads; ++i) {
            all_.places.emplace_back(all_.context(i), work.each);
        }
    }

    void play(slice& now) override {
        const std::uint64_t buffers = now.operations / all_.places.size();
        for (auto& each : all_.places) each.begin(buffers, now.how);
        all_.go();
        all_.finish();
    }

    void mark_done(slice& now) override {
        for (const auto& each : all_.places) now.done += each.arrived();
    }

    std::vector<counter> counted() override { return all_.counted(); }

private:
    typename Library::template team<transfer<Library, Direction>> all_;
};

}  // namespace lab

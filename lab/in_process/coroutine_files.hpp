// SPDX-License-Identifier: BSL-1.0
//
// What coroutines do in `files`: the same text for gyre and for Asio, as in coroutines.hpp.
//
// A `Library` has a `storage`, which reads and writes at positions, and a `file_stream`, which keeps one;
// both are made from a context and what kit/file_load.hpp has opened, and are brought to the device by
// `sync`; `write_durably_at` does both. Its `signal` is what a crowd waits for: `wait`, `open` and `close`.
#pragma once

#include <lab/in_process/sessions.hpp>

#include <lab/kit/fail.hpp>
#include <lab/kit/file_load.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

namespace lab {

/// `random_reads`: a coroutine for each read under way.
template <class Library>
class coroutine_reads : public no_end {
public:
    coroutine_reads(typename Library::context& context, const files_case& work)
        : context_{context}, file_{work}, storage_{context, file_.open()} {
        for (std::uint32_t each = 0; each < work.at_once; ++each) {
            readers_.emplace_back(work, each);
        }
    }

    void begin(std::uint64_t blocks, slice& now) {
        for (reader& each : readers_) {
            Library::spawn(context_, read(each, blocks / readers_.size(), now));
        }
    }

private:
    struct reader {
        reader(const files_case& work, std::uint32_t seed)
            : blocks{work, seed}, space{work.block_bytes} {}

        random_blocks blocks;
        aligned_space space;
    };

    typename Library::task read(reader& by, std::uint64_t count, slice& now) {
        lap_timer timer{now.latency};
        const std::span<std::byte> space = by.space.bytes();
        for (std::uint64_t each = 0; each < count; ++each) {
            const std::uint64_t offset = by.blocks.next();
            const auto got = co_await Library::read_at(storage_, offset, space);
            require(Library::moved(got) == space.size(), "files: a short read");
            file_.check_content(offset, space, now.how);
            timer.lap();
        }
    }

    typename Library::context& context_;
    scratch_file file_;
    typename Library::storage storage_;
    std::deque<reader> readers_;
};

/// The plays that pass over a file, block after block.
template <class Library>
class coroutine_passes {
public:
    coroutine_passes(typename Library::context& context, const files_case& work)
        : context_{context},
          play_{work.play},
          file_{work},
          storage_{context, file_.open()},
          stream_{context, file_.open()},
          pass_{file_, work} {}

    void begin(std::uint64_t blocks, slice& now) {
        const std::uint64_t passes = blocks / pass_.blocks();
        switch (play_) {
            case files_play::writes_at: return Library::spawn(context_, write_at(passes, now));
            case files_play::writes_in_order: return Library::spawn(context_, write(passes, now));
            default: return Library::spawn(context_, read(passes, now));
        }
    }

    void end(slice&) const {
        if (play_ != files_play::reads_in_order) pass_.check_written();
    }

private:
    using task = typename Library::task;

    task write_at(std::uint64_t passes, slice& now) {
        for (; passes > 0; --passes) {
            for (pass_.begin(); !pass_.over(); ++now.done) {
                const auto sent =
                    co_await Library::write_at(storage_, pass_.offset(), pass_.block());
                pass_.written(Library::moved(sent));
            }
            const auto synced = co_await Library::sync(storage_);
            Library::expect_synced(synced);
        }
    }

    task write(std::uint64_t passes, slice& now) {
        for (; passes > 0; --passes) {
            file_.rewind(Library::number_of(stream_));
            for (pass_.begin(); !pass_.over(); ++now.done) {
                const auto sent = co_await Library::write_some(stream_, pass_.block());
                pass_.written(Library::moved(sent));
            }
            const auto synced = co_await Library::sync(stream_);
            Library::expect_synced(synced);
        }
    }

    task read(std::uint64_t passes, slice& now) {
        for (; passes > 0; --passes) {
            file_.rewind(Library::number_of(stream_));
            for (pass_.begin(); !pass_.over(); ++now.done) {
                const auto got = co_await Library::read_some(stream_, pass_.space());
                pass_.read(Library::moved(got), now.how);
            }
        }
    }

    typename Library::context& context_;
    files_play play_;
    scratch_file file_;
    typename Library::storage storage_;
    typename Library::file_stream stream_;
    file_pass pass_;
};

/// `group_commit`: committers, and one coroutine that writes what they have gathered meanwhile.
template <class Library>
class coroutine_committers {
public:
    coroutine_committers(typename Library::context& context, const files_case& work)
        : context_{context},
          committers_{work.at_once},
          file_{work},
          storage_{context, file_.open()},
          journal_{file_, work},
          durable_{typename Library::signal{context}, typename Library::signal{context}},
          wanted_{context} {}

    void begin(std::uint64_t records, slice& now) {
        Library::spawn(context_, write(records));
        for (std::size_t each = 0; each < committers_; ++each) {
            Library::spawn(context_, commit(records / committers_, now.latency));
        }
    }

    void end(slice&) const { journal_.check(); }

private:
    using task = typename Library::task;

    task commit(std::uint64_t records, histogram& latency) {
        lap_timer timer{latency};
        for (; records > 0; --records) {
            const bool first = journal_.empty();
            journal_.add_record();
            if (first) wanted_.open();
            co_await durable_[batch_ % 2].wait();
            timer.lap();
        }
    }

    // What is added from now on belongs to the batch behind the one that is being written.
    task write(std::uint64_t records) {
        while (records > 0) {
            if (journal_.empty()) {
                wanted_.close();
                co_await wanted_.wait();
            }
            const group_journal::batch batch = journal_.take();
            auto& done = durable_[batch_++ % 2];
            durable_[batch_ % 2].close();
            const auto sent =
                co_await Library::write_durably_at(storage_, batch.offset, batch.bytes);
            require(Library::moved(sent) == batch.bytes.size(), "files: a short write");
            records -= batch.records;
            done.open();
        }
    }

    typename Library::context& context_;
    std::size_t committers_;
    scratch_file file_;
    typename Library::storage storage_;
    group_journal journal_;
    std::array<typename Library::signal, 2> durable_;
    typename Library::signal wanted_;
    std::uint64_t batch_ = 0;
};

/// What a library needs for `files`, beside its words.
template <class Library>
struct with_files {
    using random_reads = coroutine_reads<Library>;
    using passes = coroutine_passes<Library>;
    using committers = coroutine_committers<Library>;
};

}  // namespace lab

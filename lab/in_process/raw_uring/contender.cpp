// SPDX-License-Identifier: BSL-1.0
//
// The floor of `files`: plain loops over liburing, with the same requests as the libraries'.
//
// One ring with deferred completions, one visit to the kernel for all that is to be submitted and waited for.
// A group of a journal is one write and one fdatasync that is linked to it.
#include <lab/kit/fail.hpp>
#include <lab/kit/file_load.hpp>
#include <lab/kit/session.hpp>

#include <liburing.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace {

class ring {
public:
    ring() {
        constexpr unsigned entries = 256;
        constexpr unsigned flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
        lab::require(::io_uring_queue_init(entries, &it_, flags) == 0, "raw_uring: no ring");
        ::io_uring_register_ring_fd(&it_);
    }
    ~ring() { ::io_uring_queue_exit(&it_); }
    ring(const ring&) = delete;
    ring& operator=(const ring&) = delete;

    io_uring_sqe* entry() {
        io_uring_sqe* const free = ::io_uring_get_sqe(&it_);
        lab::require(free != nullptr, "raw_uring: the ring is too small");
        return free;
    }

    /// Submits what was prepared, waits for a result, and hands all that there are to `visit(data, result)`.
    template <class Visitor>
    void turn(Visitor&& visit) {
        lab::require(::io_uring_submit_and_wait(&it_, 1) >= 0, "raw_uring: enter");
        unsigned head = 0;
        unsigned count = 0;
        io_uring_cqe* result = nullptr;
        io_uring_for_each_cqe(&it_, head, result) {
            ++count;
            lab::require(result->res >= 0, "raw_uring: a request failed");
            visit(result->user_data, static_cast<std::size_t>(result->res));
        }
        ::io_uring_cq_advance(&it_, count);
    }

    /// The result of the one request that was prepared.
    std::size_t one_result() {
        std::optional<std::size_t> found;
        while (!found) {
            turn([&](std::uint64_t, std::size_t result) { found = result; });
        }
        return *found;
    }

private:
    io_uring it_{};
};

class random_reads final : public lab::session {
public:
    explicit random_reads(const lab::files_case& work) : file_{work}, opened_{file_.open()} {
        for (std::uint32_t each = 0; each < work.at_once; ++each) {
            readers_.emplace_back(work, each);
        }
    }

    void play(lab::slice& now) override {
        std::uint64_t left = now.operations;
        for (reader& each : readers_) {
            each.timer.emplace(now.latency);
            begin(each);
            --left;
        }
        for (std::uint64_t pending = readers_.size(); pending > 0;) {
            ring_.turn([&](std::uint64_t data, std::size_t size) {
                reader& by = *reinterpret_cast<reader*>(data);
                lab::require(size == by.space.bytes().size(), "raw_uring: a short read");
                file_.check_content(by.offset, by.space.bytes(), now.how);
                by.timer->lap();
                if (left == 0) return void(--pending);
                --left;
                begin(by);
            });
        }
    }

private:
    struct reader {
        reader(const lab::files_case& work, std::uint32_t seed)
            : blocks{work, seed}, space{work.block_bytes} {}

        lab::random_blocks blocks;
        lab::aligned_space space;
        std::uint64_t offset = 0;
        std::optional<lab::lap_timer> timer;
    };

    void begin(reader& by) {
        by.offset = by.blocks.next();
        const std::span<std::byte> space = by.space.bytes();
        io_uring_sqe* const entry = ring_.entry();
        ::io_uring_prep_read(entry, opened_.get(), space.data(),
                             static_cast<unsigned>(space.size()), by.offset);
        entry->user_data = reinterpret_cast<std::uint64_t>(&by);
    }

    ring ring_;
    lab::scratch_file file_;
    lab::descriptor opened_;
    std::deque<reader> readers_;
};

class passes final : public lab::session {
public:
    explicit passes(const lab::files_case& work)
        : play_{work.play}, file_{work}, opened_{file_.open()}, pass_{file_, work} {}

    void play(lab::slice& now) override {
        for (std::uint64_t left = now.operations / pass_.blocks(); left > 0; --left) {
            lab::scratch_file::rewind(opened_.get());
            for (pass_.begin(); !pass_.over(); ++now.done) {
                if (reads()) {
                    pass_.read(read(), now.how);
                } else {
                    pass_.written(write());
                }
            }
            if (!reads()) sync();
        }
    }

    void mark_done(lab::slice&) override {
        if (!reads()) pass_.check_written();
    }

private:
    [[nodiscard]] bool reads() const { return play_ == lab::files_play::reads_in_order; }
    [[nodiscard]] std::uint64_t offset() const {
        return play_ == lab::files_play::writes_at ? pass_.offset()
                                                   : UINT64_MAX;  // As the file keeps it.
    }

    std::size_t read() {
        const std::span<std::byte> space = pass_.space();
        ::io_uring_prep_read(ring_.entry(), opened_.get(), space.data(),
                             static_cast<unsigned>(space.size()), offset());
        return ring_.one_result();
    }

    std::size_t write() {
        const std::span<const std::byte> block = pass_.block();
        ::io_uring_prep_write(ring_.entry(), opened_.get(), block.data(),
                              static_cast<unsigned>(block.size()), offset());
        return ring_.one_result();
    }

    void sync() {
        ::io_uring_prep_fsync(ring_.entry(), opened_.get(), IORING_FSYNC_DATASYNC);
        ring_.one_result();
    }

    lab::files_play play_;
    ring ring_;
    lab::scratch_file file_;
    lab::descriptor opened_;
    lab::file_pass pass_;
};

class committers final : public lab::session {
public:
    explicit committers(const lab::files_case& work)
        : file_{work}, opened_{file_.open()}, journal_{file_, work}, at_once_{work.at_once} {}

    void play(lab::slice& now) override {
        std::deque<lab::lap_timer> timers(at_once_, lab::lap_timer{now.latency});
        std::uint64_t to_add = now.operations;
        std::size_t waiting = 0;  // Committers whose records are in the batch.
        for (std::uint64_t left = now.operations; left > 0;) {
            for (; waiting < at_once_ && to_add > 0; ++waiting, --to_add) journal_.add_record();
            const auto batch = journal_.take();
            write(batch);
            for (std::size_t each = 0; each < batch.records; ++each) timers[each].lap();
            waiting -= batch.records;
            left -= batch.records;
        }
    }

    void mark_done(lab::slice&) override { journal_.check(); }

private:
    void write(const lab::group_journal::batch& batch) {
        io_uring_sqe* const writing = ring_.entry();
        ::io_uring_prep_write(writing, opened_.get(), batch.bytes.data(),
                              static_cast<unsigned>(batch.bytes.size()), batch.offset);
        writing->flags |= IOSQE_IO_LINK;
        writing->user_data = batch.bytes.size();
        io_uring_sqe* const syncing = ring_.entry();
        ::io_uring_prep_fsync(syncing, opened_.get(), IORING_FSYNC_DATASYNC);
        syncing->user_data = 0;
        for (int results = 0; results < 2;) {
            ring_.turn([&](std::uint64_t expected, std::size_t size) {
                ++results;
                lab::require(size == expected, "raw_uring: a short write");
            });
        }
    }

    ring ring_;
    lab::scratch_file file_;
    lab::descriptor opened_;
    lab::group_journal journal_;
    std::size_t at_once_;
};

template <class Case>
lab::preparation prepare(const Case& work) {
    if constexpr (std::same_as<Case, lab::files_case>) {
        switch (work.play) {
            case lab::files_play::random_reads: return lab::prepared<random_reads>(work);
            case lab::files_play::group_commit: return lab::prepared<committers>(work);
            default: return lab::prepared<passes>(work);
        }
    } else {
        return lab::cannot_run{"takes part in rows of files only"};
    }
}

}  // namespace

lab::contender lab::make_contender(std::string_view backend) {
    require(backend.empty(), "raw_uring has no backends to choose from");
    return {{"raw_uring", "liburing", "", "io_uring"}, [](const work& what) {
                return std::visit([](const auto& each) { return ::prepare(each); }, what);
            }};
}

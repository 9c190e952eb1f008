// SPDX-License-Identifier: BSL-1.0
//
// From records to entries and back: see uring_backend.hpp.
#include <runtime/uring_backend.hpp>

#include <gyre/base/check.hpp>
#include <runtime/latest_wake_up.hpp>
#include <runtime/system_host.hpp>
#include <runtime/uring_file_entry.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace gyre {
namespace {

// What a result's user data means. Records are aligned, so their addresses leave these bits free.
constexpr std::uint64_t tag_mask = 0b11;
constexpr std::uint64_t tag_operation = 0b00;
constexpr std::uint64_t tag_waker = 0b01;
constexpr std::uint64_t tag_cancel = 0b10;

static_assert(alignof(operation) > tag_mask);

std::uint64_t data_of(operation& op) noexcept {
    return reinterpret_cast<std::uint64_t>(&op) | tag_operation;
}

// The working directory has no number, and needs one here.
constexpr std::uint32_t no_number = UINT32_MAX >> 2;

// A cancel outlives what it cancels, so it names the descriptor, not the record.
std::uint64_t data_of(const descriptor_slot& it) noexcept {
    if (it.number < 0) return std::uint64_t{no_number} << 2 | tag_cancel;
    return std::uint64_t{it.generation} << 32 |
           std::uint64_t{static_cast<std::uint32_t>(it.number)} << 2 | tag_cancel;
}

// One enter of a ring with deferred completions surfaces about this many; more may be behind them.
constexpr unsigned harvest_cap = 20;
constexpr int harvests_max = 16;

// From here on what a call costs is a trifle beside the bytes.
constexpr std::size_t large_size = 32 * 1024;

// The readiness that the ring waits for in place of `op`, which is then carried out here; 0 if it does `op`
// itself. For a batch of datagrams it has no entry; for accepts see try_accept. Pipes, terminals and the like
// may be shared with other processes and are not made to block, or not to, for the ring's sake.
std::uint32_t waits_for(const operation& op) noexcept {
    if (op.code == opcode::receive_batch || op.code == opcode::accept) return POLLIN;
    if (op.code == opcode::send_batch) return POLLOUT;
    if (op.code >= opcode::read) {
        if (is_file_work(op)) return 0;
        const bool reads = op.code == opcode::read || op.code == opcode::read_scatter;
        return reads ? POLLIN : POLLOUT;
    }
    if (!op.by_readiness) return 0;
    if (op.code == opcode::receive || op.code == opcode::receive_scatter) return POLLIN;
    const bool sends = op.code == opcode::send || op.code == opcode::send_gather;
    return sends || op.code == opcode::connect ? POLLOUT : 0;
}

// The kernel has not carried it out, in words of its own: canceled, as it also says where it has no thread
// for a request; interrupted; or ERESTARTSYS and its like (docs/decisions/0059-what-a-ring-did-not-do.md).
bool is_broken_off(std::int32_t result) noexcept {
    return result == -ECANCELED || result == -EINTR || (result <= -512 && result >= -516);
}

// For what is begun again: the readiness by which `op`, no file's, can be carried out here.
std::uint32_t readiness_for(const operation& op) noexcept {
    if (op.code == opcode::wait_ready) return static_cast<const wait_ready_operation&>(op).events;
    return op.code == opcode::receive_lease ? POLLIN : waits_for(op);
}

// The pieces that large messages come in vary; it takes several small ones in a row to make a difference.
void note_size(descriptor_slot& on, std::size_t received) noexcept {
    constexpr std::size_t small_size = 4 * 1024;
    constexpr std::uint8_t small_ones_max = 8;
    if (received >= large_size) {
        on.large = small_ones_max;
    } else if (received < small_size && on.large > 0) {
        --on.large;
    }
}

void prepare_send(const send_operation& op, io_uring_sqe& to) noexcept {
    to.opcode = IORING_OP_SEND;
    to.addr = reinterpret_cast<std::uint64_t>(op.data);
    to.len = static_cast<std::uint32_t>(op.target->portion_of(op));
    to.msg_flags = MSG_NOSIGNAL;
}

void prepare_message(const message_operation& op, io_uring_sqe& to) noexcept {
    const bool reading = op.code == opcode::receive_scatter;
    to.opcode = reading ? IORING_OP_RECVMSG : IORING_OP_SENDMSG;
    to.addr = reinterpret_cast<std::uint64_t>(op.message);
    to.len = 1;
    to.msg_flags = static_cast<std::uint32_t>(reading ? op.flags : MSG_NOSIGNAL);
}

void prepare_connect(const connect_operation& op, io_uring_sqe& to) noexcept {
    to.opcode = IORING_OP_CONNECT;
    to.addr = reinterpret_cast<std::uint64_t>(op.peer->data);
    to.off = op.peer->size;
}

void make_blocking(descriptor_slot& it) noexcept {
    const int status = ::fcntl(it.number, F_GETFL);
    ::fcntl(it.number, F_SETFL, status & ~O_NONBLOCK);
    it.nonblocking = false;
}

// Bytes of a stream are in order, and so are its readers; and those who accept.
bool reads_stream(const operation& op) noexcept {
    if (op.code == opcode::accept) return true;
    if (op.code == opcode::read || op.code == opcode::read_scatter) return !is_file_work(op);
    if (!receives_plainly(op) && op.code != opcode::receive_scatter) return false;
    return !static_cast<const descriptor_operation&>(op).target->datagrams;
}

}  // namespace

// Edge-triggered and never read: each write to the eventfd is one result.
void uring_backend::watch_waker() noexcept {
    io_uring_sqe& to = entry();
    to.opcode = IORING_OP_POLL_ADD;
    to.fd = waker_->number();
    to.len = IORING_POLL_ADD_MULTI;
    to.poll32_events = POLLIN;
    to.user_data = tag_waker;
}

// A free entry. A full queue is handed over first; the kernel always takes it, unless it has begun
// to refuse us, and then nothing that we prepare will ever be looked at.
io_uring_sqe& uring_backend::entry() noexcept {
    io_uring_sqe* free = ring_.next_entry();
    while (free == nullptr) {
        if (withdrawn_ != 0) return *reinterpret_cast<io_uring_sqe*>(nowhere_);
        buffers_.refill(leases_in_flight_);
        const int failed = ring_.submit();
        if (failed == EBUSY || failed == EAGAIN) {
            // It wants its results to be taken first, perhaps while one of them is being delivered.
            ring_.reap([this](const io_uring_cqe& result) {
                deliver(result);
                return true;
            });
        } else {
            withdrawn_ = failed;
        }
        free = ring_.next_entry();
    }
    return *free;
}

bool uring_backend::submit(operation& op) noexcept {
    if (op.code >= opcode::read && is_file_work(op)) {
        arm(op);
        return false;
    }
    descriptor_slot& on = *static_cast<descriptor_operation&>(op).target;
    if (!on.pending.is_only(op)) {
        op.in_line = reads_stream(op) && on.pending.find(reads_stream) != &op;
        if (op.in_line) return false;
    }
    if (try_now(op)) return true;
    arm(op);
    return false;
}

bool uring_backend::takes(const operation& op) const noexcept { return has_file_entry(op); }

void uring_backend::arm(operation& op) noexcept {
    prepare(op, entry());
    ++in_flight_;
    if (op.code == opcode::receive_lease && !op.by_readiness) ++leases_in_flight_;
}

// Of several requests that wait for one socket the kernel wakes the youngest first, so those of a stream's
// readers are shown to it one at a time. tests/laws/order_test.cpp.
void uring_backend::begin_next_in_line(descriptor_slot& on) noexcept {
    while (operation* next = on.pending.find([](const operation& it) { return it.in_line; })) {
        next->in_line = false;
        if (!try_now(*next)) return arm(*next);
        loop_->complete(*next, next->result);
    }
}

// A call on the spot beats an entry where it will succeed anyway: a send into a buffer with room, a
// receive behind one that did not empty the socket. Only single tries with MSG_DONTWAIT. All of this is
// measured in docs/decisions/0005-fast-paths.md.
bool uring_backend::try_now(operation& op) noexcept {
    switch (op.code) {
        case opcode::send:
        case opcode::send_gather:
            if (!static_cast<descriptor_operation&>(op).target->maybe_writable) return false;
            if (joins_batch(op)) return false;
            break;
        case opcode::send_batch:
        case opcode::write:
        case opcode::write_gather:
            if (!static_cast<descriptor_operation&>(op).target->maybe_writable) return false;
            break;
        case opcode::receive:
        case opcode::receive_lease:
        case opcode::receive_batch:
        case opcode::read:
        case opcode::read_scatter:
            if (!static_cast<descriptor_operation&>(op).target->maybe_readable) return false;
            break;
        case opcode::connect: {
            // Over IP this is waited for by a poll; here by a thread of the kernel's for each, if the ring
            // is asked.
            descriptor_slot& on = *static_cast<descriptor_operation&>(op).target;
            if (on.family != AF_UNIX) return false;
            op.result = perform(op);
            make_blocking(on);
            return true;
        }
        case opcode::accept: {
            const descriptor_slot& on = *static_cast<descriptor_operation&>(op).target;
            // What does not listen says so only if it is asked: a wait would never end.
            return (!on.listens || on.may_have_more(loop_->busy(), turns_)) && try_accept(op);
        }
        default: return false;
    }
    op.result = perform(op);
    descriptor_slot& on = *static_cast<descriptor_operation&>(op).target;
    const bool blocked = op.result == -EAGAIN || op.result == -EINTR;
    if (receives_plainly(op)) {
        on.maybe_readable = op.result > 0 && !is_short_read(op);
        note_size(on, bytes_received(op));
        on.answering = true;
    } else if (op.code == opcode::receive_batch) {
        on.maybe_readable = op.result > 0 && !is_short_read(op);
    } else if (op.code == opcode::read || op.code == opcode::read_scatter) {
        on.maybe_readable = !blocked;
    } else {
        // Full: the rest waits in the ring, and so do later sends until one has gone through there.
        if (blocked) on.maybe_writable = false;
        on.answering = false;
    }
    return !blocked;
}

// Several answers ready at once share one visit to the kernel. Not a stream of sends, which would
// make one step a turn, nor anything large, for which the visit is a trifle.
bool uring_backend::joins_batch(const operation& op) const noexcept {
    constexpr std::size_t size_max = 16 * 1024;
    if (op.code != opcode::send || !loop_->busy()) return false;
    const auto& it = static_cast<const send_operation&>(op);
    return it.size <= size_max && it.target->answering && !it.target->duplex;
}

void uring_backend::prepare_receive(operation& op, io_uring_sqe& to) noexcept {
    const bool leased = op.code == opcode::receive_lease;
    if (prefers_readiness(op) || (leased && !lets_kernel_choose(static_cast<lease_operation&>(op))))
        return prepare_wait(op, POLLIN, to);
    to.opcode = IORING_OP_RECV;
    to.len = static_cast<std::uint32_t>(std::min<std::size_t>(room_of(op), INT32_MAX));
    if (leased) {
        to.flags = IOSQE_BUFFER_SELECT;
        to.buf_group = buffer_ring::group;
    } else {
        const auto& it = static_cast<const receive_operation&>(op);
        to.addr = reinterpret_cast<std::uint64_t>(it.data);
        to.msg_flags = it.peeks ? MSG_PEEK : 0;
    }
    polls_first(op, to);
}

void uring_backend::prepare(operation& op, io_uring_sqe& to) noexcept {
    to.user_data = data_of(op);
    to.fd = static_cast<descriptor_operation&>(op).target->number;
    switch (op.code) {
        case opcode::receive:
        case opcode::receive_lease: return prepare_receive(op, to);
        case opcode::send:
            if (prefers_readiness(op)) return prepare_wait(op, POLLOUT, to);
            return prepare_send(static_cast<const send_operation&>(op), to);
        case opcode::receive_scatter:
        case opcode::send_gather:
            return prepare_message(static_cast<const message_operation&>(op), to);
        case opcode::receive_batch: return prepare_wait(op, POLLIN, to);
        case opcode::send_batch: return prepare_wait(op, POLLOUT, to);
        case opcode::accept: return prepare_wait(op, POLLIN, to);
        case opcode::connect: return prepare_connect(static_cast<const connect_operation&>(op), to);
        case opcode::read:
        case opcode::read_scatter:
            if (is_file_work(op)) return prepare_file_entry(op, to);
            return prepare_wait(op, POLLIN, to);
        case opcode::write:
        case opcode::write_gather:
            if (is_file_work(op)) return prepare_file_entry(op, to);
            return prepare_wait(op, POLLOUT, to);
        case opcode::synchronize:
        case opcode::allocate:
        case opcode::resize:
        case opcode::open_file:
        case opcode::file_status:
        case opcode::rename:
        case opcode::remove:
        case opcode::make_directory:
        case opcode::read_link:
        case opcode::list_directory: return prepare_file_entry(op, to);
        case opcode::wait_ready:
            return prepare_wait(op, static_cast<wait_ready_operation&>(op).events, to);
        case opcode::open_socket:
        case opcode::make_socket_pair:
        case opcode::bind:
        case opcode::listen:
        case opcode::shutdown:
        case opcode::set_option:
        case opcode::get_option:
        case opcode::set_peer:
        case opcode::find_interface:
        case opcode::learn_timestamping:
        case opcode::remove_stale_path:
        case opcode::local_address:
        case opcode::remote_address:
        case opcode::make_pipe:
        case opcode::duplicate:
        case opcode::learn_kind:
        case opcode::open_watch:
        case opcode::add_watch:
        case opcode::remove_watch:
        case opcode::reap_process:
        case opcode::signal_process:
        case opcode::disown_process:
        case opcode::spawn_process:
        case opcode::call: break;
    }
    fail_check("unreachable", "answered elsewhere, never by the ring");
}

// Large transfers are made by the loop when the socket is ready, a few in a turn, each message while it is in
// the cache; the ring would make twenty in a row (docs/decisions/0022-warm-reads.md).
bool uring_backend::prefers_readiness(operation& op) const noexcept {
    const descriptor_slot& on = *static_cast<descriptor_operation&>(op).target;
    op.by_readiness = op.code == opcode::send
                          ? static_cast<const send_operation&>(op).size >= large_size
                          : on.large > 0 && room_of(op) >= large_size;
    return op.by_readiness;
}

// Known to be empty: an attempt before the wait would be in vain, unless the peer is so quick that the
// bytes are there by the time of the visit, as they were last time.
void uring_backend::polls_first(operation& op, io_uring_sqe& to) noexcept {
    descriptor_slot& on = *static_cast<descriptor_operation&>(op).target;
    if (tells_nonempty() && !op.retried && !on.prompt) to.ioprio = IORING_RECVSEND_POLL_FIRST;
    on.asked_in = turns_;
}

void uring_backend::prepare_wait(operation& op, std::uint32_t events, io_uring_sqe& to) noexcept {
    to.opcode = IORING_OP_POLL_ADD;
    to.user_data = data_of(op);
    to.fd = static_cast<descriptor_operation&>(op).target->number;
    to.poll32_events = events;
}

// Whether the kernel may take the memory of a receive from our blocks; arranged for on first use.
bool uring_backend::lets_kernel_choose(const lease_operation& op) noexcept {
    if (buffers_.is_open()) return true;
    if (buffers_refused_ || tier_ == backend_choice::uring_c || withdrawn_ != 0) return false;
    // The loop's own pool, which is of this kind (io_context::provide_memory).
    buffers_refused_ = buffers_.open(ring_, static_cast<receive_pool&>(*op.pool)) != 0;
    return !buffers_refused_;
}

// Whatever the cancel itself reports, the operation's own result is what ends it.
void uring_backend::cancel(operation& op) noexcept {
    if (op.in_line) {
        op.in_line = false;
        return loop_->complete(op, -ECANCELED);
    }
    io_uring_sqe& to = entry();
    to.opcode = IORING_OP_ASYNC_CANCEL;
    to.fd = -1;
    to.addr = data_of(op);
    to.user_data = data_of(*static_cast<descriptor_operation&>(op).target);
}

// The ring's own number will not do: with deferred completions the kernel does not wake pollers of
// it (seen on Linux 6.18). An eventfd is told of deferred ones too.
int uring_backend::wait_handle() noexcept {
    if (announcement_) return announcement_->number();
    announcement_.emplace();
    if (announcement_->failed() != 0 || ring_.announce_on(announcement_->number()) != 0) {
        announcement_.reset();
        return ring_.number();
    }
    // What came before this was not announced. A refusal is noticed again by the next turn.
    static_cast<void>(turn(no_wait));
    return announcement_->number();
}

error uring_backend::turn(time_point deadline) noexcept {
    // Before the harvest, so that what comes during it is announced anew.
    if (announcement_) announcement_->clear();
    ++turns_;
    leased_bytes_ = 0;
    carried_bytes_ = 0;
    if (held_back_ && harvest() > 0) return {};
    for (int visit = 0; visit < harvests_max; ++visit) {
        const bool wait = deadline != no_wait && !ring_.has_results();
        visits_.add();
        if (leased_bytes_ <= received_bytes_warm) buffers_.refill(leases_in_flight_);
        int failed = withdrawn_ != 0 ? withdrawn_
                                     : ring_.enter(wait, wait ? wake_up_time(deadline) : no_wait);
        if (failed == EBUSY || failed == EAGAIN) failed = 0;  // Results first; then it goes on.
        const unsigned count = harvest();
        if (failed != 0) {
            // Begun again, what was done already would be done twice.
            ensures(failed != EBADR,
                    "io_uring lost completions: its queue was full, and the kernel out of memory");
            withdrawn_ = failed;
            return error::from_errno(failed, activity::ring_setup);
        }
        if (count < harvest_cap || held_back_ || !goes_on_harvesting()) break;
        deadline = no_wait;
    }
    return {};
}

// Takes results until there are none or enough has been received here; the rest is for the next turn, before
// the kernel is asked again. Returns how many.
unsigned uring_backend::harvest() noexcept {
    const unsigned count = ring_.reap([this](const io_uring_cqe& result) {
        deliver(result);
        return carried_bytes_ <= received_bytes_warm;
    });
    held_back_ = carried_bytes_ > received_bytes_warm && ring_.has_results();
    return count;
}

time_point uring_backend::wake_up_time(time_point deadline) const noexcept {
    return latest_wake_up(deadline_after(deadline, options_.timer_slack));
}

// Not where the next results would have to be received into cold memory: blocks beyond these are cold, while
// those that are in use now will be warm in the next turn.
bool uring_backend::goes_on_harvesting() const noexcept {
    if (!buffers_.is_open() || leased_bytes_ <= received_bytes_warm) return true;
    return buffers_.offered() >= std::min<std::size_t>(harvest_cap, leases_in_flight_);
}

void uring_backend::deliver(const io_uring_cqe& result) noexcept {
    switch (result.user_data & tag_mask) {
        case tag_operation:
            finish(*reinterpret_cast<operation*>(result.user_data), result.res, result.flags);
            return;
        case tag_waker:
            if ((result.flags & IORING_CQE_F_MORE) == 0) watch_waker();
            return;
        default:
            if (result.res == -ENOENT) cancel_again(result.user_data);
            return;
    }
}

// Not found does not always mean over: a receive that was ready when it was armed is between two lists
// for a moment, and goes back to waiting if another reader took the bytes. So whatever still waits
// there, and was to be cancelled, is cancelled again.
void uring_backend::cancel_again(std::uint64_t data) noexcept {
    const std::uint32_t number = static_cast<std::uint32_t>(data) >> 2;
    descriptor_slot* it =
        number == no_number ? &loop_->working_directory()
                            : system_host::instance().find(static_cast<int>(number),
                                                           static_cast<std::uint32_t>(data >> 32));
    if (it == nullptr || it->home != loop_) return;
    it->pending.for_each_shrinking([this](operation& op) {
        // A file's request that waits for the device is nowhere to be found, and ends by itself.
        if (op.cancel_requested && !is_file_work(op)) cancel(op);
    });
}

void uring_backend::finish(operation& op, std::int32_t result, std::uint32_t flags) noexcept {
    descriptor_slot& on = *static_cast<descriptor_operation&>(op).target;
    if (op.code == opcode::receive_lease &&
        !fill(static_cast<lease_operation&>(op), result, flags)) {
        return;
    }
    if (op.code == opcode::connect && result == -EALREADY && !op.cancel_requested) {
        op.by_readiness = true;  // Begun before a fork, by the parent's ring.
        return prepare_wait(op, POLLOUT, entry());
    }
    const std::uint32_t ready = waits_for(op);
    if (ready != 0 && result > 0 && !carry_out(op, result, ready)) return;
    if (is_broken_off(result) && !op.cancel_requested) {
        if (goes_on_otherwise(op)) return;
        result = op.result;
    }
    --in_flight_;
    // A request that was being executed when it was cancelled reports the interruption.
    if (op.cancel_requested && (is_broken_off(result) || result == -EAGAIN)) result = -ECANCELED;
    if (op.code == opcode::receive_lease && !op.by_readiness) {
        --leases_in_flight_;
        if (result > 0) leased_bytes_ += static_cast<std::size_t>(result);
    }
    // An adopted descriptor may carry O_NONBLOCK, which old kernels take as "do not wait either".
    if (result == -EAGAIN && !op.retried && !op.cancel_requested) {
        op.retried = true;
        make_blocking(on);
        rearms_.add();
        return arm(op);
    }
    op.result = result;
    take_hints(op, flags);
    loop_->complete(op, result);
    if (!on.pending.empty() && reads_stream(op)) begin_next_in_line(on);
}

// The kernel broke `op` off unasked: a file's is done by a worker; for all else readiness is
// waited for, once, and the call made here. False if there is no other way; then `op.result` is its end.
bool uring_backend::goes_on_otherwise(operation& op) noexcept {
    rearms_.add();
    if (is_file_work(op)) {
        if (!loop_->continue_on_worker(op)) return false;
        --in_flight_;
        return true;
    }
    op.result = -EAGAIN;
    if (op.retried) return false;
    op.retried = true;
    if (op.code == opcode::receive_lease && !op.by_readiness) --leases_in_flight_;
    op.by_readiness = true;
    prepare_wait(op, readiness_for(op), entry());
    return true;
}

// What a transfer that the ring has ended, or waited for, tells about its socket.
void uring_backend::take_hints(const operation& op, std::uint32_t flags) const noexcept {
    descriptor_slot& on = *static_cast<const descriptor_operation&>(op).target;
    if (receives_plainly(op)) {
        const bool by_ring =
            op.code == opcode::receive ? !op.by_readiness : (flags & IORING_CQE_F_BUFFER) != 0;
        on.prompt = on.asked_in + 1 == turns_;
        on.answering = true;
        note_size(on, bytes_received(op));
        on.maybe_readable = tells_nonempty() && by_ring && !peeks(op)
                                ? (flags & IORING_CQE_F_SOCK_NONEMPTY) != 0
                                : op.result > 0 && !is_short_read(op);
    } else if (op.code == opcode::receive_batch) {
        on.maybe_readable = op.result > 0 && !is_short_read(op);
    } else if (op.code == opcode::read || op.code == opcode::read_scatter) {
        on.maybe_readable = true;
    } else if (op.code == opcode::send || op.code == opcode::send_gather ||
               op.code == opcode::send_batch || op.code == opcode::write ||
               op.code == opcode::write_gather) {
        on.maybe_writable = true;
        on.answering = false;
    }
}

// On the spot. The ring could take one connection a turn, and only from a listener that blocks: such a one
// blocks the loop where another process is quicker. False if there is none.
bool uring_backend::try_accept(operation& op) noexcept {
    descriptor_slot& listener = *static_cast<descriptor_operation&>(op).target;
    op.result = perform(op);
    if (op.result >= 0 || op.result == -EAGAIN) listener.listens = true;
    if (op.result == -EAGAIN || op.result == -EINTR) {
        listener.note_vain_accept();
        return false;
    }
    listener.note_accept(turns_);
    return true;
}

// A leased read has had a result. True if it has its block, or has failed; false if it waits on.
//
// Where the kernel has chosen, the result names the block. Else there is something to read, but memory
// has to be found yet: the wait was a poll, or the kernel had no block left. The latter ends in one
// call, or in a poll, which needs none; it is never just tried again, or all waiting reads would
// be.
bool uring_backend::fill(lease_operation& op, std::int32_t& result, std::uint32_t flags) noexcept {
    if ((flags & IORING_CQE_F_BUFFER) != 0) {
        std::byte* const block =
            buffers_.take(static_cast<std::uint16_t>(flags >> IORING_CQE_BUFFER_SHIFT));
        if (result > 0) {
            op.block = block;
            return true;
        }
        op.pool->take_back(block);
    }
    const bool at_end = result == 0 && (flags & IORING_CQE_F_BUFFER) == 0;
    if (at_end || (result < 0 && result != -ENOBUFS)) return true;

    if (result == -ENOBUFS) shortages_.add();
    return carry_out(op, result, POLLIN);
}

// The ring has waited for readiness; the call is made here. False if it waits once more.
bool uring_backend::carry_out(operation& op, std::int32_t& result, std::uint32_t events) noexcept {
    if (op.cancel_requested) {
        result = -ECANCELED;
        return true;
    }
    if (op.code == opcode::accept) {
        static_cast<void>(try_accept(op));
    } else {
        op.result = perform(op);
    }
    result = op.result;
    if (result != -EAGAIN && result != -EINTR) {
        carried_bytes_ += bytes_received(op);
        return true;
    }
    rearms_.add();
    prepare_wait(op, events, entry());
    return false;
}

}  // namespace gyre

// SPDX-License-Identifier: BSL-1.0
//
// The readiness machine: see epoll_backend.hpp.
#include <runtime/epoll_backend.hpp>

#include <runtime/latest_wake_up.hpp>
#include <runtime/system_host.hpp>

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace gyre {
namespace {

constexpr std::uint64_t waker_key = UINT64_MAX;

std::uint64_t key_of(const descriptor_slot& it) noexcept {
    return std::uint64_t{it.generation} << 32 | static_cast<std::uint32_t>(it.number);
}

bool reads(const operation& op) noexcept {
    return op.code == opcode::receive || op.code == opcode::receive_scatter ||
           op.code == opcode::receive_lease || op.code == opcode::receive_batch ||
           op.code == opcode::read || op.code == opcode::read_scatter || op.code == opcode::accept;
}

constexpr std::uint32_t reading = EPOLLIN | EPOLLPRI | EPOLLRDHUP;

std::uint32_t interest_of(const operation& op) noexcept {
    if (op.code == opcode::wait_ready)
        return static_cast<const wait_ready_operation&>(op).events | reading;
    return reads(op) ? reading : reading | EPOLLOUT;
}

// epoll_wait's milliseconds, rounded up: waking early would only mean waiting again.
int milliseconds_until(time_point deadline) noexcept {
    if (deadline == never) return -1;
    const duration left = time_left(deadline, std::chrono::steady_clock::now());
    const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    return static_cast<int>(std::min<long long>(rounded, 1'000'000'000));
}

// A signal counts as a harvest of nothing.
int count_of(long harvested) noexcept {
    if (harvested >= 0) return static_cast<int>(harvested);
    return errno == EINTR ? 0 : -errno;
}

// Of datagrams there may be more behind one that was short, or an error.
bool is_emptied_by(const descriptor_operation& op) noexcept {
    const descriptor_slot& it = *op.target;
    return receives_plainly(op) && is_short_read(op) && !it.datagrams &&
           is_emptied_by_short_read(it);
}

}  // namespace

epoll_backend::epoll_backend(std::shared_ptr<waker> shared, std::string reason) noexcept
    : waker_{std::move(shared)},
      epoll_{::epoll_create1(EPOLL_CLOEXEC)},
      reason_{std::move(reason)} {
    if (epoll_ < 0) {
        failed_ = errno;
        return;
    }
    epoll_event event{EPOLLIN | EPOLLET, {.u64 = waker_key}};
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, waker_->number(), &event) != 0) failed_ = errno;
}

epoll_backend::~epoll_backend() { close(); }

void epoll_backend::close() noexcept {
    if (epoll_ >= 0) ::close(epoll_);
    epoll_ = -1;
}

void epoll_backend::attach(io_context& owner) noexcept { loop_ = &owner; }

bool epoll_backend::submit(operation& op) noexcept {
    auto& it = static_cast<descriptor_operation&>(op);
    if (attempt(it)) return true;
    if (const int failed = enlist(*it.target, interest_of(op), op.code == opcode::accept);
        failed < 0) {
        op.result = failed;
        return true;
    }
    // Registering reports what is ready already, so nothing can be missed in between.
    ++waiting_;
    return false;
}

// Tries where the hint says that it may succeed. True when `op.result` is final.
bool epoll_backend::attempt(descriptor_operation& op) noexcept {
    descriptor_slot& it = *op.target;
    bool& hint = reads(op) ? it.maybe_readable : it.maybe_writable;
    const bool asks = op.code == opcode::wait_ready;  // Its own try tells, and proves nothing.
    const bool starts = op.code == opcode::connect && !op.retried;
    const bool may_have_more =
        op.code == opcode::accept && it.repeated && it.may_have_more(loop_->busy(), turn());
    if (!hint && !asks && !starts && !may_have_more) return false;

    do op.result = perform(op);
    while (op.result == -EINTR);
    if (op.result == -EAGAIN) {
        if (!asks) hint = false;
        if (op.code == opcode::accept) it.note_vain_accept();
        return false;
    }
    if (op.code == opcode::accept) {
        it.note_accept(turn());
        hint = !it.repeated;
        return true;
    }
    // A short read has emptied the stream (epoll(7)) unless its end or urgent data lies behind it.
    // Unregistered, no event would raise the hint again, so there it stays.
    if (it.registered && !it.hung_up && is_emptied_by(op)) hint = false;
    return true;
}

// Room to write is asked about only once a write had to wait: else every read by the peer would be an
// event.
int epoll_backend::enlist(descriptor_slot& it, std::uint32_t interest, bool accepts) noexcept {
    if (it.registered && (interest == reading || it.registered_for_writing)) return 0;
    it.repeated = accepts && !it.registered;
    epoll_event event{reading | interest | (it.repeated ? 0U : EPOLLET), {.u64 = key_of(it)}};
    const int how = it.registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (::epoll_ctl(epoll_, how, it.number, &event) < 0) return -errno;
    it.registered = true;
    it.registered_for_writing = (interest & EPOLLOUT) != 0;
    return 0;
}

// Told of in each turn, with nothing here that it is for: once is enough.
void epoll_backend::silence(descriptor_slot& it) noexcept {
    epoll_event event{reading | EPOLLET, {.u64 = key_of(it)}};
    ::epoll_ctl(epoll_, EPOLL_CTL_MOD, it.number, &event);
    it.repeated = it.registered_for_writing = false;
}

void epoll_backend::cancel(operation& op) noexcept {
    --waiting_;
    loop_->complete(op, -ECANCELED);
}

void epoll_backend::forget(descriptor_slot& it) noexcept {
    if (!it.registered) return;
    // Explicit, because a duplicate of the number elsewhere would keep the registration alive.
    epoll_event unused{};
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, it.number, &unused);
    it.registered = it.registered_for_writing = false;
}

error epoll_backend::turn(time_point deadline) noexcept {
    received_ = 0;
    if (holds_back() && serve_harvest()) return {};
    do {
        served_ = 0;
        harvested_ = wait(deadline);
        if (harvested_ < 0) {
            const int failed = -std::exchange(harvested_, 0);
            return error::from_errno(failed, activity::epoll_setup);
        }
        static_cast<void>(serve_harvest());
        if (holds_back()) return {};
        deadline = no_wait;
    } while (harvested_ == events_max);  // A full harvest: there may be more.
    return {};
}

// Goes on with the harvest until it is served or enough has been received. Whether anything came of it.
bool epoll_backend::serve_harvest() noexcept {
    bool any = false;
    while (holds_back() && received_ <= received_bytes_warm) {
        const epoll_event& event = events_[static_cast<std::size_t>(served_++)];
        if (event.data.u64 == waker_key) continue;
        descriptor_slot* it =
            system_host::instance().find(static_cast<int>(event.data.u64 & UINT32_MAX),
                                         static_cast<std::uint32_t>(event.data.u64 >> 32));
        if (it != nullptr && it->home == loop_ && serve(*it, event.events)) any = true;
    }
    return any;
}

// One wait: how many events, or -errno. Container runtimes refuse calls that they do not know, each with an
// error of its own, so any of them is met with the older call.
int epoll_backend::wait(time_point deadline) noexcept {
    visits_.add();
    if (deadline == no_wait) return count_of(::epoll_wait(epoll_, events_.data(), events_max, 0));

    deadline = latest_wake_up(deadline);
    if (precise_wait_ && deadline != never) {
        const duration left = time_left(deadline, std::chrono::steady_clock::now());
        const timespec span{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
        const int count = count_of(
            ::syscall(SYS_epoll_pwait2, epoll_, events_.data(), events_max, &span, nullptr, 0));
        if (count >= 0) return count;
        precise_wait_ = false;
        reason_ += std::string{"; epoll_pwait2 refused: "} + std::strerror(-count) +
                   ", so timers are rounded up to milliseconds";
        loop_->renew_backend_info();
    }
    return count_of(::epoll_wait(epoll_, events_.data(), events_max, milliseconds_until(deadline)));
}

// The descriptor may be ready: tries what waits for it, oldest first, until something would block.
bool epoll_backend::serve(descriptor_slot& it, std::uint32_t events) noexcept {
    if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLPRI)) != 0)
        it.maybe_readable = true;
    if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) it.maybe_writable = true;
    if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLPRI)) != 0) it.hung_up = true;

    bool any = false;
    it.pending.for_each([&](operation& op) {
        if (op.postponed || !attempt(static_cast<descriptor_operation&>(op))) return;
        --waiting_;
        any = true;
        received_ += bytes_received(op);
        loop_->complete(op, op.result);
    });
    if (it.repeated && !any) silence(it);
    return any;
}

}  // namespace gyre

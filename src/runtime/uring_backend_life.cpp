// SPDX-License-Identifier: BSL-1.0
//
// How a ring comes about, is bound to a thread, and is given up: see uring_backend.hpp.
//
// Every way to run one is probed by trying it; what the kernel refuses it says in words that the
// program can print.
#include <runtime/uring_backend.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace gyre {
namespace {

// The three ways to run a ring (docs/decisions/0004-tiers.md), best first.
struct tier {
    backend_choice name;
    std::uint32_t flags;
    const char* meaning;
};

constexpr std::array tiers{
    tier{backend_choice::uring_a,
         IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SUBMIT_ALL |
             IORING_SETUP_R_DISABLED,
         "io_uring with deferred completions"},
    tier{backend_choice::uring_b,
         IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL,
         "io_uring with cooperative completions"},
    tier{backend_choice::uring_c, 0, "plain io_uring"},
};

// Poll multishot came with resource tags (Linux 5.13); the rest is older.
constexpr std::uint32_t features_needed = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP |
                                          IORING_FEAT_SUBMIT_STABLE | IORING_FEAT_FAST_POLL |
                                          IORING_FEAT_EXT_ARG | IORING_FEAT_RSRC_TAGS;

// Memory of closed rings is uncharged a little later, so a refusal for lack of it may be transient. What a
// process waits in vain is bounded; a ring that it gets shows that waiting is worth it.
constexpr int attempts_per_size = 25;
constexpr int attempts_in_vain_max = 5 * attempts_per_size;
constexpr timespec patience_pause{0, 2'000'000};
std::atomic<int> attempts_in_vain = 0;
constexpr unsigned submissions_min = 16;

// Measured: a closed ring lets go of its requests within 2 ms.
constexpr timespec teardown_pause{0, 20'000'000};

std::string refusal_text(const char* what, int failed) {
    return std::string{what} + ": " + std::strerror(failed);
}

}  // namespace

std::unique_ptr<uring_backend> uring_backend::open(std::shared_ptr<waker> shared,
                                                   backend_choice wanted,
                                                   const io_context_options& options,
                                                   std::string& refusal) {
    auto it = std::unique_ptr<uring_backend>{new uring_backend{std::move(shared), options}};
    int failed = EINVAL;
    for (const tier& each : tiers) {
        if (wanted != backend_choice::uring && wanted != each.name) continue;
        failed = it->set_up_patiently(each.name);
        if (failed == 0) {
            it->reason_ = each.meaning;
            return it;
        }
        if (failed != EINVAL)
            break;  // Not a flag this kernel does not know: no other tier will do.
    }
    refusal = refusal_text("io_uring_setup refused", failed);
    return nullptr;
}

// A transient ENOMEM is waited for, then met with a smaller ring, and only then believed.
int uring_backend::set_up_patiently(backend_choice wanted) noexcept {
    for (;;) {
        int failed = set_up(wanted);
        for (int attempt = 0; failed == ENOMEM && attempt < attempts_per_size; ++attempt) {
            if (attempts_in_vain.fetch_add(1, std::memory_order_relaxed) >= attempts_in_vain_max)
                break;
            ::nanosleep(&patience_pause, nullptr);
            failed = set_up(wanted);
        }
        if (failed == 0) attempts_in_vain.store(0, std::memory_order_relaxed);
        if (failed != ENOMEM || options_.ring_submissions / 2 < submissions_min) return failed;
        options_.ring_submissions /= 2;
        options_.ring_completions /= 2;
    }
}

int uring_backend::set_up(backend_choice wanted) noexcept {
    for (const tier& each : tiers) {
        if (each.name != wanted) continue;
        ring_.close();
        const int failed =
            ring_.open(options_.ring_submissions, options_.ring_completions, each.flags);
        if (failed != 0) return failed;
        if ((ring_.features() & features_needed) != features_needed) {
            ring_.close();
            return ENOSYS;
        }
        tier_ = wanted;
        return 0;
    }
    return EINVAL;
}

// Closing a ring cancels asynchronously: an armed accept would hold its port for up to a second. The
// loop has ended every operation by now; what is left is the waker, which holds no memory of an
// operation.
uring_backend::~uring_backend() = default;

void uring_backend::attach(io_context& owner) noexcept { loop_ = &owner; }

error uring_backend::bind_thread() noexcept {
    // A ring that has served another thread still belongs to it: a new one takes 27 us.
    if (bound_) {
        bound_ = false;
        const int failed = set_up_patiently(tier_);
        // Known to the old ring only, which is closed and received nothing any more.
        buffers_.close();
        buffers_refused_ = false;
        if (failed != 0) return error::from_errno(failed, activity::ring_setup);
        announcement_.reset();  // It told of the old ring; asked for again, it tells of this one.
    }
    if (const int failed = ring_.bind_thread(); failed != 0) {
        return error::from_errno(failed, activity::ring_setup);
    }
    bound_ = true;
    watch_waker();
    return {};
}

void uring_backend::leave_to_parent() noexcept {
    buffers_.leave_to_parent();
    ring_.leave_to_parent();
}

// Ends every request without io_uring_enter. Cancelling by register is exact; if that is refused as
// well, closing the ring does it, but in the kernel's own time, of which nothing tells.
void uring_backend::abandon() noexcept {
    buffers_.disarm();  // The blocks will soon have another owner.
    // Closed already, if it was to be made anew for another thread: then nothing was in flight.
    const bool canceled = !ring_.is_open() || ring_.cancel_everything() == 0;
    ring_.reap([this](const io_uring_cqe& result) {
        if (result.res != -ECANCELED) deliver(result);
        return true;
    });
    ring_.close();
    if (!canceled) ::nanosleep(&teardown_pause, nullptr);
    buffers_.close();
    in_flight_ = leases_in_flight_ = 0;
}

}  // namespace gyre

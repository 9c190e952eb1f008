// SPDX-License-Identifier: BSL-1.0
//
// The decision of choose_backend.hpp.
#include <runtime/choose_backend.hpp>

#include <gyre/runtime/loop_decorator.hpp>
#include <runtime/bare_backend.hpp>
#include <runtime/epoll_backend.hpp>
#include <runtime/system_host.hpp>
#include <runtime/uring_backend.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace gyre {

constinit std::atomic<loop_decorator*> loop_decorator::current = nullptr;
namespace {

struct requirement {
    backend_choice choice = backend_choice::automatic;
    const char* source = "by default";
};

requirement required_by(const io_context_options& options) {
    if (options.backend != backend_choice::automatic) return {options.backend, "by option"};

    const char* text = std::getenv("GYRE_BACKEND");
    if (text == nullptr || *text == '\0') return {};
    constexpr std::array choices{backend_choice::automatic, backend_choice::uring,
                                 backend_choice::uring_a,   backend_choice::uring_b,
                                 backend_choice::uring_c,   backend_choice::epoll};
    for (const backend_choice each : choices) {
        if (std::string_view{text} == describe(each)) return {each, "by GYRE_BACKEND"};
    }
    std::fprintf(
        stderr,
        "gyre: GYRE_BACKEND=%s is none of automatic, uring, uring-a, uring-b, uring-c, epoll; "
        "using automatic\n",
        text);
    return {};
}

// Where there is nothing to wait by.
chosen_backend bare_because(error refusal) {
    const bool exhausted = refusal == errc::process_descriptors_exhausted ||
                           refusal == errc::system_descriptors_exhausted;
    const std::string what = exhausted ? "no descriptors for a backend: " : "no backend: ";
    return {std::make_unique<bare_backend>(what + refusal.message()), refusal};
}

chosen_backend epoll_because(std::shared_ptr<waker> shared, std::string reason, error status = {}) {
    auto made = std::make_unique<epoll_backend>(std::move(shared), std::move(reason));
    const int failed = made->failed();
    if (failed != 0) return bare_because(error::from_errno(failed, activity::epoll_setup));
    return {std::move(made), status};
}

chosen_backend refuse(std::shared_ptr<waker> shared, requirement what, const std::string& refusal) {
    return epoll_because(
        std::move(shared),
        std::string{describe(what.choice)} + " required " + what.source + ", but " + refusal,
        error{errc::backend_unavailable, activity::ring_setup});
}

chosen_backend choose(const io_context_options& options, std::shared_ptr<waker> shared) {
    if (const int failed = shared->failed(); failed != 0)
        return bare_because(error::from_errno(failed, activity::wakeup_setup));
    const requirement what = required_by(options);
    if (what.choice == backend_choice::epoll) {
        return epoll_because(std::move(shared), std::string{"epoll required "} + what.source);
    }

    const bool any = what.choice == backend_choice::automatic;
    std::string refusal;
    auto ring =
        uring_backend::open(shared, any ? backend_choice::uring : what.choice, options, refusal);
    if (ring != nullptr) return {std::move(ring), {}};
    if (any) return epoll_because(std::move(shared), refusal);
    return refuse(std::move(shared), what, refusal);
}

chosen_backend choose_next(const backend_info& before, const io_context_options& options,
                           std::shared_ptr<waker> shared, error refusal) {
    // Nothing is left to be tried.
    if (before.kind == backend_choice::epoll) return bare_because(refusal);
    const requirement what = required_by(options);
    const std::string reason = "the kernel withdrew io_uring at run time: " + refusal.message();
    if (what.choice == backend_choice::automatic) return epoll_because(std::move(shared), reason);
    return refuse(std::move(shared), what, reason);
}

chosen_backend decorated(chosen_backend it) {
    loop_decorator* const by = loop_decorator::installed();
    if (by != nullptr) it.backend = by->decorate(std::move(it.backend));
    return it;
}

}  // namespace

const char* describe(backend_choice choice) noexcept {
    switch (choice) {
        case backend_choice::automatic: return "automatic";
        case backend_choice::uring: return "uring";
        case backend_choice::uring_a: return "uring-a";
        case backend_choice::uring_b: return "uring-b";
        case backend_choice::uring_c: return "uring-c";
        case backend_choice::epoll: return "epoll";
        case backend_choice::none: return "none";
        case backend_choice::custom: return "custom";
    }
    return "unknown";
}

host& choose_host() noexcept {
    system_host::hold_standard_numbers();  // Before the loop opens anything.
    host& machine = system_host::instance();
    loop_decorator* const by = loop_decorator::installed();
    return by != nullptr ? by->decorate(machine) : machine;
}

chosen_backend choose_backend(const io_context_options& options, std::shared_ptr<waker> shared) {
    return decorated(choose(options, std::move(shared)));
}

chosen_backend choose_next_backend(const backend_info& before, const io_context_options& options,
                                   std::shared_ptr<waker> shared, error refusal) {
    return decorated(choose_next(before, options, std::move(shared), refusal));
}

}  // namespace gyre

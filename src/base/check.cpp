// SPDX-License-Identifier: BSL-1.0
//
// What a failed check does: see include/gyre/base/check.hpp.
#include <gyre/base/check.hpp>

#include <gyre/base/last_words.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace gyre {
namespace {

std::atomic<check_hook> installed_hook{nullptr};

}  // namespace

check_hook set_check_hook(check_hook hook) noexcept {
    return installed_hook.exchange(hook, std::memory_order_acq_rel);
}

void fail_check(const char* kind, const char* text, std::source_location where) noexcept {
    // Taken out first: a hook that fails a check itself must not recurse.
    check_hook hook = installed_hook.exchange(nullptr, std::memory_order_acq_rel);
    const check_failure failure{kind, text, where};
    std::fprintf(stderr, "gyre: failed %s: %s\n  at %s:%u in %s\n", kind, text, where.file_name(),
                 static_cast<unsigned>(where.line()), where.function_name());
    if (hook != nullptr) hook(failure);
    std::fflush(stderr);
    last_words::say();
    std::abort();
}

}  // namespace gyre

// SPDX-License-Identifier: BSL-1.0
//
// What coroutine frames do not do: align their locals beyond malloc's alignment, and use one place for
// two buffers. The rules: over-aligned objects do not live in frames, and big buffers do not live in
// frames of library coroutines.
#include <gyre/base/build.hpp>
#include <support/skip.hpp>
#include <toolchain/verdict.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

// A coroutine that is never more than started, and knows the size of its frame.
struct measured {
    struct promise_type {
        static void* operator new(std::size_t size) {
            frame_size = size;
            return std::malloc(size);
        }
        static void operator delete(void* frame) { std::free(frame); }
        measured get_return_object() noexcept {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept {}
    };
    std::coroutine_handle<> handle;
    static inline std::size_t frame_size = 0;
};

constexpr std::size_t buffer_size = 4096;

const void* volatile last_used = nullptr;

void use(const void* memory) { last_used = memory; }

measured two_disjoint_buffers() {
    {
        std::array<std::byte, buffer_size> first{};
        use(first.data());
        co_await std::suspend_always{};
        use(first.data());
    }
    {
        std::array<std::byte, buffer_size> second{};
        use(second.data());
        co_await std::suspend_always{};
        use(second.data());
    }
}

measured aligned_local(bool& aligned) {
    alignas(64) std::array<std::byte, 64> local{};
    use(local.data());
    co_await std::suspend_always{};
    aligned = aligned && reinterpret_cast<std::uintptr_t>(local.data()) % 64 == 0;
    use(local.data());
}

// Many frames at the same time, so that they lie at every distance from a multiple of 64.
bool always_aligned() {
    bool aligned = true;
    std::array<void*, 32> shifts{};
    std::vector<measured> frames;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
        shifts[i] = std::malloc(16 * (i + 1));
        frames.push_back(aligned_local(aligned));
    }
    for (const measured& it : frames) {
        it.handle.resume();
        it.handle.destroy();
    }
    for (void* each : shifts) std::free(each);
    return aligned;
}

}  // namespace

TEST_CASE("on record: an over-aligned local is misaligned in its frame") {
    if (!recycles_memory && !is_gcc_12) return skip("clang's address sanitizer aligns it");
    compare_with_record({.clang_19 = verdict::wrong, .gcc_12 = verdict::wrong}, always_aligned);
}

TEST_CASE("on record: two buffers that are never alive together cost a frame the space of both") {
    const measured it = two_disjoint_buffers();
    it.handle.destroy();

    CAPTURE(measured::frame_size);
    CHECK(measured::frame_size > buffer_size);
    if (is_gcc_12) CHECK(measured::frame_size > 2 * buffer_size);  // clang: when not optimising.
}

// SPDX-License-Identifier: BSL-1.0
//
// Counts allocations by standing in front of the C library's malloc.
//
// Replacing `operator new` would miss libraries that call malloc themselves. The executable's
// definitions win over the C library's for everything in the process, and hand over to the names
// under which glibc exports the same functions. Memory stays glibc's own, so `free` is left alone.
#include <lab/allocations.hpp>

#include <cerrno>
#include <cstddef>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

// Not atomic: each thread counts its own, so that counting costs one increment.
constinit thread_local std::uint64_t allocation_count = 0;

}  // namespace

namespace lab {

std::uint64_t allocations_of_this_thread() noexcept { return allocation_count; }

}  // namespace lab

extern "C" {

void* malloc(std::size_t size) noexcept {
    ++allocation_count;
    return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    ++allocation_count;
    return __libc_calloc(count, size);
}

void* realloc(void* old, std::size_t size) noexcept {
    ++allocation_count;
    return __libc_realloc(old, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
    ++allocation_count;
    return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    ++allocation_count;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
    ++allocation_count;
    *result = __libc_memalign(alignment, size);
    return *result == nullptr ? ENOMEM : 0;
}
}

// SPDX-License-Identifier: BSL-1.0
//
// Stands in front of the C library's malloc, to count its calls.
//
// Replacing `operator new` would miss libraries that call malloc themselves. These definitions win over the
// C library's for everything in the process, and hand over to the names under which glibc exports the same
// functions. Memory stays glibc's own, so `free` is left alone. Include it in one source file of a
// program, which defines `count_allocation`.
#pragma once

#include <cerrno>
#include <cstddef>

static void count_allocation() noexcept;

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) noexcept {
    count_allocation();
    return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    count_allocation();
    return __libc_calloc(count, size);
}

void* realloc(void* old, std::size_t size) noexcept {
    count_allocation();
    return __libc_realloc(old, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
    count_allocation();
    return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    count_allocation();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
    count_allocation();
    *result = __libc_memalign(alignment, size);
    return *result == nullptr ? ENOMEM : 0;
}
}

// SPDX-License-Identifier: BSL-1.0
#include <http2/engine_memory.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace gyre::http2 {
namespace {

// In front of each block, as large as keeps what follows aligned: its size.
constexpr std::size_t prefix = alignof(std::max_align_t);

std::byte* block_of(void* memory) noexcept { return static_cast<std::byte*>(memory) - prefix; }

std::size_t size_of_block(void* memory) noexcept {
    std::size_t size = 0;
    std::memcpy(&size, block_of(memory), sizeof(size));
    return size;
}

}  // namespace

void* engine_memory::allocate(std::size_t size, void* from) noexcept {
    return static_cast<engine_memory*>(from)->take(size);
}

void* engine_memory::allocate_zeros(std::size_t count, std::size_t size, void* from) noexcept {
    if (size != 0 && count > SIZE_MAX / size) return nullptr;
    void* const memory = allocate(count * size, from);
    if (memory != nullptr) std::memset(memory, 0, count * size);
    return memory;
}

void* engine_memory::take(std::size_t size) noexcept {
    if (size > bytes_max_ || used_ + prefix > bytes_max_ - size) return nullptr;
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): what nghttp2 asks for is malloc.
    void* const block = std::malloc(prefix + size);
    if (block == nullptr) return nullptr;
    std::memcpy(block, &size, sizeof(size));
    used_ += prefix + size;
    used_most_ = std::max(used_most_, used_);
    return static_cast<std::byte*>(block) + prefix;
}

void* engine_memory::reallocate(void* memory, std::size_t size, void* from) noexcept {
    if (memory == nullptr) return allocate(size, from);
    void* const moved = allocate(size, from);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, memory, std::min(size, size_of_block(memory)));
    release(memory, from);
    return moved;
}

void engine_memory::release(void* memory, void* from) noexcept {
    if (memory == nullptr) return;
    static_cast<engine_memory*>(from)->used_ -= prefix + size_of_block(memory);
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc)
    std::free(block_of(memory));
}

}  // namespace gyre::http2

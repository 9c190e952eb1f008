// SPDX-License-Identifier: BSL-1.0
//
// Lending, returning and freeing blocks: see receive_pool.hpp.
#include <runtime/receive_pool.hpp>

#include <gyre/base/check.hpp>
#include <gyre/runtime/io_context.hpp>

#include <cstdlib>
#include <new>
#include <utility>

namespace gyre {

receive_pool::~receive_pool() {
    returned_.take_all([](block& it) noexcept { std::free(&it); });
    while (first_ != nullptr) std::free(std::exchange(first_, first_->next));
}

void receive_pool::close() noexcept {
    closed_.store(true, std::memory_order_relaxed);
    // Once subtracted, another thread may be the last and free all this.
    const std::int64_t out = out_;
    if (balance_.fetch_sub(out, std::memory_order_acq_rel) == out) delete this;
}

std::byte* receive_pool::lend() noexcept {
    if (first_ == nullptr) returned_.take_all([this](block& it) noexcept { keep(it); });
    void* memory = first_;
    if (first_ != nullptr) {
        first_ = first_->next;
        --kept_;
    } else {
        memory = std::malloc(block_size_);
        made_.add();
        ensures(memory != nullptr, "out of memory for a block to receive into");
    }
    ++out_;
    return static_cast<std::byte*>(memory);
}

void receive_pool::take_back(std::byte* memory) noexcept {
    block& it = *::new (static_cast<void*>(memory)) block{nullptr};
    // Another loop may have the address of a dead one.
    if (io_context::running_on_this_thread(owner_) && !closed_.load(std::memory_order_relaxed)) {
        --out_;
        keep(it);
        return;
    }
    returned_.push(it);
    if (balance_.fetch_add(1, std::memory_order_acq_rel) == -1) delete this;
}

void receive_pool::keep(block& it) noexcept {
    if (kept_ == blocks_kept_) {
        std::free(&it);
        return;
    }
    it.next = std::exchange(first_, &it);
    ++kept_;
}

}  // namespace gyre

// SPDX-License-Identifier: BSL-1.0
//
// See the header: a trie over chunk numbers, six bits a step, from the highest bits down.
#include <exchange/core/far_chunks.hpp>

#include <bit>

namespace exchange {
namespace {

constexpr unsigned bits_per_step = 6;
constexpr unsigned key_bits = bits_per_step * far_chunks::steps;

static_assert(price_ticks_max >> chunk_bits < chunk_number{1} << (key_bits - 1));

using path = std::uint64_t;

// Negative numbers come first.
path path_to(chunk_number number) noexcept {
    return static_cast<path>(number + (chunk_number{1} << (key_bits - 1)));
}

unsigned branch(path key, unsigned step) noexcept {
    return static_cast<unsigned>(key >> (bits_per_step * (far_chunks::steps - 1 - step))) % 64;
}

std::uint64_t bit(unsigned at) noexcept { return std::uint64_t{1} << at; }

std::uint64_t bits_from(unsigned at) noexcept { return ~std::uint64_t{0} << at; }

std::uint64_t bits_after(unsigned at) noexcept { return at == 63 ? 0 : bits_from(at + 1); }

// The first chunk below `from`, which stands before step `step`.
chunk_index leftmost(const node_pool& nodes, std::uint32_t from, unsigned step) noexcept {
    for (; step < far_chunks::steps; ++step) {
        from = nodes[from].next[std::countr_zero(nodes[from].branches)];
    }
    return from;
}

}  // namespace

std::uint32_t node_pool::take() noexcept {
    expects(has(1));
    ++in_use_;
    if (free_ == 0) return fresh_++;
    const std::uint32_t taken = free_;
    free_ = nodes_[taken].next[0];
    nodes_[taken].next[0] = 0;
    return taken;
}

void node_pool::give_back(std::uint32_t gone) noexcept {
    expects(nodes_[gone].branches == 0);
    nodes_[gone].next[0] = free_;
    free_ = gone;
    --in_use_;
}

chunk_index far_chunks::find(const node_pool& nodes, chunk_number number) const noexcept {
    const path key = path_to(number);
    std::uint32_t at = root_;
    // Node 0 is never taken and leads nowhere, so a missing branch needs no test of its own.
    for (unsigned step = 0; step < steps; ++step) at = nodes[at].next[branch(key, step)];
    return at;
}

void far_chunks::insert(node_pool& nodes, chunk_number number, chunk_index chunk) noexcept {
    const path key = path_to(number);
    if (root_ == 0) root_ = nodes.take();
    std::uint32_t at = root_;
    for (unsigned step = 0; step + 1 < steps; ++step) {
        const unsigned to = branch(key, step);
        if (nodes[at].next[to] == 0) {
            nodes[at].next[to] = nodes.take();
            nodes[at].branches |= bit(to);
        }
        at = nodes[at].next[to];
    }
    const unsigned last = branch(key, steps - 1);
    expects(nodes[at].next[last] == 0);
    nodes[at].next[last] = chunk;
    nodes[at].branches |= bit(last);
}

void far_chunks::erase(node_pool& nodes, chunk_number number) noexcept {
    const path key = path_to(number);
    std::uint32_t trail[steps];
    trail[0] = root_;
    for (unsigned step = 1; step < steps; ++step) {
        trail[step] = nodes[trail[step - 1]].next[branch(key, step - 1)];
    }
    for (unsigned step = steps; step-- > 0;) {
        node_pool::node& it = nodes[trail[step]];
        const unsigned to = branch(key, step);
        expects((it.branches & bit(to)) != 0);
        it.branches &= ~bit(to);
        it.next[to] = 0;
        if (it.branches != 0) return;
        nodes.give_back(trail[step]);
    }
    root_ = 0;
}

chunk_index far_chunks::at_or_after(const node_pool& nodes, chunk_number number) const noexcept {
    if (root_ == 0) return 0;
    const path key = path_to(number);
    std::uint32_t trail[steps];
    std::uint32_t at = root_;
    unsigned step = 0;
    // Down along the key as far as it goes,
    for (; step < steps; ++step) {
        trail[step] = at;
        const unsigned to = branch(key, step);
        if ((nodes[at].branches & bit(to)) == 0) break;
        at = nodes[at].next[to];
    }
    if (step == steps) return at;
    // then up to the first turning to the right, and down again on the left.
    for (++step; step-- > 0;) {
        const node_pool::node& it = nodes[trail[step]];
        const std::uint64_t right = it.branches & bits_after(branch(key, step));
        if (right != 0) return leftmost(nodes, it.next[std::countr_zero(right)], step + 1);
    }
    return 0;
}

}  // namespace exchange

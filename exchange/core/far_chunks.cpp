// SPDX-License-Identifier: BSL-1.0
//
// See the header: a trie over chunk numbers, six bits a step, from the highest bits down.
#include <exchange/core/far_chunks.hpp>

#include <bit>

namespace exchange {
namespace {

constexpr unsigned bits_per_step = 6;
constexpr unsigned key_bits = bits_per_step * far_chunks::steps;

constexpr chunk_number number_max = (chunk_number{1} << (key_bits - 1)) - 1;

static_assert(price_ticks_max >> chunk_bits <= number_max);

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

// A branch leads to a node, or to the only chunk below it.
constexpr std::uint32_t chunk_flag = 1u << 31;

bool is_node(std::uint32_t to) noexcept { return to != 0 && (to & chunk_flag) == 0; }

chunk_index chunk_behind(std::uint32_t to) noexcept { return to & ~chunk_flag; }

// The chunk with the lowest number below a branch.
chunk_index leftmost(const node_pool& nodes, std::uint32_t to) noexcept {
    while (is_node(to)) to = nodes[to].next[std::countr_zero(nodes[to].branches)];
    return chunk_behind(to);
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

chunk_index far_chunks::find(const level_memory& memory, chunk_number number) const noexcept {
    const path key = path_to(number);
    std::uint32_t at = root_;
    for (unsigned step = 0; is_node(at); ++step) at = memory.nodes[at].next[branch(key, step)];
    // What is alone below a branch may be another chunk.
    const chunk_index found = chunk_behind(at);
    return found != 0 && memory.chunks[found].number == number ? found : 0;
}

void far_chunks::insert(level_memory& memory, chunk_index chunk) noexcept {
    node_pool& nodes = memory.nodes;
    const path key = path_to(memory.chunks[chunk].number);
    std::uint32_t* link = &root_;
    unsigned step = 0;
    while (is_node(*link)) {
        node_pool::node& it = nodes[*link];
        const unsigned to = branch(key, step++);
        it.branches |= bit(to);
        link = &it.next[to];
    }
    const std::uint32_t other = *link;
    if (other == 0) {
        *link = chunk | chunk_flag;
        return;
    }
    // Two share this branch: nodes as far down as they go together.
    const path other_key = path_to(memory.chunks[chunk_behind(other)].number);
    expects(key != other_key);
    for (;; ++step) {
        *link = nodes.take();
        node_pool::node& it = nodes[*link];
        const unsigned to = branch(key, step);
        const unsigned other_to = branch(other_key, step);
        it.branches = bit(to) | bit(other_to);
        if (to != other_to) {
            it.next[to] = chunk | chunk_flag;
            it.next[other_to] = other;
            return;
        }
        link = &it.next[to];
    }
}

void far_chunks::erase(level_memory& memory, chunk_number number) noexcept {
    node_pool& nodes = memory.nodes;
    const path key = path_to(number);
    std::uint32_t trail[steps];
    unsigned depth = 0;
    std::uint32_t at = root_;
    for (; is_node(at); ++depth) {
        trail[depth] = at;
        at = nodes[at].next[branch(key, depth)];
    }
    expects(at != 0);
    if (depth == 0) {
        root_ = 0;
        return;
    }
    const unsigned gone = branch(key, depth - 1);
    nodes[trail[depth - 1]].branches &= ~bit(gone);
    nodes[trail[depth - 1]].next[gone] = 0;
    // A chunk that is now alone moves up to where its way parts from the others'.
    for (; depth > 0; --depth) {
        node_pool::node& it = nodes[trail[depth - 1]];
        std::uint32_t& only = it.next[std::countr_zero(it.branches)];
        if (!std::has_single_bit(it.branches) || is_node(only)) return;
        std::uint32_t& link =
            depth == 1 ? root_ : nodes[trail[depth - 2]].next[branch(key, depth - 2)];
        link = only;
        only = 0;
        it.branches = 0;
        nodes.give_back(trail[depth - 1]);
    }
}

chunk_index far_chunks::at_or_after(const level_memory& memory,
                                    chunk_number number) const noexcept {
    if (number > number_max) return 0;  // Behind the last price there is, whose path would wrap.
    const node_pool& nodes = memory.nodes;
    const path key = path_to(number);
    std::uint32_t trail[steps];
    unsigned depth = 0;
    std::uint32_t at = root_;
    // Down along the key as far as it goes,
    for (; is_node(at); ++depth) {
        trail[depth] = at;
        at = nodes[at].next[branch(key, depth)];
    }
    const chunk_index found = chunk_behind(at);
    if (found != 0 && memory.chunks[found].number >= number) return found;
    // then up to the first turning to the right, and down again on the left.
    while (depth-- > 0) {
        const node_pool::node& it = nodes[trail[depth]];
        const std::uint64_t right = it.branches & bits_after(branch(key, depth));
        if (right != 0) return leftmost(nodes, it.next[std::countr_zero(right)]);
    }
    return 0;
}

}  // namespace exchange

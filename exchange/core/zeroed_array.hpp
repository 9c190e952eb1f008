// SPDX-License-Identifier: BSL-1.0
//
// A table of fixed size whose memory is reserved at the start, and used only where something stands.
//
// A vector writes its zeros, and the machine has to find memory for all of them, though most tables are
// made for a day that never comes. What the system hands out afresh is zero without being written,
// so here it is left alone until somebody writes into it: a table costs what is in it.
#pragma once

#include <exchange/core/check.hpp>

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <type_traits>

namespace exchange {

/// A whole line of the cache: where every table begins.
inline constexpr std::size_t table_alignment = 64;

/// What a table of so many elements reserves; more than there is if that is no number.
template <class Element>
[[nodiscard]] constexpr std::size_t table_bytes(std::size_t elements) noexcept {
    constexpr std::size_t most = ~std::size_t{0} - table_alignment;
    if (elements > most / sizeof(Element)) return ~std::size_t{0};
    return elements * sizeof(Element) + table_alignment;
}

/// So many elements, all of whose bytes are zero at first.
///
/// @tparam  Element  One whose initial state is that all its bytes are zero.
///
/// Threads:  One at a time.
/// Cost:     Address space at construction. A page is the process's own once something was written into it.
///           Whether there will be memory for all pages is asked before (management/memory_need.hpp); that
///           not even the addresses are to be had is a trap.
template <class Element>
    requires std::is_trivially_copyable_v<Element> && std::is_trivially_destructible_v<Element>
class zeroed_array {
    static_assert(alignof(Element) <= table_alignment);

public:
    explicit zeroed_array(std::size_t size)
        : memory_{reserve(table_bytes<Element>(size))}, size_{size} {
        void* begin = memory_.get();
        std::size_t space = table_bytes<Element>(size);
        begin_ = static_cast<Element*>(
            std::align(table_alignment, size * sizeof(Element), begin, space));
    }

    [[nodiscard]] Element& operator[](std::size_t at) noexcept { return begin_[at]; }
    [[nodiscard]] const Element& operator[](std::size_t at) const noexcept { return begin_[at]; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    // To look at all of it is to read what was never written: nothing of the core does.
    [[nodiscard]] const Element* begin() const noexcept { return begin_; }
    [[nodiscard]] const Element* end() const noexcept { return begin_ + size_; }

private:
    struct give_back {
        void operator()(void* gone) const noexcept { std::free(gone); }
    };

    [[nodiscard]] static void* reserve(std::size_t bytes) {
        expects(bytes <= std::numeric_limits<std::size_t>::max() / 2);
        void* const made = std::calloc(1, bytes);
        expects(made != nullptr);
        return made;
    }

    std::unique_ptr<void, give_back> memory_;
    Element* begin_ = nullptr;
    std::size_t size_;
};

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// Which members of a pool, by number: those that sleep, those with more than they can do.
//
// A bit each, so that any thread adds, removes and finds one in a single atomic step.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace gyre {

/// Every function is sequentially consistent and for any thread.
///
/// @tparam  Atomic  A test has one of its own.
template <unsigned MembersMax = 256, template <class> class Atomic = std::atomic>
class member_set {
public:
    static constexpr unsigned members_max = MembersMax;

    void add(unsigned member) noexcept { word(member).fetch_or(bit(member)); }

    /// False if it was not in the set.
    bool remove(unsigned member) noexcept {
        return (word(member).fetch_and(~bit(member)) & bit(member)) != 0;
    }

    [[nodiscard]] bool contains(unsigned member) const noexcept {
        return (words_[member / bits].load() & bit(member)) != 0;
    }

    [[nodiscard]] bool empty() const noexcept {
        for (const auto& each : words_) {
            if (each.load() != 0) return false;
        }
        return true;
    }

    /// How many there are.
    [[nodiscard]] std::size_t size() const noexcept {
        std::size_t count = 0;
        for (const auto& each : words_) {
            count += static_cast<std::size_t>(std::popcount(each.load()));
        }
        return count;
    }

    /// Removes any one; `members_max` if it was empty.
    [[nodiscard]] unsigned remove_any() noexcept {
        for (unsigned index = 0; index < words_.size(); ++index) {
            for (std::uint64_t found = words_[index].load(); found != 0;
                 found = words_[index].load()) {
                const unsigned member =
                    index * bits + static_cast<unsigned>(std::countr_zero(found));
                if (remove(member)) return member;
            }
        }
        return members_max;
    }

private:
    friend struct parking_counts;  // A test's.

    static constexpr unsigned bits = 64;

    [[nodiscard]] static constexpr std::uint64_t bit(unsigned member) noexcept {
        return std::uint64_t{1} << (member % bits);
    }
    [[nodiscard]] Atomic<std::uint64_t>& word(unsigned member) noexcept {
        return words_[member / bits];
    }

    std::array<Atomic<std::uint64_t>, (MembersMax + bits - 1) / bits> words_{};
};

}  // namespace gyre

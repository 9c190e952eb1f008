// SPDX-License-Identifier: BSL-1.0
//
// What std::atomic becomes in sources that are explored: modelled_atomics.hpp puts it there.
//
// In a thread that is explored each access is a step of execution_space.hpp; elsewhere it is a plain value,
// as before such threads begin and after they have ended.
#pragma once

#include <runtime/orders/execution_space.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace gyre::testing {

template <class Value>
class modelled_atomic {
    static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) <= sizeof(std::uint64_t));

public:
    using value_type = Value;
    static constexpr bool is_always_lock_free = true;

    constexpr modelled_atomic() noexcept : value_{} {}
    constexpr modelled_atomic(Value value) noexcept : value_{value} {}
    modelled_atomic(const modelled_atomic&) = delete;
    modelled_atomic& operator=(const modelled_atomic&) = delete;
    constexpr ~modelled_atomic() {
        if (!std::is_constant_evaluated()) end();
    }

    [[nodiscard]] Value load(std::memory_order order = std::memory_order_seq_cst) const noexcept {
        const unobserved itself;
        execution_space* const in = execution_space::here();
        return in == nullptr ? value_ : value(in->load(this, bits(value_), order));
    }
    operator Value() const noexcept { return load(); }
    void store(Value next, std::memory_order order = std::memory_order_seq_cst) noexcept {
        const unobserved itself;
        if (execution_space* const in = execution_space::here())
            in->store(this, bits(value_), bits(next), order);
        value_ = next;
    }
    Value operator=(Value next) noexcept {
        store(next);
        return next;
    }
    Value exchange(Value next, std::memory_order order = std::memory_order_seq_cst) noexcept {
        return change([next](Value) { return next; }, order);
    }
    Value fetch_add(auto by, std::memory_order order = std::memory_order_seq_cst) noexcept {
        return change([by](Value it) { return static_cast<Value>(it + by); }, order);
    }
    Value fetch_sub(auto by, std::memory_order order = std::memory_order_seq_cst) noexcept {
        return change([by](Value it) { return static_cast<Value>(it - by); }, order);
    }
    Value fetch_or(Value by, std::memory_order order = std::memory_order_seq_cst) noexcept {
        return change([by](Value it) { return static_cast<Value>(it | by); }, order);
    }
    Value fetch_and(Value by, std::memory_order order = std::memory_order_seq_cst) noexcept {
        return change([by](Value it) { return static_cast<Value>(it & by); }, order);
    }
    bool compare_exchange_strong(Value& expected, Value next, std::memory_order success,
                                 std::memory_order failure) noexcept {
        const unobserved itself;
        execution_space* const in = execution_space::here();
        std::uint64_t seen = bits(expected);
        const bool done = in == nullptr ? bits(value_) == seen
                                        : in->compare_exchange(this, bits(value_), seen, bits(next),
                                                               success, failure);
        if (done) {
            value_ = next;
        } else {
            expected = in == nullptr ? value_ : value(seen);
        }
        return done;
    }
    bool compare_exchange_strong(Value& expected, Value next,
                                 std::memory_order order = std::memory_order_seq_cst) noexcept {
        return compare_exchange_strong(expected, next, order, order);
    }
    /// It never fails without a reason: what follows such a failure is what would have come without it.
    bool compare_exchange_weak(Value& expected, Value next, std::memory_order success,
                               std::memory_order failure) noexcept {
        return compare_exchange_strong(expected, next, success, failure);
    }
    bool compare_exchange_weak(Value& expected, Value next,
                               std::memory_order order = std::memory_order_seq_cst) noexcept {
        return compare_exchange_strong(expected, next, order, order);
    }

private:
    static std::uint64_t bits(Value it) noexcept {
        std::uint64_t all = 0;
        std::memcpy(&all, &it, sizeof it);
        return all;
    }
    static Value value(std::uint64_t all) noexcept {
        Value it;
        std::memcpy(static_cast<void*>(&it), &all, sizeof it);
        return it;
    }

    void end() noexcept {
        const unobserved itself;
        if (execution_space* const in = execution_space::here()) in->end(this, bits(value_));
    }

    template <class How>
    Value change(const How& how, std::memory_order order) noexcept {
        const unobserved itself;
        Value before = value_;
        if (execution_space* const in = execution_space::here()) {
            before = value(in->last(this, bits(value_), order));
            in->replace_last(this, bits(how(before)), order);
        }
        value_ = how(before);
        return before;
    }

    Value value_;
};

}  // namespace gyre::testing

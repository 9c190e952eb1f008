// SPDX-License-Identifier: BSL-1.0
//
// An error *and* the progress made before it: what every fallible call of the library yields.
//
// A read can transfer bytes and then fail, so this is a product, not a choice between two. There is
// deliberately no operator bool (`if (co_await read())` would compile and mean the opposite of what
// its reader thinks) and nothing here throws. error.hpp holds the failures.
#pragma once

#include <gyre/base/build.hpp>
#include <gyre/base/error.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace gyre {

/// The outcome of an operation: an error, and up to two values that are meaningful beside it.
///
/// Destructures (`auto [error, size] = ...`). Values that own something are better reached by
/// `ok()` and `take()`. Every payload has a null state (zero bytes, a closed socket), which is what
/// it holds when nothing was achieved.
template <class... Values>
class io_result;

/// An error, and the values that were reached before it; without values, an error alone.
template <>
class [[nodiscard]] io_result<> {
public:
    constexpr io_result() noexcept = default;
    constexpr io_result(gyre::error failure) noexcept : error_{failure} {}
    constexpr io_result(errc code) noexcept : error_{code} {}

    [[nodiscard]] constexpr bool ok() const noexcept { return !error_; }
    [[nodiscard]] constexpr gyre::error error() const noexcept { return error_; }

    /// Replaces the error and keeps the progress beside it.
    constexpr void set_error(gyre::error failure) noexcept { error_ = failure; }

    template <std::size_t Index>
    [[nodiscard]] constexpr gyre::error get() const noexcept {
        return error_;
    }

private:
    gyre::error error_;
};

template <class Value>
class [[nodiscard]] io_result<Value> {
    static_assert(std::is_default_constructible_v<Value>,
                  "an io_result holds its value's null state when nothing was achieved: for a type "
                  "without a default constructor yield std::optional or std::unique_ptr of it");

public:
    constexpr io_result() = default;
    constexpr io_result(gyre::error failure) : error_{failure} {}
    constexpr io_result(errc code) : error_{code} {}
    constexpr io_result(Value value) noexcept(std::is_nothrow_move_constructible_v<Value>)
        : value_{std::move(value)} {}
    constexpr io_result(gyre::error failure, Value value)
        : error_{failure}, value_{std::move(value)} {}

    [[nodiscard]] constexpr bool ok() const noexcept { return !error_; }
    [[nodiscard]] constexpr gyre::error error() const noexcept { return error_; }

    /// Replaces the error and keeps the progress beside it.
    constexpr void set_error(gyre::error failure) noexcept { error_ = failure; }

    /// What was reached before the error, in place: the null state if that was nothing. A payload that
    /// owns something does not copy: `take()` moves it out.
    [[nodiscard]] constexpr Value& value() & noexcept GYRE_LIFETIMEBOUND { return value_; }
    [[nodiscard]] constexpr const Value& value() const& noexcept GYRE_LIFETIMEBOUND {
        return value_;
    }

    /// Moves the payload out; afterwards the result holds its moved-from state.
    [[nodiscard]] constexpr Value take() noexcept(std::is_nothrow_move_constructible_v<Value>) {
        return std::move(value_);
    }

    template <std::size_t Index>
    [[nodiscard]] constexpr auto get() && {
        if constexpr (Index == 0) return error_;
        else return std::move(value_);
    }
    template <std::size_t Index>
    [[nodiscard]] constexpr auto& get() & noexcept {
        if constexpr (Index == 0) return error_;
        else return value_;
    }
    template <std::size_t Index>
    [[nodiscard]] constexpr const auto& get() const& noexcept {
        if constexpr (Index == 0) return error_;
        else return value_;
    }

private:
    gyre::error error_;
    Value value_{};
};

template <class First, class Second>
class [[nodiscard]] io_result<First, Second> {
public:
    constexpr io_result() = default;
    constexpr io_result(gyre::error failure) : error_{failure} {}
    constexpr io_result(errc code) : error_{code} {}
    constexpr io_result(gyre::error failure, First first, Second second)
        : error_{failure}, first_{std::move(first)}, second_{std::move(second)} {}

    [[nodiscard]] constexpr bool ok() const noexcept { return !error_; }
    [[nodiscard]] constexpr gyre::error error() const noexcept { return error_; }

    /// Replaces the error and keeps the progress beside it.
    constexpr void set_error(gyre::error failure) noexcept { error_ = failure; }

    template <std::size_t Index>
    [[nodiscard]] constexpr auto get() && {
        if constexpr (Index == 0) return error_;
        else if constexpr (Index == 1) return std::move(first_);
        else return std::move(second_);
    }
    template <std::size_t Index>
    [[nodiscard]] constexpr auto& get() & noexcept {
        if constexpr (Index == 0) return error_;
        else if constexpr (Index == 1) return first_;
        else return second_;
    }
    template <std::size_t Index>
    [[nodiscard]] constexpr const auto& get() const& noexcept {
        if constexpr (Index == 0) return error_;
        else if constexpr (Index == 1) return first_;
        else return second_;
    }

private:
    gyre::error error_;
    First first_{};
    Second second_{};
};

static_assert(sizeof(io_result<std::size_t>) == 16, "error and count come back in two registers");

/// A type that tells failure the way the library does.
template <class Type>
inline constexpr bool is_io_result = false;
template <class... Values>
inline constexpr bool is_io_result<io_result<Values...>> = true;

}  // namespace gyre

template <class... Values>
struct std::tuple_size<gyre::io_result<Values...>>
    : std::integral_constant<std::size_t, 1 + sizeof...(Values)> {};

template <class... Values>
struct std::tuple_element<0, gyre::io_result<Values...>> {
    using type = gyre::error;
};

template <class First, class... Rest>
struct std::tuple_element<1, gyre::io_result<First, Rest...>> {
    using type = First;
};

template <class First, class Second>
struct std::tuple_element<2, gyre::io_result<First, Second>> {
    using type = Second;
};

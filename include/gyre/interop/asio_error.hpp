// SPDX-License-Identifier: BSL-1.0
//
// Conversion between errors of gyre and of Boost.Asio.
//
// Both sides speak errno, so most codes keep their number. What differs is written down here once:
// cancellation, the end of a stream, and the categories that only one side has.
#pragma once

#include <gyre/base/error_code.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/error_condition.hpp>

#include <string>
#include <system_error>

namespace gyre {

/// `error_category` as Boost.System has it; the standard's is called "std:unknown" there.
class asio_error_category final : public boost::system::error_category {
public:
    [[nodiscard]] static const asio_error_category& instance() noexcept {
        static const asio_error_category it;
        return it;
    }

    [[nodiscard]] const char* name() const noexcept override { return "gyre"; }
    [[nodiscard]] std::string message(int value) const override {
        return describe(static_cast<errc>(value));
    }
    [[nodiscard]] boost::system::error_condition default_error_condition(
        int value) const noexcept override {
        const std::error_condition standard = gyre::error_category().default_error_condition(value);
        if (standard.category() == std::generic_category()) {
            return {standard.value(), boost::system::generic_category()};
        }
        return {value, *this};
    }

private:
    // Drawn by lot: categories with the same one are the same, in whichever library they are.
    asio_error_category() noexcept : boost::system::error_category{0x5b1d9c36a4e7f082} {}
};

/// The gyre error for an Asio failure. Categories that gyre has no codes for (the resolver's, TLS, a
/// program's own) become `errc::foreign`; where the difference matters, `asio::as_tuple` around the token
/// keeps the original.
[[nodiscard]] inline error from_asio_error(const boost::system::error_code& failure) noexcept {
    if (!failure) return {};
    if (failure == boost::asio::error::operation_aborted) return errc::canceled;
    if (failure == boost::asio::error::eof) return errc::eof;
    if (failure == boost::asio::error::not_found)
        return errc::limit_exceeded;  // async_read_until's.
    const auto& category = failure.category();
    if (category == boost::system::system_category() ||
        category == boost::system::generic_category()) {
        return error::from_errno(failure.value());
    }
    if (category == asio_error_category::instance()) return static_cast<errc>(failure.value());
    const std::error_code standard = failure;
    if (standard.category() == error_category()) return static_cast<errc>(standard.value());
    return errc::foreign;
}

/// The Asio failure for a gyre error: Asio's own for a cancellation and for the end of a stream, the
/// system's for errno values, and gyre's category for the rest.
[[nodiscard]] inline boost::system::error_code to_asio_error(error failure) noexcept {
    if (!failure) return {};
    if (failure == errc::canceled) return boost::asio::error::operation_aborted;
    if (failure == errc::eof) return boost::asio::error::eof;
    if (failure.code() < errc::canceled) {
        return {static_cast<int>(failure.code()), boost::system::system_category()};
    }
    return {static_cast<int>(failure.code()), asio_error_category::instance()};
}

}  // namespace gyre

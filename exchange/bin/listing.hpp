// SPDX-License-Identifier: BSL-1.0
//
// Rows of what the exchange holds as text: a table for people, or JSON for programs.
//
// Positions as JSON are what `start_of_day` of a configuration reads (management/config.hpp), so that one
// life's positions begin the next.
#pragma once

#include <exchange/codec/query.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace exchange {

enum class listing_format : std::uint8_t { table, json };

/// Lines under a line of names; or an object with an array of objects in it, which of positions has those
/// that are not zero, by account and instrument. Numbers that can be beyond 2^53 are strings of digits, as in
/// the exchange's messages as JSON; positions alone are numbers, since a configuration has them so.
[[nodiscard]] std::string listing_of(const std::vector<order_row>& rows, listing_format how);
[[nodiscard]] std::string listing_of(const std::vector<position_row>& rows, listing_format how);
[[nodiscard]] std::string listing_of(const std::vector<account_row>& rows, listing_format how);
[[nodiscard]] std::string listing_of(const std::vector<session_row>& rows, listing_format how);
[[nodiscard]] std::string listing_of(const std::vector<instrument_row>& rows, listing_format how);
[[nodiscard]] std::string listing_of(const std::vector<product_row>& rows, listing_format how);
/// By account and instrument.
[[nodiscard]] std::string listing_of(std::vector<report_row> rows, listing_format how);

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// Enumerators by name, for counts that a person reads; empty for a number that has none.
#pragma once

#include <exchange/core/commands.hpp>
#include <exchange/core/events.hpp>

#include <string_view>

namespace exchange::testing {

[[nodiscard]] std::string_view name_of(command_kind it);
[[nodiscard]] std::string_view name_of(event_kind it);
[[nodiscard]] std::string_view name_of(reject_reason it);
[[nodiscard]] std::string_view name_of(cancel_reason it);
[[nodiscard]] std::string_view name_of(amend_reason it);

}  // namespace exchange::testing

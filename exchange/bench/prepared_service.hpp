// SPDX-License-Identifier: BSL-1.0
//
// The service behind every facility that is measured: one configuration, one way to prepare it.
#pragma once

#include <exchange/bench/scenarios.hpp>
#include <exchange/net/application/matching_service.hpp>

#include <memory>

namespace exchange::bench {

/// A service that has carried out what `play` needs before its first event; nothing of that is
/// sent any more.
[[nodiscard]] std::unique_ptr<matching_service> prepared_service(scenario& play,
                                                                 gyre::time_point now);

}  // namespace exchange::bench

// SPDX-License-Identifier: BSL-1.0
//
// The host behind every facility that is measured: one configuration, one way to prepare it.
#pragma once

#include <exchange/bench/scenarios.hpp>
#include <exchange/net/application/order_entry_host.hpp>

#include <memory>

namespace exchange::bench {

/// A host that has carried out what `play` needs before its first event; nothing of that is
/// sent any more.
[[nodiscard]] std::unique_ptr<order_entry_host> prepared_host(scenario& play, gyre::time_point now);

}  // namespace exchange::bench

// SPDX-License-Identifier: BSL-1.0
//
// The floor's verbs that have files of their own, as asio_suites.hpp has Asio's.
#pragma once

#include <lab/contender.hpp>

namespace raw {

[[nodiscard]] lab::outcome measure_churn(const lab::churn_case& work);

}  // namespace raw

// SPDX-License-Identifier: BSL-1.0
//
// gyre's verbs that have files of their own.
//
// gyre.cpp is the contender and holds the suites in which both ends of a connection exist from the
// beginning; what needs other machinery is beside it, one file per suite.
#pragma once

#include <lab/contender.hpp>
#include <lab/load.hpp>

#include <gyre/runtime/io_context.hpp>

#include <vector>

namespace gyre_lab {

[[nodiscard]] lab::outcome measure_timers(const gyre::io_context_options& options,
                                          const lab::timers_case& work);
[[nodiscard]] lab::outcome measure_churn(const gyre::io_context_options& options,
                                         const lab::churn_case& work);
[[nodiscard]] lab::outcome measure_fan_out(const gyre::io_context_options& options,
                                           const lab::fan_out_case& work);
[[nodiscard]] lab::outcome measure_shared_dispatch(const gyre::io_context_options& options,
                                                   const lab::shared_dispatch_case& work);
[[nodiscard]] lab::outcome measure_threads_throughput(const gyre::io_context_options& options,
                                                      const lab::threads_throughput_case& work);
[[nodiscard]] lab::outcome measure_threads_http(const gyre::io_context_options& options,
                                                const lab::threads_http_case& work);

/// Where a server's reads put what arrives: both ways are the library's, and which one is better depends on
/// how many connections there are and how large their messages.
enum class echo_reads { into_own_buffer, leased };

/// Returns what its loop counted.
[[nodiscard]] std::vector<lab::counter> serve_echo(const gyre::io_context_options& options,
                                                   echo_reads how, const lab::echo_case& work,
                                                   lab::descriptor listener);

}  // namespace gyre_lab

// SPDX-License-Identifier: BSL-1.0
//
// The verbs of Asio's contenders that have files of their own.
//
// Both contenders have these functions, each its own: asio_callback_timers.cpp belongs to
// asio_callback.cpp, asio_coroutine_timers.cpp to asio_coroutine.cpp, and so on.
#pragma once

#include <lab/contender.hpp>

#include <string>
#include <string_view>

namespace asio_lab {

/// What several threads run.
enum class layout {
    shared,      ///< One context, in which every thread calls `run`.
    per_thread,  ///< A context for each of them.
};

/// As in the tables: `asio_callback_uring_per_thread`, of the style `asio_callback`.
[[nodiscard]] inline std::string name_of(std::string_view style, std::string_view backend,
                                         layout how) {
    return std::string{style} + (backend == "io_uring" ? "_uring" : "") +
           (how == layout::per_thread ? "_per_thread" : "");
}

[[nodiscard]] lab::outcome measure_timers(const lab::timers_case& work);
[[nodiscard]] lab::outcome measure_churn(const lab::churn_case& work);
[[nodiscard]] lab::outcome measure_fan_out(const lab::fan_out_case& work);
[[nodiscard]] lab::outcome measure_shared_dispatch(layout how,
                                                   const lab::shared_dispatch_case& work);
[[nodiscard]] lab::outcome measure_threads_throughput(layout how,
                                                      const lab::threads_throughput_case& work);
[[nodiscard]] lab::outcome measure_threads_http(layout how, const lab::threads_http_case& work);

}  // namespace asio_lab

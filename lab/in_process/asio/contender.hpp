// SPDX-License-Identifier: BSL-1.0
//
// `make_contender` for one style of Asio; contender.cpp of the style says which.
#pragma once

#include <lab/in_process/asio/library.hpp>
#include <lab/in_process/sessions.hpp>

#include <lab/kit/fail.hpp>

#include <boost/version.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <variant>

namespace asio_lab {

/// Why a style or a layout takes no part in a case; empty if it does.
template <class Players, class Case>
std::string_view refusal(layout how, const Case& work) {
    if constexpr (requires { work.item; }) {
        if (work.item != Players::items::kind) return Players::items::lacks_the_other;
    }
    if constexpr (std::same_as<Case, lab::shared_dispatch_case>) {
        if (how == layout::per_thread && work.order != lab::shared_order::from_outside) {
            return "what is posted to a context is for its own thread only";
        }
    }
    if constexpr (std::same_as<Case, lab::throughput_case>) {
        if (how == layout::shared && work.threads > 0) {
            return "two threads must not use one socket, so the two ways of a pair would need a "
                   "strand";
        }
    }
    return {};
}

template <class Players>
lab::contender make(std::string name, std::string_view threads) {
    lab::require(threads.empty() || threads == "per_thread",
                 "Asio's contenders run on no --backend or on per_thread");
    constexpr std::string_view waits_with = LAB_ASIO_BACKEND;
    if (waits_with == "io_uring") name += "_uring";
    if (!threads.empty()) name += "_per_thread";
    const std::string version =
        std::to_string(BOOST_VERSION / 100'000) + "." + std::to_string(BOOST_VERSION / 100 % 1'000);
    const layout how = threads.empty() ? layout::shared : layout::per_thread;
    return {{name, "Boost.Asio", version, std::string{waits_with}}, [how](const lab::work& what) {
                const auto prepare = [&](const auto& work) -> lab::preparation {
                    const std::string_view why = refusal<Players>(how, work);
                    if (!why.empty()) return lab::cannot_run{std::string{why}};
                    return lab::prepare_with<Players>::of(how, work);
                };
                return std::visit(prepare, what);
            }};
}

}  // namespace asio_lab

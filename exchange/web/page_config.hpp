// SPDX-License-Identifier: BSL-1.0
//
// The file of the page's server: where it listens, and whose admin ports it shows.
//
// exchange/bin/web.json is a sample. As in config.hpp, all that is wrong is found in one reading.
#pragma once

#include <exchange/management/config.hpp>

#include <gyre/base/time.hpp>
#include <gyre/io/endpoint.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace exchange {

/// A process whose figures are shown.
struct shown_process {
    std::string name;      ///< Letters, digits, `_` and `-`; no other has it.
    gyre::endpoint admin;  ///< It may be away.
};

struct page_config {
    gyre::endpoint at;           ///< A loopback address.
    gyre::endpoint order_entry;  ///< The WebSocket that pages trade at; nowhere: they cannot.
    gyre::endpoint market_data;  ///< That of a distributor which is open to all; nowhere: none.
    gyre::endpoint operators;    ///< Where they log in, at the facility; nowhere: they cannot here.
    std::string folder;          ///< Of the page's own files.
    std::vector<shown_process> show;  ///< At most 64.
    gyre::duration poll_every = std::chrono::milliseconds{500};
    std::size_t pages_max = 256;  ///< Open at a time; others are told to come later.
    process_options process{};
};

/// A configuration, or everything that is wrong with it.
struct page_config_reading {
    page_config value;  ///< Meaningful if there are no errors.
    std::vector<config_error> errors;
};

/// Reads the text of a configuration.
///
/// @param  where  What paths are relative to.
[[nodiscard]] page_config_reading read_page_config(std::string_view text,
                                                   const std::string& where = ".");
/// Reads a file.
[[nodiscard]] page_config_reading load_page_config(const std::string& path);

}  // namespace exchange

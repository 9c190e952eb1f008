// SPDX-License-Identifier: BSL-1.0
//
// What an operator can say to exchange_ctl, as words of a command line.
//
// Each word fills in one command of core/commands.hpp, or asks for something; what it means is the core's.
#pragma once

#include <exchange/bin/listing.hpp>
#include <exchange/management/config.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace exchange {

/// The levels of a market, best first.
struct show_book {
    instrument_id instrument;
    std::uint32_t levels;  ///< At most, of each side; 0: all.
};

/// A list of what there is.
struct show_list {
    query question;  ///< From the beginning.
    listing_format how;
};

/// A change of who may log in; whoever is added or changed has a password, too, which is no word.
struct participant_words {
    std::string name;
    session_id session = session_id::none;  ///< None: the participant is removed.
    definition_action action = definition_action::create;
};

/// What was asked for on the command line: one of these.
struct ctl_request {
    /// Makes the command. A change takes from the configuration what was not said; nothing if that does not
    /// have what is needed either.
    std::function<std::optional<command>(const config&)> order;
    std::optional<show_book> question;
    std::optional<show_list> list;
    std::optional<participant_words> participant;
    bool hashes_password = false;  ///< Nothing is asked of the exchange.
};

/// Adds all words to `options`; whichever is said fills in `into`.
///
/// @param  into  Borrowed; outlives the parsing.
void add_ctl_commands(CLI::App& options, ctl_request& into);

}  // namespace exchange

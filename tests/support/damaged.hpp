// SPDX-License-Identifier: BSL-1.0
//
// Text that was right and is damaged by chance: inputs of tests beside the seeds of fuzzers.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

namespace gyre::testing {

/// Changes `text` at three places at most.
///
/// @param  nasty  Characters that mean something to whoever reads the text.
inline std::string damaged(std::string text, std::string_view nasty, std::mt19937_64& dice) {
    const std::size_t blows = dice() % 4;
    for (std::size_t blow = 0; blow < blows && !text.empty(); ++blow) {
        const std::size_t at = dice() % text.size();
        switch (dice() % 4) {
            case 0: text.erase(at, 1 + dice() % 4); break;
            case 1: text.insert(at, 1, nasty[dice() % nasty.size()]); break;
            case 2: text[at] = nasty[dice() % nasty.size()]; break;
            default: text.insert(at, text.substr(dice() % text.size(), dice() % 12)); break;
        }
    }
    return text;
}

}  // namespace gyre::testing

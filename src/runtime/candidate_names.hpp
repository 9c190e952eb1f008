// SPDX-License-Identifier: BSL-1.0
//
// The names that a name may stand for, and when to ask for the next: resolv.conf(5), "search" and "ndots".
//
// The order, and what ends it, are those of glibc; the differences are in
// docs/decisions/0063-after-a-failure.md.
#pragma once

#include <gyre/base/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gyre {

/// What became of a question. `failed` is empty if there is an answer.
struct name_verdict {
    error failed;
    bool is_unreached = false;  ///< No server could be sent it.
};

/// How much a failure says: 0 of a name that does not exist, 1 of missing data, 2 of servers, 3 of a stop.
[[nodiscard]] int weight_of(error it) noexcept;

/// The candidates of one name, to be asked for one after the other until one is found.
class candidate_names {
public:
    candidate_names(std::string_view name, const std::vector<std::string>& domains, int dots_min,
                    bool no_top_level_names);

    /// The one to ask for now; null if there is no more. Valid until the next call.
    [[nodiscard]] const std::string* next() noexcept;

    /// Notes what became of it.
    void note(name_verdict it) noexcept;

    /// Of all that were asked for. Without one the name is malformed.
    [[nodiscard]] name_verdict outcome() const noexcept { return outcome_; }

private:
    void add(std::string candidate);

    std::string name_;
    std::vector<std::string> all_;
    std::size_t at_ = 0;  // Of the candidate behind the last.
    bool as_it_is_first_ = false;
    bool is_over_ = false;
    bool no_more_domains_ = false;
    name_verdict outcome_;
};

}  // namespace gyre

// SPDX-License-Identifier: BSL-1.0
//
// HTTP as one writes it by hand for the paths of web.hpp alone: the ceiling of `http_server`.
//
// It knows methods, targets, Content-Length and Connection and checks nothing else, keeps what was cut, and
// answers what came together with one write. Like every server that obeys RFC 9110 it tells the date.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace servers {

/// What a connection has asked so far. Whatever is cut or joined on its way makes no difference.
class web_answers {
public:
    static constexpr std::size_t request_bytes_max = 16 * 1024;

    /// Takes what has arrived, and returns what is to be sent now. Valid until the next call.
    [[nodiscard]] std::string_view answer_to(std::string_view arrived);

    /// Whether to close once everything has been sent.
    [[nodiscard]] bool closes() const noexcept { return closes_; }

private:
    [[nodiscard]] std::size_t answer_next(std::string_view arrived);
    void answer(std::string_view target, std::string_view body);

    std::string unfinished_;
    std::string responses_;
    bool closes_ = false;
};

}  // namespace servers

// SPDX-License-Identifier: BSL-1.0
//
// Waiting with a deadline: see operator_client.hpp.
#include <exchange/bin/operator_client.hpp>

#include <utility>

namespace exchange {

using gyre::task;

task<> operator_client::run() {
    co_await client_.run();
    over_ = true;
    changed_.set();
}

task<std::string> operator_client::log_in(gyre::time_point deadline) {
    while (!client_.machine().logged_in() && !over_) {
        changed_.reset();
        const auto [late] = co_await gyre::with_deadline(deadline, changed_.wait());
        if (late)
            co_return client_.machine().asking()
                ? "the login is not answered in time; after wrong passwords that takes up to 8 s"
                : "cannot be reached";
    }
    if (client_.machine().logged_in()) co_return "";
    switch (client_.machine().rejected()) {
        case soup_reject::not_authorized: co_return "the login is refused: wrong name or password";
        case soup_reject::session_not_available: co_return "the login is refused: no such session";
        case soup_reject::none: break;
    }
    co_return std::string{describe(client_.machine().ending())};
}

const char* operator_client::why_silent(const char* usual) const noexcept {
    return client_.machine().ending() == soup_ending::life_ended
               ? "no answer: the exchange was started anew, and what it was told before is gone"
               : usual;
}

task<std::optional<std::vector<std::byte>>> operator_client::hear(gyre::time_point deadline) {
    while (heard_.empty() && !over_) {
        changed_.reset();
        const auto [late] = co_await gyre::with_deadline(deadline, changed_.wait());
        if (late) break;
    }
    if (heard_.empty()) co_return std::nullopt;
    std::vector<std::byte> first = std::move(heard_.front());
    heard_.pop_front();
    co_return std::optional{std::move(first)};
}

}  // namespace exchange

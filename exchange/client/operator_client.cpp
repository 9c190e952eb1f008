// SPDX-License-Identifier: BSL-1.0
//
// Waiting with a deadline: see operator_client.hpp.
#include <exchange/client/operator_client.hpp>

#include <exchange/codec/command_codec.hpp>
#include <exchange/codec/command_subject.hpp>
#include <exchange/codec/event_codec.hpp>

#include <gyre/sync/timeout.hpp>

#include <utility>

namespace exchange {

using gyre::task;

namespace {

/// Finds the answer to a command among what the operator is told.
struct answer_finder {
    command_kind asked;
    std::uint32_t subject;
    std::optional<command_answer> found{};

    void operator()(const event_stamp&, const admin_accepted& it) {
        if (it.command == asked && it.subject == subject)
            found = {command_outcome::accepted, {}, {}};
    }
    void operator()(const event_stamp&, const admin_rejected& it) {
        if (it.command == asked && it.subject == subject)
            found = {command_outcome::refused, it.reason, {}};
    }
    void operator()(const event_stamp&, const auto&) {}
    void operator()(const message_rejected& it) {
        found = {command_outcome::not_understood, {}, it};
    }
};

}  // namespace

task<> operator_client::run() {
    co_await client_.run();
    over_.set();
    changed_.set();
}

task<command_answer> operator_client::give(command order, gyre::time_point deadline) {
    std::vector<std::byte> bytes;
    answer_finder answer{};
    std::visit(
        [&](const auto& it) {
            bytes.resize(message_bytes(it));
            encode(it, bytes);
            answer = {it.kind, subject_of(it)};
        },
        order);
    heard_.clear();
    if (!say(bytes)) co_return command_answer{command_outcome::not_sent, {}, {}};
    while (!answer.found) {
        const auto message = co_await hear(deadline);
        if (!message) co_return command_answer{};
        static_cast<void>(decode_operator_event(*message, answer));
    }
    co_return *answer.found;
}

task<std::string> operator_client::log_in(gyre::time_point deadline) {
    while (!client_.machine().logged_in() && !over_.is_set()) {
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
        case soup_reject::session_not_available:
            co_return "the login is refused: as many operators are here as there may be";
        case soup_reject::none: break;
    }
    co_return std::string{describe(client_.machine().ending())};
}

task<std::optional<std::vector<std::byte>>> operator_client::hear(gyre::time_point deadline) {
    while (heard_.empty() && !over_.is_set()) {
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

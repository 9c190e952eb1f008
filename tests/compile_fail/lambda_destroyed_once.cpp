// SPDX-License-Identifier: BSL-1.0
//
// What g++ 12 gets right is not warned of: lambdas that have a name, that capture nothing of importance, or
// that do not copy and are therefore moved.
#include <gyre/interop/callbacks.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/runtime/sharded.hpp>
#include <gyre/sync/task_group.hpp>

#include <functional>
#include <memory>
#include <string>

int five();

gyre::task<> await_all(std::string text, gyre::io_context& other, gyre::sharded<int>& parts,
                       std::function<void()> any) {
    auto length = [text] { return text.size(); };
    auto moved = [one = std::make_unique<int>(1)] { return *one; };
    const auto start = [text](gyre::callback<int> done) mutable {
        done(static_cast<int>(text.size()));
    };
    const auto cancel = [text]() mutable { text.clear(); };
    const auto child = [text]() mutable -> gyre::task<> {
        text.clear();
        co_return;
    };
    const auto add = [text](int& part) mutable { part += static_cast<int>(text.size()); };
    const auto body = [text, child](gyre::task_group& group) -> gyre::task<> {
        group.spawn([text]() -> gyre::task<> { co_return; });
        group.spawn(child);
        co_return;
    };

    const auto first = co_await gyre::blocking(length);
    const auto second = co_await gyre::blocking(std::move(moved));
    const auto third = co_await gyre::blocking([&text] { return text.size(); });
    const auto fourth = co_await gyre::blocking(std::move(any));
    const auto fifth = co_await gyre::blocking(five);
    const auto sixth = co_await gyre::from_callback<int>(start);
    const auto seventh = co_await gyre::from_callback<int>(start, cancel);
    co_await gyre::on(other, child);
    co_await parts.at(0, add);
    co_await gyre::with_group(body);
    static_cast<void>(first.ok() && second.ok() && third.ok() && fourth.ok() && fifth.ok());
    static_cast<void>(sixth.ok() && seventh.ok());
}

// SPDX-License-Identifier: BSL-1.0
//
// Questions to the loops of a pool: see include/gyre/runtime/pool_dump.hpp.
#include <gyre/runtime/pool_dump.hpp>

#include <gyre/coro/task_dump.hpp>
#include <gyre/runtime/submit.hpp>
#include <gyre/sync/notify.hpp>
#include <gyre/sync/timeout.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace gyre {
namespace {

/// Shared with the loops: one may answer when the caller has gone.
class answers {
public:
    explicit answers(std::size_t loops) : texts_(loops), missing_{loops} {}

    void add(std::size_t number, std::string text) {
        const std::lock_guard hold{mutex_};
        texts_[number] = std::move(text);
        if (--missing_ == 0) complete.notify_one();
    }

    [[nodiscard]] std::optional<std::string> of(std::size_t number) {
        const std::lock_guard hold{mutex_};
        return texts_[number];
    }

    notify complete;

private:
    std::mutex mutex_;
    std::vector<std::optional<std::string>> texts_;
    std::size_t missing_;
};

std::string silent(const io_context& loop, time_point now) {
    const auto lasts =
        std::chrono::duration_cast<std::chrono::milliseconds>(now - loop.last_turn());
    return " no answer; its turn has lasted " + std::to_string(lasts.count()) + " ms\n";
}

time_point clock_of(io_context& on) noexcept { return on.read_clock(); }

}  // namespace

task<std::string> dump_tasks(io_pool& of, duration patience) {
    const auto asked = std::make_shared<answers>(of.size());
    if (of.never_runs()) co_return "the pool has no threads\n";
    for (std::size_t each = 0; each < of.size(); ++each) {
        of[each].post([asked, each] { asked->add(each, dump_tasks(*io_context::current())); });
    }
    const io_result<> waited = co_await with_timeout(patience, asked->complete.wait());
    static_cast<void>(waited);
    const time_point now = co_await immediate{&clock_of};
    std::string text;
    for (std::size_t each = 0; each < of.size(); ++each) {
        const std::optional<std::string> told = asked->of(each);
        text += "loop " + std::to_string(each) + ':';
        text += told ? '\n' + *told : silent(of[each], now);
    }
    co_return text;
}

}  // namespace gyre

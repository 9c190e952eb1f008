// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/generator.hpp promises. exception_test.cpp has what becomes of exceptions.
#include <gyre/sync/generator.hpp>

#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_any.hpp>
#include <support/conformance.hpp>
#include <support/long_run.hpp>
#include <support/waiting_laws.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

generator<int> count_to(int last) {
    for (int number = 1; number <= last; ++number) co_yield number;
}

generator<int> count_slowly(int last) {
    for (int number = 1; number <= last; ++number) {
        static_cast<void>(co_await sleep_for(100us));
        co_yield number;
    }
}

task<std::vector<int>> all_of(generator<int> values) {
    std::vector<int> seen;
    for (;;) {
        const std::optional<int> value = co_await values.next();
        if (!value) co_return seen;
        seen.push_back(*value);
    }
}

}  // namespace

TEST_CASE("a generator yields its values in order and then nothing, as often as it is asked") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        generator<int> values = count_to(2);

        const std::optional<int> first = co_await values.next();
        const std::optional<int> second = co_await values.next();
        const std::optional<int> none = co_await values.next();
        const std::optional<int> none_again = co_await values.next();

        CHECK(first == 1);
        CHECK(second == 2);
        CHECK_FALSE(none.has_value());
        CHECK_FALSE(none_again.has_value());
    });
}

TEST_CASE("a generator may wait between its values") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        const std::vector<int> values = co_await all_of(count_slowly(5));
        const std::vector<int> none = co_await all_of(count_slowly(0));

        CHECK(values == std::vector{1, 2, 3, 4, 5});
        CHECK(none.empty());
    });
}

TEST_CASE("nothing runs ahead of the consumer") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        int made = 0;
        const auto makes = [&]() -> generator<int> {
            for (;;) co_yield ++made;
        };
        generator<int> values = makes();
        CHECK(made == 0);

        static_cast<void>(co_await values.next());
        co_await settle();

        CHECK(made == 1);
    });
}

TEST_CASE("values that only move are yielded") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        const auto makes = []() -> generator<std::unique_ptr<int>> {
            auto first = std::make_unique<int>(1);
            co_yield std::move(first);
            co_yield std::make_unique<int>(2);
        };
        generator<std::unique_ptr<int>> values = makes();

        const std::optional<std::unique_ptr<int>> first = co_await values.next();
        const std::optional<std::unique_ptr<int>> second = co_await values.next();
        const std::optional<std::unique_ptr<int>> none = co_await values.next();

        CHECK(**first == 1);
        CHECK(**second == 2);
        CHECK_FALSE(none.has_value());
    });
}

TEST_CASE("what the body keeps is copied, not moved from") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        const auto makes = []() -> generator<std::string> {
            std::string text = "a text that is too long to live in the string itself: ";
            const std::string constant = "constant";
            for (int time = 0; time < 2; ++time) {
                text += "+";
                co_yield text;
            }
            co_yield constant;
            co_yield "converted";
        };
        generator<std::string> values = makes();

        const std::optional<std::string> first = co_await values.next();
        const std::optional<std::string> second = co_await values.next();
        const std::optional<std::string> third = co_await values.next();
        const std::optional<std::string> fourth = co_await values.next();

        CHECK(second == *first + "+");
        CHECK(third == "constant");
        CHECK(fourth == "converted");
    });
}

TEST_CASE("a generator destroyed between two values ends its body, locals and all") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        auto witness = std::make_shared<int>(1);
        const auto makes = [](std::shared_ptr<int> held) -> generator<int> {
            const std::shared_ptr<int> local = held;
            for (;;) co_yield *local;
        };
        {
            generator<int> values = makes(witness);
            generator<int> never_asked = makes(witness);
            static_cast<void>(co_await values.next());
            CHECK(witness.use_count() == 4);
        }

        CHECK(witness.use_count() == 1);
    });
}

TEST_CASE("a generator moves between two values") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        generator<int> values = count_to(3);
        static_cast<void>(co_await values.next());
        generator<int> moved = std::move(values);

        const std::vector<int> rest = co_await all_of(std::move(moved));

        CHECK(rest == std::vector{2, 3});
    });
}

TEST_CASE("a stop reaches what the body waits for, and the body decides what follows") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        const auto makes = [&]() -> generator<error> {
            const io_result<> waited = co_await unset.wait();
            co_yield waited.error();
            co_yield errc::eof;
        };
        generator<error> values = makes();
        std::vector<error> seen;
        const auto child = [&]() -> task<> {
            for (;;) {
                const std::optional<error> value = co_await values.next();
                if (!value) co_return;
                seen.push_back(*value);
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(child());
            co_await settle();
            group.request_stop();
        };

        co_await with_group(body);

        CHECK(seen == std::vector<error>{errc::canceled, errc::eof});
    });
}

TEST_CASE("each value may be asked for under other circumstances") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event set;
        const auto makes = [&]() -> generator<io_result<>> {
            io_result<> waited;
            for (;;) {
                waited = co_await set.wait();
                co_yield waited;
            }
        };
        generator<io_result<>> values = makes();
        const auto pull = [&]() -> task<io_result<>> {
            const std::optional<io_result<>> value = co_await values.next();
            co_return *value;
        };

        const io_result<> late = co_await with_timeout(1ms, pull());
        const auto lost = co_await when_any(sleep_for(1ms), values.next());
        set.set();
        const io_result<> in_time = co_await pull();

        CHECK(late.error() == errc::timed_out);
        CHECK(std::get<1>(lost.results)->error() == errc::canceled);
        CHECK(in_time.ok());
    });
}

TEST_CASE("many values need no stack") {
    in_a_long_run([](io_context&) -> task<> {
        generator<int> values = count_to(many_steps);
        int count = 0;

        for (;;) {
            const std::optional<int> value = co_await values.next();
            if (!value) break;
            ++count;
        }

        CHECK(count == many_steps);
    });
}

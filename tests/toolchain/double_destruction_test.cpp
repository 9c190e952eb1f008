// SPDX-License-Identifier: BSL-1.0
//
// Temporaries and awaited values that g++ 12 destroys twice. The rules: name lambdas with captures and
// aggregates before an awaiting expression uses them; never `?:` around co_await; never let an
// awaited value initialise a member of an aggregate, a lambda's capture or a `new`.
#include <toolchain/verdict.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

// Counts the living. Holds no memory, so that dying twice is seen and not fatal.
class counted {
public:
    counted() noexcept { ++alive; }
    counted(const counted&) noexcept { ++alive; }
    counted(counted&&) noexcept { ++alive; }
    counted& operator=(const counted&) noexcept = default;
    ~counted() { --alive; }

    static inline int alive = 0;
};

struct aggregate {
    counted member;
    int number = 0;
};

class constructed {
public:
    explicit constructed(counted it) noexcept : member_{std::move(it)} {}

private:
    counted member_;
};

ready<int> use(const aggregate& it) { return ready{it.number}; }

template <class Function>
ready<int> call(const Function& function) {
    function();
    return ready{1};
}

task<> aggregate_temporary() {
    const int number = co_await use(aggregate{.member = counted{}, .number = 5});
    static_cast<void>(number);
}

task<> lambda_temporary() {
    const counted captured;
    const int number = co_await call([captured] { static_cast<void>(captured); });
    static_cast<void>(number);
}

task<> conditional() {
    const bool which = counted::alive == 0;
    const counted chosen = which ? co_await ready{counted{}} : counted{};
    static_cast<void>(chosen);
}

task<> aggregate_member() {
    const aggregate it{.member = co_await ready{counted{}}, .number = 5};
    static_cast<void>(it);
}

task<> lambda_capture() {
    const auto function = [kept = co_await ready{counted{}}] { static_cast<void>(kept); };
    function();
}

task<> new_expression() {
    const std::unique_ptr<counted> it{new counted(co_await ready{counted{}})};
    static_cast<void>(it);
}

// What the rules ask for instead of all of the above.
task<> by_the_rules() {
    const aggregate named{.member = counted{}, .number = 5};
    const int number = co_await use(named);
    const auto function = [named] { static_cast<void>(named); };
    const int one = co_await call(function);
    counted awaited = co_await ready{counted{}};
    const aggregate it{.member = std::move(awaited), .number = number + one};
    const auto owned = std::make_unique<aggregate>(it);
    static_cast<void>(owned);
}

task<> what_is_fine() {
    const constructed by_constructor{co_await ready{counted{}}};
    static_cast<void>(by_constructor);
    std::vector<counted> many;
    many.push_back(co_await ready{counted{}});
    const std::optional<counted> perhaps = co_await ready{counted{}};
    static_cast<void>(perhaps);
    const counted argument = co_await ready<counted>{counted{}};
    static_cast<void>(argument);
}

// Whether as many died as were born.
template <task<> (*Coroutine)()>
bool balances() {
    run_task(Coroutine());
    return counted::alive == 0;
}

constexpr record wrong_on_gcc{.clang_19 = verdict::right, .gcc_12 = verdict::wrong};

}  // namespace

TEST_CASE("on record: an aggregate temporary with a non-trivial member") {
    compare_with_record(wrong_on_gcc, balances<aggregate_temporary>);
}

TEST_CASE("on record: a lambda temporary with a non-trivial capture") {
    compare_with_record(wrong_on_gcc, balances<lambda_temporary>);
}

TEST_CASE("on record: a conditional operator with a co_await of a non-trivial type") {
    compare_with_record(wrong_on_gcc, balances<conditional>);
}

TEST_CASE("on record: an awaited value as a member of an aggregate") {
    compare_with_record(wrong_on_gcc, balances<aggregate_member>);
}

TEST_CASE("on record: an awaited value in a lambda's capture") {
    compare_with_record(wrong_on_gcc, balances<lambda_capture>);
}

TEST_CASE("on record: an awaited value in a new expression") {
    compare_with_record(wrong_on_gcc, balances<new_expression>);
}

TEST_CASE("what the rules ask for is right on every compiler") {
    CHECK((judge(balances<by_the_rules>) == verdict::right));
}

TEST_CASE("constructors, push_back and optional may be given an awaited value on every compiler") {
    CHECK((judge(balances<what_is_fine>) == verdict::right));
}

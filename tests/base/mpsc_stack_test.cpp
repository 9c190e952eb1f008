// SPDX-License-Identifier: BSL-1.0
//
// What gyre/base/mpsc_stack.hpp promises to those who push and to the one who takes.
#include <gyre/base/mpsc_stack.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <thread>
#include <vector>

using namespace gyre;

namespace {

struct letter {
    letter* next = nullptr;
    int from = 0;
    int number = 0;
};

using letter_box = mpsc_stack<letter, &letter::next>;

std::vector<int> numbers_in(letter_box& box) {
    std::vector<int> numbers;
    box.take_all([&](letter& each) { numbers.push_back(each.number); });
    return numbers;
}

}  // namespace

TEST_CASE("all that was pushed is taken, oldest first, and then nothing is there") {
    letter_box box;
    std::array<letter, 3> letters{letter{nullptr, 0, 1}, {nullptr, 0, 2}, {nullptr, 0, 3}};
    for (letter& each : letters) box.push(each);
    CHECK_FALSE(box.empty());

    CHECK(numbers_in(box) == std::vector{1, 2, 3});
    CHECK(box.empty());
    CHECK(numbers_in(box).empty());
}

TEST_CASE("only the push into an empty stack says so") {
    letter_box box;
    letter first, second, third;

    CHECK(box.push(first));
    CHECK_FALSE(box.push(second));
    box.take_all([](letter&) {});
    CHECK(box.push(third));
}

TEST_CASE("what was taken may be pushed again while the rest is handed out") {
    letter_box box;
    std::array<letter, 2> letters{letter{nullptr, 0, 1}, {nullptr, 0, 2}};
    for (letter& each : letters) box.push(each);
    int handed_out = 0;

    box.take_all([&](letter& each) {
        ++handed_out;
        box.push(each);
    });

    CHECK(handed_out == 2);
    CHECK(numbers_in(box) == std::vector{1, 2});
}

TEST_CASE("pushes of many threads arrive once each, and each thread's in its order") {
    constexpr int threads = 4;
    constexpr int letters_each = 20'000;
    letter_box box;
    std::vector<std::vector<letter>> letters(threads);
    std::vector<std::thread> senders;
    for (int from = 0; from < threads; ++from) {
        letters[static_cast<std::size_t>(from)].resize(letters_each);
        senders.emplace_back([&, from] {
            int number = 0;
            for (letter& each : letters[static_cast<std::size_t>(from)]) {
                each.from = from;
                each.number = number++;
                box.push(each);
            }
        });
    }

    std::array<int, threads> expected{};
    int arrived = 0;
    bool in_order = true;
    while (arrived < threads * letters_each) {
        box.take_all([&](letter& each) {
            in_order &= each.number == expected[static_cast<std::size_t>(each.from)]++;
            ++arrived;
        });
    }
    for (std::thread& each : senders) each.join();

    CHECK(in_order);
    CHECK(arrived == threads * letters_each);
    CHECK(box.empty());
}

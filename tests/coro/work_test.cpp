// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/work.hpp promises: what a queue does with its items, none of which it owns.
#include <gyre/coro/work.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace gyre;

namespace {

struct numbered : work {
    explicit numbered(int n) noexcept
        : work{[](work& item) noexcept { static_cast<numbered&>(item).ran++; }}, number{n} {}
    int number;
    int ran = 0;
};

std::vector<int> drain(work_queue& queue) {
    std::vector<int> order;
    while (!queue.empty()) order.push_back(static_cast<numbered&>(queue.pop()).number);
    return order;
}

}  // namespace

TEST_CASE("a queue gives its items back in the order in which they came") {
    numbered a{1}, b{2}, c{3};
    work_queue queue;
    CHECK(queue.empty());

    for (numbered* each : {&a, &b, &c}) queue.push(*each);

    CHECK(drain(queue) == std::vector{1, 2, 3});
}

TEST_CASE("a queue that was emptied is as good as new") {
    numbered a{1}, b{2};
    work_queue queue;
    queue.push(a);
    drain(queue);

    queue.push(b);
    queue.push(a);

    CHECK(drain(queue) == std::vector{2, 1});
}

TEST_CASE("an item is taken out of the front, the middle or the end, and the queue goes on") {
    for (int taken = 0; taken < 3; ++taken) {
        CAPTURE(taken);
        numbered all[] = {numbered{0}, numbered{1}, numbered{2}};
        numbered last{3};
        work_queue queue;
        for (numbered& each : all) queue.push(each);
        std::vector rest{0, 1, 2, 3};
        rest.erase(rest.begin() + taken);

        const bool found = queue.remove(all[taken]);
        queue.push(last);

        CHECK(found);
        CHECK(drain(queue) == rest);
    }
}

TEST_CASE("the only item is taken out and another one comes") {
    numbered a{1}, b{2};
    work_queue queue;
    queue.push(a);

    CHECK(queue.remove(a));
    CHECK(queue.empty());
    queue.push(b);

    CHECK(drain(queue) == std::vector{2});
}

TEST_CASE("taking out what is not there changes nothing") {
    numbered a{1}, b{2};
    work_queue queue;
    queue.push(a);

    CHECK_FALSE(queue.remove(b));

    CHECK(drain(queue) == std::vector{1});
    CHECK_FALSE(queue.remove(a));
}

TEST_CASE("a copy does the same but stands in no queue") {
    numbered a{1}, b{2};
    work_queue queue;
    queue.push(a);
    queue.push(b);

    numbered copy{a};
    b = copy;

    CHECK(copy.next == nullptr);
    CHECK(drain(queue) == std::vector{1, 1});
    copy.run(copy);
    CHECK(copy.ran == 1);
    CHECK(a.ran == 0);
}

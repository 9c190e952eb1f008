// SPDX-License-Identifier: BSL-1.0
//
// A braced list in an awaiting expression: good C++, and an error to g++ 12. The rule: name the list
// first. CMakeLists.txt beside this knows for which compiler that is on record.
#include <gyre/coro/task.hpp>

#include <initializer_list>

// snippet: initializer_list_await
gyre::task<int> sum(std::initializer_list<int> of);

gyre::task<int> sum_of_three() {
    const int total = co_await sum({1, 2, 3});
    co_return total;
}
// end of snippet

// SPDX-License-Identifier: BSL-1.0
//
// Requests whose memory is one buffer each: the coroutine's frame and all that it makes, given back at once.
//
// Nothing is taken from the heap: a request that needs more than its buffer is refused.
#include <gyre/gyre.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <memory_resource>
#include <string_view>
#include <vector>

// snippet: arena
// Its frame is in `memory`, because that is what its first two parameters ask for.
gyre::task<std::size_t> longest_word(std::allocator_arg_t, std::pmr::memory_resource* memory,
                                     std::string_view request) {
    std::pmr::vector<std::string_view> words{memory};
    while (!request.empty()) {
        const std::size_t end = std::min(request.find(' '), request.size());
        words.push_back(request.substr(0, end));
        request.remove_prefix(std::min(end + 1, request.size()));
        co_await gyre::yield();  // Other requests have their turn.
    }
    std::size_t longest = 0;
    for (const std::string_view each : words) longest = std::max(longest, each.size());
    co_return longest;
}

gyre::task<> answer(std::string_view request) {
    std::array<std::byte, 4096> space;
    std::pmr::monotonic_buffer_resource memory{space.data(), space.size(),
                                               std::pmr::null_memory_resource()};
    const std::size_t longest = co_await longest_word(std::allocator_arg, &memory, request);
    std::printf("%zu: %.*s\n", longest, static_cast<int>(request.size()), request.data());
}
// end of snippet

int main() {
    gyre::run(answer("a coroutine and its words"));
    gyre::run(answer("in one buffer"));
    return 0;
}

// SPDX-License-Identifier: BSL-1.0
//
// Every execution of an owner and its thieves: steal_queue.hpp.
#include <runtime/steal_queue.hpp>

#include <runtime/orders/explored.hpp>

#include <array>
#include <cstddef>
#include <memory>

using namespace gyre;
using namespace gyre::testing;

namespace {

/// Thread 0 adds items, then takes what it can; the others steal, and take what they have stolen.
class stealing {
public:
    explicit stealing(std::size_t items) : count_{items} {}

    void run(unsigned thread) {
        if (thread > 0) {
            static_cast<void>(queues_->at(0).give_half(queues_->at(thread)));
        } else {
            for (std::size_t each = 0; each < count_; ++each) {
                items_->at(each).filled = true;
                require(queues_->at(0).push(items_->at(each)), "there is room");
            }
        }
        while (work* const one = queues_->at(thread).pop()) {
            auto& item = static_cast<numbered&>(*one);
            require(item.filled, "what is taken is not whole");
            require(item.taken_by == 0, "an item is taken twice");
            item.taken_by = thread + 1;
        }
    }

    [[nodiscard]] const char* wrong_at_end() const noexcept {
        for (std::size_t each = 0; each < count_; ++each) {
            if (items_->at(each).taken_by == 0) return "an item is lost";
        }
        return nullptr;
    }

private:
    struct numbered : work {
        bool filled = false;
        unsigned taken_by = 0;
    };

    std::size_t count_;
    std::unique_ptr<std::array<numbered, 4>> items_ = std::make_unique<std::array<numbered, 4>>();
    std::unique_ptr<std::array<steal_queue, 3>> queues_ =
        std::make_unique<std::array<steal_queue, 3>>();
};

}  // namespace

TEST_CASE("in every execution of an owner and a thief each item is taken once, and whole") {
    CHECK(explore(2, [] { return stealing{1}; }) == "");
    CHECK(explore(2, [] { return stealing{3}; }) == "");
}

TEST_CASE("in every execution of an owner and two thieves each item is taken once, and whole") {
    CHECK(explore(3, [] { return stealing{1}; }) == "");
    if (more_orders()) CHECK(explore(3, [] { return stealing{2}; }) == "");
}

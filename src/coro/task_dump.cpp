// SPDX-License-Identifier: BSL-1.0
//
// The walk behind include/gyre/coro/task_dump.hpp.
#include <gyre/coro/task_dump.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/coro/task_locals.hpp>

#include <cxxabi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

namespace gyre {

// Of some coroutines g++ tells the function that it has made of them, `void f(f(int)::_Z1fi.Frame*)`: in the
// name of its frame the coroutine's own stands as linkers know it.
std::string coroutine_name(const std::source_location& where) {
    const std::string_view told = where.function_name();
    const std::size_t end = told.rfind(".Frame*)");
    const std::size_t begin = told.rfind("_Z", end);
    if (end == std::string_view::npos || begin == std::string_view::npos) return std::string{told};
    const std::string linked{told.substr(begin, end - begin)};
    int failed = 0;
    char* const name = abi::__cxa_demangle(linked.c_str(), nullptr, nullptr, &failed);
    std::string text{failed == 0 ? std::string_view{name} : told};
    std::free(name);
    return text;
}

namespace {

// A longer chain of awaits is shown by its begin and its end.
constexpr std::size_t outermost_max = 64;
constexpr std::size_t innermost_max = 32;

// Forks are shown within each other so deep: the walk takes the native stack, some hundred bytes for each.
constexpr int forks_max = 500;

// Deeper lines tell their depth instead of being further to the right.
constexpr std::size_t indented_max = 100;

std::size_t length_of(const stop_chain& line) noexcept {
    std::size_t length = 0;
    for (const task_node* node = line.top; node != nullptr; node = node->awaiting) ++length;
    return length;
}

class dump {
public:
    explicit dump(time_point now) noexcept : now_{now} {}

    /// `known` is the name that a coroutine around it was shown with.
    void chain(const stop_chain& line, std::size_t depth, const std::string* known = nullptr) {
        if (is_full()) return;
        const std::size_t length = length_of(line);
        const std::size_t left_out =
            length > outermost_max + innermost_max ? length - outermost_max - innermost_max : 0;
        std::size_t place = 0;
        for (const task_node* node = line.top; node != nullptr; node = node->awaiting, ++depth) {
            if (left_out == 0 || place < outermost_max || place >= outermost_max + left_out) {
                coroutine(*node, depth, known);
            } else if (place == outermost_max) {
                begin_line(depth);
                text_ += "... " + std::to_string(left_out) + " more, each awaits the next\n";
            }
            ++place;
        }
        if (stop_target* leaf = line.pending()) pending(*leaf, depth, known);
    }

    [[nodiscard]] std::string take() {
        if (is_full()) text_ += "... the rest is left out\n";
        return std::move(text_);
    }

private:
    void coroutine(const task_node& node, std::size_t depth, const std::string*& known) {
        begin_line(depth);
        if (node.env == nullptr || node.where.line() == 0) {
            text_ += "(not suspended yet)\n";
            return;
        }
        const std::string* name = task_name.find(node.env->locals);
        if (name != nullptr && name != known) text_ += '"' + *name + "\" ";
        known = name;
        text_ += coroutine_name(node.where);
        text_ += " at ";
        text_ += node.where.file_name();
        text_ += ':' + std::to_string(node.where.line());
        const auto waited =
            std::chrono::duration_cast<std::chrono::milliseconds>(now_ - node.since);
        text_ += ", " + std::to_string(waited.count()) + " ms\n";
    }

    void pending(stop_target& leaf, std::size_t depth, const std::string* known) {
        begin_line(depth);
        text_ += "waiting for ";
        text_ += leaf.waiting_for();
        text_ += '\n';
        list<stop_chain>* const branches = leaf.branches();
        if (branches == nullptr || branches->empty()) return;
        if (forks_ == forks_max) {
            begin_line(depth + 1);
            text_ += "... what is below is left out\n";
            return;
        }
        ++forks_;
        branches->for_each([&](const stop_chain& branch) { chain(branch, depth + 1, known); });
        --forks_;
    }

    void begin_line(std::size_t depth) {
        ++lines_;
        text_.append(2 * std::min(depth, indented_max), ' ');
        if (depth > indented_max) text_ += '[' + std::to_string(depth) + "] ";
    }

    [[nodiscard]] bool is_full() const noexcept { return lines_ >= dump_lines_max; }

    time_point now_;
    std::string text_;
    std::size_t lines_ = 0;
    int forks_ = 0;  // Around what is being shown.
};

}  // namespace

std::string dump_tasks(loop& of) {
    dump out{of.now()};
    of.roots().for_each([&](const root& each) { out.chain(each.chain, 0); });
    return out.take();
}

std::string dump_tasks(loop& of, const stop_chain& only) {
    dump out{of.now()};
    out.chain(only, 0);
    return out.take();
}

}  // namespace gyre

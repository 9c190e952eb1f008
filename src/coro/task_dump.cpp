// SPDX-License-Identifier: BSL-1.0
//
// The walk behind include/gyre/coro/task_dump.hpp.
#include <gyre/coro/task_dump.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/coro/task_locals.hpp>

#include <cxxabi.h>

#include <chrono>
#include <cstdlib>
#include <source_location>
#include <string_view>

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

class dump {
public:
    explicit dump(time_point now) noexcept : now_{now} {}

    /// `known` is the name that a coroutine around it was shown with.
    void chain(const stop_chain& line, int depth, const std::string* known = nullptr) {
        for (const task_node* node = line.top; node != nullptr; node = node->awaiting) {
            coroutine(*node, depth++, known);
        }
        if (stop_target* leaf = line.pending()) pending(*leaf, depth, known);
    }

    [[nodiscard]] std::string take() noexcept { return std::move(text_); }

private:
    void coroutine(const task_node& node, int depth, const std::string*& known) {
        indent(depth);
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

    void pending(stop_target& leaf, int depth, const std::string* known) {
        indent(depth);
        text_ += "waiting for ";
        text_ += leaf.waiting_for();
        text_ += '\n';
        if (list<stop_chain>* branches = leaf.branches()) {
            branches->for_each([&](const stop_chain& branch) { chain(branch, depth + 1, known); });
        }
    }

    void indent(int depth) { text_.append(2 * static_cast<std::size_t>(depth), ' '); }

    time_point now_;
    std::string text_;
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

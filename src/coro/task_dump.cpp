// SPDX-License-Identifier: BSL-1.0
//
// The walk behind include/gyre/coro/task_dump.hpp.
#include <gyre/coro/task_dump.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/coro/task_locals.hpp>

#include <chrono>

namespace gyre {
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
        text_ += node.where.function_name();
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

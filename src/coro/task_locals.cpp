// SPDX-License-Identifier: BSL-1.0
//
// Binding and carrying: see include/gyre/coro/task_locals.hpp.
#include <gyre/coro/task_locals.hpp>

#include <gyre/base/check.hpp>

namespace gyre {

constinit task_local<std::string> task_name;

// Bindings that others of the same key hide are left behind.
task_locals::task_locals(const local_frame* top) {
    if (top == nullptr) return;
    std::vector<std::unique_ptr<local_frame>> copies;
    for (const local_frame* each = top; each != nullptr; each = each->outer()) {
        if (local_frame::find(top, each->key()) != each) continue;
        copies.push_back(each->copy());
        if (copies.size() > 1) copies[copies.size() - 2]->stand_in(copies.back().get());
    }
    frames_ = std::make_shared<const std::vector<std::unique_ptr<local_frame>>>(std::move(copies));
}

void locals_scope::open(task_node& in) noexcept {
    expects(in_ == nullptr, "a scope of locals is awaited once");
    in_ = &in;
    around_ = in.env;
    env_ = *in.env;
    env_.locals = bound(around_->locals);
    in.env = &env_;
}

locals_scope::~locals_scope() {
    if (in_ == nullptr) return;
    expects(
        in_->env == &env_,
        "scopes of locals end in the reverse order of their beginning, and are not for generators");
    in_->env = around_;
}

}  // namespace gyre

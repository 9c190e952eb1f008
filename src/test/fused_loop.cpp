// SPDX-License-Identifier: BSL-1.0
//
// Fuses before the kernel's own loops, and how one is found hanging: see fused_loop.hpp.
#include <test/fused_loop.hpp>

#include <gyre/base/check.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/loop_decorator.hpp>

#include <cstdio>

namespace gyre::test {
namespace {

// Stays when its fuse is gone: what was opened on its host may outlive any scope.
class kernel_fuse final : public loop_decorator {
public:
    [[nodiscard]] static kernel_fuse& instance() noexcept {
        static kernel_fuse& it = *new kernel_fuse;
        return it;
    }

    [[nodiscard]] host& decorate(host& machine) noexcept override {
        host_.stand_before(machine);
        return host_;
    }
    [[nodiscard]] std::unique_ptr<loop_backend> decorate(
        std::unique_ptr<loop_backend> chosen) noexcept override {
        return std::make_unique<fused_backend>(std::move(chosen), host_);
    }

    [[nodiscard]] fused_host& on() noexcept { return host_; }

private:
    fused_host host_;
};

}  // namespace

fused_loops::fused_loops(fuse& fault, duration patience) noexcept {
    kernel_fuse& it = kernel_fuse::instance();
    expects(it.on().set_fuse(&fault) == nullptr, "there is one fuse at a time");
    it.on().set_patience(patience);
    before_ = loop_decorator::install(&it);
}

fused_loops::~fused_loops() {
    loop_decorator::install(before_);
    kernel_fuse::instance().on().set_fuse(nullptr);
}

std::string fused_host::fault_text() const {
    const fuse* const it = fuse_.load(std::memory_order_acquire);
    return it == nullptr ? std::string{} : it->text();
}

void fused_backend::attach(io_context& owner) noexcept {
    loop_ = &owner;
    stands_ = &owner.host() == &on_;
    before_->attach(owner);
}

error fused_backend::turn(time_point deadline) noexcept {
    if (!stands_) return before_->turn(deadline);
    const time_point limit =
        deadline == never ? deadline_after(on_.now(), on_.patience()) : deadline;
    const error refused = before_->turn(limit);
    if (deadline != never || on_.now() < limit || loop_->busy()) return refused;
    std::fprintf(stderr, "gyre: a loop hangs after %s\n", on_.fault_text().c_str());
    fail_check("fuse", "what cannot go on ends");
}

}  // namespace gyre::test

// SPDX-License-Identifier: BSL-1.0
//
// How descriptors are taken over: see include/gyre/io/descriptor.hpp.
#include <gyre/io/descriptor.hpp>

namespace gyre {

descriptor::descriptor(handle open) noexcept : basic_descriptor{std::move(open)} {
    if (!is_open()) return;
    learn_kind_operation op{slot()};
    static_cast<void>(perform_now(op));  // Of an open one it succeeds.
}

io_result<descriptor> descriptor::duplicate(io_context& on, int number) noexcept {
    duplicate_operation op{number};
    op.result = on.host().perform_now(op);
    if (const error failed = error_of(op)) return failed;
    return adopt(on, op.result);
}

namespace {

io_result<descriptor> standard_stream(io_context& on, int number) noexcept {
    duplicate_operation op{number};
    op.terminal_anew = true;
    op.result = on.host().perform_now(op);
    if (const error failed = error_of(op)) return failed;
    return descriptor::adopt(on, op.result);
}

}  // namespace

io_result<descriptor> standard_input(io_context& on) noexcept { return standard_stream(on, 0); }
io_result<descriptor> standard_output(io_context& on) noexcept { return standard_stream(on, 1); }
io_result<descriptor> standard_error(io_context& on) noexcept { return standard_stream(on, 2); }

}  // namespace gyre

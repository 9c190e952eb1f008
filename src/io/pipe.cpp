// SPDX-License-Identifier: BSL-1.0
//
// How a pipe comes about: see include/gyre/io/pipe.hpp.
#include <gyre/io/pipe.hpp>

namespace gyre {

io_result<readable_pipe, writable_pipe> make_pipe(io_context& on) noexcept {
    constexpr bool blocking = false;
    make_pipe_operation op{blocking};
    op.result = on.host().perform_now(op);
    if (const error failed = error_of(op)) return failed;
    return {error{}, readable_pipe::adopt(on, op.numbers[0]),
            writable_pipe::adopt(on, op.numbers[1])};
}

}  // namespace gyre

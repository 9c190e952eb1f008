// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/body_writer.hpp>

namespace gyre::http {
namespace {

class function_producer final : public body_producer {
public:
    function_producer(body_function write, std::optional<std::uint64_t> size) noexcept
        : write_{std::move(write)}, size_{size} {}

    [[nodiscard]] std::optional<std::uint64_t> size() const noexcept override { return size_; }
    [[nodiscard]] task<io_result<>> write(body_writer to) override { return write_(to); }

private:
    body_function write_;
    std::optional<std::uint64_t> size_;
};

}  // namespace

std::coroutine_handle<> body_write_awaiter::await_suspend(std::coroutine_handle<> waiter,
                                                          const environment* given) {
    std::optional<io_result<std::size_t>> now;
    if (given->chain->stopping())
        now = io_result<std::size_t>{error{errc::canceled, activity::write}};
    else if (from_.empty()) now = io_result<std::size_t>{std::size_t{0}};
    else now = to_.try_write(from_);

    if (!now) return waits_.emplace(to_.write(from_)).await_suspend(waiter, given);
    at_once_ = *now;
    if (given->loop->spend_in_memory()) return waiter;
    back_.post(waiter, *given);
    return std::noop_coroutine();
}

std::unique_ptr<body_producer> produced_by(body_function write, std::optional<std::uint64_t> size) {
    return std::make_unique<function_producer>(std::move(write), size);
}

}  // namespace gyre::http

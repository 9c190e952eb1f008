// SPDX-License-Identifier: BSL-1.0
//
// Signals of the seam on Boost.Asio.
//
// executor_traits.hpp has the contract.
#pragma once

#include <exchange/net/asio/io_result.hpp>
#include <exchange/net/asio/loop.hpp>

#include <boost/asio/basic_signal_set.hpp>

#include <initializer_list>
#include <memory>
#include <utility>

namespace exchange {

class asio_signal_set {
public:
    asio_signal_set() noexcept = default;

    [[nodiscard]] static gyre::io_result<asio_signal_set> open(asio_loop& on,
                                                               std::initializer_list<int> signals) {
        asio_signal_set made;
        made.signals_ = std::make_unique<set>(on.executor());
        for (const int each : signals) {
            boost::system::error_code failure;
            made.signals_->add(each, failure);
            if (failure) return from_asio_error(failure, gyre::activity::signal);
        }
        return made;
    }

    [[nodiscard]] auto wait() { return signals_->async_wait(as_io_result{gyre::activity::signal}); }
    void cancel() noexcept {
        boost::system::error_code ignored;
        signals_->cancel(ignored);
    }

private:
    using set = boost::asio::basic_signal_set<asio_loop::executor_type>;

    std::unique_ptr<set> signals_;  // Asio's own can't move.
};

}  // namespace exchange

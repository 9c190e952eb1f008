// SPDX-License-Identifier: BSL-1.0
//
// A callback facility in its second way of writing, as a type: laws construct what they judge.
#pragma once

#include <exchange/net/asio/callback/facility.hpp>

namespace exchange::testing {

/// One that writes on the spot what can be.
class eager_facility {
public:
    eager_facility(asio_loop& loop, order_entry_host& host, const facility_options& options,
                   span_observer* observer = nullptr)
        : it_{loop, host, options, observer, callback_style::tried_first} {}

    [[nodiscard]] gyre::io_result<> start() { return it_.start(); }
    [[nodiscard]] const gyre::endpoint& order_entry() const { return it_.order_entry(); }
    [[nodiscard]] const gyre::endpoint& feed_requests() const { return it_.feed_requests(); }
    void drain() { it_.drain(); }
    [[nodiscard]] bool idle() const { return it_.idle(); }
    void stop() { it_.stop(); }
    [[nodiscard]] const feed_counts& feed() const { return it_.feed(); }

private:
    callback_facility it_;
};

}  // namespace exchange::testing

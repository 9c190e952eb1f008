// SPDX-License-Identifier: BSL-1.0
//
// What the connections of a callback facility share.
//
// connection.hpp is one of them, facility.hpp owns this.
#pragma once

#include <exchange/net/application/facility_options.hpp>
#include <exchange/net/application/order_entry_host.hpp>
#include <exchange/net/application/span_watch.hpp>
#include <exchange/net/asio/callback/feed.hpp>
#include <exchange/net/asio/callback/style.hpp>

#include <gyre/base/intrusive.hpp>

#include <cstdint>

namespace exchange {

class callback_connection;

/// Of the list of connections that wait for the host.
struct awaits_host {};

/// The owner of a connection, which gave it its client.
class connection_owner {
public:
    /// The client is gone. The connection may be given another one at once.
    virtual void left() = 0;

protected:
    ~connection_owner() = default;
};

struct callback_shared_state {
    order_entry_host& host;
    callback_feed& feed;
    const facility_options& options;
    connection_owner& owner;
    callback_style style;
    span_watch spans;

    /// Those that others have caused output for. Empty again before a handler returns.
    gyre::list<callback_connection> announced{};

    /// Those that may not go on before a command is through that takes several steps, in order.
    gyre::list<callback_connection, awaits_host> waiting{};

    /// A writer has finished, or there is no client to write to.
    void note_written() noexcept {
        if (!feed.sending()) spans.note_written();
    }

    /// Lets those write that others have caused output for.
    void write_announced();
};

}  // namespace exchange

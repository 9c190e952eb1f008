// SPDX-License-Identifier: BSL-1.0
//
// What the connections of a callback facility share.
//
// connection.hpp is one of them, facility.hpp owns this.
#pragma once

#include <exchange/net/application/facility_options.hpp>
#include <exchange/net/application/matching_service.hpp>
#include <exchange/net/application/span_watch.hpp>
#include <exchange/net/asio/callback/feed.hpp>
#include <exchange/net/asio/callback/style.hpp>

#include <gyre/base/intrusive.hpp>

#include <cstdint>

namespace exchange {

class callback_connection;

/// Of the list of connections that wait for the service.
struct awaits_service {};

/// The owner of a connection, which gave it its client.
class callback_host {
public:
    /// The client is gone. The connection may be given another one at once.
    virtual void left() = 0;

protected:
    ~callback_host() = default;
};

struct callback_shared_state {
    matching_service& service;
    callback_feed& feed;
    const facility_options& options;
    callback_host& host;
    callback_style style;
    span_watch spans;

    /// Those that others have caused output for. Empty again before a handler returns.
    gyre::list<callback_connection> announced{};

    /// Those that may not go on before a command is through that takes several steps, in order.
    gyre::list<callback_connection, awaits_service> waiting{};

    /// A writer has finished, or there is no client to write to.
    void note_written() noexcept {
        if (!feed.sending()) spans.note_written();
    }

    /// Lets those write that others have caused output for.
    void write_announced();
};

}  // namespace exchange

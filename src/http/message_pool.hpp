// SPDX-License-Identifier: BSL-1.0
//
// A server's message under way, and who has it: see include/gyre/http/message_pool.hpp.
#pragma once

#include <gyre/http/message_pool.hpp>
#include <gyre/http/serve_connection.hpp>
#include <gyre/sync/event.hpp>
#include <http/connection_io.hpp>
#include <http/started_handler.hpp>

#include <memory>
#include <optional>
#include <string>

namespace gyre::http {

/// A request that is read and answered.
struct server_message {
    server_message(const connection_options& options, connection_io& io)
        : head{options.head},
          chunks{options.chunks},
          parser{options.head},
          source{io, options.chunks},
          sink{io} {}

    head_limits head;
    chunk_limits chunks;
    head_parser parser;
    request what;
    framed_source source;
    framed_sink sink;
    std::string out;  // Memory for answers, while no connection has the message.
    event left;       // The peer has, or waits no longer.
    std::optional<attended_task<response>> running;
};

/// One that a connection has from the first byte of a request until the answer was written.
class borrowed_message {
public:
    /// @param  from  May be null: then it is made once.
    borrowed_message(message_pool* from, const connection_options& options,
                     connection_io& io) noexcept
        : from_{from}, options_{options}, io_{io} {}
    borrowed_message(const borrowed_message&) = delete;
    borrowed_message& operator=(const borrowed_message&) = delete;
    ~borrowed_message() { give_back(); }

    void take();

    /// @pre  nothing of it is needed any more: what was read has been consumed, what was answered is written.
    void give_back() noexcept;

    [[nodiscard]] server_message* operator->() const noexcept { return it_.get(); }

private:
    message_pool* from_;
    const connection_options& options_;
    connection_io& io_;
    std::unique_ptr<server_message> it_;
};

}  // namespace gyre::http

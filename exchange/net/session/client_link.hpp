// SPDX-License-Identifier: BSL-1.0
//
// What the machine of a client asks of the connection that it stands on; served_client.hpp is that
// connection.
#pragma once

#include <exchange/codec/soup_connection.hpp>
#include <exchange/codec/soup_framer.hpp>

#include <gyre/io/endpoint.hpp>

#include <string_view>

namespace exchange {

/// Is it an end as it should be? Of any other a client is told why, as text.
[[nodiscard]] constexpr bool needs_no_words(soup_ending why) noexcept {
    return why == soup_ending::logged_out || why == soup_ending::session_ended ||
           why == soup_ending::rejected;
}

class client_link {
public:
    /// The next of the packets that are here: as a frame_transport has it.
    [[nodiscard]] virtual soup_framed next_packet() noexcept = 0;
    /// There is something to write. May be said again.
    virtual void has_output() noexcept = 0;
    /// The reader may go on, or need not any more: see `client_machine`.
    virtual void may_read() noexcept = 0;
    /// Where the client is; nowhere if that is not known.
    [[nodiscard]] virtual gyre::endpoint peer() const noexcept { return {}; }
    /// What carries its packets, for people; empty if that is not known. Static storage.
    [[nodiscard]] virtual std::string_view transport() const noexcept { return {}; }

protected:
    ~client_link() = default;
};

}  // namespace exchange

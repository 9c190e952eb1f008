// SPDX-License-Identifier: BSL-1.0
//
// Requests of a client's machine to its connection; server/client_session.hpp is that connection.
#pragma once

#include <exchange/codec/soup_connection.hpp>

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
    /// There is something to write. May be said again.
    virtual void has_output() noexcept = 0;
    /// Packets that wait can be used, or more can be read, or nothing will be: see `client_machine`.
    virtual void may_read() noexcept = 0;
    /// Where the client is; nowhere if that is not known.
    [[nodiscard]] virtual gyre::endpoint peer() const noexcept { return {}; }
    /// What carries its packets, for people; empty if that is not known. Static storage.
    [[nodiscard]] virtual std::string_view transport() const noexcept { return {}; }

protected:
    ~client_link() = default;
};

}  // namespace exchange

// SPDX-License-Identifier: BSL-1.0
//
// What a matching facility must be able to do to be measured.
//
// The host behind it (exchange/net/application/order_entry_host.hpp) is made and prepared outside, so
// that it is the same for every contender. What a facility adds is what is compared: how bytes get
// from sockets into the host, and out of it. Each file in contenders/ implements this once.
#pragma once

#include <exchange/bench/span_log.hpp>
#include <exchange/net/application/order_entry_host.hpp>

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace exchange::bench {

/// Whom the load logs in as, with the sessions of scenarios.hpp.
inline constexpr std::string_view maker_name = "maker";
inline constexpr std::string_view taker_name = "taker";
inline constexpr std::string_view password = "bench";

/// As whom a gateway connects, if there is one in front of the facility.
inline constexpr std::string_view gateway_name = "gw";

/// What a facility is given.
struct facility_plan {
    order_entry_host& host;  ///< Borrowed; the facility's thread's alone from `start` to `stop`.
    span_log& spans;         ///< As above. Only messages that were sequenced are counted.
    sockaddr_in feed{};      ///< Where datagrams go: a group, by the loopback interface, or a host.
    int processor = -1;      ///< The core that its thread stays on; -1: any.
};

/// Where a facility listens: on 127.0.0.1, at ports of its own choice.
struct facility_endpoints {
    sockaddr_in order_entry{};    ///< SoupBinTCP.
    sockaddr_in feed_requests{};  ///< MoldUDP64 requests; the answer goes to the requester.
};

/// What it counted itself, over its whole life. None: it does not count that.
struct facility_counts {
    std::optional<std::uint64_t>
        reads;  ///< Receiving operations, those included that found nothing.
    std::optional<std::uint64_t> writes;     ///< Sending operations on sessions.
    std::optional<std::uint64_t> datagrams;  ///< To the feed.
};

struct facility_identity {
    std::string name;     ///< As in the tables: `asio_callback`.
    std::string library;  ///< `gyre`, `Boost.Asio`, `none`.
    std::string version;
    std::string backend;  ///< What it waits with: `epoll`, `io_uring`, `none`.
};

class facility_under_test {
public:
    virtual ~facility_under_test() = default;

    [[nodiscard]] virtual facility_identity about() const = 0;

    /// Starts one thread that serves all clients, and returns once connections are accepted. Called
    /// once.
    ///
    /// TCP_NODELAY is set on connections. After each batch of input everything that was derived is
    /// written before more is read, and `plan.spans` is told.
    [[nodiscard]] virtual facility_endpoints start(const facility_plan& plan) = 0;

    /// Ends the thread, whatever it is doing, and returns when it has ended.
    virtual void stop() = 0;

    /// Meaningful after `stop`.
    [[nodiscard]] virtual facility_counts counts() const { return {}; }
};

/// What can be turned, and what `exchange_tuning` turns.
struct facility_tuning {
    std::string backend;           ///< The driver's `--backend`, empty if absent.
    bool through_gateway = false;  ///< Clients connect to a gateway in front of it.

    /// How long to look for work before sleeping; for those who can.
    gyre::duration spin_max{};

    std::size_t packets_per_turn_max = 64;  ///< Carried out before what they caused is written.
    std::size_t datagrams_per_send = 64;    ///< At most; for those who send several at once.

    std::optional<unsigned> ring_submissions;        ///< As io_context_options has it; so are
    std::optional<std::size_t> receive_block_bytes;  ///< these two.
    std::optional<gyre::duration> timer_slack;

    /// Is something asked for that only gyre's contexts have?
    [[nodiscard]] bool turns_context() const noexcept {
        return spin_max != gyre::duration{} || ring_submissions || receive_block_bytes ||
               timer_slack;
    }
};

/// Defined by each file in contenders/. Ends the program if it does not know how.
[[nodiscard]] std::unique_ptr<facility_under_test> make_facility(const facility_tuning& how);

}  // namespace exchange::bench

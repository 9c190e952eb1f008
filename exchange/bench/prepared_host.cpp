// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/bench/prepared_host.hpp>

#include <exchange/bench/facility_under_test.hpp>

#include <variant>

namespace exchange::bench {
namespace {

// More than the load lets be under way, so that no client is cut off and no datagram lost for good.
constexpr std::size_t kept_messages = std::size_t{1} << 16;
constexpr std::size_t kept_bytes = std::size_t{8} << 20;

order_entry_host_options options() {
    order_entry_host_options made;
    made.sequencing.limits = scenario::limits();
    made.participants = {{maker_name, std::string{password}, session_id{1}},
                         {taker_name, std::string{password}, session_id{2}}};
    made.gateways = {{gateway_name, std::string{password}, {}}};
    made.stream.bytes_max = kept_bytes;
    made.stream.messages_max = kept_messages;
    made.stream.unread_bytes_max = 2 * kept_bytes;
    made.stream_memory.warm_bytes = 2 * kept_bytes;  // Of both participants.
    made.feed.kept_bytes_max = kept_bytes;
    made.feed.kept_messages_max = kept_messages;
    made.feed.unsent_bytes_max = 2 * kept_bytes;
    return made;
}

}  // namespace

std::unique_ptr<order_entry_host> prepared_host(scenario& play, gyre::time_point now) {
    auto made = std::make_unique<order_entry_host>(options(), now);
    for (const command& each : play.prepare()) {
        std::visit([&](const auto& it) { made->apply(it); }, each);
        while (made->feed().next(now)) {
        }  // Taken, and not sent.
    }
    return made;
}

}  // namespace exchange::bench

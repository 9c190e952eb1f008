// SPDX-License-Identifier: BSL-1.0
//
// Both ends of a link without any socket, and channels whose packets a test says and reads.
//
// Bytes are carried in pieces, so where they are cut is for the test to say.
#pragma once

#include <exchange/codec/link_connection.hpp>

#include <codec/packets.hpp>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace exchange::testing {

/// A channel that says what a test puts into `unsent`, and keeps what it hears.
struct scripted_channel final : link_channel {
    std::deque<bytes> unsent;
    std::vector<std::string> heard;
    bool ends = false;  ///< Behind what is unsent.
    soup_ending why = soup_ending::none;
    soup_ending closed_with = soup_ending::none;
    std::size_t taken = 0;  ///< Bytes that it has heard.

    link_pull pull(std::span<std::byte> room) noexcept override {
        link_pull made;
        while (!unsent.empty() && unsent.front().size() <= room.size() - made.bytes) {
            std::memcpy(room.data() + made.bytes, unsent.front().data(), unsent.front().size());
            made.bytes += unsent.front().size();
            unsent.pop_front();
        }
        made.more = !unsent.empty();
        made.over = ends && !made.more;
        made.why = why;
        return made;
    }
};

struct link_pair {
    explicit link_pair(const link_options& options = {})
        : gateway{link_role::gateway, options, start},
          facility{link_role::facility, options, start} {}

    /// The gateway connects, and is welcome.
    void connect(std::string_view life = "LIFE1") {
        this->life = life;
        gateway.connect("gw1", "password", now);
        carry();
        REQUIRE(gateway.up());
        REQUIRE(facility.up());
    }

    /// A client on a channel, and what stands behind it at the facility.
    scripted_channel& open(scripted_channel& it,
                           const link_open& how = {{"alice", {}, {}, 1}, false}) {
        REQUIRE(gateway.open(it, how));
        const std::uint32_t number = it.number();
        carry();
        return served.at(number);
    }
    void say(link_connection& from, scripted_channel& it, std::string_view text, char type = 'U') {
        it.unsent.push_back(framed(type, text));
        from.announce(it);
    }

    /// Carries all that both want to say, in pieces.
    void carry(std::size_t piece = 1 << 20) {
        while (carry(gateway, facility, to_facility, piece) ||
               carry(facility, gateway, to_gateway, piece)) {
        }
    }
    bool carry(link_connection& from, link_connection& to, link_framer& through,
               std::size_t piece) {
        if (!from.wants_to_write()) return false;
        bool any = false;
        for (auto bytes = from.output(); !bytes.empty(); bytes = from.output()) {
            any = true;
            const std::size_t size = std::min({piece, bytes.size(), through.space().size()});
            std::copy_n(bytes.begin(), size, through.space().begin());
            through.received(size);
            from.sent(size, now);
            for (link_framed next = through.next(); next.complete; next = through.next())
                react(to, to.on_frame(next.frame, now));
        }
        return any;
    }

    void react(link_connection& at, const link_step& step) {
        using enum link_step::kind;
        auto* const channel = static_cast<scripted_channel*>(step.channel);
        switch (step.what) {
            case hello: return facility.welcome(life);
            case open: {
                opened.push_back(step.open);
                if (refuses) return facility.refuse(step.number, soup_ending::removed);
                served.erase(step.number);
                return facility.admit(step.number, served[step.number]);
            }
            case packets: {
                std::span<const std::byte> rest = step.payload;
                while (!rest.empty()) {
                    const soup_framed one = take_packet(rest);
                    REQUIRE(one.complete);
                    channel->heard.push_back(static_cast<char>(one.packet.type) +
                                             text_of(one.packet.payload));
                }
                channel->taken += step.payload.size();
                if (reads) at.take(*channel, static_cast<std::uint32_t>(step.payload.size()));
                return;
            }
            case closed: channel->closed_with = step.why; return;
            case ended:
                return at.lose_channels(
                    [this](link_channel&, std::uint32_t bytes) { in_flight.push_back(bytes); });
            case nothing:
            case welcome: return;
        }
    }

    link_connection gateway;
    link_connection facility;
    link_framer to_facility;
    link_framer to_gateway;
    std::map<std::uint32_t, scripted_channel> served;  ///< At the facility.
    std::vector<link_open> opened;
    std::vector<std::uint32_t> in_flight;  ///< Of channels that were lost.
    soup_session life{"LIFE1"};
    gyre::time_point now = start;
    bool reads = true;     ///< What is heard is taken at once.
    bool refuses = false;  ///< Clients.
};

}  // namespace exchange::testing

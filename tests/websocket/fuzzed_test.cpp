// SPDX-License-Identifier: BSL-1.0
//
// The functions of the fuzzers on proper input that was damaged, in every build.
#include <websocket/fuzz/fuzzed.hpp>

#include <support/harness.hpp>
#include <websocket/bytes.hpp>

#include <random>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;

namespace {

// As it is, and with some of its bytes changed, doubled or left out.
void replay(void (*fuzzed)(const_buffer), const bytes& proper) {
    constexpr unsigned seed = 20'261'126;
    std::mt19937 random{seed};
    fuzzed(proper);
    for (int round = 0; round < 2000; ++round) {
        bytes damaged = proper;
        for (unsigned each = 0; each < 1 + round % 4U && !damaged.empty(); ++each) {
            const auto at =
                damaged.begin() + static_cast<std::ptrdiff_t>(random() % damaged.size());
            switch (random() % 3) {
                case 0: *at = static_cast<std::byte>(random()); break;
                case 1: damaged.erase(at); break;
                default: damaged.insert(at, *at);
            }
        }
        fuzzed(damaged);
    }
}

}  // namespace

TEST_CASE("websocket fuzz: frames") {
    for (const char* settings : {"00 03", "01 00", "03 07", "0f 10"}) {
        const bool server = settings[1] != '0';
        const auto make = server ? client_frame : server_frame;
        bytes all = hex(settings);
        all += make(frame_opcode::text, "fragm\xce", false);
        all += make(frame_opcode::ping, "ping", true);
        all += make(frame_opcode::continuation, "\xbants", true);
        all += make(frame_opcode::binary, std::string(130, 'b'), true);
        all += make(frame_opcode::close, close_payload(1000, "bye"), true);
        replay(fuzz_frames, all);
    }
}

TEST_CASE("websocket fuzz: inflating") {
    replay(fuzz_inflate, hex("00 05 f2 48 05 00 00 00 ff ff ca c9 c9 07 00"));
    replay(fuzz_inflate, hex("01 00 f3 48 cd c9 c9 07 00 f3 48 cd c9 c9 07 00 00"));
}

TEST_CASE("websocket fuzz: deflating") {
    bytes all = hex("86 09 a5");
    all += copy_of("a text, a text, and a text that goes on and on and on");
    replay(fuzz_deflate, all);
}

TEST_CASE("websocket fuzz: handshakes") {
    replay(fuzz_handshake,
           copy_of("Host:a\nUpgrade:websocket\nConnection:Upgrade\nSec-WebSocket-Version:13\n"
                   "Sec-WebSocket-Key:AAAAAAAAAAAAAAAAAAAAAA==\nOrigin:http://a\n"
                   "Sec-WebSocket-Accept:ICX+Yqv66kxgM0FcWaLWlFLwTAI=\n"
                   "Sec-WebSocket-Protocol:chat, x\n"
                   "Sec-WebSocket-Extensions:permessage-deflate; client_max_window_bits=\"12\"; "
                   "server_no_context_takeover, x; y=z"));
}

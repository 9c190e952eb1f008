// SPDX-License-Identifier: BSL-1.0
//
// Clients of WebSocket. Profiles: `echo`, text of up to 64 bytes and else binary; `hub`, where one client
// sends and all receive.
//
// Frames are made before, with a mask that stays, and answers are taken apart by hand: it is the server's
// library that is measured, and the load is not to be its twin.
#include <lab/load/talk.hpp>

#include <lab/kit/fail.hpp>
#include <lab/servers/web.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lab {
namespace {

constexpr std::size_t kinds = 16;  // Of messages.
constexpr std::size_t text_bytes_max = 64;
constexpr std::string_view handshake =
    " HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
constexpr std::string_view accepted = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";  // RFC 6455, 1.3.

constexpr unsigned char final_frame = 0x80;
constexpr unsigned char opcode_bits = 0x0f;
constexpr unsigned char masked_frame = 0x80;

struct message {
    std::string frame;
    std::string payload;
    unsigned char opcode = 0;
};

void append_length(std::string& to, std::size_t size) {
    const auto append = [&](int bytes) {
        for (int i = bytes - 1; i >= 0; --i) to += static_cast<char>(size >> (8 * i) & 0xff);
    };
    if (size < 126) {
        to += static_cast<char>(masked_frame | size);
    } else if (size < 65'536) {
        to += static_cast<char>(masked_frame | 126);
        append(2);
    } else {
        to += static_cast<char>(masked_frame | 127);
        append(8);
    }
}

message message_of(std::string payload) {
    constexpr std::array<unsigned char, 4> mask{0x37, 0xfa, 0x21, 0x3d};
    message made;
    made.opcode = payload.size() <= text_bytes_max ? 1 : 2;
    made.frame += static_cast<char>(final_frame | made.opcode);
    append_length(made.frame, payload.size());
    made.frame.append(reinterpret_cast<const char*>(mask.data()), mask.size());
    for (std::size_t i = 0; i < payload.size(); ++i) {
        made.frame +=
            static_cast<char>(static_cast<unsigned char>(payload[i]) ^ mask[i % mask.size()]);
    }
    made.payload = std::move(payload);
    return made;
}

// `first` tells messages apart, and how long they are does not.
message message_number(std::size_t number, std::size_t bytes) {
    std::string payload = servers::content_of(bytes + number).substr(number);
    payload.front() = static_cast<char>('a' + number);
    return message_of(std::move(payload));
}

// Of a server: without a mask.
struct frame_head {
    std::size_t length = 0;  // 0: it has not ended.
    std::size_t payload = 0;
    unsigned char opcode = 0;
    bool final = false;
};

frame_head frame_head_of(std::string_view arrived) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(arrived[at]); };
    if (arrived.size() < 2) return {};
    require((byte(1) & masked_frame) == 0, "load: a server masks");
    const std::size_t code = byte(1);
    const std::size_t more = code == 126 ? 2 : code == 127 ? 8 : 0;
    if (arrived.size() < 2 + more) return {};
    std::size_t size = more > 0 ? 0 : code;
    for (std::size_t i = 0; i < more; ++i) size = size << 8 | byte(2 + i);
    return {2 + more, size, static_cast<unsigned char>(byte(0) & opcode_bits),
            byte(0) >= final_frame};
}

class websocket_talk final : public talk {
public:
    websocket_talk(const talk_case& what, const gyre::endpoint& server)
        : what_{what}, is_hub_{what.profile == "hub"}, server_{server} {
        require(is_hub_ || what.profile == "echo", "load: no such profile");
        for (std::size_t i = 0; i < kinds; ++i) messages_.push_back(message_number(i, what.bytes));
        const std::size_t space = std::clamp<std::size_t>(2 * what.bytes, 1024, 64 * 1024);
        for (std::size_t i = 0; i < what.connections; ++i) wires_.emplace_back(space);
    }

    gyre::task<> open() override {
        for (std::size_t at = 0; at < wires_.size();) {
            std::vector<gyre::task<>> some;
            const std::size_t end = std::min(at + opened_at_once, wires_.size());
            for (; at < end; ++at) some.push_back(shake_hands(wires_[at]));
            static_cast<void>(co_await gyre::when_all(std::move(some)));
        }
    }

    gyre::task<> play(phase& during) override {
        std::vector<gyre::task<>> all;
        for (std::size_t i = 0; i < wires_.size(); ++i) {
            all.push_back(is_hub_ ? listens(wires_[i]) : echoes(wires_[i], during, i));
        }
        if (is_hub_) all.push_back(publishes(during));
        static_cast<void>(co_await gyre::when_all(std::move(all)));
    }

private:
    gyre::task<> shake_hands(wire& on) {
        const std::string request =
            std::string{is_hub_ ? "GET /hub" : "GET /echo"} + std::string{handshake};
        co_await on.connect(server_);
        co_await on.send(request);
        answer_head head;
        while (head.length == 0) {
            static_cast<void>(co_await on.receive());
            head = head_of(on.unread());
        }
        const std::string_view text = on.unread().substr(0, head.length);
        require(head.status == 101 && field_of(text, "sec-websocket-accept") == accepted,
                "load: a handshake was refused");
        on.use(head.length);
    }

    gyre::task<> echoes(wire& on, phase& during, std::size_t number) {
        for (; !during.over(); ++number) {
            const message& next = messages_[number % kinds];
            const auto since = phase::clock::now();
            co_await on.send(next.frame);
            co_await expect(on, next);
            during.note(1, next.payload.size(), since);
        }
        require(on.unread().empty(), "load: more came than was sent");
    }

    // A round is over when all have got its message. The last one of a phase is told by its content.
    gyre::task<> publishes(phase& during) {
        for (bool last = false; !last;) {
            last = during.over();
            round_ = last ? 0 : 1 + round_ % (kinds - 1);
            left_ = wires_.size();
            complete_.reset();
            const auto since = phase::clock::now();
            co_await wires_.front().send(messages_[round_].frame);
            static_cast<void>(co_await complete_.wait());
            during.note(wires_.size(), wires_.size() * what_.bytes, since);
        }
    }

    gyre::task<> listens(wire& on) {
        for (bool last = false; !last;) {
            const std::string_view arrived = on.unread();
            if (arrived.size() < 3) {
                co_await on.receive();
                continue;
            }
            const message& awaited = messages_[round_];
            last = round_ == 0;
            co_await expect(on, awaited);
            if (--left_ == 0) complete_.set();
        }
    }

    // In however many frames. Pings are none of ours: phases are short.
    static gyre::task<> expect(wire& on, const message& wanted) {
        std::size_t got = 0;
        for (bool final = false; !final;) {
            frame_head head = frame_head_of(on.unread());
            while (head.length == 0) {
                co_await on.receive();
                head = frame_head_of(on.unread());
            }
            require(head.opcode == (got == 0 ? wanted.opcode : 0), "load: a frame of another kind");
            require(head.payload <= wanted.payload.size() - got, "load: a message is too long");
            on.use(head.length);
            final = head.final;
            for (std::size_t left = head.payload; left > 0;) {
                if (on.unread().empty()) co_await on.receive();
                const std::string_view part = on.unread().substr(0, left);
                require(std::string_view{wanted.payload}.substr(got, part.size()) == part,
                        "load: a message is wrong");
                got += part.size();
                left -= part.size();
                on.use(part.size());
            }
        }
        require(got == wanted.payload.size(), "load: a message is too short");
    }

    const talk_case what_;
    const bool is_hub_;
    const gyre::endpoint server_;
    std::vector<message> messages_;
    std::vector<wire> wires_;
    std::size_t round_ = 1;  // Which message is under way; 0 is the last one of a phase.
    std::size_t left_ = 0;   // Clients that have not got it.
    gyre::event complete_;
};

}  // namespace

std::unique_ptr<talk> talk_websocket(const talk_case& what, gyre::endpoint server) {
    return std::make_unique<websocket_talk>(what, server);
}

}  // namespace lab

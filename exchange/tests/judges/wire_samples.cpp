// SPDX-License-Identifier: BSL-1.0
//
// Conversations of our own machines, for dissectors of other projects.
//
// Prints one line per packet: its transport and direction, its bytes, and what a reader of it must find.
// tshark_judge.py makes captures of the bytes and compares what tshark finds.
#include <exchange/codec/event_codec.hpp>
#include <exchange/codec/mold_receiver.hpp>
#include <exchange/codec/mold_sender.hpp>
#include <exchange/codec/soup_client.hpp>
#include <exchange/codec/soup_framer.hpp>
#include <exchange/codec/soup_server.hpp>

#include <cstdio>
#include <string>

using namespace exchange;
using namespace std::chrono_literals;

namespace {

constexpr gyre::time_point start{1h};

std::string hex(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte each : bytes) {
        std::array<char, 3> digits{};
        std::snprintf(digits.data(), digits.size(), "%02x", std::to_integer<unsigned>(each));
        text += digits.data();
    }
    return text;
}

void print(const char* direction, std::span<const std::byte> bytes, const std::string& expected) {
    std::printf("%s %s %s\n", direction, hex(bytes).c_str(), expected.c_str());
}

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span{text.data(), text.size()});
}

/// A client and a server that hear each other at once, each packet printed as one segment.
class conversation {
public:
    conversation(const soup_login& login, const soup_stream& stream, soup_reject verdict)
        : stream_{&stream}, verdict_{verdict}, client_{{}, login, start}, server_{{}, start} {
        client_.connect(start);
    }

    [[nodiscard]] soup_client& client() { return client_; }
    [[nodiscard]] soup_server& server() { return server_; }

    /// Carries the next packet of the client, which a reader must find to be `expected`.
    void from_client(const std::string& expected) { carry("c2s", client_, to_server_, expected); }
    void from_server(const std::string& expected) { carry("s2c", server_, to_client_, expected); }

private:
    template <class Machine>
    void carry(const char* direction, Machine& from, soup_framer& to, const std::string& expected) {
        std::vector<std::byte> bytes;
        const soup_output output = from.output();
        for (const auto part : output.buffers())
            bytes.insert(bytes.end(), part.begin(), part.end());
        gyre::expects(bytes.size() >= soup_header_bytes, "there is a packet to carry");
        const std::size_t size = 2 + (std::to_integer<std::size_t>(bytes[0]) << 8 |
                                      std::to_integer<std::size_t>(bytes[1]));
        print(direction, std::span{bytes}.first(size), expected);
        std::copy_n(bytes.begin(), size, to.space().begin());
        to.received(size);
        from.sent(size, start);
        const soup_framed framed = to.next();
        if (&to == &to_server_) hear(server_.on_packet(framed.packet, start));
        else hear(client_.on_packet(framed.packet, start));
    }

    void hear(const soup_step& step) {
        if (step.what != soup_step::kind::login) return;
        if (verdict_ == soup_reject::none) static_cast<void>(server_.accept(*stream_, start));
        else static_cast<void>(server_.reject(verdict_));
    }

    const soup_stream* stream_;
    soup_reject verdict_;
    soup_client client_;
    soup_server server_;
    soup_framer to_server_;
    soup_framer to_client_;
};

std::string expect_message(char type, std::string_view extra, std::size_t size) {
    return std::string{"type="} + type + " length=" + std::to_string(size + 1) + std::string{extra};
}

void sample_soup() {
    soup_stream stream{{.session = "S1", .first_sequence = 40}};
    const auto append = [&stream] {
        constexpr std::size_t size = message_bytes_of<order_executed>;
        order_executed event{};
        event.order = order_id{7};
        encode(event, {1, 2, 3, 0, true}, stream.prepare(size).first<size>());
        stream.commit(size);
    };
    for (int each = 0; each < 5; ++each) append();

    std::puts("connection accepted");
    conversation it{{"alice", "secret", "S1", 42}, stream, soup_reject::none};
    it.from_client("type=L length=47 username=alice password=secret session=S1 req_seq_num=42");
    it.from_server("type=A length=31 session=S1 next_seq_num=42");
    const std::size_t size = message_bytes_of<order_executed>;
    for (int sequence = 42; sequence < 45; ++sequence)
        it.from_server(expect_message('S', " seq_num=" + std::to_string(sequence), size));
    std::array<std::byte, message_bytes_of<cancel_order>> cancel;
    encode(cancel_order{session_id{1}, client_sequence{3}, {order_id{9}, client_sequence::none}},
           cancel);
    it.client().send(cancel);
    it.from_client(expect_message('U', "", cancel.size()));
    static_cast<void>(it.client().on_timer(start + 1s));
    it.from_client("type=R length=1");
    static_cast<void>(it.server().on_timer(start + 1s));
    it.from_server("type=H length=1");
    it.server().send_debug("hello");
    it.from_server("type=+ length=6 text=hello");
    it.server().send_unsequenced(bytes_of("aside"));
    it.from_server("type=U length=6");
    append();
    it.from_server(expect_message('S', " seq_num=45", size));
    stream.end();
    it.from_server("type=Z length=1");

    std::puts("connection logout");
    conversation leaving{{"alice", "secret", "", 0}, stream, soup_reject::none};
    leaving.from_client("type=L length=47 username=alice password=secret session= req_seq_num=0");
    leaving.from_server("type=A length=31 session=S1 next_seq_num=46");
    leaving.client().log_out();
    leaving.from_client("type=O length=1");

    std::puts("connection rejected");
    conversation unknown{{"bob", "", "S2", 1}, stream, soup_reject::not_authorized};
    unknown.from_client("type=L length=47 username=bob password= session=S2 req_seq_num=1");
    unknown.from_server("type=J length=2 reject_code=A");

    std::puts("connection unavailable");
    conversation wrong{{"bob", "pw", "S2", 1}, stream, soup_reject::none};
    wrong.from_client("type=L length=47 username=bob password=pw session=S2 req_seq_num=1");
    wrong.from_server("type=J length=2 reject_code=S");
}

std::vector<std::byte> joined(const mold_datagram& datagram) {
    std::vector<std::byte> bytes{datagram.header.begin(), datagram.header.end()};
    bytes.insert(bytes.end(), datagram.messages.begin(), datagram.messages.end());
    return bytes;
}

/// Session, sequence and count, then number and bytes of each message.
std::string expect_datagram(std::uint64_t sequence, unsigned count,
                            const std::vector<std::string>& messages) {
    std::string text =
        "session=FEED sequence=" + std::to_string(sequence) + " count=" + std::to_string(count);
    for (const std::string& each : messages)
        text += " message=" + std::to_string(sequence++) + ':' + std::to_string(each.size() / 2) +
                ':' + each;
    return text;
}

void sample_mold() {
    mold_sender sender{{.session = "FEED",
                        .datagram_bytes_max = 200,
                        .message_bytes_max = 178,
                        .first_sequence = 1'000'000'000'000},
                       start};
    std::vector<std::string> messages;
    for (unsigned each = 1; each <= 6; ++each) {
        constexpr std::size_t size = message_bytes_of<trade>;
        std::array<std::byte, size> bytes;
        trade event{};
        event.id = trade_id{each};
        encode(event, {each, each, each, 0, true}, bytes);
        std::ranges::copy(bytes, sender.prepare(size).begin());
        sender.commit(size);
        messages.push_back(hex(bytes));
    }
    const std::uint64_t first = 1'000'000'000'000;
    print("udp", joined(*sender.next(start)),
          expect_datagram(first, 2, {messages[0], messages[1]}));
    print("udp", joined(*sender.next(start)),
          expect_datagram(first + 2, 2, {messages[2], messages[3]}));
    print("udp", joined(*sender.next(start)),
          expect_datagram(first + 4, 2, {messages[4], messages[5]}));
    print("udp", joined(*sender.on_timer(start + 1s)), expect_datagram(first + 6, 0, {}));

    mold_receiver receiver{{.session = "FEED", .first_sequence = first}, start};
    static_cast<void>(receiver.on_packet(joined(*sender.on_timer(start + 2s)), start));
    while (receiver.next()) {
    }
    static_cast<void>(receiver.request(start));
    const auto request = receiver.request(start + 1s);
    print("udp", *request, expect_datagram(first, 6, {}));
    print("udp", joined(sender.answer(*request).datagram),
          expect_datagram(first, 2, {messages[0], messages[1]}));
    sender.end(start + 3s);
    print("udp", joined(*sender.on_timer(start + 3s)), expect_datagram(first + 6, 65535, {}));
}

}  // namespace

int main() {
    sample_soup();
    sample_mold();
}

// SPDX-License-Identifier: BSL-1.0
//
// Fields of frames, and frames out of bytes: see link_frame.hpp.
#include <exchange/codec/link_frame.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>
#include <utility>

namespace exchange {
namespace {

/// Writes fields one behind the other.
class field_writer {
public:
    explicit field_writer(std::span<std::byte> out) noexcept : out_{out} {}

    template <std::unsigned_integral Number>
    void put(Number value) noexcept {
        put_big_endian(take(sizeof(Number)).template first<sizeof(Number)>(), value);
    }
    void put_text(std::size_t width, std::string_view text) noexcept {
        pad_right(take(width), text);
    }
    std::span<std::byte> take(std::size_t size) noexcept {
        const std::span<std::byte> field = out_.first(size);
        out_ = out_.subspan(size);
        return field;
    }

private:
    std::span<std::byte> out_;
};

/// Reads them. Sizes were checked.
class field_reader {
public:
    explicit field_reader(std::span<const std::byte> from) noexcept : from_{from} {}

    template <std::unsigned_integral Number>
    [[nodiscard]] Number get() noexcept {
        return get_big_endian<Number>(take(sizeof(Number)).template first<sizeof(Number)>());
    }
    [[nodiscard]] std::optional<std::string_view> text(std::size_t width) noexcept {
        return trimmed(take(width));
    }
    std::span<const std::byte> take(std::size_t size) noexcept {
        const std::span<const std::byte> field = from_.first(size);
        from_ = from_.subspan(size);
        return field;
    }

private:
    std::span<const std::byte> from_;
};

}  // namespace

std::string_view describe(link_ending ending) noexcept {
    switch (ending) {
        case link_ending::none: return "not ended";
        case link_ending::closed: return "the connection was closed";
        case link_ending::refused: return "no gateway has this name and password";
        case link_ending::other_version: return "another version of the protocol";
        case link_ending::small_window: return "a window too small for the largest packet";
        case link_ending::replaced: return "a gateway of this name has connected again";
        case link_ending::stopped: return "stopped";
        case link_ending::peer_silent: return "nothing heard for too long";
        case link_ending::no_hello: return "neither hello nor welcome in time";
        case link_ending::oversized_frame: return "a frame that is too long";
        case link_ending::malformed_frame: return "a payload that its kind does not have";
        case link_ending::unknown_kind: return "an unknown kind of frame";
        case link_ending::out_of_order: return "a frame that does not come here";
        case link_ending::unknown_channel: return "a channel that is not open";
        case link_ending::channel_in_use: return "a channel that is open already";
        case link_ending::beyond_window: return "more bytes than the window has";
    }
    return "unknown";
}

void write_link_header(std::span<std::byte, link_header_bytes> out,
                       const link_header& header) noexcept {
    put_big_endian(out.first<4>(), header.payload_bytes);
    put_big_endian(out.subspan<4, 4>(), header.channel);
    out[8] = static_cast<std::byte>(header.kind);
}

std::array<std::byte, link_hello_bytes> format_link_hello(const link_hello& hello) noexcept {
    std::array<std::byte, link_hello_bytes> out;
    field_writer fields{out};
    fields.put(hello.version);
    fields.put(hello.window_bytes);
    fields.put_text(6, hello.name.view());
    fields.put_text(64, hello.password.view());
    return out;
}

std::array<std::byte, link_welcome_bytes> format_link_welcome(
    const link_welcome& welcome) noexcept {
    std::array<std::byte, link_welcome_bytes> out;
    field_writer fields{out};
    fields.put(welcome.window_bytes);
    fields.put(welcome.channels_max);
    fields.put_text(10, welcome.life.view());
    return out;
}

std::array<std::byte, link_open_bytes> format_link_open(const link_open& open) noexcept {
    std::array<std::byte, link_open_bytes> out;
    const auto login =
        format_soup_login({open.login.username, {}, open.login.session, open.login.sequence});
    std::ranges::copy(login, out.begin());
    out.back() = open.resumed ? std::byte{1} : std::byte{0};
    return out;
}

std::optional<link_hello> parse_link_hello(std::span<const std::byte> payload) noexcept {
    if (payload.size() < sizeof(link_hello::version)) return std::nullopt;
    link_hello made;
    made.version = get_big_endian<std::uint16_t>(payload.first<2>());
    if (made.version != link_version) return made;
    if (payload.size() != link_hello_bytes) return std::nullopt;
    field_reader fields{payload.subspan(2)};
    made.window_bytes = fields.get<std::uint32_t>();
    const auto name = fields.text(6);
    const auto password = fields.text(64);
    if (!name || !password || name->empty()) return std::nullopt;
    made.name = *name;
    made.password = *password;
    return made;
}

std::optional<link_welcome> parse_link_welcome(std::span<const std::byte> payload) noexcept {
    if (payload.size() != link_welcome_bytes) return std::nullopt;
    link_welcome made;
    field_reader fields{payload};
    made.window_bytes = fields.get<std::uint32_t>();
    made.channels_max = fields.get<std::uint32_t>();
    const auto life = fields.text(10);
    if (!life || life->empty()) return std::nullopt;
    made.life = *life;
    return made;
}

std::optional<link_open> parse_link_open(std::span<const std::byte> payload) noexcept {
    if (payload.size() != link_open_bytes) return std::nullopt;
    const auto [ending, login] = parse_soup_login(payload.first(soup_login_bytes));
    const auto flags = std::to_integer<unsigned>(payload.back());
    if (ending != soup_ending::none || flags > 1) return std::nullopt;
    return link_open{login, flags == 1};
}

std::optional<std::uint32_t> parse_link_credit(std::span<const std::byte> payload) noexcept {
    if (payload.size() != link_credit_bytes) return std::nullopt;
    return get_big_endian<std::uint32_t>(payload.first<link_credit_bytes>());
}

std::optional<soup_ending> parse_link_close(std::span<const std::byte> payload) noexcept {
    if (payload.size() != link_reason_bytes) return std::nullopt;
    const auto number = std::to_integer<std::uint8_t>(payload[0]);
    if (number > static_cast<std::uint8_t>(soup_ending_last)) return std::nullopt;
    return static_cast<soup_ending>(number);
}

soup_framed take_packet(std::span<const std::byte>& run) noexcept {
    if (run.size() < soup_header_bytes) return {.ending = soup_ending::wrong_size};
    const std::size_t length = get_big_endian<std::uint16_t>(run.first<2>());
    if (length == 0) return {.ending = soup_ending::empty_packet};
    if (run.size() < 2 + length) return {.ending = soup_ending::wrong_size};
    const auto type = static_cast<soup_type>(run[2]);
    const soup_packet packet{type, run.subspan(soup_header_bytes, length - 1)};
    run = run.subspan(2 + length);
    return {.complete = true, .packet = packet};
}

link_framer::link_framer(std::size_t buffer_bytes)
    : bytes_{new std::byte[buffer_bytes]}, size_{buffer_bytes} {
    gyre::expects(buffer_bytes >= link_header_bytes + link_payload_bytes_max,
                  "room for the longest frame");
}

std::span<std::byte> link_framer::space() noexcept {
    const std::span<std::byte> bytes{bytes_.get(), size_};
    if (begin_ == end_) begin_ = end_ = 0;
    if (size_ - begin_ < link_header_bytes + link_payload_bytes_max) {
        std::ranges::copy(bytes.subspan(begin_, end_ - begin_), bytes.begin());
        end_ -= begin_;
        begin_ = 0;
    }
    return bytes.subspan(end_);
}

void link_framer::received(std::size_t size) noexcept {
    gyre::expects(size <= size_ - end_);
    end_ += size;
}

link_framed link_framer::next() noexcept {
    const std::span<const std::byte> pending{bytes_.get() + begin_, end_ - begin_};
    if (pending.size() < link_header_bytes) return {};
    const std::size_t size = get_big_endian<std::uint32_t>(pending.first<4>());
    if (size > link_payload_bytes_max) return {.ending = link_ending::oversized_frame};
    if (pending.size() - link_header_bytes < size) return {};
    begin_ += link_header_bytes + size;
    return {.complete = true,
            .frame = {.kind = static_cast<link_kind>(pending[8]),
                      .channel = get_big_endian<std::uint32_t>(pending.subspan<4, 4>()),
                      .payload = pending.subspan(link_header_bytes, size)}};
}

}  // namespace exchange

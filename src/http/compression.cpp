// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/compression.hpp>

#include <gyre/base/check.hpp>
#include <gyre/stream/algorithms.hpp>

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

namespace gyre::http {
namespace {

constexpr int gzip_window = 15 + 16;  // zlib's way to ask for the format of gzip.
constexpr int zlib_window = 15;
constexpr int zlib_level = 6;
constexpr int zstd_level = 3;
constexpr int zstd_window_log_max = 23;  // RFC 8878, 3.1.1.1.2: 8 MiB are what everybody supports.
constexpr std::size_t piece = 16 * 1024;

struct end_zstd {
    void operator()(ZSTD_CCtx* it) const noexcept { ZSTD_freeCCtx(it); }
    void operator()(ZSTD_DCtx* it) const noexcept { ZSTD_freeDCtx(it); }
};

// zlib counts in 32 bits.
uInt counted(std::size_t size) noexcept {
    return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}
Bytef* bytes_for_zlib(const std::byte* bytes) noexcept {
    return const_cast<Bytef*>(
        reinterpret_cast<const Bytef*>(bytes));  // It only reads from next_in.
}

// RFC 9110, 12.4.2: thousandths; -1 of what is no weight.
int weight_of(std::string_view element) noexcept {
    const std::size_t semicolon = element.find(';');
    if (semicolon == std::string_view::npos) return 1000;
    std::string_view text = element.substr(semicolon + 1);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    if (text.size() < 3 || (text[0] != 'q' && text[0] != 'Q') || text[1] != '=') return -1;
    text.remove_prefix(2);
    if (text.size() > 5 || (text[0] != '0' && text[0] != '1')) return -1;
    int weight = (text[0] - '0') * 1000;
    if (text.size() > 1 && text[1] != '.') return -1;
    int unit = 100;
    for (const char c : text.substr(std::min<std::size_t>(2, text.size()))) {
        if (c < '0' || c > '9') return -1;
        weight += (c - '0') * unit;
        unit /= 10;
    }
    return weight <= 1000 ? weight : -1;
}

}  // namespace

std::string_view name_of(coding which) noexcept {
    switch (which) {
        case coding::identity: return "identity";
        case coding::gzip: return "gzip";
        case coding::deflate: return "deflate";
        case coding::zstd: return "zstd";
    }
    return {};
}

coding preferred_coding(const fields& asked) noexcept {
    int any = 0;
    int gzip = -1;
    int zstd = -1;
    int identity = -1;
    for (const field each : asked) {
        if (!equal_without_case(each.name, "accept-encoding")) continue;
        list_elements elements{each.value};
        while (const auto element = elements.next()) {
            const std::string_view name = element->substr(0, element->find_first_of("; \t"));
            const int weight = std::max(0, weight_of(*element));
            if (name == "*") any = weight;
            else if (equal_without_case(name, "gzip") || equal_without_case(name, "x-gzip"))
                gzip = weight;
            else if (equal_without_case(name, "zstd")) zstd = weight;
            else if (equal_without_case(name, "identity")) identity = weight;
        }
    }
    if (gzip < 0) gzip = any;
    if (zstd < 0) zstd = any;
    if (zstd > 0 && zstd >= gzip && zstd >= identity) return coding::zstd;
    return gzip > 0 && gzip >= identity ? coding::gzip : coding::identity;
}

struct compressor::state {
    explicit state(coding with) : as{with} {
        if (as == coding::zstd) {
            zstd.reset(ZSTD_createCCtx());
            ready = zstd != nullptr && ZSTD_isError(ZSTD_CCtx_setParameter(
                                           zstd.get(), ZSTD_c_compressionLevel, zstd_level)) == 0;
            return;
        }
        const int window = as == coding::gzip ? gzip_window : zlib_window;
        ready = deflateInit2(&zlib, zlib_level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    }
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state() {
        if (as != coding::zstd && ready) deflateEnd(&zlib);
    }

    [[nodiscard]] bool deflate_all(const_buffer in, int flush, std::string& out);
    [[nodiscard]] bool compress_all(const_buffer in, ZSTD_EndDirective directive, std::string& out);

    coding as;
    bool ready = false;
    z_stream zlib{};
    std::unique_ptr<ZSTD_CCtx, end_zstd> zstd;
};

bool compressor::state::deflate_all(const_buffer in, int flush, std::string& out) {
    std::array<Bytef, 4096> space;
    do {
        const uInt size = counted(in.size());
        zlib.next_in = bytes_for_zlib(in.data());
        zlib.avail_in = size;
        in = in.subspan(size);
        const int now = in.empty() ? flush : Z_NO_FLUSH;
        do {
            zlib.next_out = space.data();
            zlib.avail_out = static_cast<uInt>(space.size());
            if (deflate(&zlib, now) == Z_STREAM_ERROR) return false;
            out.append(reinterpret_cast<const char*>(space.data()), space.size() - zlib.avail_out);
        } while (zlib.avail_out == 0);
    } while (!in.empty());
    return true;
}

bool compressor::state::compress_all(const_buffer in, ZSTD_EndDirective directive,
                                     std::string& out) {
    std::array<char, 4096> space;
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    for (;;) {
        ZSTD_outBuffer to{space.data(), space.size(), 0};
        const std::size_t left = ZSTD_compressStream2(zstd.get(), &to, &from, directive);
        if (ZSTD_isError(left) != 0) return false;
        out.append(space.data(), to.pos);
        const bool taken = from.pos == from.size;
        if (taken && (directive == ZSTD_e_continue || left == 0)) return true;
    }
}

compressor::compressor(coding with) : state_{std::make_unique<state>(with)} {
    expects(with != coding::identity, "a compressor compresses");
}
compressor::compressor(compressor&&) noexcept = default;
compressor& compressor::operator=(compressor&&) noexcept = default;
compressor::~compressor() = default;

io_result<> compressor::add(const_buffer in, then what, std::string& out) {
    if (!state_->ready) return errc::not_enough_memory;
    bool done = false;
    if (state_->as == coding::zstd) {
        ZSTD_EndDirective directive = ZSTD_e_continue;
        if (what == then::flush) directive = ZSTD_e_flush;
        if (what == then::end) directive = ZSTD_e_end;
        done = state_->compress_all(in, directive, out);
    } else {
        int flush = Z_NO_FLUSH;
        if (what == then::flush) flush = Z_SYNC_FLUSH;
        if (what == then::end) flush = Z_FINISH;
        done = state_->deflate_all(in, flush, out);
    }
    return done ? io_result<>{} : io_result<>{errc::not_enough_memory};
}

struct decompressor::state {
    state(coding with, std::uint64_t bytes_max) : as{with}, left{bytes_max} {
        if (as == coding::zstd) {
            zstd.reset(ZSTD_createDCtx());
            ready =
                zstd != nullptr && ZSTD_isError(ZSTD_DCtx_setParameter(
                                       zstd.get(), ZSTD_d_windowLogMax, zstd_window_log_max)) == 0;
            return;
        }
        ready = inflateInit2(&zlib, as == coding::gzip ? gzip_window : zlib_window) == Z_OK;
    }
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state() {
        if (as != coding::zstd && ready) inflateEnd(&zlib);
    }

    [[nodiscard]] bool begin_part(const_buffer in) noexcept;
    [[nodiscard]] io_result<step> skip_padding(const_buffer in) noexcept;

    [[nodiscard]] io_result<step> inflate_some(const_buffer in, mutable_buffer out);
    [[nodiscard]] io_result<step> decompress_some(const_buffer in, mutable_buffer out);

    coding as;
    std::uint64_t left;  // Of what may be produced.
    bool ready = false;
    bool begun = false;
    bool ended = false;   // The last part has, and no other one has begun.
    bool padded = false;  // Zeros have come behind the last member of gzip.
    z_stream zlib{};
    std::unique_ptr<ZSTD_DCtx, end_zstd> zstd;
};

// Another part begins with `in`, which is not empty. False if it cannot.
bool decompressor::state::begin_part(const_buffer in) noexcept {
    const bool first = !std::exchange(begun, true);
    if (as == coding::gzip) return first || inflateReset(&zlib) == Z_OK;
    if (as == coding::zstd) return true;  // It goes on with the next frame by itself.
    if (!first) return false;
    // RFC 9110, 8.4.1.2: some servers send the deflate of RFC 1951 without the header of zlib, and browsers
    // read both. RFC 1950, 2.2: the method is 8, the window at most 7; no encoder begins so without a header.
    const auto head = std::to_integer<unsigned>(in.front());
    const bool has_header = (head & 0x0fU) == Z_DEFLATED && head >> 4U <= 7;
    return has_header || inflateReset2(&zlib, -zlib_window) == Z_OK;
}

// gzip(1) takes zeros behind the last member: what was written in blocks ends so.
io_result<decompressor::step> decompressor::state::skip_padding(const_buffer in) noexcept {
    padded = true;
    const bool zeros =
        std::all_of(in.begin(), in.end(), [](std::byte b) { return b == std::byte{}; });
    if (!zeros) return errc::malformed;
    return step{in.size(), 0};
}

io_result<decompressor::step> decompressor::state::inflate_some(const_buffer in,
                                                                mutable_buffer out) {
    const uInt size = counted(in.size());
    const uInt room = counted(out.size());
    zlib.next_in = bytes_for_zlib(in.data());
    zlib.avail_in = size;
    zlib.next_out = reinterpret_cast<Bytef*>(out.data());
    zlib.avail_out = room;
    const int code = inflate(&zlib, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) return errc::not_enough_memory;
    // Without progress there is nothing wrong: more input is needed.
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) return errc::malformed;
    ended = code == Z_STREAM_END;
    return step{size - zlib.avail_in, room - zlib.avail_out};
}

io_result<decompressor::step> decompressor::state::decompress_some(const_buffer in,
                                                                   mutable_buffer out) {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t left_of_frame = ZSTD_decompressStream(zstd.get(), &to, &from);
    if (ZSTD_isError(left_of_frame) != 0) {
        const bool too_large =
            ZSTD_getErrorCode(left_of_frame) == ZSTD_error_frameParameter_windowTooLarge;
        return too_large ? errc::limit_exceeded : errc::malformed;
    }
    ended = left_of_frame == 0;
    return step{from.pos, to.pos};
}

decompressor::decompressor(coding with, std::uint64_t bytes_max)
    : state_{std::make_unique<state>(with, bytes_max)} {
    expects(with != coding::identity, "a decompressor decodes");
}
decompressor::decompressor(decompressor&&) noexcept = default;
decompressor& decompressor::operator=(decompressor&&) noexcept = default;
decompressor::~decompressor() = default;

io_result<decompressor::step> decompressor::decode(const_buffer in, mutable_buffer out) {
    state& it = *state_;
    if (!it.ready) return errc::not_enough_memory;
    if (!it.begun || it.ended) {
        if (in.empty()) return step{};
        const bool pads = it.begun && it.as == coding::gzip && in.front() == std::byte{};
        if (pads || it.padded) return it.skip_padding(in);
        if (!it.begin_part(in)) return errc::malformed;
    }
    // Room for one byte beyond what is allowed, to tell too much from just enough.
    if (out.size() > it.left) out = out.first(static_cast<std::size_t>(it.left) + 1);
    const io_result<step> done =
        it.as == coding::zstd ? it.decompress_some(in, out) : it.inflate_some(in, out);
    if (!done.ok()) return done;
    if (done.value().produced > it.left) return errc::limit_exceeded;
    it.left -= done.value().produced;
    return done;
}

bool decompressor::ended() const noexcept { return state_->ended; }

namespace {

// Compresses what is written to it, on its way to another writer.
class compressing_sink final : public body_sink {
public:
    compressing_sink(coding with, body_writer to) : with_{with}, to_{to} {}

    [[nodiscard]] std::optional<io_result<std::size_t>> try_write(
        const_buffer from) noexcept override {
        if (made_.size() >= piece) return std::nullopt;
        // A piece at a time, so that a long body gives way in between.
        const const_buffer some = from.first(std::min(from.size(), piece));
        const io_result<> added = with_.add(some, compressor::then::go_on, made_);
        return io_result<std::size_t>{added.error(), added.ok() ? some.size() : 0};
    }
    [[nodiscard]] task<io_result<std::size_t>> write(const_buffer from) override {
        const io_result<> passed = co_await pass_on();
        if (!passed.ok()) co_return passed.error();
        co_return *try_write(from);
    }
    [[nodiscard]] task<io_result<>> flush() override {
        const io_result<> added = with_.add({}, compressor::then::flush, made_);
        if (!added.ok()) co_return added;
        const io_result<> passed = co_await pass_on();
        if (!passed.ok()) co_return passed;
        const io_result<> flushed = co_await to_.flush();
        co_return flushed;
    }
    [[nodiscard]] fields& trailers() noexcept override { return to_.trailers(); }

    [[nodiscard]] task<io_result<>> end() {
        const io_result<> added = with_.add({}, compressor::then::end, made_);
        if (!added.ok()) co_return added;
        const io_result<> passed = co_await pass_on();
        co_return passed;
    }

private:
    [[nodiscard]] task<io_result<>> pass_on() {
        const io_result<std::size_t> put = co_await write_all(to_, bytes_of(made_));
        made_.erase(0, put.value());  // A write that was stopped goes on there.
        co_return put.error();
    }

    compressor with_;
    body_writer to_;
    std::string made_;
};

// A body, compressed while it is sent.
class compressing_producer final : public body_producer {
public:
    compressing_producer(response_body of, coding with) noexcept
        : of_{std::move(of)}, with_{with} {}

    [[nodiscard]] std::optional<std::uint64_t> size() const noexcept override {
        return std::nullopt;
    }
    [[nodiscard]] task<io_result<>> write(body_writer to) override {
        compressing_sink through{with_, to};
        io_result<> done;
        if (body_producer* const producer = of_.producer()) {
            done = co_await producer->write(body_writer{through});
        } else {
            body_writer writer{through};
            const io_result<std::size_t> put = co_await write_all(writer, of_.bytes());
            done = put.error();
        }
        if (done.ok()) done = co_await through.end();
        co_return done;
    }

private:
    response_body of_;
    coding with_;
};

// What is text, or a program's data written as text; pictures and archives are compressed already.
bool pays_for(const fields& of) noexcept {
    std::string_view type = of.value_or("content-type");
    type = type.substr(0, type.find_first_of("; \t"));
    if (type.size() >= 5 && equal_without_case(type.substr(0, 5), "text/")) {
        // Events are waited for one by one.
        return !equal_without_case(type, "text/event-stream");
    }
    const auto ends_with = [type](std::string_view end) {
        return type.size() >= end.size() &&
               equal_without_case(type.substr(type.size() - end.size()), end);
    };
    return ends_with("json") || ends_with("xml") || ends_with("javascript") || ends_with("wasm");
}

// What the resource has, whatever of it is in the answer: by HEAD and of a range, a field may know.
std::optional<std::uint64_t> size_of_whole(const response& answer, method asked) noexcept {
    std::string_view digits;
    if (answer.status == status::partial_content) {
        // RFC 9110, 14.4.
        digits = answer.fields.value_or("content-range");
        digits.remove_prefix(std::min(digits.find('/'), digits.size() - 1) + 1);
    } else {
        const std::optional<std::uint64_t> size = answer.body.size();
        if (asked != method::head || size != 0U) return size;
        digits = answer.fields.value_or("content-length");
    }
    std::uint64_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, failed] = std::from_chars(digits.data(), end, number);
    if (digits.empty() || failed != std::errc{} || stop != end) return std::nullopt;
    return number;
}

// Whether GET would be answered with a coding, if the client accepts one; yes where that is not known.
bool is_negotiated(const request& what, const response& answer, const compression_policy& policy) {
    const fields& of = answer.fields;
    if (answer.upgrade || of.contains("content-encoding")) return false;
    // RFC 9110, 15.4.5: most of what describes content is not there.
    if (answer.status == status::not_modified) {
        return !of.contains("content-type") || pays_for(of);
    }
    if (forbids_body(answer.status)) return false;
    const std::optional<std::uint64_t> size = size_of_whole(answer, what.method());
    if (size && (*size == 0 || *size < policy.bytes_min)) return false;
    const std::string_view type = of.value_or("content-type");
    const bool parts = answer.status == status::partial_content &&
                       equal_without_case(type.substr(0, 21), "multipart/byteranges;");
    return parts || pays_for(of);
}

// RFC 9110, 8.8.1: the coded bytes are others, so the tag can only be a weak one.
void weaken_tag(fields& of) {
    const std::string tag{of.value_or("etag")};
    if (tag.starts_with('"')) of.set("etag", "W/" + tag);
}

// Whether the client has the answer's tag as a strong one: that of bytes without a coding.
bool has_strongly(const request& what, const response& answer) {
    const std::string_view tag = answer.fields.value_or("etag");
    for (const field each : what.fields) {
        if (!equal_without_case(each.name, "if-none-match")) continue;
        list_elements tags{each.value};
        while (const auto one = tags.next()) {
            if (*one == tag) return true;
        }
    }
    return false;
}

void compress(response& answer, coding with, const compression_policy& policy) {
    const std::optional<std::uint64_t> size = answer.body.size();
    const bool at_once = answer.body.producer() == nullptr && *size > 0;
    if (at_once && *size <= policy.at_once_bytes_max) {
        std::string made;
        compressor once{with};
        if (!once.add(answer.body.bytes(), compressor::then::end, made).ok()) return;
        if (made.size() >= *size) return;
        answer.body = std::move(made);
    } else {
        // Of HEAD without a body, too: of which length it would be is known once it is made.
        answer.body =
            std::unique_ptr<body_producer>{new compressing_producer{std::move(answer.body), with}};
    }
    answer.fields.remove("content-length");
    answer.fields.set("content-encoding", name_of(with));
    weaken_tag(answer.fields);
}

// What describes a representation is the same whatever method asks for it, and whatever part of it is sent:
// RFC 9110, 9.3.2, 15.3.7 and 15.4.5.
task<response> compressed(compression_policy policy, request& what, const handler& next) {
    response answer = co_await next(what);
    if (!is_negotiated(what, answer, policy)) co_return answer;
    // RFC 9110, 12.5.5: caches are told, also of answers that went out as they were.
    if (!answer.fields.has_token("vary", "accept-encoding")) {
        answer.fields.add("vary", "accept-encoding");
    }
    // RFC 9110, 7.7.
    if (answer.fields.has_token("cache-control", "no-transform")) co_return answer;
    const coding with = preferred_coding(what.fields);
    if (with == coding::identity) co_return answer;
    const bool has_whole =
        size_of_whole(answer, what.method()).has_value() || answer.body.producer() != nullptr;
    if (answer.status == status::not_modified) {
        if (!has_strongly(what, answer)) weaken_tag(answer.fields);
    } else if (answer.status != status::partial_content && has_whole) {
        compress(answer, with, policy);
    } else {
        // The bytes of a part must not be joined with those of the whole, which has a coding. Or it answers
        // HEAD, and no field names the size.
        weaken_tag(answer.fields);
    }
    co_return answer;
}

}  // namespace

middleware compress_responses(compression_policy policy) {
    return as_middleware(
        [policy](request& what, const handler& next) { return compressed(policy, what, next); });
}

}  // namespace gyre::http

// SPDX-License-Identifier: BSL-1.0
#include <web/decoded_body.hpp>

#include <gyre/sync/timeout.hpp>

namespace gyre::web {

// RFC 9110, 8.4.1: the names of what everybody decodes, and their old ones.
http::coding coding_of(const http::fields& of) noexcept {
    const std::string_view name = of.value_or("content-encoding");
    if (of.count("content-encoding") != 1) return http::coding::identity;
    if (http::equal_without_case(name, "gzip") || http::equal_without_case(name, "x-gzip")) {
        return http::coding::gzip;
    }
    if (http::equal_without_case(name, "deflate")) return http::coding::deflate;
    if (http::equal_without_case(name, "zstd")) return http::coding::zstd;
    return http::coding::identity;
}

decoded_body::decoded_body(http::body_reader from, http::coding with, std::uint64_t bytes_max,
                           time_point until)
    : from_{from}, until_{until} {
    if (with == http::coding::identity) return;
    decoder_.emplace(with, bytes_max);
    window_.resize(std::size_t{16} * 1024);
}

std::optional<std::uint64_t> decoded_body::size() const noexcept {
    return decoder_ ? std::nullopt : from_.size();
}

io_result<std::size_t> decoded_body::finish(error with) noexcept {
    ended_ = true;
    failed_ = with;
    return with;
}

std::optional<io_result<std::size_t>> decoded_body::decode_at_hand(mutable_buffer into) {
    while (!at_hand_.empty() || more_) {
        const io_result<http::decompressor::step> done = decoder_->decode(at_hand_, into);
        if (!done.ok()) return finish(done.error());
        const auto [consumed, produced] = done.value();
        at_hand_ = at_hand_.subspan(consumed);
        more_ = produced == into.size();
        if (produced > 0) return produced;
        if (consumed == 0) break;  // It wants more than there is.
    }
    return std::nullopt;
}

std::optional<io_result<std::size_t>> decoded_body::try_read(mutable_buffer into) noexcept {
    if (ended_) return failed_ ? failed_ : error{errc::eof, activity::read};
    if (!decoder_) return std::nullopt;
    return decode_at_hand(into);
}

task<io_result<std::size_t>> decoded_body::read(mutable_buffer into) {
    for (;;) {
        if (const auto at_hand = try_read(into)) co_return *at_hand;
        const mutable_buffer room = decoder_ ? mutable_buffer{window_} : into;
        const io_result<std::size_t> got = co_await with_deadline(until_, from_.read_some(room));
        if (got.error() == errc::eof) {
            // A body that breaks off inside of its coding was cut.
            const bool whole = !decoder_ || !begun_ || decoder_->ended();
            const io_result<std::size_t> last =
                finish(whole ? got.error() : error{errc::malformed, activity::read});
            co_return last;
        }
        if (got.error() == errc::canceled) co_return got;  // It may be read on.
        if (!got.ok()) co_return finish(got.error());
        if (!decoder_) co_return got;
        begun_ = true;
        at_hand_ = const_buffer{window_}.first(got.value());
    }
}

}  // namespace gyre::web

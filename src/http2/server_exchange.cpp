// SPDX-License-Identifier: BSL-1.0
#include <http2/server_exchange.hpp>

#include <http2/message_fields.hpp>

namespace gyre::http2 {

void server_exchange::clear() noexcept {
    static_cast<engine_stream&>(*this) = engine_stream{};
    request.clear();
    in.clear();
    out.clear();
    answer.reset();
    refused.reset();
    changed.reset();
    left.reset();
    chain = nullptr;
    head_.clear();
    head_done = running = head_said = closed = false;
}

void server_exchange::add_field(std::string_view name, std::string_view value) {
    if (head_done) in.add_trailer(name, value);
    else head_.add(request, name, value);
}

std::optional<http::status> server_exchange::judge_head(bool last, std::uint64_t body_bytes_max) {
    head_done = true;
    const std::optional<http::status> wrong = head_.finish(request);
    const std::optional<std::uint64_t> declared =
        last ? std::optional<std::uint64_t>{0} : declared_size(request.fields);
    in.begin(declared, head_.expects_continue() && !last);
    if (last) in.end();
    if (head_too_large) return http::status::header_fields_too_large;
    if (wrong) return wrong;
    if (declared.value_or(0) > body_bytes_max) return http::status::content_too_large;
    return std::nullopt;
}

}  // namespace gyre::http2

// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/response.hpp>

namespace gyre::http {

const_buffer response_body::bytes() const noexcept {
    if (const auto* const text = std::get_if<std::string>(&what_)) return bytes_of(*text);
    if (const auto* const text = std::get_if<static_text>(&what_)) return bytes_of(text->text);
    if (const auto* const shared = std::get_if<shared_bytes>(&what_)) return shared->bytes();
    return {};
}

std::optional<std::uint64_t> response_body::size() const noexcept {
    const body_producer* const made = producer();
    return made != nullptr ? made->size() : std::optional<std::uint64_t>{bytes().size()};
}

std::unique_ptr<body_producer> response_body::take_producer() noexcept {
    auto* const made = std::get_if<std::unique_ptr<body_producer>>(&what_);
    if (made == nullptr) return nullptr;
    std::unique_ptr<body_producer> taken = std::move(*made);
    what_ = std::monostate{};
    return taken;
}

}  // namespace gyre::http

// SPDX-License-Identifier: BSL-1.0
//
// Padding and trimming: see padded_text.hpp.
#include <exchange/codec/padded_text.hpp>

namespace exchange {

namespace {

void put(std::span<std::byte> field, std::string_view text) noexcept {
    std::transform(text.begin(), text.end(), field.begin(), [](char c) { return std::byte(c); });
}

}  // namespace

void pad_right(std::span<std::byte> field, std::string_view text) noexcept {
    gyre::expects(text.size() <= field.size());
    std::fill(field.begin(), field.end(), std::byte{' '});
    put(field, text);
}

void pad_left(std::span<std::byte> field, std::string_view text) noexcept {
    gyre::expects(text.size() <= field.size());
    std::fill(field.begin(), field.end(), std::byte{' '});
    put(field.last(text.size()), text);
}

std::optional<std::string_view> trimmed(std::span<const std::byte> field) noexcept {
    const std::string_view padded{reinterpret_cast<const char*>(field.data()), field.size()};
    const auto unprintable = [](char c) { return c < ' ' || c > '~'; };
    if (std::any_of(padded.begin(), padded.end(), unprintable)) return std::nullopt;
    const std::size_t first = padded.find_first_not_of(' ');
    if (first == std::string_view::npos) return std::string_view{};
    return padded.substr(first, padded.find_last_not_of(' ') + 1 - first);
}

}  // namespace exchange

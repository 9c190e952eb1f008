// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/fields.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/frame_allocator.hpp>
#include <http/text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::size_t first_capacity = 240;
constexpr std::size_t bytes_max = std::size_t{1} << 30;

// RFC 9110, 5.6.2: what a token is made of.
constexpr std::array<bool, 256> token_characters = [] {
    std::array<bool, 256> those{};
    for (const char c : std::string_view{"!#$%&'*+-.^_`|~0123456789"
                                         "abcdefghijklmnopqrstuvwxyz"
                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}) {
        those[static_cast<unsigned char>(c)] = true;
    }
    return those;
}();

constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

}  // namespace

bool is_token(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return token_characters[static_cast<unsigned char>(c)];
    });
}

// RFC 9110, 5.5.
bool is_field_value(std::string_view text) noexcept {
    if (text.empty()) return true;
    if (is_blank(text.front()) || is_blank(text.back())) return false;
    return !has_control(text);
}

bool equal_without_case(std::string_view left, std::string_view right) noexcept {
    if (left.size() != right.size()) return false;
    for (std::size_t at = 0; at < left.size(); ++at) {
        if (left[at] != right[at] && lower(left[at]) != lower(right[at])) return false;
    }
    return true;
}

bool less_without_case(std::string_view left, std::string_view right) noexcept {
    return std::ranges::lexicographical_compare(left, right, {}, lower, lower);
}

fields::fields(const fields& other) : count_{other.count_}, refused_{other.refused_} {
    if (other.used_ == 0) return;
    block_ = static_cast<char*>(frame_cache::allocate(other.used_));
    capacity_ = used_ = other.used_;
    std::memcpy(block_, other.block_, used_);
}

fields::fields(fields&& other) noexcept
    : block_{std::exchange(other.block_, nullptr)},
      capacity_{std::exchange(other.capacity_, 0)},
      used_{std::exchange(other.used_, 0)},
      count_{std::exchange(other.count_, 0)},
      refused_{std::exchange(other.refused_, false)} {}

void fields::assign(const fields& other) {
    clear();
    if (other.used_ > 0) std::memcpy(make_room(other.used_), other.block_, other.used_);
    used_ = other.used_;
    count_ = other.count_;
    refused_ = other.refused_;
}

fields& fields::operator=(fields other) noexcept {
    std::swap(block_, other.block_);
    std::swap(capacity_, other.capacity_);
    std::swap(used_, other.used_);
    std::swap(count_, other.count_);
    std::swap(refused_, other.refused_);
    return *this;
}

fields::~fields() { release(); }

fields& fields::add(std::string_view name, std::string_view value) {
    if (is_token(name) && is_field_value(value)) add_checked(name, value);
    else refused_ = true;
    return *this;
}

fields& fields::set(std::string_view name, std::string_view value) {
    if (count_ > 0) remove(name);
    return add(name, value);
}

fields& fields::set(std::string_view name, std::uint64_t value) {
    std::array<char, 20> digits;
    char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return set(name, std::string_view{digits.data(), end});
}

void fields::add_checked(std::string_view name, std::string_view value) {
    const sizes of{static_cast<std::uint32_t>(name.size()),
                   static_cast<std::uint32_t>(value.size())};
    char* into = make_room(sizeof of + name.size() + value.size());
    std::memcpy(into, &of, sizeof of);
    into = std::copy(name.begin(), name.end(), into + sizeof of);
    std::copy(value.begin(), value.end(), into);
    used_ += static_cast<std::uint32_t>(sizeof of) + of.name + of.value;
    ++count_;
}

std::size_t fields::remove(std::string_view name) noexcept {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t kept = 0;
    for (std::uint32_t seen = 0; seen < count_; ++seen) {
        sizes of;
        std::memcpy(&of, block_ + from, sizeof of);
        const std::uint32_t size = sizeof of + of.name + of.value;
        if (!equal_without_case({block_ + from + sizeof of, of.name}, name)) {
            if (to != from) std::memmove(block_ + to, block_ + from, size);
            to += size;
            ++kept;
        }
        from += size;
    }
    used_ = to;
    return std::exchange(count_, kept) - kept;
}

void fields::clear() noexcept {
    used_ = 0;
    count_ = 0;
    refused_ = false;
}

std::optional<std::string_view> fields::find(std::string_view name) const noexcept {
    for (const field each : *this) {
        if (equal_without_case(each.name, name)) return each.value;
    }
    return std::nullopt;
}

std::string_view fields::value_or(std::string_view name,
                                  std::string_view otherwise) const noexcept {
    return find(name).value_or(otherwise);
}

bool fields::contains(std::string_view name) const noexcept { return find(name).has_value(); }

std::size_t fields::count(std::string_view name) const noexcept {
    std::size_t those = 0;
    for (const field each : *this) {
        if (equal_without_case(each.name, name)) ++those;
    }
    return those;
}

bool fields::has_token(std::string_view name, std::string_view token) const noexcept {
    for (const field each : *this) {
        if (!equal_without_case(each.name, name)) continue;
        list_elements elements{each.value};
        while (const auto element = elements.next()) {
            const std::string_view alone = element->substr(0, element->find_first_of("; \t"));
            if (equal_without_case(alone, token)) return true;
        }
    }
    return false;
}

fields::iterator fields::begin() const noexcept { return iterator{block_}; }
fields::iterator fields::end() const noexcept {
    return iterator{block_ == nullptr ? nullptr : block_ + used_};
}

char* fields::make_room(std::size_t wanted) {
    const std::size_t needed = used_ + wanted;
    expects(wanted <= bytes_max && needed <= bytes_max, "fields of a message fit in 1 GiB");
    if (needed > capacity_) {
        const std::size_t more =
            std::max({needed, std::size_t{capacity_} * 2, std::size_t{first_capacity}});
        auto* const bigger = static_cast<char*>(frame_cache::allocate(more));
        if (used_ > 0) std::memcpy(bigger, block_, used_);
        if (block_ != nullptr) frame_cache::release(block_, capacity_);
        block_ = bigger;
        capacity_ = static_cast<std::uint32_t>(more);
    }
    return block_ + used_;
}

void fields::release() noexcept {
    if (block_ != nullptr) frame_cache::release(block_, capacity_);
}

field fields::iterator::operator*() const noexcept {
    sizes of;
    std::memcpy(&of, at_, sizeof of);
    return {{at_ + sizeof of, of.name}, {at_ + sizeof of + of.name, of.value}};
}

fields::iterator& fields::iterator::operator++() noexcept {
    sizes of;
    std::memcpy(&of, at_, sizeof of);
    at_ += sizeof of + of.name + of.value;
    return *this;
}

// RFC 9110, 5.6.1.2: empty elements are read over.
std::optional<std::string_view> list_elements::next() noexcept {
    while (!rest_.empty()) {
        bool quoted = false;
        std::size_t at = 0;
        for (; at < rest_.size(); ++at) {
            const char c = rest_[at];
            if (quoted && c == '\\') ++at;
            else if (c == '"') quoted = !quoted;
            else if (c == ',' && !quoted) break;
        }
        const std::string_view element = trimmed(rest_.substr(0, at));
        rest_.remove_prefix(std::min(rest_.size(), at + 1));
        if (!element.empty()) return element;
    }
    return std::nullopt;
}

}  // namespace gyre::http

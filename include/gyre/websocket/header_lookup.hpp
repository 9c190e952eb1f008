// SPDX-License-Identifier: BSL-1.0
//
// The fields of a request or an answer, as much as a handshake wants of them.
//
// A handshake reads a handful of fields by name; whose container they stand in does not matter to it, nor
// should it cost a template or a copy. Anything that iterates over names and values fits.
#pragma once

#include <concepts>
#include <ranges>
#include <string>
#include <string_view>

namespace gyre::websocket {

/// One field to be sent, or one in a list that its owner keeps.
struct header_field {
    std::string name;
    std::string value;
};

/// Fields with a `name` and a `value` each, in their order.
template <class Fields>
concept header_fields = std::ranges::input_range<const Fields> &&
                        requires(std::ranges::range_reference_t<const Fields> field) {
                            { field.name } -> std::convertible_to<std::string_view>;
                            { field.value } -> std::convertible_to<std::string_view>;
                        };

/// Such fields, borrowed.
class header_lookup {
public:
    template <header_fields Fields>
        requires(!std::same_as<Fields, header_lookup>)
    header_lookup(const Fields& fields) noexcept
        : fields_{&fields}, each_{[](const void* in, void* to, visitor visit) {
              for (const auto& field : *static_cast<const Fields*>(in)) {
                  visit(to, field.name, field.value);
              }
          }} {}

    /// Calls `visit(value)` for each field of this name, which has no regard for case.
    template <std::invocable<std::string_view> Visitor>
    void for_each(std::string_view name, Visitor&& visit) const {
        struct state {
            std::string_view name;
            Visitor& visit;
        } wanted{name, visit};
        each_(fields_, &wanted, [](void* to, std::string_view field, std::string_view value) {
            auto& it = *static_cast<state*>(to);
            if (same_name(it.name, field)) it.visit(value);
        });
    }

    /// How many fields have this name, and the value of the first of them.
    struct found {
        std::size_t count = 0;
        std::string_view value;
    };
    [[nodiscard]] found find(std::string_view name) const {
        found it;
        for_each(name, [&it](std::string_view value) {
            if (it.count++ == 0) it.value = value;
        });
        return it;
    }

private:
    using visitor = void (*)(void* to, std::string_view name, std::string_view value);

    [[nodiscard]] static bool same_name(std::string_view left, std::string_view right) noexcept;

    const void* fields_;
    void (*each_)(const void* in, void* to, visitor visit);
};

}  // namespace gyre::websocket

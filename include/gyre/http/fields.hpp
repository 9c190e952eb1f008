// SPDX-License-Identifier: BSL-1.0
//
// The fields of a message: names and values in order, in one block of memory.
//
// A map of strings would allocate twice a field. Here a message's fields are one block from the frame cache,
// which grows by doubling, so a message of ordinary size costs no malloc. A field that is added cannot split
// a message: names and values are checked here, before any protocol writes them.
#pragma once

#include <gyre/base/build.hpp>
#include <gyre/base/error.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace gyre::http {

/// One field; both views are valid until its `fields` change.
struct field {
    std::string_view name;
    std::string_view value;
};

/// Whether `text` may be a field's name or a method: at least one character, of RFC 9110's `tchar` only.
[[nodiscard]] bool is_token(std::string_view text) noexcept;

/// Whether `text` may be a field's value: no CR, LF, NUL or other control but the tab, and no white space at
/// either end.
[[nodiscard]] bool is_field_value(std::string_view text) noexcept;

/// Whether two ASCII texts are the same but for their cases.
[[nodiscard]] bool equal_without_case(std::string_view left, std::string_view right) noexcept;

/// Whether `left` comes before `right` in an order in which two texts are equivalent if
/// `equal_without_case`.
[[nodiscard]] bool less_without_case(std::string_view left, std::string_view right) noexcept;

/// Names and values in order. Names are looked up without regard to case and kept as they were given. Moves
/// and copies; running out of memory, or 1 GiB of them, is a failed check. Belongs to one thread at a time.
class fields {
public:
    class iterator;

    fields() noexcept = default;  ///< None. Cost: nothing.
    fields(const fields& other);
    fields(fields&& other) noexcept;
    fields& operator=(fields other) noexcept;
    ~fields();

    /// Adds a field behind the others; a name may occur often.
    ///
    /// What cannot be sent is not added: a name that is no token, a value with a line break, a NUL or another
    /// control. `refused` tells of it then, and no server or client of the library sends the message: a
    /// program that copies input into a field need not check it to be safe.
    ///
    /// @param  name, value  Copied. No views of these same fields.
    fields& add(std::string_view name, std::string_view value);

    /// The same, instead of all fields of this name.
    fields& set(std::string_view name, std::string_view value);

    /// The same of a number.
    fields& set(std::string_view name, std::uint64_t value);

    /// The same fields as `other`, in the memory that is there.
    void assign(const fields& other);

    /// Adds what a parser has checked already. @pre  `is_token(name) && is_field_value(value)`.
    void add_checked(std::string_view name, std::string_view value);

    /// Removes all fields of this name and returns how many.
    std::size_t remove(std::string_view name) noexcept;

    /// Removes all of them and forgets what was refused, but keeps the memory.
    void clear() noexcept;

    /// The value of the first field of this name.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept
        GYRE_LIFETIMEBOUND;

    /// The same, or `otherwise`, which is borrowed.
    [[nodiscard]] std::string_view value_or(
        std::string_view name, std::string_view otherwise = {}) const noexcept GYRE_LIFETIMEBOUND;

    [[nodiscard]] bool contains(std::string_view name) const noexcept;

    /// How many fields have this name.
    [[nodiscard]] std::size_t count(std::string_view name) const noexcept;

    /// Whether `token` is an element of the comma-separated lists that fields of this name have, without
    /// regard to case, and whatever parameters it has: `has_token("connection", "close")`.
    [[nodiscard]] bool has_token(std::string_view name, std::string_view token) const noexcept;

    [[nodiscard]] iterator begin() const noexcept GYRE_LIFETIMEBOUND;
    [[nodiscard]] iterator end() const noexcept GYRE_LIFETIMEBOUND;

    /// How many fields there are.
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

    /// Bytes of all names and values, and eight for each field.
    [[nodiscard]] std::size_t bytes() const noexcept { return used_; }

    /// Whether a field was refused since it was made or cleared.
    [[nodiscard]] bool refused() const noexcept { return refused_; }

private:
    // Before a field's name and value.
    struct sizes {
        std::uint32_t name;
        std::uint32_t value;
    };

    [[nodiscard]] char* make_room(std::size_t wanted);
    void release() noexcept;

    char* block_ = nullptr;       // Of the frame cache: sizes, name, value, and again.
    std::uint32_t capacity_ = 0;  // Invariant: what `block_` was allocated with.
    std::uint32_t used_ = 0;
    std::uint32_t count_ = 0;
    bool refused_ = false;
};

/// Goes over fields in order.
class fields::iterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = field;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = field;

    iterator() noexcept = default;

    [[nodiscard]] field operator*() const noexcept;
    iterator& operator++() noexcept;
    iterator operator++(int) noexcept {
        const iterator before = *this;
        ++*this;
        return before;
    }
    [[nodiscard]] friend bool operator==(iterator left, iterator right) noexcept {
        return left.at_ == right.at_;
    }

private:
    friend class fields;

    explicit iterator(const char* at) noexcept : at_{at} {}

    const char* at_ = nullptr;
};

/// The elements of one comma-separated list, in order and without empty ones: for a range-for.
///
/// A comma inside a quoted string separates nothing. Elements keep their parameters and quotes.
class list_elements {
public:
    /// @param  list  Borrowed: a field's value.
    explicit list_elements(std::string_view list GYRE_LIFETIMEBOUND) noexcept : rest_{list} {}

    /// The next element; nothing at the end.
    [[nodiscard]] std::optional<std::string_view> next() noexcept;

private:
    std::string_view rest_;
};

}  // namespace gyre::http

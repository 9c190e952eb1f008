# SPDX-License-Identifier: BSL-1.0
from fallible import read

HEADER = """
/// Waits.
class wait_awaiter final : public waiter {
public:
    io_result<> await_resume() const noexcept { return outcome(); }
};

/// Ends with a number.
class count_awaiter final {
public:
    int await_resume() const noexcept { return 0; }
};

/// Waits.
/// Errors:  none but cancellation.
[[nodiscard]] wait_awaiter wait() noexcept { return wait_awaiter{*this}; }

/// Counts.
///
/// Errors:  none.
[[nodiscard]] int size() const noexcept;

/// Connects.
///
/// Errors:        `errc::connection_refused`.
[[nodiscard]] auto connect(endpoint to) noexcept {
    expects(true);
    return submission<connect_operation, finish_connect>{opened(), to};
}

/// Counts what is there.
///
/// Errors:        `errc::closed`.
[[nodiscard]] count_awaiter count() noexcept;

/// Throws.
/// Errors:  `errc::closed`.
template <class Function>
void call(Function function);

struct finish_plain {
    io_result<> operator()(const operation& op) const noexcept;
};
struct finish_connect : finish_plain {
    int number;
};
"""


def test_what_a_fallible_function_yields_is_followed_to_its_await():
    found = {each.name: each.yields for each in read("a.hpp", {"a.hpp": HEADER})}
    assert found == {"wait": "io_result", "connect": "io_result", "count": "", "call": ""}


def test_where_it_stands_is_told():
    connect = next(each for each in read("a.hpp", {"a.hpp": HEADER}) if each.name == "connect")
    assert HEADER.split("\n")[connect.line - 1].startswith("[[nodiscard]] auto connect(")
    assert str(connect).endswith("connect: io_result")

# SPDX-License-Identifier: BSL-1.0
"""Tests of signatures.py; what becomes of them on the page is in reference_test.py."""

import signatures


def test_what_an_awaitable_yields_is_said_unless_another_has_its_name():
    one = "class a_awaiter final {\n    io_result<> await_resume() const;\n};\n"
    assert signatures.awaited_in(one) == {"a_awaiter": "io_result<>"}
    assert signatures.awaited_in(one + one.replace("<>", "<int>")) == {"a_awaiter": ""}
    sent = "struct finish_send {\n    [[nodiscard]] io_result<> operator()(int it);\n};\n"
    own = one.replace("a_awaiter", "c_awaiter").replace("io_result<>", "Result")
    awaited = signatures.awaited_in(signatures.without_noise(one + sent + own))
    assert [signatures.signature_of(code, "f", awaited) for code in (
        "a_awaiter f(int)", "static other::a_awaiter f()", "submission<op, finish_send> f()",
        "b_awaiter f()", "task<int> f()", "a_awaiter<int> f()", "c_awaiter f()", "c_awaiter<int> f()")] == [
        "co_await f(int) -> io_result<>", "static co_await f() -> io_result<>", "co_await f() -> io_result<>",
        "co_await f()", "f() -> task<int>", "co_await f() -> io_result<>", "co_await f() -> Result",
        "co_await f()"]
